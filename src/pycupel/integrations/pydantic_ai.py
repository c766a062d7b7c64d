"""Pydantic AI: trims an agent's history before it is sent to the model.

    agent = Agent(model, capabilities=[CupelHistory(8_000)])

The agent's history keeps every message.
"""

# The library may be missing where types are checked.
# pyright: basic, reportMissingImports=false

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator, Sequence
from typing import Any, Unpack

from pycupel.extras import missing_extra
from pycupel.integrations._memory import HistorySelector, HookOptions
from pycupel.model import ContextBudget

try:
    from pydantic_ai import RunContext
    from pydantic_ai.capabilities import AbstractCapability
    from pydantic_ai.messages import (
        MULTI_MODAL_CONTENT_TYPES,
        BinaryContent,
        FilePart,
        ModelMessage,
        ModelResponse,
        ToolCallPart,
    )
    from pydantic_ai.models import ModelRequestContext
except ModuleNotFoundError as error:
    raise missing_extra(
        error,
        "pydantic_ai.capabilities",
        extra="pydantic-ai",
        package="pydantic-ai-slim",
        purpose="pycupel.integrations.pydantic_ai",
    ) from error

__all__ = ["CupelHistory"]

# Everything else in a request is a system prompt or a note of the library to itself, and stays.
_ROLES = {"user-prompt": "user", "speech": "user", "retry-feedback": "assistant", "retry-prompt": "assistant"}
_FILE_TYPES = {"image": "image_url", "audio": "input_audio"}
# A part has one of these methods if what the model reads is not its content.
_RENDERERS = ("model_response_str", "model_response", "args_as_json_str")


class CupelHistory(AbstractCapability[Any]):
    """Trims the history sent to the model. The agent's own history, `all_messages()`, keeps everything.

    Before version 2.54, Pydantic AI stored what it sent, so there the history is cut, too.

    A request may hold a system prompt, results of tools and a user prompt at once. Each is kept or dropped on its own,
    and the request is copied if only some of it stays. Instructions count, the definitions of tools do not: leave room
    for them.

    Args:
        budget: The limits, or a number of tokens, as for `select_messages`.
        options: See `HookOptions`; `pin` is called with each `ModelMessage`.
    """

    def __init__(self, budget: ContextBudget | int, **options: Unpack[HookOptions]) -> None:
        self._selector = HistorySelector(budget, "openai", options)

    async def before_model_request(
        self,
        ctx: RunContext[Any],  # noqa: ARG002
        request_context: ModelRequestContext,
    ) -> ModelRequestContext:
        """The request with the trimmed messages."""
        instructions = request_context.model_request_parameters.instruction_parts or ()
        messages = self.select(request_context.messages, "\n\n".join(part.content for part in instructions))
        return dataclasses.replace(request_context, messages=messages)

    def select(self, messages: Sequence[ModelMessage], instructions: str = "") -> list[ModelMessage]:
        """The messages to send. The last one stays, because it is what the model is asked now."""
        pieces = [list(_pieces(message)) for message in messages]
        keep = [index for index, message in enumerate(messages) if message is messages[-1] or _is_lasting(message)]
        shapes = [[shape for _, shape in each] for each in pieces]
        kept = self._selector.select(messages, shapes, system=instructions, keep=keep)
        selected: list[ModelMessage] = []
        for message, parts, numbers in zip(messages, pieces, kept, strict=True):
            if len(numbers) == len(parts):
                selected.append(message)
            elif numbers:
                stay = {parts[number][0] for number in numbers}
                rest: Any = [part for n, part in enumerate(message.parts) if n in stay]
                selected.append(dataclasses.replace(message, parts=rest))
        return selected


def _is_lasting(message: ModelMessage) -> bool:
    """Whether the library itself relies on the message: to know which tools were loaded, or what was summarised."""
    return any(part.part_kind == "compaction" or getattr(part, "tool_kind", None) for part in message.parts)


def _pieces(message: ModelMessage) -> Iterator[tuple[int, dict[str, Any]]]:
    """A message in OpenAI's shape, with the indices of its parts. A whole response is one piece."""
    if isinstance(message, ModelResponse):
        yield 0, _response(message)
        return
    # Results come first, as providers demand.
    for n, part in sorted(enumerate(message.parts), key=lambda each: not _is_result(each[1])):
        yield n, _request_part(part)


def _is_result(part: Any) -> bool:
    return bool(getattr(part, "tool_name", None))


def _request_part(part: Any) -> dict[str, Any]:
    if _is_result(part):
        said = [part, *getattr(part, "files", ())]
        return {"role": "tool", "tool_call_id": part.tool_call_id, "content": list(map(_said, said))}
    said = part.content if part.part_kind == "user-prompt" and not isinstance(part.content, str) else [part]
    return {"role": _ROLES.get(part.part_kind, "system"), "content": list(map(_said, said))}


def _response(message: ModelResponse) -> dict[str, Any]:
    calls = [part for part in message.parts if isinstance(part, ToolCallPart)]
    return {
        "role": "assistant",
        "content": [_said(part) for part in message.parts if not isinstance(part, ToolCallPart)],
        "tool_calls": [
            {"id": call.tool_call_id, "function": {"name": call.tool_name, "arguments": call.args_as_json_str()}}
            for call in calls
        ],
    }


def _said(value: Any) -> dict[str, Any]:
    """A file, by what it holds, or else a text."""
    if isinstance(value, FilePart):
        value = value.content
    if isinstance(value, MULTI_MODAL_CONTENT_TYPES):
        # "image/png" for what is there, "image-url" for what is elsewhere.
        kind = re.split("[/-]", value.media_type if isinstance(value, BinaryContent) else value.kind)[0]
        return {"type": _FILE_TYPES.get(kind, "file")}
    return {"type": "text", "text": value if isinstance(value, str) else _text(value)}


def _text(part: Any) -> str:
    for name in _RENDERERS:
        if hasattr(part, name):
            return str(getattr(part, name)())
    content = getattr(part, "content", None)
    return content if isinstance(content, str) else ""
