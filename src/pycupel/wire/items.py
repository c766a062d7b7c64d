"""The fields of items and budgets. Data model: ContextItem, ContextBudget; in camelCase, as that chapter has them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from pycupel.codecs.base import Codec, Context, FunctionCodec, describe_value
from pycupel.codecs.containers import list_of, map_of
from pycupel.codecs.records import OPTIONAL, Field, Record
from pycupel.codecs.scalars import FLAG, INTEGER, KIND, NUMBER, OBJECT, SOURCE, TEXT, text
from pycupel.errors import DocumentError
from pycupel.model import ContextBudget, ContextItem, ScoredItem

__all__ = ["BUDGET", "CODECS", "ITEM"]

# Python reads more forms than RFC 3339 has, among them some without a time zone.
_RFC_3339 = re.compile(r"\d{4}-\d\d-\d\d[Tt ](?:[01]\d|2[0-3]):\d\d:\d\d(?:\.\d+)?(?:[Zz]|[+-]\d\d:\d\d)", re.ASCII)


def _read_timestamp(value: Any, context: Context) -> datetime:
    written = text(value, context)
    try:
        if _RFC_3339.fullmatch(written):
            return datetime.fromisoformat(written.upper()).astimezone(UTC)
    except (ValueError, OverflowError):
        pass
    raise DocumentError(f"must be a time with its zone, like 2026-01-05T12:00:00Z, not {describe_value(written)}")


def _write_timestamp(value: datetime, _: Context) -> str:
    return value.isoformat().replace("+00:00", "Z")


_TIMESTAMP = FunctionCodec({"type": "string", "format": "date-time"}, _read_timestamp, _write_timestamp)

ITEM = Record(
    ContextItem,
    [
        Field("content", TEXT),
        Field("tokens", INTEGER),
        Field("kind", KIND, OPTIONAL),
        Field("source", SOURCE, OPTIONAL),
        Field("priority", INTEGER, None),
        Field("tags", list_of(TEXT), ()),
        Field("metadata", OBJECT, {}),
        Field("timestamp", _TIMESTAMP, None),
        Field("futureRelevanceHint", NUMBER, None),
        Field("pinned", FLAG, False),
        Field("originalTokens", INTEGER, None),
    ],
)

BUDGET = Record(
    ContextBudget,
    [
        Field("maxTokens", INTEGER),
        Field("targetTokens", INTEGER, OPTIONAL),
        Field("outputReserve", INTEGER, 0),
        Field("reservedSlots", map_of(KIND, INTEGER), {}),
        Field("estimationSafetyMarginPercent", NUMBER, 0.0),
    ],
)

CODECS: Mapping[type[Any], Codec] = {
    ContextItem: ITEM,
    ContextBudget: BUDGET,
    ScoredItem: Record(ScoredItem, [Field("item", ITEM), Field("score", NUMBER)]),
}
"""The codec of each public class of the data model."""
