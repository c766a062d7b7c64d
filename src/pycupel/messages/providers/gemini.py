"""Gemini: contents with parts, alternating between model and user, and calls that need no ids."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple

from pycupel.errors import MessageShapeError
from pycupel.fields import field, filled, is_mapping
from pycupel.messages.parts import MessageView, Part, PartReader, view_of
from pycupel.messages.providers._base import ERROR, Provider, Rule
from pycupel.messages.providers._rules import (
    EMPTY_TEXT,
    ENDS_WITH_ASSISTANT,
    FIRST_NOT_USER,
    PAIRING_RULES,
    duplicate_tool,
    empty_message,
    pair_adjacent,
)
from pycupel.messages.providers._shapes import entries, id_of, message_in, role_of
from pycupel.messages.providers._tables import FUNCTION_CALLS, FUNCTION_RESPONSES, SIGNATURES, Prices
from pycupel.text import describe

_ROLES = {"user": "user", "model": "assistant", "function": "user", "tool": "user"}
# Fields of a part that describe its data, but are not data.
_SIDE = frozenset({"thought", *SIGNATURES, "video_metadata", "videoMetadata", "media_resolution", "mediaResolution"})

_CALLS, _RESULTS = (frozenset((name,) for name in names) for names in (FUNCTION_CALLS, FUNCTION_RESPONSES))

_EMPTY_MESSAGE = empty_message("text nor other parts")
_EMPTY_PART = Rule(
    "empty-part",
    ERROR,
    "a part holds data",
    "the message has an empty part",
    "Remove the part, or the whole message.",
)


class _Call(NamedTuple):
    """A pending call. One without an id gets one from its position."""

    id: str
    name: str
    has_id: bool


class _Pending:
    """The calls that are not answered yet. Results are matched by id, or by name if the call or result has no id."""

    def __init__(self, calls: Sequence[_Call] = ()) -> None:
        self._calls = calls
        self._answered: set[int] = set()
        # Names are not ids: a call with an id is answered by name only if the result has no id.
        self._queues: dict[tuple[str, str], deque[int]] = {}
        for n, call in enumerate(calls):
            if call.has_id:
                self._queues.setdefault(("id", call.id), deque()).append(n)
            self._queues.setdefault(("named" if call.has_id else "nameless", call.name), deque()).append(n)

    def answer(self, result_id: str, name: str) -> _Call | None:
        """Remove and return the first pending call that this result answers; None if there is none."""
        keys = (("id", result_id) if result_id else ("named", name), ("nameless", name))
        found = min((n for n in map(self._first, keys) if n is not None), default=None)
        if found is None:
            return None
        self._answered.add(found)
        return self._calls[found]

    def _first(self, key: tuple[str, str]) -> int | None:
        queue = self._queues.get(key)
        while queue and queue[0] in self._answered:
            queue.popleft()
        return queue[0] if queue else None


def _read(messages: Sequence[Any], reader: PartReader, start: int) -> list[MessageView]:
    views: list[MessageView] = []
    pending = _Pending()
    # Results are matched to their calls, so calls before the start are read again.
    first = _last_calls(messages, start)
    for index, message in enumerate(messages[first:], first):
        role = _role(message, index)
        given = _parts(message, role, index)
        parts = reader(message)
        named, answers = _CALLS if role == "assistant" else _RESULTS, 0
        calls: list[_Call] = []
        for n, part in enumerate(parts):
            # Only calls of the model and results of the user have ids; everything else has none.
            own: str | None = None
            if part.path[-1:] in named and role == "assistant":
                calls.append(_call(part, index))
                own = calls[-1].id
            elif part.path[-1:] in named:
                own = _answered(part, pending, index)
                answers += 1
            if part.id is not own:
                parts[n] = part._replace(id=own)
        pending = _Pending(calls) if calls else pending
        speaker = "tool" if answers and answers == len(given) else role
        views.append(view_of(index, speaker, parts, reader.overhead, tuple(_marks(given))))
    return views[start - first :]


def _call(part: Part, index: int) -> _Call:
    n = part.path[1]
    name = id_of(part.tool or None, index, f"parts[{n}].function_call.name")
    call_id = part.id if isinstance(part.id, str) else ""
    return _Call(call_id or f"{name} ({index}.{n})", name, bool(call_id))


def _answered(part: Part, pending: _Pending, index: int) -> str:
    """Return the id of the call that a result answers, and remove it from the pending ones."""
    result_id = part.id if isinstance(part.id, str) else ""
    call = pending.answer(result_id, part.tool)
    if call is not None:
        return call.id
    return id_of(result_id or part.tool or None, index, f"parts[{part.path[1]}].function_response.name")


def _last_calls(messages: Sequence[Any], end: int) -> int:
    """Return the index of the last message before `end` that makes calls; `end` if there is none."""
    for index in range(end - 1, -1, -1):
        role = _role(messages[index], index)
        parts = _parts(messages[index], role, index) if role == "assistant" else ()
        if any(field(part, name) is not None for part in parts for name in FUNCTION_CALLS):
            return index
    return end


def _role(message: Any, index: int) -> str:
    if field(message, "role") is None and field(message, "parts") is not None and message_in(message) is None:
        return "user"
    return role_of(message, index, _ROLES, hint="Instructions go into config.system_instruction.")


def _parts(message: Any, role: str, index: int) -> Sequence[Any]:
    parts = field(message, "parts")
    if isinstance(parts, str):
        return (parts,)
    if parts is None and role == "assistant" and field(message, "content") is None:
        # The model may return no parts.
        return ()
    parts = entries(parts, index, "parts")
    for n, part in enumerate(parts):
        if not isinstance(part, str) and not is_mapping(part) and not hasattr(part, "text"):
            is_pydantic_ai = hasattr(part, "part_kind")
            raise MessageShapeError(
                f"must be a Gemini part, not {describe(part)}",
                index,
                f"parts[{n}]",
                hint="Pydantic AI has a hook of its own: CupelHistory." if is_pydantic_ai else None,
            )
    return parts


def _marks(parts: Sequence[Any]) -> Iterator[str]:
    if not parts:
        yield _EMPTY_MESSAGE.id
    if any(map(_is_empty, parts)):
        yield _EMPTY_PART.id
    if any(map(_has_empty_text, parts)):
        yield EMPTY_TEXT.id


def _is_empty(part: Any) -> bool:
    """Whether no field has data. Only dicts and objects with a `__dict__` are inspected."""
    members = part if is_mapping(part) else getattr(part, "__dict__", None)
    return members is not None and all(value is None or name in _SIDE for name, value in members.items())


def _has_empty_text(part: Any) -> bool:
    """Whether a part has an empty text; not if it has a signature, because the model sends it and requires it back."""
    if isinstance(part, str):
        return not part
    text = field(part, "text")
    return isinstance(text, str) and not text and filled(part, *SIGNATURES) is None


def _between_calls(views: Sequence[MessageView]) -> Iterator[tuple[int]]:
    """Find model messages between a call and the user message or results that it must directly follow."""
    run: list[int] = []
    for view in views:
        if view.role == "assistant" and not view.calls:
            run.append(view.message_index)
            continue
        if view.calls:
            yield from ((index,) for index in run)
        run.clear()


_CALL_AFTER_MODEL = Rule(
    "call-after-model",
    ERROR,
    "a call follows a user message or results",
    "a model message separates a function call from the user message or results it must follow",
    "Make it a part of the message with the call, or drop it.",
    _between_calls,
)


def _user_message(text: str) -> dict[str, Any]:
    return {"role": "user", "parts": [{"text": text}]}


GEMINI = Provider(
    "gemini",
    _read,
    partial(pair_adjacent, one_message=True),
    PAIRING_RULES,
    (_EMPTY_MESSAGE, EMPTY_TEXT, _EMPTY_PART),
    (FIRST_NOT_USER, _CALL_AFTER_MODEL, ENDS_WITH_ASSISTANT),
    prices=Prices(message=2, call=12, image=1120, small_image=280, audio=3200),
    beside_rules=(duplicate_tool(ERROR),),
    user_message=_user_message,
    system_beside=True,
    typical_model="gemini",
)
