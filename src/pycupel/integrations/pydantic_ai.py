"""Pydantic AI: trim an agent's history before it is sent to the model.

agent = Agent(model, capabilities=[CupelHistory(8_000)])
"""

# pyright: basic, reportMissingImports=false

from __future__ import annotations

import dataclasses
import re
from collections.abc import Sequence
from typing import Any

from pycupel.extras import missing_library
from pycupel.integrations import _history as hooks
from pycupel.messages.providers._writing import Call, MessagePart, text, thought

try:
    from pydantic_ai import FunctionToolset, RunContext, Tool
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


class CupelHistory(hooks.HistoryHook, AbstractCapability[Any]):
    """Trims the history sent to the model. The agent's own history, `all_messages()`, keeps everything.

    Before version 2.54, Pydantic AI stored what it sent, so there the history is cut, too.

    A request may have a system prompt, tool results and a user prompt at once. Each is kept or dropped on its own,
    and the request is copied if only some of it stays. Instructions, the definitions of tools and the schema of the
    output count. The rules are those of the agent's model, unless `provider` is given. With
    `shorten=Shorten(recall=True)`, the agent gets a tool that gives shortened results back.
    """

    _framework = "pydantic-ai"

    def get_toolset(self) -> FunctionToolset[Any] | None:
        """Return the tool that gives shortened results back, if it is asked for."""
        definition = self._recall_definition()
        if definition is None:
            return None
        name, description, parameters = definition.values()
        return FunctionToolset([Tool.from_schema(self._recall, name, description, parameters, takes_ctx=True)])

    def _recall(self, ctx: RunContext[Any], **arguments: Any) -> str:
        parts = [part for message in ctx.messages for _, part in _pieces(message)]
        return self._selector.recall(arguments, parts, model=_model_in_use(ctx.model))

    async def before_model_request(
        self, ctx: RunContext[Any], request_context: ModelRequestContext
    ) -> ModelRequestContext:
        """Return the request with the trimmed messages."""
        model, parameters = request_context.model, request_context.model_request_parameters
        given, conversation = request_context.messages, ctx.conversation_id
        messages = self.select(given, model=model, parameters=parameters, conversation=conversation)
        return dataclasses.replace(request_context, messages=messages)

    def select(
        self,
        messages: Sequence[ModelMessage],
        *,
        model: Model | None = None,
        parameters: ModelRequestParameters | None = None,
        conversation: str | None = None,
    ) -> list[ModelMessage]:
        """Return the messages to send to the model, with the instructions and tools of the parameters beside them.

        The last one stays, because it is what the model is asked now.
        """
        beside: dict[str, Any] = {}
        if parameters is not None:
            instructions = [part.content for part in parameters.instruction_parts or ()]
            beside = {"system": "\n\n".join([*instructions, _NOTE]), "tools": _tools(parameters)}
        if model is not None:
            beside["model"] = _model_in_use(model)
        return self._selector.send(
            messages,
            _ENTRIES,
            pinned=[n for n, message in enumerate(messages) if _is_lasting(message)] + _several(messages),
            exclude=sorted({part.tool_name for message in messages for part in message.parts if _has_kind(part)}),
            conversation=conversation,
            **beside,
        )


def _model_in_use(model: Model) -> hooks.ModelInUse:
    return hooks.model_in_use([model.system, *hooks.class_names(model)], model.model_name)


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


def _several(messages: Sequence[ModelMessage]) -> list[int]:
    """Return the index of the last message, if it asks several things at once. A single one stays anyway.

    A message that is pinned now and not in the next call would make the next selection start from the beginning.
    """
    asked = _pieces(messages[-1]) if messages else ()
    # The system prompts of the first message stay, and of those that follow, the newest.
    roles = [part.role for _, part in asked if part.role != "system" or len(messages) > 1]
    is_one_thing = {*roles} <= {"tool"} or ("tool" not in roles and len({*roles}) == len(roles))
    return [] if is_one_thing else [len(messages) - 1]


def _is_lasting(message: ModelMessage) -> bool:
    """Whether the library itself relies on the message: to know which tools were loaded, or what was summarised."""
    return any(part.part_kind == "compaction" or _has_kind(part) for part in message.parts)


def _has_kind(part: Any) -> bool:
    """Whether the call or the result is of a kind that the library itself reads."""
    return bool(getattr(part, "tool_kind", None))


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


def _response(parts: Sequence[Any]) -> MessagePart:
    calls = [part for part in parts if isinstance(part, ToolCallPart)]
    return MessagePart(
        "assistant",
        [_block(part) for part in parts if not isinstance(part, ToolCallPart)],
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
        return hooks.media_block(kind)
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


def _pieces(message: ModelMessage) -> list[tuple[list[int], MessagePart]]:
    """Return the content of a message. A whole response is one piece; of a request, each part is."""
    if isinstance(message, ModelResponse):
        return [(list(range(len(message.parts))), _response(message.parts))]
    # Results come first, as providers require.
    ordered = sorted(enumerate(message.parts), key=lambda each: not _is_result(each[1]))
    return [([n], _request_part(part)) for n, part in ordered]


_ENTRIES = hooks.Entries(
    of=lambda message: message.parts,
    pieces=_pieces,
    copied=lambda message, parts: dataclasses.replace(message, parts=parts),
    with_text=lambda part, shorter: dataclasses.replace(part, content=shorter),
)
