"""The codecs of strategies, with the details that the signatures of the built-in ones lack."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Any, NamedTuple

from pycupel import placers, scorers, slicers
from pycupel.codecs.base import Codec, Context, FunctionCodec, adapted, attempt, raise_mistakes
from pycupel.codecs.containers import list_of, map_of
from pycupel.codecs.records import Field, Record
from pycupel.codecs.scalars import FINITE, KIND, TEXT, limited
from pycupel.errors import DocumentError
from pycupel.policies.strategies import RegisteredName, Strategy
from pycupel.policies.values import COUNT, LIMIT, POSITIVE, POSITIVE_INTEGER, SECONDS, SHARE, VALUE_TYPES, WEIGHT
from pycupel.protocols import Placer, Scorer, Shortener, Slicer, TimeProvider
from pycupel.registry import CLOCKS, CURVES, PLACERS, SCORERS, SHORTENERS, SLICERS
from pycupel.scorers.decay import Curve

__all__ = ["CURVE", "PLACER", "SCORER", "SHORTENER", "SLICER", "WEIGHTED_SCORERS"]

# Fields of other types are ignored, except an inner scorer, which other implementations reject, too.
_INNER_ONLY = "is only valid for scaled and boosted; remove it or change the type"

# The codecs of strategies are added below: options may be strategies, too.
_TYPES: dict[Any, Codec] = dict(VALUE_TYPES)
SCORER = Strategy(SCORERS, _TYPES, "weight", rejected=dict.fromkeys(("innerScorer", "inner_scorer"), _INNER_ONLY))
SLICER = Strategy(SLICERS, _TYPES)
PLACER = Strategy(PLACERS, _TYPES)
SHORTENER = Strategy(SHORTENERS, _TYPES)
CURVE = Strategy(CURVES, _TYPES)
_CLOCK = RegisteredName(CLOCKS)


def _read_weighted(value: Any, context: Context) -> Any:
    """Read an object as a `(scorer, weight)` pair, as `CompositeScorer` takes it."""
    mistakes: list[DocumentError] = []
    scorer, weight = attempt(SCORER.read, value, "", context, mistakes), 1.0
    if isinstance(value, Mapping) and value.get("weight") is not None:  # pyright: ignore[reportUnknownMemberType]
        weight = attempt(POSITIVE.read, value["weight"], "weight", context, mistakes)
    raise_mistakes(mistakes)
    return scorer, weight


def _write_weighted(value: Any, context: Context) -> dict[str, Any]:
    scorer, weight = value
    document = SCORER.write(scorer, context)
    return {"type": document.pop("type"), "weight": POSITIVE.write(weight, context), **document}


def _write_inner(value: Any, context: Context) -> dict[str, Any]:
    """Write an inner scorer with a weight: other implementations require one, but ignore it."""
    return _write_weighted((value, 1.0), context)


_WEIGHTED = {"allOf": [SCORER.schema(), {"properties": {"weight": POSITIVE.schema()}}]}
WEIGHTED_SCORERS = list_of(FunctionCodec(_WEIGHTED, _read_weighted, _write_weighted), at_least=1)

_TYPES.update(
    {
        Scorer: FunctionCodec(SCORER.schema(), SCORER.read, _write_inner),
        Slicer: SLICER,
        Placer: PLACER,
        Shortener: SHORTENER,
        Curve: CURVE,
        TimeProvider: _CLOCK,
    }
)


class _Window(NamedTuple):
    max_age_seconds: timedelta
    score: float


# A window is a pair in the curve, but an object in the document.
_WINDOW = adapted(Record(_Window, [Field("maxAgeSeconds", SECONDS), Field("score", SHARE)]), write=_Window._make)

CURVE.define(scorers.Exponential, Field("halfLifeSeconds", SECONDS, attribute="half_life"))
CURVE.define(scorers.Window, Field("maxAgeSeconds", SECONDS, attribute="max_age"))
CURVE.define(scorers.Step, windows=list_of(_WINDOW, at_least=1))


def _reject_query(value: Any, _: Context) -> Any:  # noqa: ARG001 - any value is rejected
    raise DocumentError("a query belongs to a call, not to a policy; pass query= to select or Pipeline.run")


_NO_QUERY = FunctionCodec({"type": "null"}, _reject_query, _reject_query)
_INNER_SCORER = Field("innerScorer", _TYPES[Scorer], attribute="inner")
_KIND_WEIGHTS = Field("kindWeights", map_of(KIND, WEIGHT), scorers.KindScorer().weights, attribute="weights")
_TIME = Field("time", _CLOCK, description="The name of the clock that ages are measured by.", attribute="time_provider")

SCORER.define(scorers.RecencyScorer)
SCORER.define(scorers.ReflexiveScorer)
SCORER.define(
    scorers.RelevanceScorer,
    query=_NO_QUERY,
    k1=WEIGHT,
    b=SHARE,
    window=COUNT,
    share=SHARE,
    group_share=SHARE,
    length_exponent=SHARE,
)
SCORER.define(scorers.KindScorer, _KIND_WEIGHTS)
SCORER.define(scorers.TagScorer, tag_weights=map_of(TEXT, WEIGHT))
SCORER.define(scorers.ScaledScorer, _INNER_SCORER)
SCORER.define(scorers.BoostedScorer, _INNER_SCORER)
SCORER.define(scorers.CompositeScorer, Field("scorers", WEIGHTED_SCORERS, attribute="entries"))
SCORER.define(scorers.MetadataTrustScorer, default_score=SHARE)
SCORER.define(scorers.MetadataKeyScorer, boost=POSITIVE)
SCORER.define(scorers.DecayScorer, _TIME, null_timestamp_score=SHARE)

_MAX_CELLS = Field("maxCells", LIMIT, description='The maximum number of candidates times buckets, or "unlimited".')

SLICER.define(slicers.GreedySlice, cost_exponent=limited(FINITE, 0, 2))
SLICER.define(slicers.MinScoreSlice)
SLICER.define(slicers.KnapsackSlice, _MAX_CELLS, bucket_size=POSITIVE_INTEGER, max_states=POSITIVE_INTEGER)
SLICER.define(slicers.StreamSlice, batch_size=POSITIVE_INTEGER)
SLICER.define(slicers.QuotaSlice)
SLICER.define(slicers.CountQuotaSlice)
SLICER.define(
    slicers.CountConstrainedKnapsackSlice,
    knapsack=Record(slicers.KnapsackSlice, SLICER.record(slicers.KnapsackSlice).fields),
)


def _reject_function(kinds: Any) -> Any:
    if callable(kinds):
        raise DocumentError("a function cannot be written to a file; pass kinds instead")
    return kinds


_KINDS = adapted(list_of(KIND), write=_reject_function)

PLACER.define(placers.ChronologicalPlacer)
PLACER.define(
    placers.FramedPlacer,
    Field("first", _KINDS, description="The kinds to place at the start."),
    Field("last", _KINDS, description="The kinds to place at the end."),
)
