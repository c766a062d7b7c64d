"""Google's Agent Development Kit: trim the contents sent to the model of every agent of an app.

runner = Runner(app=App(name="helper", root_agent=agent, plugins=[CupelPlugin(8_000)]), session_service=sessions)
"""

# pyright: basic, reportMissingImports=false

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import takewhile
from types import NoneType
from typing import Any, Unpack

from pycupel.extras import missing_library
from pycupel.fields import as_json
from pycupel.integrations import _history as hooks
from pycupel.messages.overlay import read_results, with_result_texts
from pycupel.messages.providers._writing import Call, MessagePart, text, thought
from pycupel.tokens.models import BudgetLike

try:
    from google.adk.agents.callback_context import CallbackContext
    from google.adk.models.llm_request import LlmRequest
    from google.adk.plugins.base_plugin import BasePlugin
    from google.genai.types import Content, Part, Schema
    from pydantic import TypeAdapter
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

    def __init__(self, budget: BudgetLike, *, name: str = "pycupel", **options: Unpack[hooks.HookOptions]) -> None:
        super().__init__(name)
        self._selector = hooks.HistorySelector(budget, options, hook="google-adk")

    async def before_model_callback(self, *, callback_context: CallbackContext, llm_request: LlmRequest) -> None:
        """Replace the contents of the request, which ADK makes anew for each call, by those that fit."""
        if llm_request.previous_interaction_id:
            return
        contents, config = llm_request.contents, llm_request.config
        output = config.response_json_schema or config.response_schema
        # The class tells the provider of a model that is called by an endpoint.
        agent = getattr(getattr(callback_context, "_invocation_context", None), "agent", None)
        kinds = [*hooks.class_names(getattr(agent, "canonical_model", None)), llm_request.model]
        llm_request.contents = self._selector.send(
            contents,
            _ENTRIES,
            model=hooks.model_called(llm_request.model, kinds),
            system="\n\n".join(_texts(config.system_instruction)),
            tools=[*map(_dumped, config.tools or ()), *hooks.response_tools(_schema(output))],
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


def _schema(output: Any) -> Any:
    """Return the schema of the output as JSON. ADK takes one of Gemini's, JSON, or a type such as `list[Answer]`."""
    return _dumped(output) if isinstance(output, (Schema, dict, NoneType)) else TypeAdapter(output).json_schema()


def _dumped(value: Any) -> Any:
    return value.model_dump(mode="json", exclude_none=True) if hasattr(value, "model_dump") else value


def _instructions(request: LlmRequest) -> list[int]:
    """Return the indices of instructions that ADK puts among the contents: in front, or before the question."""
    contents = request.contents
    static = getattr(request, "_static_instruction_prefix_end_index", None) or 0
    # What the user or ADK says, and no tool.
    said = [each.role == "user" and not any(part.function_response for part in _parts(each)) for each in contents]
    asked = list(takewhile(said.__getitem__, reversed(range(len(contents)))))
    # A single question stays anyway.
    return [*range(static), *(asked if len(asked) > 1 else ())]


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
        return hooks.media_block(media.mime_type)
    return text(as_json(_dumped(part)))


_ENTRIES = hooks.Entries(
    of=_parts,
    pieces=hooks.results_and_rest(_parts, _result, _rest),
    copied=lambda content, parts: content.model_copy(update={"parts": parts}),
    with_text=lambda part, shorter: with_result_texts(Content(role="user", parts=[part]), {0: shorter}).parts[0],
)
