"""Read parsed JSON of unknown types: a value of the wrong type counts as empty."""

from __future__ import annotations

from typing import Any, cast

__all__ = ["as_dict", "as_dicts", "as_name", "text_of"]

# Where parts keep their text.
_TEXTS = ("text", "content", "parts", "output")


def as_dict(value: object) -> dict[str, Any]:
    """Return the value if it is an object, or else an empty one."""
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def as_dicts(value: Any) -> list[dict[str, Any]]:
    """Return the objects in an array; none if the value is not an array."""
    items: list[Any] = value if value.__class__ is list else []
    return [item for item in items if item.__class__ is dict]


def as_name(value: object) -> str | None:
    """Return the value if it is a string, else None: an id may be a list, which is not hashable."""
    return value if isinstance(value, str) else None


def text_of(value: Any) -> str:
    """Return the text in a value: itself, or that of its parts."""
    if isinstance(value, str):
        return value
    if value.__class__ is list:
        return "\n".join(filter(None, map(text_of, value)))
    return next((text_of(value[name]) for name in _TEXTS if as_dict(value).get(name)), "")
