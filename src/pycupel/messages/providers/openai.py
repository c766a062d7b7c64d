"""OpenAI Chat, which many others speak as well, and LangChain's messages, which say the same in other words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from pycupel.messages.providers._base import (
    MessageView,
    Provider,
    as_json,
    content_text,
    entries,
    field,
    id_of,
    joined,
    role_of,
    said_text,
)
from pycupel.messages.providers._pairing import pair_adjacent

__all__ = ["LANGCHAIN_ROLES", "OPENAI", "read_openai"]

_SPOKEN = {"system": "system", "developer": "system", "user": "user", "assistant": "assistant"}
_ROLES = {**_SPOKEN, "tool": "tool", "function": "function"}

# LangChain's messages have a type in place of a role, and their chunks the name of their class.
LANGCHAIN_ROLES = {
    "system": "system",
    "SystemMessageChunk": "system",
    "human": "user",
    "HumanMessageChunk": "user",
    "ai": "assistant",
    "AIMessageChunk": "assistant",
    "tool": "tool",
    "ToolMessageChunk": "tool",
    "function": "function",
    "FunctionMessageChunk": "function",
}


def read_openai(messages: Sequence[Any]) -> list[MessageView]:
    views: list[MessageView] = []
    for index, message in enumerate(messages):
        # Most messages are dicts with a role and a text. Reading them here takes a quarter of the time.
        if message.__class__ is dict:
            role, text = message.get("role"), message.get("content")
            if text.__class__ is str and role.__class__ is str:
                if len(message) == 2 and role in _SPOKEN:
                    views.append(MessageView(index, _SPOKEN[role], text, (), (), role == "user"))
                    continue
                call_id = message.get("tool_call_id")
                if role == "tool" and call_id.__class__ is str and call_id:
                    views.append(MessageView(index, role, text, (), (call_id,)))
                    continue
        views.append(_read(message, index))
    return views


def _read(message: Any, index: int) -> MessageView:
    role = _role(message, index)
    if role in ("system", "user"):
        return MessageView(index, role, said_text(message, index), (), (), role == "user")
    text = content_text(field(message, "content"), index)
    if role == "assistant":
        refusal = field(message, "refusal")
        calls = tuple(_calls(message, index))
        texts = (text, refusal if isinstance(refusal, str) else "", *(text for _, text in calls))
        return MessageView(index, role, joined(texts), tuple(call_id for call_id, _ in calls))
    if role == "tool":
        return MessageView(index, role, text, (), (id_of(field(message, "tool_call_id"), index, "tool_call_id"),))
    return MessageView(index, "tool", text, (), (_function_id(message, index, "name"),))


def _role(message: Any, index: int) -> str:
    if field(message, "role") is None:
        kind = field(message, "type")
        if isinstance(kind, str) and kind in LANGCHAIN_ROLES:
            return LANGCHAIN_ROLES[kind]
    return role_of(message, index, _ROLES)


def _calls(message: Any, index: int) -> Iterator[tuple[str, str]]:
    """The id and the text of each call. LangChain keeps those that it could not parse apart, but sends them, too."""
    for key in ("tool_calls", "invalid_tool_calls"):
        for n, call in enumerate(entries(field(message, key) or (), index, key)):
            body = field(call, "function") or field(call, "custom") or call
            text = joined([as_json(field(body, name)) for name in ("name", "arguments", "input", "args")])
            yield id_of(field(call, "id"), index, f"{key}[{n}].id"), text
    function = field(message, "function_call")
    if function is not None:
        texts = (as_json(field(function, "name")), as_json(field(function, "arguments")))
        yield _function_id(function, index, "function_call.name"), joined(texts)


def _function_id(value: Any, index: int, key: str) -> str:
    """The calls of old had no ids: the function's name does in their place."""
    return "function " + id_of(field(value, "name"), index, key)


OPENAI = Provider(read_openai, pair_adjacent)
