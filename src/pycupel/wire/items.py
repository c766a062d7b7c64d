"""The fields of items and budgets, with the specification's names, in camelCase."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime
from functools import lru_cache
from math import isfinite
from typing import Any

from pycupel.codecs.base import Codec, Context, must_be
from pycupel.codecs.records import OPTIONAL, Field, Record
from pycupel.codecs.values import FLAG, INTEGER, KIND, NUMBER, OBJECT, SOURCE, TEXT, limited, list_of, map_of
from pycupel.model import ContextBudget, ContextItem, ContextKind, ContextSource
from pycupel.model.item import trusted_item
from pycupel.scorers.fields import MetadataTrustScorer
from pycupel.values import FrozenDict

# Python accepts more forms than RFC 3339, some of them without a time zone.
_is_rfc_3339 = re.compile(
    r"\d{4}-\d\d-\d\d[Tt ](?:[01]\d|2[0-3]):\d\d:\d\d(?:\.\d+)?(?:[Zz]|[+-]\d\d:\d\d)", re.ASCII
).fullmatch

# Most times are in UTC, to the second, millisecond or microsecond. For each of these lengths, every third character
# from the fifth on is a separator; Python checks the numbers between them.
_USUAL_SEPARATORS = {20: "--T::Z", 24: "--T::.", 27: "--T::."}


def _read_timestamp(value: Any, context: Context) -> datetime:
    try:
        is_usual = type(value) is str and value[4:20:3] == _USUAL_SEPARATORS.get(len(value)) and value[-1] == "Z"
        # Some versions of Python accept 24 as an hour.
        if is_usual and "T24" not in value:
            return datetime.fromisoformat(value)
        if _is_rfc_3339(value):
            moment = datetime.fromisoformat(value.upper())
            return moment if moment.tzinfo is UTC else moment.astimezone(UTC)
    except (TypeError, ValueError, OverflowError):
        pass
    raise must_be("a time with a time zone, like 2026-01-05T12:00:00Z", TEXT.read(value, context))


def _write_timestamp(value: datetime, _: Context) -> str:
    return value.isoformat().replace("+00:00", "Z")


_TIMESTAMP = Codec(lambda: {"type": "string", "format": "date-time"}, _read_timestamp, _write_timestamp)

_TAGS = list_of(TEXT)

# Looked up once, because items are read by the million.
_MESSAGE, _CHAT = ContextKind.MESSAGE, ContextSource.CHAT
_TEXTS = frozenset({str})
_NO_METADATA: FrozenDict[str, Any] = FrozenDict()


def _cached(codec: Codec) -> Callable[[str], Any]:
    @lru_cache(maxsize=1_000)
    def named(name: str) -> Any:
        return codec.read(name, Context())

    return named


_kind_named, _source_named = _cached(KIND), _cached(SOURCE)


def usual_item(data: dict[Any, Any], context: Context) -> ContextItem | None:
    """Read a common item in half the time, by using a codec only where checking the type is not enough.

    For an object with mistakes or snake_case keys, this returns None or raises a DocumentError; use `ITEM` instead.
    """
    if "future_relevance_hint" in data or "original_tokens" in data:
        return None
    get = data.get
    content, tokens, kind, source, priority = get("content"), get("tokens"), get("kind"), get("source"), get("priority")
    tags, metadata, timestamp = get("tags"), get("metadata"), get("timestamp")
    hint, pinned, original = get("futureRelevanceHint"), get("pinned"), get("originalTokens")
    if type(content) is not str or not content or type(tokens) is not int:
        return None
    labels: tuple[str, ...] = ()
    if type(tags) is list and _TEXTS.issuperset(map(type, tags)) and "".join(tags).isascii():  # pyright: ignore[reportUnknownArgumentType] - from outside
        labels = tuple(tags)  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType] - from outside
    elif tags is not None:
        labels = _TAGS.read(tags, context)
    return trusted_item(
        content if content.isascii() else TEXT.read(content, context),
        tokens,
        _MESSAGE if kind is None else _kind_named(kind) if type(kind) is str else KIND.read(kind, context),
        _CHAT if source is None else _source_named(source) if type(source) is str else SOURCE.read(source, context),
        priority if priority is None or type(priority) is int else INTEGER.read(priority, context),
        labels,
        _NO_METADATA if metadata is None else FrozenDict(OBJECT.read(metadata, context)),
        None if timestamp is None else _read_timestamp(timestamp, context),
        hint if hint is None or (type(hint) is float and isfinite(hint)) else NUMBER.read(hint, context),
        False if pinned is None else FLAG.read(pinned, context),
        None if original is None else INTEGER.read(original, context),
    )


def _write_metadata(metadata: Any, context: Context) -> dict[str, Any]:
    """Write a number for trust as the decimal string that other implementations read (WF-07)."""
    written: dict[str, Any] = OBJECT.write(metadata, context)
    trust = written.get(MetadataTrustScorer.key)
    # A bool is no trust, and NaN and infinities, where they are allowed, have no decimal string. An int may be beyond
    # the range of floats, for which `isfinite` raises.
    if type(trust) is int or (type(trust) is float and isfinite(trust)):
        written[MetadataTrustScorer.key] = str(trust)
    return written


ITEM = Record(
    ContextItem,
    [
        Field("content", TEXT),
        Field("tokens", INTEGER),
        Field("kind", KIND, OPTIONAL),
        Field("source", SOURCE, OPTIONAL),
        Field("priority", INTEGER, None),
        Field("tags", _TAGS, ()),
        Field("metadata", Codec(OBJECT.schema, OBJECT.read, _write_metadata), {}),
        Field("timestamp", _TIMESTAMP, None),
        Field("futureRelevanceHint", NUMBER, None),
        Field("pinned", FLAG, False),
        Field("originalTokens", INTEGER, None),
    ],
    fast_read=usual_item,
)


def _usual_budget(data: dict[Any, Any], _: Context) -> ContextBudget | None:
    limit, target = data.get("maxTokens"), data.get("targetTokens")
    if len(data) == 2 and type(limit) is int and type(target) is int and 0 <= target <= limit:
        return ContextBudget(limit, target)
    return None


BUDGET = Record(
    ContextBudget,
    [
        Field("maxTokens", INTEGER),
        Field("targetTokens", INTEGER, OPTIONAL),
        Field("outputReserve", INTEGER, 0),
        Field("reservedSlots", map_of(KIND, limited(INTEGER, low=0)), {}),
        Field("estimationSafetyMarginPercent", NUMBER, 0.0),
    ],
    fast_read=_usual_budget,
)
