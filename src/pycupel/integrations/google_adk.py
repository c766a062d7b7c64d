"""Google's Agent Development Kit: trim the contents sent to the model of every agent of an app.

    runner = Runner(app=App(name="helper", root_agent=agent, plugins=[CupelPlugin(8_000)]), session_service=sessions)

The session keeps every event.
"""

# The library may be missing when types are checked.
# pyright: basic, reportMissingImports=false

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import takewhile
from typing import Any, Unpack

from pycupel.extras import missing_library
from pycupel.fields import as_json
from pycupel.integrations._history import (
    Entries,
    HistorySelector,
    HookOptions,
    class_names,
    media_block,
    model_called,
)
from pycupel.messages.overlay import read_results, with_result_texts
from pycupel.messages.providers._writing import Call, MessagePart, text, thought
from pycupel.tokens.limits import BudgetLike

try:
    from google.adk.agents.callback_context import CallbackContext
    from google.adk.models.llm_request import LlmRequest
    from google.adk.plugins.base_plugin import BasePlugin
    from google.genai.types import Content, Part
except ModuleNotFoundError as error:
    raise missing_library(error, "google-adk") from error

__all__ = ["CupelPlugin"]


class CupelPlugin(BasePlugin):
    """Trims the contents sent to the model. The session keeps every event.

    The instruction, the declarations of tools and the schema of the output count. The rules are those of the agent's
    model, which may be another provider's through `LiteLlm`, unless `provider` is given. If the server keeps the
    conversation (Gemini's Interactions), nothing is dropped.

    Args:
        budget: The limits, or a number of tokens, as for `select_messages`.
        name: The plugin's name, which an app may have only once.
        options: See `HookOptions`; `pin` is called with each `Content`.
    """

    def __init__(self, budget: BudgetLike, *, name: str = "pycupel", **options: Unpack[HookOptions]) -> None:
        super().__init__(name)
        self._selector = HistorySelector(budget, options, hook="google-adk")

    async def before_model_callback(self, *, callback_context: CallbackContext, llm_request: LlmRequest) -> None:
        """Replace the contents of the request, which ADK makes anew for each call, by those that fit."""
        if llm_request.previous_interaction_id:
            return
        contents, config = llm_request.contents, llm_request.config
        # The class tells the provider of a model that is called by an endpoint.
        agent = getattr(getattr(callback_context, "_invocation_context", None), "agent", None)
        kinds = [*class_names(getattr(agent, "canonical_model", None)), llm_request.model]
        llm_request.contents = self._selector.send(
            contents,
            _ENTRIES,
            model=model_called(llm_request.model, kinds),
            system="\n\n".join(_texts(config.system_instruction)),
            tools=[*map(_dumped, config.tools or ()), *_schemas(config)],
            pinned=_instructions(llm_request),
            conversation=f"{callback_context.session.id}/{callback_context.agent_name}",
        )


def _texts(instruction: Any) -> Iterator[str]:
    """Return the texts of an instruction: a text, a content, a part, or a list of these."""
    if isinstance(instruction, str):
        yield instruction
    elif isinstance(instruction, (list, Content)):
        for each in instruction.parts or () if isinstance(instruction, Content) else instruction:
            yield from _texts(each)
    elif instruction is not None:
        yield getattr(instruction, "text", None) or ""


def _schemas(config: Any) -> Iterator[dict[str, Any]]:
    """Return the schema of the output, which costs as much as a tool's."""
    schema = config.response_json_schema or config.response_schema
    if schema is not None:
        # ADK takes a class, too.
        is_class = hasattr(schema, "model_json_schema")
        yield {"name": "response", "parameters": schema.model_json_schema() if is_class else _dumped(schema)}


def _dumped(value: Any) -> Any:
    return value.model_dump(mode="json", exclude_none=True) if hasattr(value, "model_dump") else value


def _instructions(request: LlmRequest) -> list[int]:
    """Return the indices of instructions that ADK puts among the contents: in front, or before the question."""
    contents = request.contents
    static = getattr(request, "_static_instruction_prefix_end_index", None) or 0
    asked = list(takewhile(lambda n: _is_said(contents[n]), reversed(range(len(contents)))))
    # A single question stays anyway.
    return [*range(static), *(asked if len(asked) > 1 else ())]


def _is_said(content: Content) -> bool:
    """Whether the user or ADK says something, and no tool."""
    return content.role == "user" and all(part.function_response is None for part in _parts(content))


def _parts(content: Content) -> list[Part]:
    return content.parts or []


def _result(part: Part) -> MessagePart | None:
    response = part.function_response
    if response is None:
        return None
    # Whatever a function returned, this is the text that may be shortened. Objects take ten times as long to read.
    shape = {"function_response": {"name": response.name, "response": response.response or {}}}
    [read] = read_results({"role": "user", "parts": [shape]})
    blocks = [text(read.said), *map(_block, response.parts or ())]
    return MessagePart("tool", blocks, (), response.id, response.name or "", failed=read.failed)


def _with_text(part: Part, shorter: str) -> Part:
    copy: Content = with_result_texts(Content(role="user", parts=[part]), {0: shorter})
    return _parts(copy)[0]


def _rest(content: Content, parts: Sequence[Part]) -> MessagePart:
    role: Any = "assistant" if content.role == "model" else "user"
    calls = [each.function_call for each in parts if each.function_call is not None]
    blocks = [_block(each) for each in parts if each.function_call is None]
    return MessagePart(role, blocks, [Call(each.id, each.name or "", each.args or {}) for each in calls])


def _block(part: Any) -> dict[str, Any]:
    """Make a block: a text, thinking, a file by its kind, or else what the part has as JSON."""
    said = getattr(part, "text", None)
    if said is not None:
        signature = part.thought_signature
        return thought(said, signature.decode(errors="replace")) if part.thought and signature else text(said)
    media = part.inline_data or part.file_data
    if media is not None:
        return media_block(media.mime_type)
    return text(as_json(_dumped(part)))


_ENTRIES = Entries(
    of=_parts,
    result=_result,
    rest=_rest,
    copied=lambda content, parts: content.model_copy(update={"parts": parts}),
    with_text=_with_text,
)
