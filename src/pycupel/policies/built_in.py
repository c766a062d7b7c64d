"""The strategies that documents may have, and what the signatures of the built-in ones do not say."""

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

# An unexpected inner scorer is the one foreign field that other implementations refuse, too.
_INNER_ONLY = "is only valid for scaled and boosted; remove it or change the type"

# Options may hold strategies, which are added below.
_TYPES: dict[Any, Codec] = dict(VALUE_TYPES)
SCORER = Strategy(SCORERS, _TYPES, "weight", refused=dict.fromkeys(("innerScorer", "inner_scorer"), _INNER_ONLY))
SLICER = Strategy(SLICERS, _TYPES)
PLACER = Strategy(PLACERS, _TYPES)
SHORTENER = Strategy(SHORTENERS, _TYPES)
CURVE = Strategy(CURVES, _TYPES)
_CLOCK = RegisteredName(CLOCKS)


def _read_weighted(value: Any, context: Context) -> Any:
    """A `(scorer, weight)` pair, as `CompositeScorer` takes it, from one object."""
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
    """Other implementations require a weight for an inner scorer, too, but ignore it."""
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


# A pair in the curve is an object in the document.
_WINDOW = adapted(Record(_Window, [Field("maxAgeSeconds", SECONDS), Field("score", SHARE)]), write=_Window._make)

CURVE.define(scorers.Exponential, Field("halfLifeSeconds", SECONDS, attribute="half_life"))
CURVE.define(scorers.Window, Field("maxAgeSeconds", SECONDS, attribute="max_age"))
CURVE.define(scorers.Step, windows=list_of(_WINDOW, at_least=1))


def _refuse_query(value: Any, _: Context) -> Any:  # noqa: ARG001 - whatever it is
    raise DocumentError("a question belongs to a call, not to a policy: pass query= to select or Pipeline.run")


_NO_QUERY = FunctionCodec({"type": "null"}, _refuse_query, _refuse_query)
_INNER_SCORER = Field("innerScorer", _TYPES[Scorer], attribute="inner")
_KIND_WEIGHTS = Field("kindWeights", map_of(KIND, WEIGHT), scorers.KindScorer().weights, attribute="weights")
_TIME = Field(
    "time", _CLOCK, description="The name of the clock against which ages are measured.", attribute="time_provider"
)

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

_MAX_CELLS = Field("maxCells", LIMIT, description='The limit on candidates times buckets, or "unlimited".')

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


def _refuse_function(kinds: Any) -> Any:
    if callable(kinds):
        raise DocumentError("a function cannot be written to a file; name kinds instead")
    return kinds


_KINDS = adapted(list_of(KIND), write=_refuse_function)

PLACER.define(placers.ChronologicalPlacer)
PLACER.define(
    placers.FramedPlacer,
    Field("first", _KINDS, description="The kinds at the start."),
    Field("last", _KINDS, description="The kinds at the end."),
)
