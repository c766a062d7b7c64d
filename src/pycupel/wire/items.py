"""Items and budgets. Data model: ContextItem, ContextBudget; in camelCase, as that chapter spells them (WF-01)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from pycupel.errors import DocumentError, InvalidItemError
from pycupel.model import ContextBudget, ContextItem, ContextKind, ScoredItem
from pycupel.wire.records import Field, camel, record
from pycupel.wire.values import (
    FLAG,
    INTEGER,
    NUMBER,
    OBJECT,
    TEXT,
    Codec,
    Mode,
    as_object,
    found,
    joined,
    list_of,
    step,
    text,
)

__all__ = ["BUDGET", "ITEM", "KIND", "SCORED_ITEM"]

# Python reads more forms than RFC 3339 has, among them some without a time zone.
_RFC_3339 = re.compile(r"\d{4}-\d\d-\d\d[Tt ](?:[01]\d|2[0-3]):\d\d:\d\d(?:\.\d+)?(?:[Zz]|[+-]\d\d:\d\d)", re.ASCII)


def _read_timestamp(value: Any, mode: Mode) -> datetime:
    written = text(value, mode)
    try:
        if _RFC_3339.fullmatch(written):
            return datetime.fromisoformat(written.upper()).astimezone(UTC)
    except (ValueError, OverflowError):
        pass
    raise DocumentError(f"must be a time with its zone, like 2026-01-05T12:00:00Z, not {found(written)}")


def _write_timestamp(value: datetime, mode: Mode) -> str:  # noqa: ARG001 - all ways out are called alike
    return value.isoformat().replace("+00:00", "Z")


def _read_kind(value: Any, mode: Mode) -> ContextKind:
    try:
        return ContextKind(text(value, mode))
    except InvalidItemError as error:
        raise DocumentError(str(error)) from error


def _write_name(value: Any, mode: Mode) -> str:
    return text(str(value), mode)


def _read_slots(value: Any, mode: Mode) -> dict[str, int]:
    """By name, because the budget has to see when two names are the same kind."""
    slots: dict[str, int] = {}
    for name, tokens in as_object(value).items():
        try:
            _read_kind(name, mode)
            slots[name] = INTEGER.read(tokens, mode)
        except DocumentError as error:
            error.path = joined(step(name), error.path)
            raise
    return slots


def _write_slots(value: Mapping[ContextKind, int], mode: Mode) -> dict[str, int]:
    return {_write_name(kind, mode): tokens for kind, tokens in value.items()}


KIND = Codec(_read_kind, _write_name)

# An item turns strings into kinds and sources itself, and keeps one object for each.
_NAME = Codec(text, _write_name)

ITEM = record(
    ContextItem,
    [
        Field("content", TEXT),
        Field("tokens", INTEGER),
        Field("kind", _NAME, required=False),
        Field("source", _NAME, required=False),
        Field("priority", INTEGER, required=False, omitted=None),
        Field("tags", list_of(TEXT), required=False, omitted=()),
        Field("metadata", OBJECT, required=False, omitted={}),
        Field("timestamp", Codec(_read_timestamp, _write_timestamp), required=False, omitted=None),
        Field("future_relevance_hint", NUMBER, required=False, omitted=None),
        Field("pinned", FLAG, required=False, omitted=False),
        Field("original_tokens", INTEGER, required=False, omitted=None),
    ],
    camel,
)

BUDGET = record(
    ContextBudget,
    [
        Field("max_tokens", INTEGER),
        Field("target_tokens", INTEGER, required=False),
        Field("output_reserve", INTEGER, required=False, omitted=0),
        Field("reserved_slots", Codec(_read_slots, _write_slots), required=False, omitted={}),
        Field("estimation_safety_margin_percent", NUMBER, required=False, omitted=0.0),
    ],
    camel,
)

SCORED_ITEM = record(ScoredItem, [Field("item", ITEM), Field("score", NUMBER)])
