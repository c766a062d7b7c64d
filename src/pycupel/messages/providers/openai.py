"""OpenAI Chat, whose format many others use, and LangChain's messages, which differ only in names."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from pycupel.kernels.records import maker
from pycupel.messages.content import TOOL_CALLS, ContentReader, Prices
from pycupel.messages.fields import field, filled, is_filled
from pycupel.messages.providers._base import WARNING, MessageView, Provider
from pycupel.messages.providers._pairing import pair_adjacent
from pycupel.messages.providers._rules import (
    EMPTY_MESSAGE,
    EMPTY_TEXT,
    EMPTY_TEXT_FAULT,
    Fault,
    empty_message,
    faults_by_mark,
    has_empty_text,
)
from pycupel.messages.providers._shapes import LANGCHAIN_ROLES, check_content, entries, id_of, role_of

__all__ = ["EMPTY_FAULTS", "OPENAI", "PRICES", "read_message", "read_openai", "tool_calls"]

_SPOKEN = {"system": "system", "developer": "system", "user": "user", "assistant": "assistant"}
_ROLES = {**_SPOKEN, "tool": "tool", "function": "function"}

# What a message may have besides its content.
_BESIDE = ("tool_calls", "invalid_tool_calls", "function_call", "refusal", "audio", "additional_kwargs")
_EMPTY = (EMPTY_TEXT,)
_EMPTY_CALLS = "empty-calls"
_EMPTY_RESULT = "empty-result"
_ODD_ARGUMENTS = "odd-arguments"

_view = maker(MessageView)

EMPTY_FAULTS: dict[str, Fault] = {EMPTY_MESSAGE: empty_message("content nor calls"), EMPTY_TEXT: EMPTY_TEXT_FAULT}


def read_openai(messages: Sequence[Any], content: ContentReader, start: int) -> list[MessageView]:
    """Read each message from an index on into a view."""
    # The model may be another provider's, whose prices only the general reader applies.
    is_plain = not content.prices.escapes
    return [
        (_read_plain(message, index, content) if is_plain and message.__class__ is dict else None)
        or read_message(message, index, content)
        for index, message in enumerate(messages[start:], start)
    ]


def _read_plain(message: Any, index: int, content: ContentReader) -> MessageView | None:
    """Read most messages (a role with a text, calls, or a result) in a quarter of the time."""
    role, text = message.get("role"), message.get("content")
    if role.__class__ is not str:
        return None
    if text.__class__ is str:
        if len(message) == 2 and role in _SPOKEN:
            tokens = content.overhead + content.count(text)
            marks = () if text else _EMPTY
            return _view((index, _SPOKEN[role], text, tokens, (), (), role == "user", False, marks, ()))
        call_id = message.get("tool_call_id")
        if role == "tool" and len(message) == 3 and call_id.__class__ is str and call_id:
            tokens = content.overhead + content.count(text)
            return _view((index, role, text, tokens, (), (call_id,), False, False, (), ()))
    calls = message.get("tool_calls")
    if calls.__class__ is not list or not calls or role != "assistant" or len(message) != 3:
        return None
    return _read_plain_calls(calls, text, index, content) if text is None or text.__class__ is str else None


def _read_plain_calls(calls: list[Any], text: str | None, index: int, content: ContentReader) -> MessageView | None:
    texts: list[str] = []
    ids: list[str] = []
    for call in calls:
        function: Any = call.get("function") if call.__class__ is dict else None
        if function.__class__ is not dict:
            return None
        call_id, name, arguments = call.get("id"), function.get("name"), function.get("arguments")
        if not (call_id.__class__ is name.__class__ is arguments.__class__ is str and call_id and name and arguments):
            return None
        ids.append(call_id)
        texts += (name, arguments)
    tokens = total = sum(map(content.count, texts)) + len(calls) * content.prices.call
    if text:
        texts.insert(0, text)
        total += content.count(text)
    total += content.overhead
    shares = ((TOOL_CALLS, tokens),)
    return _view((index, "assistant", "\n".join(texts), total, tuple(ids), (), False, False, (), shares))


def read_message(message: Any, index: int, content: ContentReader) -> MessageView:
    """Read any message into a view."""
    role = _role(message, index)
    check_content(field(message, "content"), index, required=role in ("system", "user"))
    calls: tuple[str, ...] = ()
    results: tuple[str, ...] = ()
    if role == "assistant":
        calls = tuple(_call_ids(message, index))
    elif role == "tool":
        results = (id_of(field(message, "tool_call_id"), index, "tool_call_id"),)
    elif role == "function":
        role, results = "tool", (_function_id(message, index, "name"),)
    marks = tuple(_result_marks(message) if results else _marks(message))
    if calls and any(_has_odd_arguments(call) for _, call in tool_calls(message, index)):
        marks += (_ODD_ARGUMENTS,)
    return MessageView(
        index, role, *content(message), calls, results, role == "user", marks=marks, shares=content.shares
    )


def _marks(message: Any) -> Iterator[str]:
    said = field(message, "content")
    is_empty = not is_filled(said)
    if is_empty and filled(message, *_BESIDE) is not None:
        return
    if is_empty and not isinstance(said, str):
        yield EMPTY_MESSAGE
        return
    if has_empty_text(said):
        yield EMPTY_TEXT
    # The objects of libraries always have the field; when they are sent, it is left out.
    if message.__class__ is dict and message.get("tool_calls") == []:
        yield _EMPTY_CALLS


def _result_marks(message: Any) -> Iterator[str]:
    # Only the results of old function calls may have no content.
    if field(message, "content") is None and field(message, "tool_call_id") is not None:
        yield _EMPTY_RESULT


def _has_odd_arguments(call: Any) -> bool:
    """Whether the arguments are not a text. LangChain's calls and calls of custom tools have none here."""
    function = field(call, "function")
    return function is not None and not isinstance(field(function, "arguments"), str)


def _role(message: Any, index: int) -> str:
    if field(message, "role") is None:
        kind = field(message, "type")
        if isinstance(kind, str) and kind in LANGCHAIN_ROLES:
            return LANGCHAIN_ROLES[kind]
    return role_of(message, index, _ROLES)


def tool_calls(message: Any, index: int) -> Iterator[tuple[str, Any]]:
    """Return the calls of a message with their paths, including those that LangChain could not parse but sends."""
    for key in ("tool_calls", "invalid_tool_calls"):
        calls = filled(message, key)
        for n, call in enumerate(() if calls is None else entries(calls, index, key)):
            yield f"{key}[{n}]", call


def _call_ids(message: Any, index: int) -> Iterator[str]:
    for path, call in tool_calls(message, index):
        yield id_of(field(call, "id"), index, f"{path}.id")
    function = field(message, "function_call")
    if function is not None:
        yield _function_id(function, index, "function_call.name")


def _function_id(value: Any, index: int, key: str) -> str:
    """Use the function's name as an id, because old function calls have none."""
    return "function " + id_of(field(value, "name"), index, key)


# OpenAI's published formula: 3 for a message, 1 for its role, 1 for a name, and 3 for the reply.
PRICES = Prices(message=4, name=1, tools=12, file=2265)

_FAULTS: dict[str, Fault] = {
    **EMPTY_FAULTS,
    _EMPTY_CALLS: (
        "tool_calls is an empty list, which OpenAI rejects",
        "Remove the field.",
        # Other servers with this format accept it, and the message is worth keeping.
        WARNING,
    ),
    _EMPTY_RESULT: (
        "the tool result has no content, which OpenAI rejects",
        "Send an empty text if the tool returns nothing.",
        # As above. Without the exchange, the model would make the same call again.
        WARNING,
    ),
    _ODD_ARGUMENTS: (
        "the arguments of a tool call are not a string, which OpenAI rejects",
        "Write them as JSON, with json.dumps; if there are none, as '{}'.",
        # As above: some servers and libraries take a dict.
        WARNING,
    ),
}

OPENAI = Provider("openai", read_openai, pair_adjacent, (faults_by_mark(_FAULTS),), prices=PRICES)
