"""Gemini: contents with parts, the model's and the user's in turn, and calls that need no ids."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple

from pycupel.errors import MessageShapeError
from pycupel.messages.content import ContentReader, Prices
from pycupel.messages.fields import field, is_mapping
from pycupel.messages.providers._base import Finding, MessageView, Provider, entries, id_of, role_of
from pycupel.messages.providers._pairing import pair_adjacent
from pycupel.messages.providers._rules import ends_with_assistant, first_not_user
from pycupel.model.checks import describe

__all__ = ["GEMINI"]

_ROLES = {"user": "user", "model": "assistant", "function": "user", "tool": "user"}


class _Call(NamedTuple):
    """A pending call. One without an id gets one from its position."""

    id: str
    name: str
    has_id: bool

    def is_answered_by(self, result: Any) -> bool:
        result_id = field(result, "id")
        if self.has_id and result_id:
            return bool(self.id == result_id)
        return bool(self.name == field(result, "name"))


def _read(messages: Sequence[Any], content: ContentReader) -> list[MessageView]:
    views: list[MessageView] = []
    pending: list[_Call] = []
    for index, message in enumerate(messages):
        role = _role(message, index)
        parts = _parts(message, role, index)
        text, tokens = content(message)
        if role == "assistant":
            calls = list(_calls(parts, index))
            pending = calls.copy() or pending
            thinks = bool(parts) and field(parts[0], "thought") is True
            views.append(MessageView(index, role, text, tokens, tuple(call.id for call in calls), (), False, thinks))
        else:
            results = tuple(_results(parts, pending, index))
            only_results = bool(results) and len(results) == len(parts)
            views.append(MessageView(index, "tool" if only_results else role, text, tokens, (), results, not results))
    return views


def _role(message: Any, index: int) -> str:
    if field(message, "role") is None and field(message, "parts") is not None:
        return "user"
    return role_of(message, index, _ROLES, hint="Instructions go into config.system_instruction.")


def _parts(message: Any, role: str, index: int) -> Sequence[Any]:
    parts = field(message, "parts")
    if isinstance(parts, str):
        return (parts,)
    if parts is None and role == "assistant" and field(message, "content") is None:
        # The model may have had nothing to say.
        return ()
    parts = entries(parts, index, "parts")
    for n, part in enumerate(parts):
        if not isinstance(part, str) and not is_mapping(part) and not hasattr(part, "text"):
            raise MessageShapeError(f"must be a part of a content, not {describe(part)}", index, f"parts[{n}]")
    return parts


def _either(part: Any, name: str, wire_name: str) -> Any:
    """The objects and the JSON of the API spell names differently."""
    value = field(part, name)
    return field(part, wire_name) if value is None else value


def _call_of(part: Any) -> Any:
    return _either(part, "function_call", "functionCall")


def _result_of(part: Any) -> Any:
    return _either(part, "function_response", "functionResponse")


def _calls(parts: Sequence[Any], index: int) -> Iterator[_Call]:
    for n, part in enumerate(parts):
        call = _call_of(part)
        if call is not None:
            name = id_of(field(call, "name"), index, f"parts[{n}].function_call.name")
            call_id = field(call, "id")
            yield _Call(call_id or f"{name} ({index}.{n})", name, bool(call_id))


def _results(parts: Sequence[Any], pending: list[_Call], index: int) -> Iterator[str]:
    """The ids of the calls that are answered, which are no longer pending."""
    for n, part in enumerate(parts):
        result = _result_of(part)
        if result is None:
            continue
        call = next((call for call in pending if call.is_answered_by(result)), None)
        if call is None:
            yield id_of(field(result, "id") or field(result, "name"), index, f"parts[{n}].function_response.name")
        else:
            pending.remove(call)
            yield call.id


def _call_after_model(views: Sequence[MessageView]) -> Iterator[Finding]:
    """A call follows a user message or results directly: a message of the model in between is refused."""
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
        view.index,
        "call-after-model",
        "a message of the model separates a function call from the user message or results before it",
        "Make it a part of the message with the call, or drop it.",
    )


GEMINI = Provider(
    "gemini",
    _read,
    partial(pair_adjacent, one_message=True),
    (first_not_user, _call_after_model, ends_with_assistant),
    prices=Prices(message=2, image=258, small_image=258),
)
