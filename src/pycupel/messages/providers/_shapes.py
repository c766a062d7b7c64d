"""Check the shape of a message: its role, its content, and the ids in it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pycupel.errors import MessageShapeError
from pycupel.fields import field, is_list, text_of
from pycupel.model import ContextItem
from pycupel.text import describe

# Where in a response the part is that belongs in a history, by the field that identifies the response.
_IN_RESPONSES = {
    "choices": "choices[0].message",
    "candidates": "candidates[0].content",
    "output": "output",
    "message": "message",
}


def role_of(message: Any, index: int, roles: Mapping[str, str], hint: str | None = None) -> str:
    """Translate the provider's name for a role."""
    role = field(message, "role")
    if isinstance(role, str) and role in roles:
        return roles[role]
    if role is None:
        raise MessageShapeError(f"the message has no role: {describe(message)}", index, "role", hint=_advice(message))
    raise MessageShapeError(f"must be one of {', '.join(roles)}, not {describe(role)}", index, "role", hint=hint)


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
    if is_list(value):
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
    for n, part in enumerate(entries(content, index, "content", "a string or a list of parts")):
        if isinstance(part, str):
            continue
        kind, key = field(part, "type"), f"content[{n}].type"
        if kind is None and not _is_text(part):
            raise MessageShapeError(f"part has no type: {describe(part)}", index, key)
        if kind is not None and not isinstance(kind, str):
            raise MessageShapeError(f"must be a string naming the part's type, not {describe(kind)}", index, key)


def _is_text(part: Any) -> bool:
    return any(isinstance(field(part, name), str) for name in ("text", "refusal", "reasoning"))
