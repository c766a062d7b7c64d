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
    return [
        (_read_plain(message, index) if message.__class__ is dict else None) or _read(message, index)
        for index, message in enumerate(messages)
    ]


def _read_plain(message: Any, index: int) -> MessageView | None:
    """What most messages are: a role and a text, calls, or a result. Reading them here takes a quarter of the time."""
    role, text = message.get("role"), message.get("content")
    if text.__class__ is str and role.__class__ is str:
        if len(message) == 2 and role in _SPOKEN:
            return MessageView(index, _SPOKEN[role], text, (), (), role == "user")
        call_id = message.get("tool_call_id")
        if role == "tool" and call_id.__class__ is str and call_id:
            return MessageView(index, role, text, (), (call_id,))
    calls = message.get("tool_calls")
    if role == "assistant" and len(message) == 3 and calls.__class__ is list and (not text or text.__class__ is str):
        return _read_plain_calls(calls, text, index)
    return None


def _read_plain_calls(calls: list[Any], text: str | None, index: int) -> MessageView | None:
    texts = [text] if text else []
    ids: list[str] = []
    for call in calls:
        function: Any = call.get("function") if call.__class__ is dict else None
        if function.__class__ is not dict:
            return None
        call_id, name, arguments = call.get("id"), function.get("name"), function.get("arguments")
        if not (call_id and name and arguments and call_id.__class__ is name.__class__ is arguments.__class__ is str):
            return None
        ids.append(call_id)
        texts += (name, arguments)
    return MessageView(index, "assistant", "\n".join(texts), tuple(ids))


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
