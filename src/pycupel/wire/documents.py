"""Convert values to and from dictionaries and JSON text."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from pycupel.codecs.base import Codec, Context
from pycupel.codecs.jsontext import format_json, parse_json
from pycupel.model.checks import wrong_type
from pycupel.wire import items, reports

__all__ = ["dumps", "from_dict", "loads", "to_dict"]

_Value = TypeVar("_Value")

_CODECS: Mapping[type[Any], Codec] = {**items.CODECS, **reports.CODECS}
_SUPPORTED = ", ".join([*(cls.__name__ for cls in _CODECS), "MessageSelection"])


def to_dict(value: object, *, allow_nan: bool = False) -> dict[str, Any]:
    """Return a value as a dictionary of plain JSON values.

    Args:
        value: An item, a budget, a report, a part of a report, or a selection from a chat history.
        allow_nan: Write NaN and infinities, which are not JSON, instead of rejecting them.

    Raises:
        TypeError: there is no wire format for the type of the value.
        DocumentError: a part cannot be written: NaN or an infinity without `allow_nan`, metadata that is not JSON or
            is nested more than 64 levels deep, or a lone surrogate. `path` says where.
    """
    document: dict[str, Any] = _codec("value", value, type(value)).write(value, Context(allow_nan=allow_nan))
    return document


def from_dict(cls: type[_Value], data: Mapping[str, Any], *, strict: bool = False, allow_nan: bool = False) -> _Value:
    """Return the value that a dictionary describes.

    An unknown inclusion reason or stage is returned as a `str`.

    Args:
        cls: The class of the value. `ExclusionReason` means any exclusion reason.
        data: The dictionary. Fields may be spelled `maxTokens` or `max_tokens`; null means absent.
        strict: Reject unknown keys instead of ignoring them.
        allow_nan: Accept NaN and infinities as numbers.

    Raises:
        TypeError: there is no wire format for `cls`.
        DocumentError: the dictionary does not describe a valid value; `path` says what is wrong.
    """
    value: _Value = _codec("cls", cls, cls).read(data, Context(strict, allow_nan))
    return value


def dumps(value: object, *, indent: int | None = None, allow_nan: bool = False) -> str:
    """Return a value as JSON.

    Args:
        value: Any value that `to_dict` accepts.
        indent: The indent of each level; None for a single line.
        allow_nan: Write NaN and infinities, which are not JSON, instead of rejecting them.

    Raises:
        TypeError: there is no wire format for the type of the value.
        DocumentError: a part cannot be written; `path` says where.
    """
    return format_json(to_dict(value, allow_nan=allow_nan), indent)


def loads(cls: type[_Value], text: str | bytes, *, strict: bool = False, allow_nan: bool = False) -> _Value:
    """Return the value that a JSON text describes.

    Args:
        cls: The class of the value, as for `from_dict`.
        text: The text, as a str or UTF-8 bytes.
        strict: Reject unknown keys instead of ignoring them.
        allow_nan: Accept NaN and infinities as numbers.

    Raises:
        TypeError: there is no wire format for `cls`, or the text is neither a str nor bytes.
        DocumentError: the text is not JSON, or does not describe a valid value; `path` says what is wrong.
    """
    codec = _codec("cls", cls, cls)
    value: _Value = codec.read(parse_json(text), Context(strict, allow_nan))
    return value


def _codec(name: str, given: object, cls: Any) -> Codec:
    codec = None
    if isinstance(cls, type):
        codec = _CODECS.get(cls) or reports.REASON_CODECS.get(cls)
        if cls.__module__.startswith("pycupel.messages."):
            # Imported late, because `messages` is a higher layer.
            from pycupel.messages.wire import CODECS  # noqa: PLC0415

            codec = CODECS.get(cls)
    if codec is None:
        raise wrong_type(name, f"one of {_SUPPORTED}", given)
    return codec
