"""OpenAI Chat, whose format many others use, and LangChain's messages, which differ only in names."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

from pycupel.fields import field, filled, is_filled, is_list, text_of
from pycupel.messages.parts import MessageView, Part, PartReader, Path, is_tool_message, make_part, make_view, view_of
from pycupel.messages.providers._base import CACHED, WARNING, Provider, Rule, unknown_view
from pycupel.messages.providers._rules import (
    EMPTY_TEXT,
    PAIRING_RULES,
    UNKNOWN_TYPE,
    duplicate_tool,
    empty_message,
    excess_cached,
    has_empty_text,
    pair_adjacent,
)
from pycupel.messages.providers._shapes import (
    InOrder,
    PendingCall,
    UnknownNameError,
    check_content,
    entries,
    id_of,
    role_of,
)
from pycupel.messages.providers._tables import (
    CALL,
    CALL_LISTS,
    LANGCHAIN_ROLES,
    RESULT,
    TEXT,
    Prices,
    known_fields,
)

_SPOKEN = {"system": "system", "developer": "system", "user": "user", "assistant": "assistant"}
_ROLES = {**_SPOKEN, "tool": "tool", "function": "function"}

# What a message may have besides its content.
_BESIDE = (*CALL_LISTS, "function_call", "refusal", "audio", "additional_kwargs")
_CONTENT: Path = ("content",)
_CALLS = frozenset((name,) for name in CALL_LISTS)

# What stands for an id that is missing: the second is what Mistral's library sends.
_NO_IDS = ("", "null")

EMPTY_MESSAGE = empty_message("content nor calls")
# "Invalid 'messages[1].tool_calls': empty array" (openai-python#2061). Other servers with this format accept it, and
# the message is worth keeping.
_EMPTY_CALLS = Rule(
    "empty-calls",
    WARNING,
    "tool_calls is not an empty list (some servers accept it)",
    "tool_calls is an empty list, which OpenAI rejects",
    "Remove the field.",
)
# "Invalid value for 'content': expected a string, got null" (llama_index#17555). A warning as above: without the
# exchange, the model would make the same call again.
_EMPTY_RESULT = Rule(
    "empty-result",
    WARNING,
    "a tool result has a content (some servers do without)",
    "the tool result has no content, which OpenAI rejects",
    "Send an empty text if the tool returns nothing.",
)
# "Invalid type for 'messages[2].tool_calls[0].function.arguments': expected a string, but got an object instead"
# (goose-mobile#20), and "Missing required parameter" for the same field (mcphost#117). A warning as above.
_ODD_ARGUMENTS = Rule(
    "odd-arguments",
    WARNING,
    "the arguments of a call are a string (some servers take dicts)",
    "the arguments of a tool call are not a string, which OpenAI rejects",
    "Write them as JSON, with json.dumps; if there are none, as '{}'.",
)
_BREAKPOINT = "prompt_cache_breakpoint"
# The prompt cache takes four. A warning, because the others are only not written.
EXCESS_BREAKPOINTS = excess_cached(
    "excess-cache-breakpoints",
    WARNING,
    _BREAKPOINT,
    4,
    "Keep prompt_cache_breakpoint on the last parts only.",
)
_EMPTY = (EMPTY_TEXT.id,)
# The fields that may say something, beside a text and beside calls.
_BESIDE_TEXT = known_fields() - {"content"}
_BESIDE_CALLS = _BESIDE_TEXT - {"tool_calls"}


def read_openai(messages: Sequence[Any], reader: PartReader, start: int) -> list[MessageView]:
    """Read each message from an index on into a view."""
    # The model may be another provider's, whose prices only the walk applies.
    is_plain = not reader.prices.rewrites_json
    count, overhead = reader.count, reader.overhead
    views: list[MessageView] = []
    add = views.append
    order = in_order(messages)
    for index, message in enumerate(messages[start:], start):
        is_dict = is_plain and message.__class__ is dict
        if is_dict and len(message) == 2:
            # Most messages are a role and a text. This takes a quarter of the time of the walk.
            role, text = message.get("role"), message.get("content")
            if text.__class__ is role.__class__ is str and role in _SPOKEN:
                tokens = count(text)
                parts = (make_part((TEXT, text, tokens, None, "", None, False, _CONTENT, None, 0)),)
                marks, tokens = () if text else _EMPTY, tokens + overhead
                add(make_view((index, _SPOKEN[role], text, tokens, (), (), role == "user", False, marks, parts)))
                continue
        plain = _read_plain(message, index, reader) if is_dict else None
        add(read_message(message, index, reader, order) if plain is None else plain)
    return views


def _pending_calls(message: Any, index: int) -> list[PendingCall]:
    calls = filled(message, CALL_LISTS[0])
    found: list[PendingCall] = []
    for n, call in enumerate(calls if is_list(calls) else ()):
        inner, own = field(call, "function"), _call_id(call)
        name = text_of(call if inner is None else inner, "name")
        found.append(PendingCall(_position(name, index, n) if own is None else str(own), name, own is not None))
    return found


def _result(message: Any) -> tuple[str, str] | None:
    if not is_tool_message(message):
        return None
    return _call_id(message, "tool_call_id") or "", text_of(message, "name") or text_of(message, "tool_name")


# Pairs results that name no call: Mistral's may have no id, and Ollama's calls have none either.
in_order = partial(InOrder, calls_of=_pending_calls, result_of=_result, adjacent=True)


def _call_id(value: Any, name: str = "id") -> Any:
    """Return the id of a call or a result; None if there is none."""
    found = field(value, name)
    return None if isinstance(found, str) and found == _NO_IDS[1] else found


def _position(name: str, index: int, n: int) -> str:
    """Make an id for a call that has none."""
    return f"{name} ({index}.{n})"


def _read_plain(message: Any, index: int, reader: PartReader) -> MessageView | None:
    """Read a message with nothing but a text, calls or a result, as most are, in a quarter of the time of the walk."""
    role, kind, text = message.get("role"), message.get("type"), message.get("content")
    if role is None and kind.__class__ is str:
        role, kind = LANGCHAIN_ROLES.get(kind), None
    if role.__class__ is not str or kind is not None:
        return None
    # Other fields, of which LangChain's messages have some, are not read by the model.
    if text.__class__ is str and text and _BESIDE_TEXT.isdisjoint(message):
        tokens = reader.count(text)
        total = reader.overhead + tokens
        if role in _SPOKEN:
            part = make_part((TEXT, text, tokens, None, "", None, False, _CONTENT, None, 0))
            return make_view((index, _SPOKEN[role], text, total, (), (), role == "user", False, (), (part,)))
        own, status = message.get("tool_call_id"), message.get("status")
        if role == "tool" and own.__class__ is str and own not in _NO_IDS:
            failed = message.get("is_error") is True or (status.__class__ is str and status == "error")
            part = make_part((RESULT, text, tokens, own, "", None, failed, (), text, 0))
            return make_view((index, role, text, total, (), (own,), False, False, (), (part,)))
    calls = message.get("tool_calls")
    if calls.__class__ is list and calls and role == "assistant" and _BESIDE_CALLS.isdisjoint(message):
        return _read_plain_calls(calls, text, index, reader) if text is None or text.__class__ is str else None
    return None


def _read_plain_calls(calls: list[Any], text: str | None, index: int, reader: PartReader) -> MessageView | None:
    found: list[Part] = []
    ids: list[str] = []
    texts: list[str] = []
    total = reader.overhead
    if text:
        tokens = reader.count(text)
        total += tokens
        texts.append(text)
        found.append(make_part((TEXT, text, tokens, None, "", None, False, _CONTENT, None, 0)))
    for n, call in enumerate(calls):
        function: Any = call.get("function") if call.__class__ is dict else None
        if function.__class__ is not dict:
            return None
        call_id, name, arguments = call.get("id"), function.get("name"), function.get("arguments")
        if not (call_id.__class__ is name.__class__ is arguments.__class__ is str and name and arguments):
            return None
        if call_id in _NO_IDS:
            return None
        said, tokens = f"{name}\n{arguments}", reader.count(name) + reader.count(arguments) + reader.prices.call
        ids.append(call_id)
        texts.append(said)
        total += tokens
        found.append(make_part((CALL, said, tokens, call_id, name, arguments, False, ("tool_calls", n), None, 0)))
    return make_view((index, "assistant", "\n".join(texts), total, tuple(ids), (), False, False, (), tuple(found)))


def read_message(message: Any, index: int, reader: PartReader, order: InOrder) -> MessageView:
    """Read any message into a view; `order` pairs results without ids."""
    try:
        role = _role(message, index)
    except UnknownNameError as error:
        return unknown_view(message, index, reader, error)
    check_content(field(message, "content"), index, required=role in ("system", "user"))
    calls = [*_calls(message, index)] if role == "assistant" else []
    result: str | None = None
    if role == "tool":
        result = _call_id(message, "tool_call_id")
        if result is None:
            # Without a call that it could answer, it is an orphan, whatever it is called.
            result = order.answered(index) or _position("tool", index, 0)
        result = id_of(result, index, "tool_call_id")
    elif role == "function":
        role, result = "tool", _function_id(message, index, "name")
    parts = _with_ids(reader(message), result, index)
    marks = tuple(_marks(message) if result is None else _result_marks(message))
    if any(map(_has_odd_arguments, calls)):
        marks += (_ODD_ARGUMENTS.id,)
    return view_of(index, role, parts, reader.overhead, marks)


def _with_ids(parts: Sequence[Part], result: str | None, index: int) -> list[Part]:
    """Give the parts the ids that count: those of the caller's calls, and that of the result which the message is."""
    found = [part if part.id is (own := _id(part, result, index)) else part._replace(id=own) for part in parts]
    if result is not None and not any(part.kind == RESULT for part in found):
        found.append(make_part((RESULT, "", 0, result, "", None, False, (), None, 0)))
    return found


def _id(part: Part, result: str | None, index: int) -> Any:
    if part.kind != CALL:
        return result if part.kind == RESULT else None
    if part.path[:1] == ("function_call",):
        return f"function {part.tool}"
    # A block of another provider only repeats a call, as LangChain keeps it.
    if part.path[:1] not in _CALLS:
        return None
    is_missing = part.id is None or (isinstance(part.id, str) and part.id == _NO_IDS[1])
    return _position(part.tool, index, int(part.path[1])) if is_missing else part.id


def _marks(message: Any) -> Iterator[str]:
    said = field(message, "content")
    is_empty = not is_filled(said)
    if is_empty and filled(message, *_BESIDE) is not None:
        return
    if is_empty and not isinstance(said, str):
        yield EMPTY_MESSAGE.id
        return
    if has_empty_text(said):
        yield EMPTY_TEXT.id
    yield from breakpoints(said)
    if message.__class__ is dict and is_list(calls := message.get("tool_calls")) and not calls:
        yield _EMPTY_CALLS.id


def breakpoints(parts: Any) -> tuple[str, ...]:
    """Return a mark for each part that the prompt should be cached up to."""
    if parts.__class__ is str or not is_list(parts):
        return ()
    return (CACHED,) * sum([is_filled(field(part, _BREAKPOINT)) for part in parts])


def _result_marks(message: Any) -> Iterator[str]:
    # Only the results of old function calls may have no content.
    if field(message, "content") is None and field(message, "tool_call_id") is not None:
        yield _EMPTY_RESULT.id
    yield from breakpoints(field(message, "content"))


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


def _calls(message: Any, index: int) -> Iterator[Any]:
    """Return the calls of a message, checked, including those that LangChain could not parse but sends.

    Ollama's have no ids.
    """
    for key in CALL_LISTS:
        calls = filled(message, key)
        for n, call in enumerate(() if calls is None else entries(calls, index, key)):
            if field(call, "id") is not None:
                id_of(field(call, "id"), index, f"{key}[{n}].id")
            yield call
    function = field(message, "function_call")
    if function is not None:
        _function_id(function, index, "function_call.name")


def _function_id(value: Any, index: int, key: str) -> str:
    """Use the function's name as an id, because old function calls have none."""
    return "function " + id_of(field(value, "name"), index, key)


# OpenAI's published formula: 3 for a message, 1 for its role, 1 for a name, and 3 for the reply.
PRICES = Prices(message=4, name=1, tools=12, file=2265)

OPENAI = Provider(
    "openai",
    read_openai,
    pair_adjacent,
    PAIRING_RULES,
    (EMPTY_MESSAGE, EMPTY_TEXT, _EMPTY_CALLS, _EMPTY_RESULT, _ODD_ARGUMENTS),
    prices=PRICES,
    request_rules=(UNKNOWN_TYPE, EXCESS_BREAKPOINTS),
    beside_rules=(duplicate_tool(WARNING),),
)
