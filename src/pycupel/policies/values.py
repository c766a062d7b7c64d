"""The values that only policy documents have: numbers within limits, durations, and the entries of quotas."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from math import nextafter
from typing import Any

from pycupel.codecs.base import Codec, Context, FunctionCodec, adapted, must_be
from pycupel.codecs.records import OPTIONAL, Field, Record
from pycupel.codecs.scalars import FINITE, FLAG, INTEGER, KIND, TEXT, limited
from pycupel.errors import DocumentError, SlicerConfigError
from pycupel.model import ContextKind, CountQuotaEntry, QuotaEntry
from pycupel.model.names import name_key

__all__ = ["COUNT", "LIMIT", "POSITIVE", "POSITIVE_INTEGER", "QUOTA_ENTRY", "SECONDS", "SHARE", "TYPES", "WEIGHT"]

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


# None is "unlimited", because JSON would omit it and TOML does not have it.
LIMIT = FunctionCodec({"anyOf": [POSITIVE_INTEGER.schema(), {"const": "unlimited"}]}, _read_limit, _write_limit)

# From a microsecond to the longest duration that is both a float and a `timedelta`.
_LONGEST = nextafter(timedelta.max.total_seconds(), 0)


def _duration(seconds: float) -> timedelta:
    return timedelta(seconds=seconds)


def _number_of_seconds(duration: timedelta) -> float:
    seconds = duration.total_seconds()
    if seconds > _LONGEST or timedelta(seconds=seconds) != duration:
        raise DocumentError(f"{duration!r} cannot be written exactly as a number of seconds")
    return seconds


SECONDS = adapted(limited(FINITE, low=1e-6, high=_LONGEST, above=0), read=_duration, write=_number_of_seconds)


def _quota_entry(kind: Any, require: float | None = None, cap: float | None = None) -> QuotaEntry:
    """An entry of a file, which must have a limit, unlike one in Python (QS-10). Errors use the words of the file."""
    if require is None and cap is None:
        raise SlicerConfigError("needs minPercent, maxPercent or both")
    least, most = 0.0 if require is None else require, 100.0 if cap is None else cap
    if least > most:
        raise SlicerConfigError(f"minPercent ({least:g}) must not exceed maxPercent ({most:g})")
    return QuotaEntry(kind, least, most)


_PERCENT = limited(FINITE, low=0, high=100)

QUOTA_ENTRY = Record(
    _quota_entry,
    [
        Field("kind", KIND),
        Field("minPercent", _PERCENT, OPTIONAL, "the least share of the budget for the kind", "require"),
        Field("maxPercent", _PERCENT, OPTIONAL, "the greatest share of the budget for the kind", "cap"),
    ],
)
_COUNT_ENTRY = Record(
    CountQuotaEntry,
    [
        Field("kind", KIND),
        Field("requireCount", COUNT, 0, "the least number of selected items"),
        Field("capCount", COUNT, description="the greatest number of selected items"),
    ],
)

TYPES: Mapping[Any, Codec] = {
    bool: FLAG,
    int: INTEGER,
    float: FINITE,
    str: TEXT,
    ContextKind: KIND,
    timedelta: SECONDS,
    QuotaEntry: QUOTA_ENTRY,
    CountQuotaEntry: _COUNT_ENTRY,
}
"""The codec for each type that an option may have, beside strategies."""
