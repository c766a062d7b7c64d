"""How to look into messages and documents of any make: dicts, other mappings, and the objects of libraries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, TypeGuard

if TYPE_CHECKING:
    from json import JSONEncoder

__all__ = [
    "as_json",
    "as_plain",
    "attribute",
    "field",
    "filled",
    "is_filled",
    "is_list",
    "is_mapping",
    "rewritten",
    "text_of",
]


_PLAIN: tuple[type, ...] = (str, bytes, int, float, list, tuple, dict)


def field(value: Any, key: str) -> Any:
    """A key of a dict or an attribute of any other object; None if it is missing."""
    # Most are dicts, and comparing the class is much cheaper than asking whether something is a mapping.
    if value.__class__ is dict:
        return value.get(key)
    if value is None:
        return None
    return value.get(key) if is_mapping(value) else attribute(value, key)


def text_of(value: Any, key: str) -> str:
    """A field that is a text; an empty one if it is missing or anything else."""
    text = field(value, key)
    return text if isinstance(text, str) else ""


def is_filled(value: Any) -> bool:
    """Whether it holds something. Objects of unknown classes are not asked: their answer may be an error."""
    if value is None:
        return False
    return bool(value) if isinstance(value, _PLAIN) else True


def filled(value: Any, *names: str) -> Any:
    """The first of some fields that holds something; None if there is none."""
    return next((found for name in names if is_filled(found := field(value, name))), None)


def attribute(value: Any, name: str) -> Any:
    """An attribute; None for a method, which some libraries have where others have a text."""
    found = getattr(value, name, None)
    return None if callable(found) else found


def is_mapping(value: Any) -> TypeGuard[Mapping[str, Any]]:
    """Whether it has fields by key rather than by attribute."""
    return value.__class__ is dict or isinstance(value, Mapping)


def is_list(value: Any) -> TypeGuard[Sequence[Any]]:
    """Whether it is a list of parts. An iterator is not: reading would use it up."""
    if value.__class__ is list:
        return True
    # Most others are dicts and texts, and asking whether something is a sequence takes long.
    return not isinstance(value, (dict, str, bytes)) and isinstance(value, Sequence)


def as_json(value: Any) -> str:
    """Arguments and results as the model reads them: a text as it is, anything else as JSON without blanks."""
    return value if isinstance(value, str) else _encoder().encode(value)


def rewritten(text: str) -> str:
    """A text as JSON with blanks. If it is JSON already, its value is."""
    from json import dumps, loads  # noqa: PLC0415 - few providers do that

    try:
        return dumps(loads(text), ensure_ascii=False)
    except ValueError:
        return dumps(text, ensure_ascii=False)


def as_plain(value: Any) -> Any:
    """An object by its attributes; Pydantic's know how to become a dict."""
    if hasattr(value, "model_dump"):
        return value.model_dump(exclude_none=True)
    return getattr(value, "__dict__", None) or str(value)


@cache
def _encoder() -> JSONEncoder:
    from json import JSONEncoder  # noqa: PLC0415 - few histories hold structures

    return JSONEncoder(ensure_ascii=False, separators=(",", ":"), skipkeys=True, default=as_plain)
