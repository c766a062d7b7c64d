"""The fields of reasons, events and the report. Diagnostics: Events, Exclusion Reasons, SelectionReport."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Any, NamedTuple, get_type_hints

from pycupel.codecs.base import Codec, Context, FunctionCodec, as_object, must_be
from pycupel.codecs.containers import list_of
from pycupel.codecs.records import OPTIONAL, Field, Record, tagged_schema
from pycupel.codecs.scalars import INTEGER, KIND, NUMBER, OBJECT, TEXT, text
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
from pycupel.diagnostics.reasons import EXCLUSION_REASONS, reason_name
from pycupel.errors import DocumentError
from pycupel.model.checks import quoted
from pycupel.wire.items import BUDGET, ITEM

__all__ = ["CODECS", "REASON_CODECS"]


def _open_name(members: type[StrEnum]) -> Codec:
    """A member of an enumeration, or the name itself if it is unknown: a later version may have made it (WF-03)."""
    known: dict[str, str] = {member.value: member for member in members}

    def read(value: Any, context: Context) -> str:
        name = text(value, context)
        return known.get(name, name)

    return FunctionCodec(TEXT.schema(), read, text)


class _Envelope(NamedTuple):
    """What every reason comes in: `{"reason": "<name>", ...fields}` (WF-04)."""

    reason: str


_ENVELOPE = Record(_Envelope, [Field("reason", _open_name(InclusionReason))])


def _read_inclusion(value: Any, context: Context) -> str:
    reason: str = _ENVELOPE.read(value, context).reason
    return reason


def _write_inclusion(value: Any, context: Context) -> dict[str, Any]:
    return _ENVELOPE.write(_Envelope(value), context)


def _reason_record(cls: type[ExclusionReason]) -> Record:
    codecs: dict[Any, Codec] = {int: INTEGER, float: NUMBER, str: TEXT}
    fields = [Field(name, codecs[hint]) for name, hint in get_type_hints(cls).items()]
    return Record(cls, fields, beside=("reason",))


_REASONS = {name: _reason_record(cls) for name, cls in EXCLUSION_REASONS.items()}


def _read_exclusion(value: Any, context: Context) -> ExclusionReason:
    # Which other keys there may be depends on the name. So it is read first, and not strictly.
    name = _read_inclusion(value, Context())
    if name in _REASONS:
        known: ExclusionReason = _REASONS[name].read(value, context)
        return known
    fields = {key: field for key, field in as_object(value).items() if key != "reason"}
    return UnknownReason(name, OBJECT.read(fields, context))


def _write_exclusion(value: Any, context: Context) -> dict[str, Any]:
    if isinstance(value, UnknownReason):
        return {**_write_inclusion(value.name, context), **OBJECT.write(value.fields, context)}
    name = type(value).__name__
    if EXCLUSION_REASONS.get(name) is not type(value):
        raise must_be("an exclusion reason of pycupel.diagnostics", value)
    return {"reason": name, **_REASONS[name].write(value, context)}


_INCLUSION_REASON = FunctionCodec(_ENVELOPE.schema(), _read_inclusion, _write_inclusion)
_EXCLUSION_REASON = FunctionCodec(
    tagged_schema("reason", TEXT.schema(), (([name], record.schema()) for name, record in _REASONS.items())),
    _read_exclusion,
    _write_exclusion,
)


def _one_reason(cls: type[ExclusionReason]) -> Codec:
    """The codec of one exclusion reason, which refuses all others."""

    def read(value: Any, context: Context) -> ExclusionReason:
        reason = _read_exclusion(value, context)
        if type(reason) is not cls:
            raise DocumentError(f"must be that of {cls.__name__}, not {quoted(reason_name(reason))}", path="reason")
        return reason

    return FunctionCodec(_EXCLUSION_REASON.schema(), read, _write_exclusion)


_INCLUDED = Record(IncludedItem, [Field("item", ITEM), Field("score", NUMBER), Field("reason", _INCLUSION_REASON)])
_EXCLUDED = Record(ExcludedItem, [Field("item", ITEM), Field("score", NUMBER), Field("reason", _EXCLUSION_REASON)])

_EVENT = Record(
    TraceEvent,
    [
        Field("stage", _open_name(PipelineStage)),
        Field("duration_ms", NUMBER),
        Field("item_count", INTEGER),
        Field("message", TEXT, None),
    ],
)

_OVERFLOW = Record(
    OverflowEvent,
    [Field("tokens_over_budget", INTEGER), Field("overflowing_items", list_of(ITEM)), Field("budget", BUDGET)],
)

_SHORTFALL = Record(
    CountRequirementShortfall,
    [Field("kind", KIND), Field("required_count", INTEGER), Field("satisfied_count", INTEGER)],
)

_REPORT = Record(
    SelectionReport,
    [
        Field("events", list_of(_EVENT)),
        Field("included", list_of(_INCLUDED)),
        Field("excluded", list_of(_EXCLUDED)),
        Field("total_candidates", INTEGER),
        Field("total_tokens_considered", INTEGER),
        Field("count_requirement_shortfalls", list_of(_SHORTFALL), OPTIONAL),
        Field("budget", BUDGET, None),
        Field("notes", list_of(TEXT), ()),
    ],
)

CODECS: Mapping[type[Any], Codec] = {
    SelectionReport: _REPORT,
    IncludedItem: _INCLUDED,
    ExcludedItem: _EXCLUDED,
    TraceEvent: _EVENT,
    OverflowEvent: _OVERFLOW,
    CountRequirementShortfall: _SHORTFALL,
    InclusionReason: _INCLUSION_REASON,
    ExclusionReason: _EXCLUSION_REASON,
}
"""The codec of each public class of a report. `ExclusionReason` stands for any of them."""

_EACH_REASON: list[type[ExclusionReason]] = [*EXCLUSION_REASONS.values(), UnknownReason]
REASON_CODECS: Mapping[type[Any], Codec] = {cls: _one_reason(cls) for cls in _EACH_REASON}
"""The codec of each exclusion reason, which refuses all others."""
