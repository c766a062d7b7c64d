"""Whole documents: a value and its dictionary, a value and its JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, TypeVar

from pycupel.diagnostics import (
    CountRequirementShortfall,
    ExcludedItem,
    ExclusionReason,
    IncludedItem,
    InclusionReason,
    OverflowEvent,
    SelectionReport,
    TraceEvent,
    UnknownReason,
)
from pycupel.diagnostics.reasons import EXCLUSION_REASONS
from pycupel.errors import DocumentError
from pycupel.model import ContextBudget, ContextItem, ScoredItem
from pycupel.model.checks import wrong_type
from pycupel.wire import reports
from pycupel.wire.items import BUDGET, ITEM, SCORED_ITEM
from pycupel.wire.values import Codec, Mode

__all__ = ["dumps", "from_dict", "loads", "parse", "to_dict", "unique", "unparse"]

_Value = TypeVar("_Value")

_CODECS: Mapping[type[Any], Codec] = {
    ContextItem: ITEM,
    ContextBudget: BUDGET,
    ScoredItem: SCORED_ITEM,
    SelectionReport: reports.REPORT,
    IncludedItem: reports.INCLUDED_ITEM,
    ExcludedItem: reports.EXCLUDED_ITEM,
    TraceEvent: reports.EVENT,
    OverflowEvent: reports.OVERFLOW_EVENT,
    CountRequirementShortfall: reports.SHORTFALL,
    InclusionReason: reports.INCLUSION_REASON,
    ExclusionReason: reports.EXCLUSION_REASON,
}
_SUPPORTED = ", ".join(cls.__name__ for cls in _CODECS)
_EACH_REASON: list[type[ExclusionReason]] = [*EXCLUSION_REASONS.values(), UnknownReason]
_REASONS: Mapping[type[Any], Codec] = {cls: reports.variant(cls) for cls in _EACH_REASON}


def to_dict(value: object, *, allow_nan: bool = False) -> dict[str, Any]:
    """The value as a dictionary of plain JSON values.

    Raises:
        TypeError: values of that type have no wire format.
        DocumentError: something in it cannot be written: NaN or an infinity without `allow_nan`, metadata that is not
            JSON, a lone surrogate.
    """
    document: dict[str, Any] = _codec("value", value, type(value)).write(value, Mode(allow_nan=allow_nan))
    return document


def from_dict(cls: type[_Value], data: Mapping[str, Any], *, strict: bool = False, allow_nan: bool = False) -> _Value:
    """The value that a dictionary describes.

    An inclusion reason that is not known comes back as a `str`, and so does a stage.

    Args:
        cls: What the dictionary describes; `ExclusionReason` stands for any of them.
        data: The dictionary. Fields may be spelled `maxTokens` or `max_tokens`; null means absent.
        strict: Refuse keys that are not known, instead of ignoring them.
        allow_nan: Accept NaN and infinities as numbers.

    Raises:
        TypeError: there is no wire format for `cls`.
        DocumentError: the dictionary does not describe one; `path` says where.
    """
    value: _Value = _codec("cls", cls, cls).read(data, Mode(strict, allow_nan))
    return value


def dumps(value: object, *, indent: int | None = None, allow_nan: bool = False) -> str:
    """The value as JSON, on one line unless there is an `indent`. Raises like `to_dict`."""
    return unparse(to_dict(value, allow_nan=allow_nan), indent)


def loads(cls: type[_Value], text: str | bytes, *, strict: bool = False, allow_nan: bool = False) -> _Value:
    """The value that a JSON text describes. Takes what `from_dict` takes, and raises like it."""
    codec = _codec("cls", cls, cls)
    value: _Value = codec.read(parse(text), Mode(strict, allow_nan))
    return value


def parse(text: Any, *, unique_keys: bool = False) -> Any:
    if not isinstance(text, (str, bytes, bytearray)):
        raise wrong_type("text", "a str or bytes", text)
    try:
        return json.loads(text, object_pairs_hook=unique if unique_keys else None)
    except json.JSONDecodeError as error:
        line = f"line {error.lineno}, " if error.lineno > 1 else ""
        raise DocumentError(f"is not JSON: {error.msg} at {line}column {error.colno}") from None
    except DocumentError:
        raise
    except (ValueError, RecursionError) as error:
        raise DocumentError(f"cannot be read as JSON: {error}") from None


def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Of two members with one name, JSON parsers take the last and say nothing."""
    members = dict(pairs)
    if len(members) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise DocumentError(f"an object has two members {twice!r}")
    return members


def unparse(document: dict[str, Any], indent: int | None = None) -> str:
    try:
        return json.dumps(document, ensure_ascii=False, indent=indent)
    except (ValueError, RecursionError) as error:
        raise DocumentError(f"cannot be written as JSON: {error}") from None


def _codec(name: str, given: object, cls: Any) -> Codec:
    if isinstance(cls, type):
        codec = _CODECS.get(cls) or _REASONS.get(cls)
        if codec is not None:
            return codec
    raise wrong_type(name, f"one of {_SUPPORTED}", given)
