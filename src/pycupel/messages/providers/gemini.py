"""Gemini: contents with parts, alternating between model and user, and calls that need no ids."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple

from pycupel.errors import MessageShapeError
from pycupel.messages.content import ContentReader, Prices
from pycupel.messages.fields import field, filled, is_mapping, text_of
from pycupel.messages.providers._base import ERROR, Finding, MessageView, Provider
from pycupel.messages.providers._pairing import pair_adjacent
from pycupel.messages.providers._rules import (
    EMPTY_MESSAGE,
    EMPTY_TEXT,
    EMPTY_TEXT_FAULT,
    Fault,
    empty_message,
    ends_with_assistant,
    faults_by_mark,
    first_not_user,
)
from pycupel.messages.providers._shapes import entries, id_of, message_in, role_of
from pycupel.text import describe

__all__ = ["GEMINI"]

_ROLES = {"user": "user", "model": "assistant", "function": "user", "tool": "user"}
# Fields of a part that describe its data, but are not data.
_SIGNED = ("thought_signature", "thoughtSignature")
_SIDE = frozenset({"thought", *_SIGNED, "video_metadata", "videoMetadata", "media_resolution", "mediaResolution"})
_EMPTY_PART = "empty-part"


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

    def answer(self, result: Any) -> _Call | None:
        """Remove and return the first pending call that this result answers; None if there is none."""
        result_id, name = text_of(result, "id"), text_of(result, "name")
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


def _read(messages: Sequence[Any], content: ContentReader, start: int) -> list[MessageView]:
    views: list[MessageView] = []
    pending = _Pending()
    # Results are matched to their calls, so calls before the start are read again.
    first = _last_calls(messages, start)
    for index, message in enumerate(messages[first:], first):
        role = _role(message, index)
        parts = _parts(message, role, index)
        text, tokens = content(message)
        marks = tuple(_marks(parts))
        if role == "assistant":
            calls = list(_calls(parts, index))
            pending = _Pending(calls) if calls else pending
            thinks = bool(parts) and field(parts[0], "thought") is True
            ids = tuple(call.id for call in calls)
            views.append(MessageView(index, role, text, tokens, ids, (), False, thinks, marks, content.shares))
        else:
            results = tuple(_results(parts, pending, index))
            speaker = "tool" if results and len(results) == len(parts) else role
            shares = () if speaker == "tool" else content.shares
            views.append(
                MessageView(index, speaker, text, tokens, (), results, not results, marks=marks, shares=shares)
            )
    return views[start - first :]


def _last_calls(messages: Sequence[Any], end: int) -> int:
    """Return the index of the last message before `end` that makes calls; `end` if there is none."""
    for index in range(end - 1, -1, -1):
        role = _role(messages[index], index)
        if role == "assistant" and any(_calls(_parts(messages[index], role, index), index)):
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
        yield EMPTY_MESSAGE
    if any(map(_is_empty, parts)):
        yield _EMPTY_PART
    if any(map(_has_empty_text, parts)):
        yield EMPTY_TEXT


def _is_empty(part: Any) -> bool:
    """Whether no field has data. Only dicts and objects with a `__dict__` are inspected."""
    members = part if is_mapping(part) else getattr(part, "__dict__", None)
    return members is not None and all(value is None or name in _SIDE for name, value in members.items())


def _has_empty_text(part: Any) -> bool:
    """Whether a part has an empty text; not if it has a signature, because the model sends it and requires it back."""
    if isinstance(part, str):
        return not part
    text = field(part, "text")
    return isinstance(text, str) and not text and filled(part, *_SIGNED) is None


def _either(part: Any, name: str, wire_name: str) -> Any:
    """Return a field, whose name the objects and the JSON of the API spell differently."""
    value = field(part, name)
    return field(part, wire_name) if value is None else value


def _calls(parts: Sequence[Any], index: int) -> Iterator[_Call]:
    for n, part in enumerate(parts):
        call = _either(part, "function_call", "functionCall")
        if call is not None:
            name = id_of(field(call, "name"), index, f"parts[{n}].function_call.name")
            call_id = text_of(call, "id")
            yield _Call(call_id or f"{name} ({index}.{n})", name, bool(call_id))


def _results(parts: Sequence[Any], pending: _Pending, index: int) -> Iterator[str]:
    """Return the ids of the calls that are answered, and remove them from the pending ones."""
    for n, part in enumerate(parts):
        result = _either(part, "function_response", "functionResponse")
        if result is None:
            continue
        call = pending.answer(result)
        if call is None:
            yield id_of(text_of(result, "id") or field(result, "name"), index, f"parts[{n}].function_response.name")
        else:
            yield call.id


def _call_after_model(views: Sequence[MessageView]) -> Iterator[Finding]:
    """Report calls that do not directly follow a user message or results, because a model message comes between."""
    run: list[MessageView] = []
    for view in views:
        if view.role == "assistant" and not view.calls:
            run.append(view)
            continue
        if view.calls:
            yield from map(_spoken_before_call, run)
        run.clear()


def _spoken_before_call(view: MessageView) -> Finding:
    return Finding(
        view.message_index,
        "call-after-model",
        "a model message separates a function call from the user message or results it must follow",
        "Make it a part of the message with the call, or drop it.",
    )


def _user_message(text: str) -> dict[str, Any]:
    return {"role": "user", "parts": [{"text": text}]}


_FAULTS: dict[str, Fault] = {
    EMPTY_MESSAGE: empty_message("text nor other parts"),
    EMPTY_TEXT: EMPTY_TEXT_FAULT,
    _EMPTY_PART: ("the message has an empty part", "Remove the part, or the whole message.", ERROR),
}

GEMINI = Provider(
    "gemini",
    _read,
    partial(pair_adjacent, one_message=True),
    (faults_by_mark(_FAULTS), first_not_user, _call_after_model, ends_with_assistant),
    prices=Prices(message=2, call=12, image=1120, small_image=280, audio=3200),
    duplicate_tools=ERROR,
    user_message=_user_message,
    system_beside=True,
    typical_model="gemini",
)
