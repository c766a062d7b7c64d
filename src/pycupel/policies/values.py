"""Codecs for values that occur only in policies: limited numbers, durations and quota entries."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from math import nextafter
from typing import Any

from pycupel.codecs.base import Codec, Context, FunctionCodec, adapted, must_be
from pycupel.codecs.records import OPTIONAL, Field, Record
from pycupel.codecs.scalars import FINITE, FLAG, INTEGER, KIND, TEXT, choice, limited
from pycupel.errors import DocumentError
from pycupel.model import ContextKind, CountQuotaEntry, QuotaEntry, ScarcityBehavior
from pycupel.model.enums import ScarcityLike
from pycupel.model.names import name_key

__all__ = ["COUNT", "LIMIT", "POSITIVE", "POSITIVE_INTEGER", "QUOTA_ENTRY", "SECONDS", "SHARE", "VALUE_TYPES", "WEIGHT"]

WEIGHT = limited(FINITE, low=0)
POSITIVE = limited(FINITE, above=0)
SHARE = limited(FINITE, low=0, high=1)
COUNT = limited(INTEGER, low=0)
POSITIVE_INTEGER = limited(INTEGER, above=0)


def _read_limit(value: Any, context: Context) -> Any:
    if not isinstance(value, str):
        return POSITIVE_INTEGER.read(value, context)
    if name_key(value) != "unlimited":
        raise must_be('an integer or "unlimited"', value)
    return None


def _write_limit(value: Any, context: Context) -> Any:
    return "unlimited" if value is None else POSITIVE_INTEGER.write(value, context)


# None is written as "unlimited", because null means absent, and TOML has no null.
LIMIT = FunctionCodec({"anyOf": [POSITIVE_INTEGER.schema(), {"const": "unlimited"}]}, _read_limit, _write_limit)

# The longest duration that both a float and a `timedelta` can express.
_LONGEST = nextafter(timedelta.max.total_seconds(), 0)


def _number_of_seconds(duration: timedelta) -> float:
    seconds = duration.total_seconds()
    if seconds > _LONGEST or timedelta(seconds=seconds) != duration:
        raise DocumentError(f"{duration!r} cannot be written exactly as a number of seconds")
    return seconds


SECONDS = adapted(
    limited(FINITE, low=1e-6, high=_LONGEST, above=0),
    read=lambda seconds: timedelta(seconds=seconds),
    write=_number_of_seconds,
)


def _quota_entry(kind: Any, **shares: float) -> QuotaEntry:
    """Build an entry. Unlike in Python, it must have a share (QS-10). Errors use the names of the file's fields."""
    if not shares:
        raise DocumentError("needs minPercent, maxPercent or both")
    least, most = shares.get("require", 0.0), shares.get("cap", 100.0)
    if least > most:
        raise DocumentError(f"minPercent ({least:g}) must not exceed maxPercent ({most:g})", path="minPercent")
    return QuotaEntry(kind, least, most)


_PERCENT = limited(FINITE, low=0, high=100)

QUOTA_ENTRY = Record(
    _quota_entry,
    [
        Field("kind", KIND),
        Field("minPercent", _PERCENT, OPTIONAL, "the minimum share of the budget for the kind", "require"),
        Field("maxPercent", _PERCENT, OPTIONAL, "the maximum share of the budget for the kind", "cap"),
    ],
)
_COUNT_ENTRY = Record(
    CountQuotaEntry,
    [
        Field("kind", KIND),
        Field("requireCount", COUNT, 0, "the minimum number of selected items"),
        Field("capCount", COUNT, description="the maximum number of selected items"),
    ],
)

VALUE_TYPES: Mapping[Any, Codec] = {
    bool: FLAG,
    int: INTEGER,
    float: FINITE,
    str: TEXT,
    ContextKind: KIND,
    timedelta: SECONDS,
    QuotaEntry: QUOTA_ENTRY,
    CountQuotaEntry: _COUNT_ENTRY,
    ScarcityLike: choice(ScarcityBehavior),
}
"""The codec for each type of option, except strategies."""
