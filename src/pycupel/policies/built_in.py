"""The fields of the built-in strategies: the one table from which documents are read, written and described."""

from __future__ import annotations

from datetime import timedelta
from typing import Any, NamedTuple

from pycupel import scorers, slicers
from pycupel.codecs.base import Context, FunctionCodec
from pycupel.codecs.containers import list_of, map_of
from pycupel.codecs.records import OPTIONAL, Field, Record
from pycupel.codecs.scalars import FLAG, KIND, TEXT, choice
from pycupel.errors import SlicerConfigError
from pycupel.model import CountQuotaEntry, QuotaEntry, ScarcityBehavior
from pycupel.policies.strategies import CLOCK, CURVE, INNER_SCORER, PLACER, SCORER, SLICER, WEIGHTED_SCORERS
from pycupel.policies.values import COUNT, LIMIT, PERCENT, POSITIVE, POSITIVE_INTEGER, SECONDS, SHARE, WEIGHT

__all__ = ["CURVE", "PLACER", "QUOTAS", "SCORER", "SLICER", "WEIGHTED_SCORERS"]


class _Window(NamedTuple):
    max_age_seconds: timedelta
    score: float


_WINDOW = Record(_Window, [Field("maxAgeSeconds", SECONDS), Field("score", SHARE)])


def _write_window(value: Any, context: Context) -> dict[str, Any]:
    """A pair in the curve is an object in the document."""
    return _WINDOW.write(_Window(*value), context)


_STEP_WINDOW = FunctionCodec(_WINDOW.schema(), _WINDOW.read, _write_window)


def _boosted(inner: Any, boosts: Any = ()) -> scorers.BoostedScorer:
    return scorers.BoostedScorer(inner, *boosts)


def _quota_entry(kind: Any, require: float | None = None, cap: float | None = None) -> QuotaEntry:
    """An entry of a file, which must have a limit, unlike one in Python (QS-10). Errors use the words of the file."""
    if require is None and cap is None:
        raise SlicerConfigError("needs minPercent, maxPercent or both")
    least, most = 0.0 if require is None else require, 100.0 if cap is None else cap
    if least > most:
        raise SlicerConfigError(f"minPercent ({least:g}) must not exceed maxPercent ({most:g})")
    return QuotaEntry(kind, least, most)


QUOTAS = list_of(
    Record(
        _quota_entry,
        [
            Field("kind", KIND),
            Field("minPercent", PERCENT, OPTIONAL, "the least share of the budget for the kind", "require"),
            Field("maxPercent", PERCENT, OPTIONAL, "the greatest share of the budget for the kind", "cap"),
        ],
    )
)

_COUNTS = list_of(
    Record(
        CountQuotaEntry,
        [
            Field("kind", KIND),
            Field("requireCount", COUNT, 0, "the least number of selected items"),
            Field("capCount", COUNT, description="the greatest number of selected items"),
        ],
    )
)

_KNAPSACK = (
    Field("bucketSize", POSITIVE_INTEGER, 100, "the granularity in tokens; 1 is exact"),
    Field("maxCells", LIMIT, 50_000_000),
    Field("maxStates", POSITIVE_INTEGER, 2_000_000),
    Field("fillFree", FLAG, False, "add what still fits afterwards"),
)

_INNER_SCORER = Field("innerScorer", INNER_SCORER, attribute="inner")
_INNER_SLICER = Field("inner", SLICER, slicers.GreedySlice())
_SCARCITY = Field("scarcity", choice(ScarcityBehavior), ScarcityBehavior.DEGRADE)

CURVE.define(scorers.Exponential, Field("halfLifeSeconds", SECONDS, attribute="half_life"))
CURVE.define(scorers.Window, Field("maxAgeSeconds", SECONDS, attribute="max_age"))
CURVE.define(scorers.Step, Field("windows", list_of(_STEP_WINDOW, at_least=1)))

SCORER.define(
    scorers.KindScorer,
    Field("kindWeights", map_of(KIND, WEIGHT), scorers.KindScorer().weights, attribute="weights"),
)
SCORER.define(
    scorers.TagScorer,
    Field("tagWeights", map_of(TEXT, WEIGHT)),
    Field("caseInsensitive", FLAG, False),
)
SCORER.define(scorers.ScaledScorer, _INNER_SCORER)
SCORER.define(scorers.CompositeScorer, Field("scorers", WEIGHTED_SCORERS, attribute="entries"))
SCORER.define(scorers.MetadataTrustScorer, Field("defaultScore", SHARE, 0.5))
SCORER.define(scorers.MetadataKeyScorer, Field("key", TEXT), Field("value", TEXT), Field("boost", POSITIVE))
SCORER.define(
    scorers.DecayScorer,
    Field("time", CLOCK, description="the clock against which ages are measured", attribute="time_provider"),
    Field("curve", CURVE),
    Field("nullTimestampScore", SHARE, 0.5),
)
SCORER.define(scorers.BoostedScorer, _INNER_SCORER, Field("boosts", list_of(INNER_SCORER), ()), build=_boosted)

SLICER.define(slicers.KnapsackSlice, *_KNAPSACK)
SLICER.define(slicers.StreamSlice, Field("batchSize", POSITIVE_INTEGER, 32), Field("replace", FLAG, False))
SLICER.define(
    slicers.QuotaSlice,
    Field("entries", QUOTAS),
    _INNER_SLICER,
    Field("redistribute", FLAG, False, "offer the unused share of a kind to the others"),
)
SLICER.define(
    slicers.CountQuotaSlice,
    Field("entries", _COUNTS),
    _INNER_SLICER,
    _SCARCITY,
    Field("capOrder", choice(("inner", "score")), "inner"),
)
SLICER.define(
    slicers.CountConstrainedKnapsackSlice,
    Field("entries", _COUNTS),
    Field("knapsack", Record(slicers.KnapsackSlice, _KNAPSACK), slicers.KnapsackSlice()),
    _SCARCITY,
)
