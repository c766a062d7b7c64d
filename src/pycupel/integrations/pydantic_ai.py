"""Pydantic AI: trim an agent's history before it is sent to the model.

    agent = Agent(model, capabilities=[CupelHistory(8_000)])

The agent's history keeps every message.
"""

# The library may be missing when types are checked.
# pyright: basic, reportMissingImports=false

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Unpack

from pycupel.extras import missing_library
from pycupel.integrations._history import (
    UNKNOWN_MODEL,
    HistorySelector,
    HookOptions,
    ModelInUse,
    Request,
    class_names,
    media_block,
    model_in_use,
)
from pycupel.messages.providers._writing import Call, MessagePart, text, thought
from pycupel.tokens.limits import BudgetLike

try:
    from pydantic_ai import RunContext
    from pydantic_ai.capabilities import AbstractCapability
    from pydantic_ai.messages import (
        MULTI_MODAL_CONTENT_TYPES,
        BinaryContent,
        FilePart,
        ModelMessage,
        ModelResponse,
        ThinkingPart,
        ToolCallPart,
    )
    from pydantic_ai.models import Model, ModelRequestContext, ModelRequestParameters
except ModuleNotFoundError as error:
    raise missing_library(error, "pydantic-ai") from error

__all__ = ["CupelHistory"]

# Everything else in a request is a system prompt or a note of the library to itself, and stays.
_ROLES: dict[str, Any] = {
    "user-prompt": "user",
    "speech": "user",
    "retry-feedback": "assistant",
    "retry-prompt": "assistant",
}
# The library adds a note of this length to the system prompts of many models.
_NOTE = "This stands for a note about the tags that are used. " * 6
_CLAUDE = frozenset({None, "anthropic", "bedrock"})
_REDACTED = frozenset({"redacted_thinking", "redacted_content"})
_FAILED = frozenset({"failed", "retried"})
# A part has one of these methods if what the model reads is not its content.
_RENDERERS = ("model_response_str", "model_response", "args_as_json_str")


class CupelHistory(AbstractCapability[Any]):
    """Trims the history sent to the model. The agent's own history, `all_messages()`, keeps everything.

    Before version 2.54, Pydantic AI stored what it sent, so there the history is cut, too.

    A request may have a system prompt, tool results and a user prompt at once. Each is kept or dropped on its own,
    and the request is copied if only some of it stays. Instructions, the definitions of tools and the schema of the
    output count. The rules are those of the agent's model, unless `provider` is given.

    Args:
        budget: The limits, or a number of tokens, as for `select_messages`.
        options: See `HookOptions`; `pin` is called with each `ModelMessage`.
    """

    def __init__(self, budget: BudgetLike, **options: Unpack[HookOptions]) -> None:
        self._selector = HistorySelector(budget, options, hook="pydantic-ai")

    async def before_model_request(
        self, ctx: RunContext[Any], request_context: ModelRequestContext
    ) -> ModelRequestContext:
        """Return the request with the trimmed messages."""
        messages = self.select(
            request_context.messages,
            model=request_context.model,
            parameters=request_context.model_request_parameters,
            conversation=ctx.conversation_id,
        )
        return dataclasses.replace(request_context, messages=messages)

    def select(
        self,
        messages: Sequence[ModelMessage],
        *,
        model: Model | None = None,
        parameters: ModelRequestParameters | None = None,
        conversation: str | None = None,
    ) -> list[ModelMessage]:
        """Return the messages to send. The last one stays, because it is what the model is asked now.

        Args:
            messages: The history.
            model: The model that they are sent to.
            parameters: The instructions and tools that are sent beside them.
            conversation: The id of the conversation.
        """
        pieces = [list(_pieces(message)) for message in messages]
        selection = self._selector.select(
            Request(
                messages=messages,
                parts=[[part for _, part in each] for each in pieces],
                model=UNKNOWN_MODEL if model is None else _model(model),
                system="" if parameters is None else _instructions(parameters),
                tools=() if parameters is None else _tools(parameters),
                pinned=[n for n, message in enumerate(messages) if _is_lasting(message)] + _several(pieces),
                exclude=sorted({part.tool_name for message in messages for part in message.parts if _has_kind(part)}),
                conversation=conversation,
                with_texts=_with_texts,
            )
        )
        selected: list[ModelMessage] = []
        for (message, numbers), parts in zip(selection, pieces, strict=True):
            if len(numbers) == len(parts):
                selected.append(message)
            elif numbers:
                stay = {parts[number][0] for number in numbers}
                rest: Any = [part for n, part in enumerate(message.parts) if n in stay]
                selected.append(dataclasses.replace(message, parts=rest))
        return selected


def _model(model: Model) -> ModelInUse:
    return model_in_use([model.system, *class_names(model)], model.model_name)


def _instructions(parameters: ModelRequestParameters) -> str:
    return "\n\n".join((*(part.content for part in parameters.instruction_parts or ()), _NOTE))


def _tools(parameters: ModelRequestParameters) -> list[dict[str, Any]]:
    tools = [
        {"name": tool.name, "description": tool.description, "input_schema": tool.parameters_json_schema}
        for tool in (*parameters.function_tools, *parameters.output_tools)
    ]
    output = parameters.output_object
    # Until it is decided which is sent, the output has both tools and a schema.
    if output is not None and not parameters.output_tools:
        tools.append({"name": output.name, "description": output.description, "input_schema": output.json_schema})
    return tools


def _several(pieces: Sequence[Sequence[tuple[int, MessagePart]]]) -> list[int]:
    """Return the index of the last message, if it asks several things at once. A single one stays anyway.

    A message that is pinned now and not in the next call would make the next selection start from the beginning.
    """
    asked = pieces[-1] if pieces else ()
    # The system prompts of the first message stay, and of those that follow, the newest.
    roles = [part.role for _, part in asked if part.role != "system" or len(pieces) > 1]
    is_one_thing = {*roles} <= {"tool"} or ("tool" not in roles and len({*roles}) == len(roles))
    return [] if is_one_thing else [len(pieces) - 1]


def _is_lasting(message: ModelMessage) -> bool:
    """Whether the library itself relies on the message: to know which tools were loaded, or what was summarised."""
    return any(part.part_kind == "compaction" or _has_kind(part) for part in message.parts)


def _has_kind(part: Any) -> bool:
    """Whether the call or the result is of a kind that the library itself reads."""
    return bool(getattr(part, "tool_kind", None))


def _pieces(message: ModelMessage) -> Iterator[tuple[int, MessagePart]]:
    """Return the content of a message, with the indices of its parts. A whole response is one piece."""
    if isinstance(message, ModelResponse):
        yield 0, _response(message)
        return
    # Results come first, as providers require.
    for n, part in sorted(enumerate(message.parts), key=lambda each: not _is_result(each[1])):
        yield n, _request_part(part)


def _is_result(part: Any) -> bool:
    return bool(getattr(part, "tool_name", None))


def _request_part(part: Any) -> MessagePart:
    if _is_result(part):
        # A part of the older kind, a retry prompt, has no outcome.
        failed = getattr(part, "outcome", "retried") in _FAILED
        # The library wraps a text when it is sent, also one that became shorter. A structure is wrapped when it is
        # written as a text.
        is_wrapped = failed and isinstance(part.content, str)
        blocks = list(map(_block, [part.content if is_wrapped else part, *getattr(part, "files", ())]))
        return MessagePart(
            "tool", blocks, answers=part.tool_call_id, tool=part.tool_name, failed=failed, wrapped=is_wrapped
        )
    content = part.content if part.part_kind == "user-prompt" and not isinstance(part.content, str) else [part]
    return MessagePart(_ROLES.get(part.part_kind, "system"), list(map(_block, content)))


def _with_texts(message: ModelMessage, texts: Mapping[int, str]) -> ModelMessage:
    """Copy a message with other texts for some results."""
    parts: list[Any] = list(message.parts)
    results = [n for n, part in enumerate(parts) if _is_result(part)]
    for number, shorter in texts.items():
        n = results[number]
        parts[n] = dataclasses.replace(parts[n], content=shorter)
    return dataclasses.replace(message, parts=parts)


def _response(message: ModelResponse) -> MessagePart:
    calls = [part for part in message.parts if isinstance(part, ToolCallPart)]
    return MessagePart(
        "assistant",
        [_block(part) for part in message.parts if not isinstance(part, ToolCallPart)],
        [Call(call.tool_call_id, call.tool_name, call.args_as_json_str()) for call in calls],
    )


def _block(value: Any) -> dict[str, Any]:
    """Make a block: thinking, a file by its content, or else a text."""
    if isinstance(value, ThinkingPart):
        return _thought(value)
    if isinstance(value, FilePart):
        value = value.content
    if isinstance(value, MULTI_MODAL_CONTENT_TYPES):
        # "image/png" for what is there, "image-url" for what is elsewhere.
        kind = re.split("[/-]", value.media_type if isinstance(value, BinaryContent) else value.kind)[0]
        return media_block(kind)
    return text(value if isinstance(value, str) else _text(value))


def _thought(part: ThinkingPart) -> dict[str, Any]:
    """Make a block of thinking: Claude's as it requires it back, others' with their encrypted part."""
    if part.provider_name not in _CLAUDE:
        return {"type": "reasoning", "text": part.content, "encrypted_content": part.signature}
    if part.id in _REDACTED:
        return {"type": "redacted_thinking", "data": part.signature}
    return thought(part.content, part.signature)


def _text(part: Any) -> str:
    for name in _RENDERERS:
        if hasattr(part, name):
            return str(getattr(part, name)())
    content = getattr(part, "content", None)
    return content if isinstance(content, str) else ""
