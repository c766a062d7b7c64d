"""The fields of the built-in strategies: the one table from which documents are read, written and described."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import Any, ClassVar, NamedTuple

from pycupel import scorers, slicers
from pycupel.errors import SlicerConfigError
from pycupel.model import CountQuotaEntry, QuotaEntry, ScarcityBehavior
from pycupel.policies.containers import ListOf, MapOf
from pycupel.policies.records import Field, Record
from pycupel.policies.strategies import CLOCK, CURVE, INNER_SCORER, PLACER, SCORER, SLICER, WEIGHTED_SCORERS
from pycupel.policies.values import (
    COUNT,
    FLAG_VALUE,
    KIND,
    LIMIT,
    PERCENT,
    POSITIVE,
    POSITIVE_INTEGER,
    SECONDS,
    SHARE,
    TEXT_VALUE,
    WEIGHT,
    Choice,
    Problems,
    Schema,
)

__all__ = ["PLACER", "QUOTAS", "SCORER", "SLICER"]


class _StepWindow(NamedTuple):
    max_age: timedelta
    score: float


@dataclass(frozen=True, slots=True)
class StepWindow:
    """A pair in the curve, an object in the document."""

    record: ClassVar[Record] = Record(
        _StepWindow, (Field("maxAgeSeconds", "max_age", SECONDS), Field("score", "score", SHARE))
    )

    def read(self, value: Any, path: str, problems: Problems, /) -> Any:
        return self.record.read(value, path, problems)

    def write(self, value: Any, path: str, /) -> dict[str, Any]:
        return self.record.write(_StepWindow(*value), path)

    def schema(self) -> Schema:
        return self.record.schema()


def _boosted(inner: Any, boosts: Any = ()) -> scorers.BoostedScorer:
    return scorers.BoostedScorer(inner, *boosts)


def _quota_entry(kind: Any, require: float | None = None, cap: float | None = None) -> QuotaEntry:
    """As the document speaks of it. An entry that says nothing is legal in Python, but not in a file (QS-10)."""
    if require is None and cap is None:
        raise SlicerConfigError("needs minPercent, maxPercent or both")
    least, most = 0.0 if require is None else require, 100.0 if cap is None else cap
    if least > most:
        raise SlicerConfigError(f"minPercent ({least:g}) must not exceed maxPercent ({most:g})")
    return QuotaEntry(kind, least, most)


_INNER = Field("innerScorer", "inner", INNER_SCORER)

_KNAPSACK = Record(
    slicers.KnapsackSlice,
    (
        Field("bucketSize", "bucket_size", POSITIVE_INTEGER, 100, "the granularity in tokens; 1 is exact"),
        Field("maxCells", "max_cells", LIMIT, 50_000_000),
        Field("maxStates", "max_states", POSITIVE_INTEGER, 2_000_000),
        Field("fillFree", "fill_free", FLAG_VALUE, False, "add what still fits afterwards"),
    ),
)

QUOTAS = ListOf(
    Record(
        _quota_entry,
        (
            Field("kind", "kind", KIND),
            Field("minPercent", "require", PERCENT, 0.0, "the share of the budget that the kind gets at least", True),
            Field("maxPercent", "cap", PERCENT, 100.0, "the share of the budget that the kind gets at most", True),
        ),
    )
)

_COUNTS = ListOf(
    Record(
        CountQuotaEntry,
        (
            Field("kind", "kind", KIND),
            Field("requireCount", "require_count", COUNT, 0, "how many items are selected at least"),
            Field("capCount", "cap_count", COUNT, description="how many items are selected at most"),
        ),
    )
)

_SCARCITY = Field("scarcity", "scarcity", Choice(ScarcityBehavior), ScarcityBehavior.DEGRADE)

CURVE.records.update(
    {
        scorers.Exponential: Record(scorers.Exponential, (Field("halfLifeSeconds", "half_life", SECONDS),)),
        scorers.Window: Record(scorers.Window, (Field("maxAgeSeconds", "max_age", SECONDS),)),
        scorers.Step: Record(scorers.Step, (Field("windows", "windows", ListOf(StepWindow(), at_least=1)),)),
    },
)

SCORER.records.update(
    {
        scorers.KindScorer: Record(
            scorers.KindScorer, (Field("kindWeights", "weights", MapOf(KIND, WEIGHT), scorers.KindScorer().weights),)
        ),
        scorers.TagScorer: Record(
            scorers.TagScorer,
            (
                Field("tagWeights", "tag_weights", MapOf(TEXT_VALUE, WEIGHT)),
                Field("caseInsensitive", "case_insensitive", FLAG_VALUE, False),
            ),
        ),
        scorers.ScaledScorer: Record(scorers.ScaledScorer, (_INNER,)),
        scorers.CompositeScorer: Record(scorers.CompositeScorer, (Field("scorers", "entries", WEIGHTED_SCORERS),)),
        scorers.MetadataTrustScorer: Record(
            scorers.MetadataTrustScorer, (Field("defaultScore", "default_score", SHARE, 0.5),)
        ),
        scorers.MetadataKeyScorer: Record(
            scorers.MetadataKeyScorer,
            (
                Field("key", "key", TEXT_VALUE),
                Field("value", "value", TEXT_VALUE),
                Field("boost", "boost", POSITIVE),
            ),
        ),
        scorers.DecayScorer: Record(
            scorers.DecayScorer,
            (
                Field("time", "time_provider", CLOCK, description="the clock against which ages are measured"),
                Field("curve", "curve", CURVE),
                Field("nullTimestampScore", "null_timestamp_score", SHARE, 0.5),
            ),
        ),
        scorers.BoostedScorer: Record(_boosted, (_INNER, Field("boosts", "boosts", ListOf(INNER_SCORER), ()))),
    },
)

_INNER_SLICER = Field("inner", "inner", SLICER, slicers.GreedySlice())
SLICER.records.update(
    {
        slicers.KnapsackSlice: _KNAPSACK,
        slicers.StreamSlice: Record(
            slicers.StreamSlice,
            (
                Field("batchSize", "batch_size", POSITIVE_INTEGER, 32),
                Field("replace", "replace", FLAG_VALUE, False),
            ),
        ),
        slicers.QuotaSlice: Record(
            slicers.QuotaSlice,
            (
                Field("entries", "entries", QUOTAS),
                _INNER_SLICER,
                Field("redistribute", "redistribute", FLAG_VALUE, False, "offer to others what a kind leaves unused"),
            ),
        ),
        slicers.CountQuotaSlice: Record(
            slicers.CountQuotaSlice,
            (
                Field("entries", "entries", _COUNTS),
                _INNER_SLICER,
                _SCARCITY,
                Field("capOrder", "cap_order", Choice(("inner", "score")), "inner"),
            ),
        ),
        slicers.CountConstrainedKnapsackSlice: Record(
            slicers.CountConstrainedKnapsackSlice,
            (
                Field("entries", "entries", _COUNTS),
                Field("knapsack", "knapsack", _KNAPSACK, slicers.KnapsackSlice()),
                _SCARCITY,
            ),
        ),
    },
)
