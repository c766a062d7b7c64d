"""The fields of reasons, events and the report.

Fields are derived from the classes and keep the names of their attributes.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from operator import attrgetter
from types import SimpleNamespace
from typing import Any

from pycupel.codecs.base import Codec, Context, adapted, as_object, must_be
from pycupel.codecs.derive import derive_fields
from pycupel.codecs.records import OPTIONAL, Field, Record
from pycupel.codecs.values import INTEGER, KIND, NUMBER, OBJECT, TEXT, list_of
from pycupel.diagnostics import PipelineStage, SelectionReport
from pycupel.diagnostics.reasons import (
    EXCLUSION_REASONS,
    CountRequirementShortfall,
    ExcludedItem,
    ExclusionReason,
    IncludedItem,
    InclusionReason,
    OverflowEvent,
    TraceEvent,
    UnknownReason,
    reason_name,
)
from pycupel.errors import DocumentError
from pycupel.model import ContextBudget, ContextItem, ContextKind, ScoredItem
from pycupel.text import quoted
from pycupel.wire.items import BUDGET, ITEM


def _open_enum(members: type[StrEnum]) -> Codec:
    """Return a codec for an enumeration that keeps unknown names: a later version may have written them (WF-03)."""
    known: dict[str, str] = {member.value: member for member in members}
    return adapted(TEXT, read=lambda name: known.get(name, name))


# Every reason is an object with its name, and fields if it has any: `{"reason": "<name>", ...}` (WF-04).
_INCLUSION = adapted(
    Record(SimpleNamespace, [Field("reason", _open_enum(InclusionReason))]),
    read=attrgetter("reason"),
    write=lambda reason: SimpleNamespace(reason=reason),
)

TYPES: dict[Any, Codec] = {
    int: INTEGER,
    float: NUMBER,
    str: TEXT,
    ContextKind: KIND,
    ContextItem: ITEM,
    ContextBudget: BUDGET,
    PipelineStage | str: _open_enum(PipelineStage),
    InclusionReason | str: _INCLUSION,
}
"""The codec for each type of field."""

_REASONS = {
    name: Record(cls, derive_fields(cls, TYPES), other_keys=("reason",)) for name, cls in EXCLUSION_REASONS.items()
}


def _read_exclusion(value: Any, context: Context) -> ExclusionReason:
    # Read the name first, without `strict`, because the name decides which other keys are known.
    name = _INCLUSION.read(value, Context())
    if name in _REASONS:
        known: ExclusionReason = _REASONS[name].read(value, context)
        return known
    fields = {key: field for key, field in as_object(value).items() if key != "reason"}
    return UnknownReason(name, OBJECT.read(fields, context))


def _write_exclusion(value: Any, context: Context) -> dict[str, Any]:
    if isinstance(value, UnknownReason):
        return {**_INCLUSION.write(value.name, context), **OBJECT.write(value.fields, context)}
    name = type(value).__name__
    if EXCLUSION_REASONS.get(name) is not type(value):
        raise must_be("an exclusion reason of pycupel.diagnostics", value)
    return {"reason": name, **_REASONS[name].write(value, context)}


TYPES[ExclusionReason] = Codec(_INCLUSION.schema, _read_exclusion, _write_exclusion)


def _one_reason(cls: type[ExclusionReason]) -> Codec:
    """Return a codec that accepts only this exclusion reason."""

    def checked(reason: ExclusionReason) -> ExclusionReason:
        if type(reason) is not cls:
            raise DocumentError(f"must be {cls.__name__}, not {quoted(reason_name(reason))}", path="reason")
        return reason

    return adapted(TYPES[ExclusionReason], read=checked)


_PARTS: list[type[Any]] = [IncludedItem, ExcludedItem, TraceEvent, OverflowEvent, CountRequirementShortfall]
TYPES.update({cls: Record(cls, derive_fields(cls, TYPES)) for cls in _PARTS})

# Always written, as in other implementations.
_SHORTFALLS = Field("count_requirement_shortfalls", list_of(TYPES[CountRequirementShortfall]), OPTIONAL)

CODECS: Mapping[type[Any], Codec] = {
    ContextItem: ITEM,
    ContextBudget: BUDGET,
    ScoredItem: Record(ScoredItem, derive_fields(ScoredItem, TYPES)),
    SelectionReport: Record(SelectionReport, derive_fields(SelectionReport, TYPES, [_SHORTFALLS])),
    **{cls: TYPES[cls] for cls in _PARTS},
    InclusionReason: TYPES[InclusionReason | str],
    ExclusionReason: TYPES[ExclusionReason],
}
"""The codec of each public class. That of `ExclusionReason` accepts any exclusion reason."""

_ALL_REASONS: list[type[ExclusionReason]] = [*EXCLUSION_REASONS.values(), UnknownReason]
REASON_CODECS: Mapping[type[Any], Codec] = {cls: _one_reason(cls) for cls in _ALL_REASONS}
"""The codec of each exclusion reason. It rejects all other reasons."""
