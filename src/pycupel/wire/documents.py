"""Whole documents: a value and its dictionary, a value and its JSON."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from pycupel.codecs.base import Codec, Context
from pycupel.codecs.jsontext import format_json, parse_json
from pycupel.model.checks import wrong_type
from pycupel.wire import items, reports

_Value = TypeVar("_Value")

_CODECS: Mapping[type[Any], Codec] = {**items.CODECS, **reports.CODECS}
_SUPPORTED = ", ".join([*(cls.__name__ for cls in _CODECS), "MessageSelection"])


def to_dict(value: object, *, allow_nan: bool = False) -> dict[str, Any]:
    """Return a value as a dictionary of plain JSON values.

    Args:
        value: An item, a budget, a report, a part of a report, or a selection from a chat history.
        allow_nan: Write NaN and infinities, which are not JSON, instead of rejecting them.

    Raises:
        TypeError: values of that type have no wire format.
        DocumentError: a part cannot be written: NaN or an infinity without `allow_nan`, metadata that is not JSON or
            nested more than 64 levels deep, a lone surrogate. `path` says where.
    """
    document: dict[str, Any] = _codec("value", value, type(value)).write(value, Context(allow_nan=allow_nan))
    return document


def from_dict(cls: type[_Value], data: Mapping[str, Any], *, strict: bool = False, allow_nan: bool = False) -> _Value:
    """Return the value that a dictionary describes.

    An unknown inclusion reason or stage comes back as a `str`.

    Args:
        cls: What the dictionary describes; `ExclusionReason` stands for any of them.
        data: The dictionary. Fields may be spelled `maxTokens` or `max_tokens`; null means absent.
        strict: Reject unknown keys instead of ignoring them.
        allow_nan: Accept NaN and infinities as numbers.

    Raises:
        TypeError: there is no wire format for `cls`.
        DocumentError: the dictionary does not describe one; `path` says where it is wrong.
    """
    value: _Value = _codec("cls", cls, cls).read(data, Context(strict, allow_nan))
    return value


def dumps(value: object, *, indent: int | None = None, allow_nan: bool = False) -> str:
    """Return a value as JSON.

    Args:
        value: What `to_dict` takes.
        indent: The indent of each level; None for a single line.
        allow_nan: Write NaN and infinities, which are not JSON, instead of rejecting them.

    Raises:
        TypeError: values of that type have no wire format.
        DocumentError: a part cannot be written; `path` says where.
    """
    return format_json(to_dict(value, allow_nan=allow_nan), indent)


def loads(cls: type[_Value], text: str | bytes, *, strict: bool = False, allow_nan: bool = False) -> _Value:
    """Return the value that a JSON text describes.

    Args:
        cls: What the text describes, as for `from_dict`.
        text: The text, as a str or UTF-8 bytes.
        strict: Reject unknown keys instead of ignoring them.
        allow_nan: Accept NaN and infinities as numbers.

    Raises:
        TypeError: there is no wire format for `cls`, or the text is neither a str nor bytes.
        DocumentError: the text is not JSON, or does not describe one; `path` says where it is wrong.
    """
    codec = _codec("cls", cls, cls)
    value: _Value = codec.read(parse_json(text), Context(strict, allow_nan))
    return value


def _codec(name: str, given: object, cls: Any) -> Codec:
    codec = None
    if isinstance(cls, type):
        codec = _CODECS.get(cls) or reports.REASON_CODECS.get(cls)
        if cls.__module__.startswith("pycupel.messages."):
            # Selections from chat histories are a layer above this package.
            from pycupel.messages.wire import CODECS  # noqa: PLC0415

            codec = CODECS.get(cls)
    if codec is None:
        raise wrong_type(name, f"one of {_SUPPORTED}", given)
    return codec
