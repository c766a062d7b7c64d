"""Read fields of messages and documents of any type: dicts, other mappings, and library objects."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from dataclasses import is_dataclass, replace
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any, TypeGuard

if TYPE_CHECKING:
    from json import JSONEncoder


class ContentError(Exception):
    """A field of a message cannot be read. The caller adds the index of the message.

    Attributes:
        key: The name of the field.
        source: The message that was being read.
    """

    def __init__(self, message: str, key: str, source: Any = None) -> None:
        super().__init__(message)
        self.key = key
        self.source = source


MESSAGE_KEYS = ("messages", "contents", "input")
"""Where requests have their messages, by the names of OpenAI and Anthropic, Gemini, and Responses."""

_PLAIN: tuple[type, ...] = (str, bytes, int, float, list, tuple, dict)
_SCALARS = frozenset({str, int, float, bool, bytes, type(None)})
# Mistral's library has an object of this class where a field is missing.
_UNSET = "Unset"


def field(value: Any, key: str) -> Any:
    """Return a key of a dict or an attribute of any other object; None if it is missing."""
    # Most are dicts, and comparing the class is much cheaper than `isinstance(value, Mapping)`.
    if value.__class__ is dict:
        return value.get(key)
    if value is None:
        return None
    return value.get(key) if is_mapping(value) else attribute(value, key)


def text_of(value: Any, key: str) -> str:
    """Return a field that is a text; an empty text if it is missing or something else."""
    text = field(value, key)
    return text if isinstance(text, str) else ""


def is_filled(value: Any) -> bool:
    """Whether a value is not empty. Objects of unknown classes count as filled, because asking them may raise."""
    if value is None:
        return False
    return bool(value) if isinstance(value, _PLAIN) else True


def filled(value: Any, *names: str) -> Any:
    """Return the first of these fields that is not empty; None if all are."""
    return next((found for name in names if is_filled(found := field(value, name))), None)


def attribute(value: Any, name: str) -> Any:
    """Return an attribute; None for a method, because some libraries have a method where others have a text."""
    on_class = _on_pydantic_class(value.__class__)
    if on_class is not None and name not in on_class and name not in value.__dict__:
        # Pydantic takes fifty times as long to say that there is no such attribute.
        found = _extra_of(value).get(name)
    else:
        found = getattr(value, name, None)
    return None if found is None or callable(found) or type(found).__name__ == _UNSET else found


@lru_cache(maxsize=512)
def _on_pydantic_class(cls: Any) -> frozenset[str] | None:
    """Return the attributes of a class of Pydantic models, whose others are in their instances; None for others."""
    is_model = isinstance(cls.__dict__.get("__pydantic_fields__"), dict)
    # A class with a `__getattr__` of its own may have any attribute.
    looked_up = [each.__module__ for each in cls.__mro__ if "__getattr__" in each.__dict__]
    return frozenset(dir(cls)) if is_model and looked_up == ["pydantic.main"] else None


def _extra_of(model: Any) -> dict[str, Any]:
    """Return the fields of a model that its class does not declare."""
    extra: dict[str, Any] | None = model.__pydantic_extra__
    return extra or {}


@lru_cache(maxsize=512)
def _properties(cls: Any, names: frozenset[str]) -> list[str]:
    """Return those of the names that a class of Pydantic models has beside its fields, except methods."""
    here = [name for name in names if hasattr(cls, name) and name not in cls.__pydantic_fields__]
    return [name for name in here if not callable(getattr(cls, name))]


def as_data(value: Any, names: frozenset[str]) -> Any:
    """Convert Pydantic models, and those inside lists and dicts, to dicts of their fields that are not None.

    Objects of other classes stay, because nobody knows their fields.

    Args:
        value: A model, or what may have some inside.
        names: What is also read from a model if it is a property or a constant of its class.
    """
    kind = value.__class__
    if kind in _SCALARS:
        return value
    if kind is list:
        return [as_data(each, names) for each in value]
    if kind is dict:
        return {name: each if each.__class__ in _SCALARS else as_data(each, names) for name, each in value.items()}
    if isinstance(value, str):
        # An enumeration, or a text of LangChain's, which can also be called.
        return str.__str__(value)
    if _on_pydantic_class(kind) is None:
        return value
    members = {**value.__dict__, **_extra_of(value)}
    members |= {name: attribute(value, name) for name in _properties(kind, names)}
    return {
        name: each if each.__class__ in _SCALARS else as_data(each, names)
        for name, each in members.items()
        if each is not None and type(each).__name__ != _UNSET
    }


def is_mapping(value: Any) -> TypeGuard[Mapping[str, Any]]:
    """Whether a value has fields by key rather than by attribute."""
    return value.__class__ is dict or isinstance(value, Mapping)


def is_list(value: Any) -> TypeGuard[Sequence[Any]]:
    """Whether a value is a list of parts. An iterator is not, because reading would exhaust it."""
    if value.__class__ is list:
        return True
    # Most others are dicts and texts, and `isinstance(value, Sequence)` is slow.
    return not isinstance(value, (dict, str, bytes)) and isinstance(value, Sequence)


def as_json(value: Any) -> str:
    """Write arguments and results as the model reads them: a text as it is, anything else as compact JSON."""
    return value if isinstance(value, str) else _encoder().encode(value)


def rewritten(text: str) -> str:
    """Write a text as JSON with spaces. JSON is parsed and written again; any other text becomes a JSON string."""
    from json import dumps, loads  # noqa: PLC0415 - few providers need it

    try:
        return dumps(loads(text), ensure_ascii=False)
    except (ValueError, RecursionError):
        return dumps(text, ensure_ascii=False)


def as_plain(value: Any) -> Any:
    """Convert an object to a dict of its attributes; Pydantic models convert themselves."""
    if hasattr(value, "model_dump"):
        return value.model_dump(exclude_none=True)
    if isinstance(value, (bytes, bytearray)):
        return value.hex()
    return getattr(value, "__dict__", None) or str(value)


def changed(value: Any, **changes: Any) -> Any:
    """Copy a dict, a mapping, a Pydantic model, a dataclass or any other object with other fields."""
    if is_mapping(value):
        # The keys keep their order, so that the prompt prefix stays the same.
        kept = {**value, **changes}
        for key in [key for key, each in changes.items() if each is None]:
            del kept[key]
        return kept
    if hasattr(value, "model_copy"):
        return value.model_copy(update=changes)
    if is_dataclass(value) and not isinstance(value, type):
        return replace(value, **changes)
    other = copy.copy(value)
    for name, each in changes.items():
        setattr(other, name, each)
    return other


@cache
def _encoder() -> JSONEncoder:
    from json import JSONEncoder  # noqa: PLC0415 - few histories hold structures

    return JSONEncoder(ensure_ascii=False, separators=(",", ":"), skipkeys=True, default=as_plain)
