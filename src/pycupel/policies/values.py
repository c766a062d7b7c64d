"""The values that only policy documents have: numbers within limits, durations, and a limit that may be absent."""

from __future__ import annotations

from datetime import timedelta
from math import nextafter
from typing import Any

from pycupel.codecs.base import Context, FunctionCodec, must_be
from pycupel.codecs.scalars import FINITE, INTEGER, limited
from pycupel.errors import DocumentError
from pycupel.model.names import name_key

__all__ = ["COUNT", "LIMIT", "PERCENT", "POSITIVE", "POSITIVE_INTEGER", "SECONDS", "SHARE", "WEIGHT"]

WEIGHT = limited(FINITE, low=0)
POSITIVE = limited(FINITE, above=0)
SHARE = limited(FINITE, low=0, high=1)
PERCENT = limited(FINITE, low=0, high=100)
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
_NUMBER_OF_SECONDS = limited(FINITE, low=1e-6, high=_LONGEST, above=0)


def _read_seconds(value: Any, context: Context) -> timedelta:
    return timedelta(seconds=_NUMBER_OF_SECONDS.read(value, context))


def _write_seconds(value: timedelta, context: Context) -> Any:
    seconds = value.total_seconds()
    if seconds > _LONGEST or timedelta(seconds=seconds) != value:
        raise DocumentError(f"{value!r} cannot be written exactly as a number of seconds")
    return _NUMBER_OF_SECONDS.write(seconds, context)


SECONDS = FunctionCodec(_NUMBER_OF_SECONDS.schema(), _read_seconds, _write_seconds)
