"""Reasons, events and the report. Diagnostics: Events, Exclusion Reasons, SelectionReport; in snake_case (WF-01)."""

from __future__ import annotations

from enum import StrEnum
from typing import Any, NamedTuple, get_type_hints

from pycupel.diagnostics import (
    CountRequirementShortfall,
    ExcludedItem,
    ExclusionReason,
    IncludedItem,
    InclusionReason,
    OverflowEvent,
    PipelineStage,
    SelectionReport,
    TraceEvent,
    UnknownReason,
)
from pycupel.diagnostics.reasons import EXCLUSION_REASONS
from pycupel.errors import DocumentError
from pycupel.wire.items import BUDGET, ITEM, KIND
from pycupel.wire.records import Field, record
from pycupel.wire.values import INTEGER, NUMBER, OBJECT, TEXT, Codec, Mode, as_object, list_of, must_be, text

__all__ = [
    "EVENT",
    "EXCLUDED_ITEM",
    "EXCLUSION_REASON",
    "INCLUDED_ITEM",
    "INCLUSION_REASON",
    "OVERFLOW_EVENT",
    "REPORT",
    "SHORTFALL",
    "variant",
]

_CODECS = {int: INTEGER, float: NUMBER, str: TEXT}


class _Envelope(NamedTuple):
    """What every reason comes in: `{"reason": "<Variant>", ...fields}` (WF-04)."""

    reason: str


_ENVELOPE = record(_Envelope, [Field("reason", TEXT)])


def _open(members: type[StrEnum], name: str) -> str:
    """The member of that name, or the name itself if a later version or another implementation made it (WF-03)."""
    return next((member for member in members if member.value == name), name)


def _read_inclusion(value: Any, mode: Mode) -> str:
    return _open(InclusionReason, _ENVELOPE.read(value, mode).reason)


def _write_inclusion(value: Any, mode: Mode) -> Any:
    return _ENVELOPE.write(_Envelope(value), mode)


def _known_reason(cls: type[ExclusionReason]) -> Codec:
    fields = [Field(name, _CODECS[kind]) for name, kind in get_type_hints(cls).items()]
    return record(cls, fields, beside=("reason",))


_KNOWN_REASONS = {name: _known_reason(cls) for name, cls in EXCLUSION_REASONS.items()}


def _read_exclusion(value: Any, mode: Mode) -> ExclusionReason:
    # Which keys there may be beside the name depends on the name.
    name: str = _ENVELOPE.read(value, Mode()).reason
    if name in _KNOWN_REASONS:
        known: ExclusionReason = _KNOWN_REASONS[name].read(value, mode)
        return known
    fields = {key: field for key, field in as_object(value).items() if key != "reason"}
    return UnknownReason(name, OBJECT.read(fields, mode))


def _write_exclusion(value: Any, mode: Mode) -> dict[str, Any]:
    if isinstance(value, UnknownReason):
        return {**_write_inclusion(value.name, mode), **OBJECT.write(value.fields, mode)}
    name = type(value).__name__
    if EXCLUSION_REASONS.get(name) is not type(value):
        raise must_be("an exclusion reason of pycupel.diagnostics", value)
    return {"reason": name, **_KNOWN_REASONS[name].write(value, mode)}


def variant(cls: type[ExclusionReason]) -> Codec:
    """The codec of one reason alone, which refuses all others."""

    def read(value: Any, mode: Mode) -> ExclusionReason:
        reason = _read_exclusion(value, mode)
        if type(reason) is not cls:
            raise DocumentError(f"must be that of {cls.__name__}, not {value['reason']!r}", path="reason")
        return reason

    return Codec(read, _write_exclusion)


def _read_stage(value: Any, mode: Mode) -> str:
    return _open(PipelineStage, text(value, mode))


INCLUSION_REASON = Codec(_read_inclusion, _write_inclusion)
EXCLUSION_REASON = Codec(_read_exclusion, _write_exclusion)

INCLUDED_ITEM = record(IncludedItem, [Field("item", ITEM), Field("score", NUMBER), Field("reason", INCLUSION_REASON)])
EXCLUDED_ITEM = record(ExcludedItem, [Field("item", ITEM), Field("score", NUMBER), Field("reason", EXCLUSION_REASON)])

EVENT = record(
    TraceEvent,
    [
        Field("stage", Codec(_read_stage, text)),
        Field("duration_ms", NUMBER),
        Field("item_count", INTEGER),
        Field("message", TEXT, required=False, omitted=None),
    ],
)

OVERFLOW_EVENT = record(
    OverflowEvent,
    [Field("tokens_over_budget", INTEGER), Field("overflowing_items", list_of(ITEM)), Field("budget", BUDGET)],
)

SHORTFALL = record(
    CountRequirementShortfall,
    [Field("kind", KIND), Field("required_count", INTEGER), Field("satisfied_count", INTEGER)],
)

REPORT = record(
    SelectionReport,
    [
        Field("events", list_of(EVENT)),
        Field("included", list_of(INCLUDED_ITEM)),
        Field("excluded", list_of(EXCLUDED_ITEM)),
        Field("total_candidates", INTEGER),
        Field("total_tokens_considered", INTEGER),
        Field("count_requirement_shortfalls", list_of(SHORTFALL), required=False),
        Field("budget", BUDGET, required=False, omitted=None),
        Field("notes", list_of(TEXT), required=False, omitted=()),
    ],
)
