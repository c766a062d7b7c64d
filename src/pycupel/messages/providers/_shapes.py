"""Check the shape of a message: its role, its content, and the ids in it; and pair results that have no ids."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from marshal import dumps
from typing import Any, NamedTuple

from pycupel.errors import MessageShapeError
from pycupel.fields import as_data, field, is_list, is_mapping, text_of
from pycupel.messages.providers._tables import CALL_LISTS, LANGCHAIN_ROLES, PART_TYPES, READ, ROLES, item_type
from pycupel.model import ContextItem
from pycupel.text import describe

# Where in a response the part is that belongs in a history, by the field that identifies the response.
_IN_RESPONSES = {
    "choices": "choices[0].message",
    "candidates": "candidates[0].content",
    "output": "output",
    "message": "message",
}


def plain_messages(messages: Sequence[Any]) -> tuple[Any, ...]:
    """Return messages whose Pydantic models are dicts, so that the walk and the fingerprints need not ask each field.

    Dicts stay the same objects.
    """
    given = tuple(messages)
    try:
        # The fastest way to see whether there is an object anywhere inside. Most messages are a role and a text.
        dumps(
            [
                each
                for each in given
                if each.__class__ is not dict or len(each) != 2 or each.get("content").__class__ is not str
            ]
        )
    except ValueError:
        try:
            return tuple([_plain_message(each) for each in given])
        except RecursionError:
            # The walk says which one.
            return given
    return given


def _plain_message(message: Any) -> Any:
    plain = as_data(message, READ)
    if plain is not message and plain.__class__ is dict and message.__class__ is not dict:
        # LangChain's messages always have lists of calls; when they are sent, empty ones are left out.
        for name in CALL_LISTS:
            if plain.get(name) == []:
                del plain[name]
    return plain


class UnknownNameError(Exception):
    """A message has a role or a type that no provider has. Readers keep it as it is, so callers never see this."""

    def __init__(self, name: str, what: str = "type") -> None:
        super().__init__(name)
        self.name = name
        self.what = what


def role_of(message: Any, index: int, roles: Mapping[str, str], hint: str | None = None) -> str:
    """Translate the provider's name for a role.

    Raises:
        UnknownNameError: no provider has the role, or the type of a message that has none.
        MessageShapeError: the message has neither, or only other providers have it.
    """
    role = field(message, "role")
    if isinstance(role, str) and role in roles:
        return roles[role]
    name = unknown_name(message)
    if name:
        raise UnknownNameError(name, "type" if role is None else "role")
    if role is None:
        raise MessageShapeError(f"the message has no role: {describe(message)}", index, "role", hint=_advice(message))
    raise MessageShapeError(f"must be one of {', '.join(roles)}, not {describe(role)}", index, "role", hint=hint)


def unknown_name(message: Any) -> str:
    """Return the role of a message, or its type if it has no role, if no provider has that; else an empty text."""
    role = field(message, "role")
    if role is not None:
        return role if isinstance(role, str) and role not in ROLES else ""
    kind = text_of(message, "type")
    is_known = kind in PART_TYPES or kind in LANGCHAIN_ROLES or kind == "message" or item_type(kind) is not None
    return "" if is_known else kind


def message_in(value: Any) -> str | None:
    """Return where in a response the part is that belongs in a history; None if the value is not a response."""
    if field(value, "role") is not None or field(value, "type") is not None:
        return None
    return next((path for name, path in _IN_RESPONSES.items() if field(value, name) is not None), None)


def _advice(value: Any) -> str | None:
    """Return a hint for a value that is often mistaken for a message; None if there is none."""
    if isinstance(value, ContextItem):
        return "For items, use pycupel.select."
    path = message_in(value)
    if path is not None:
        return f"This looks like a response of the model: its {path} belongs in the history."
    if text_of(value, "type") in ("human", "ai", "system", "tool"):
        return 'LangChain\'s messages have the format of provider="openai"; model= says whose tokens to count.'
    return None


def entries(value: Any, index: int, key: str, expected: str = "a list") -> Sequence[Any]:
    if value.__class__ is list or is_list(value):
        return value
    raise MessageShapeError(f"must be {expected}, not {describe(value)}", index, key)


def id_of(value: Any, index: int, key: str) -> str:
    if isinstance(value, str) and value:
        return value
    raise MessageShapeError(f"must be a non-empty string, not {describe(value)}", index, key)


def check_content(content: Any, index: int, *, required: bool) -> None:
    """Reject content that is neither a string nor a list of parts."""
    if isinstance(content, str):
        return
    if content is None:
        if required:
            raise MessageShapeError(
                "the message has no content", index, "content", hint="For an empty message, use ''."
            )
        return
    # The prompts of MCP have a single part.
    given = [content] if is_mapping(content) or text_of(content, "type") else content
    for n, part in enumerate(entries(given, index, "content", "a string or a list of parts")):
        if isinstance(part, str) or (part.__class__ is dict and part.get("type").__class__ is str):
            continue
        kind, key = field(part, "type"), f"content[{n}].type"
        if kind is None and not _is_text(part):
            raise MessageShapeError(f"part has no type: {describe(part)}", index, key)
        if kind is not None and not isinstance(kind, str):
            raise MessageShapeError(f"must be a string naming the part's type, not {describe(kind)}", index, key)


def _is_text(part: Any) -> bool:
    return any(isinstance(field(part, name), str) for name in ("text", "refusal", "reasoning"))


class PendingCall(NamedTuple):
    """A call that is not answered yet. One without an id gets one from its position."""

    id: str
    name: str
    has_id: bool


class PendingCalls:
    """The calls that are not answered yet.

    A result is matched by its id, or by name if the call or the result has no id. One that has neither answers the
    first call that is left.
    """

    def __init__(self, calls: Iterable[PendingCall] = ()) -> None:
        self._calls: list[PendingCall] = []
        self._answered: set[int] = set()
        # Names are not ids: a call with an id is answered by name only if the result has no id.
        self._queues: dict[tuple[str, str], deque[int]] = {}
        self.add(calls)

    def add(self, calls: Iterable[PendingCall]) -> None:
        for n, call in enumerate(calls, len(self._calls)):
            self._calls.append(call)
            keys = [("named" if call.has_id else "nameless", call.name), ("any", "")]
            for key in [("id", call.id), *keys] if call.has_id else keys:
                self._queues.setdefault(key, deque()).append(n)

    def answer(self, result_id: str, name: str, *, is_last: bool = True) -> PendingCall | None:
        """Remove and return the first pending call that this result answers; None if there is none.

        A result that is not the last one leaves the call pending.
        """
        keys = (("id", result_id) if result_id else ("named", name), ("nameless", name))
        found = min((n for n in map(self._first, keys) if n is not None), default=None)
        if found is None and not result_id and not name:
            found = self._first(("any", ""))
        if found is None:
            return None
        if is_last:
            self._answered.add(found)
        return self._calls[found]

    def _first(self, key: tuple[str, str]) -> int | None:
        queue = self._queues.get(key)
        while queue and queue[0] in self._answered:
            queue.popleft()
        return queue[0] if queue else None


class InOrder:
    """Finds the calls that results without ids answer, by walking a history from its start as far as it is asked.

    Args:
        messages: The history.
        calls_of: Returns the calls of a message, by its index.
        result_of: Returns the id and the name of a result, which may be empty; None for other messages.
        adjacent: Whether a result only answers the last message with calls.
    """

    def __init__(
        self,
        messages: Sequence[Any],
        calls_of: Callable[[Any, int], Sequence[PendingCall]],
        result_of: Callable[[Any], tuple[str, str] | None],
        *,
        adjacent: bool,
    ) -> None:
        self._messages = messages
        self._calls_of = calls_of
        self._result_of = result_of
        self._adjacent = adjacent
        self._pending = PendingCalls()
        self._done = 0

    def answered(self, index: int) -> str | None:
        """Return the id of the call that the result at an index answers; None if there is none. Ask in order."""
        found: PendingCall | None = None
        for n in range(self._done, index + 1):
            message = self._messages[n]
            result = self._result_of(message)
            calls = self._calls_of(message, n) if result is None else ()
            if calls and self._adjacent:
                self._pending = PendingCalls(calls)
            else:
                self._pending.add(calls)
            found = None if result is None else self._pending.answer(*result)
        self._done = index + 1
        return None if found is None else found.id
