"""What the signatures of built-in strategies do not tell: other names, limits and descriptions of their fields."""

from __future__ import annotations

from datetime import timedelta
from typing import Any, NamedTuple

from pycupel import placers, scorers, slicers
from pycupel.codecs.base import Context, FunctionCodec, adapted
from pycupel.codecs.containers import list_of, map_of
from pycupel.codecs.records import Field, Record
from pycupel.codecs.scalars import FINITE, FLAG, KIND, TEXT, limited
from pycupel.errors import DocumentError
from pycupel.policies.strategies import CLOCK, CURVE, INNER_SCORER, PLACER, SCORER, SLICER, WEIGHTED_SCORERS
from pycupel.policies.values import COUNT, LIMIT, POSITIVE, POSITIVE_INTEGER, SECONDS, SHARE, WEIGHT

__all__ = ["CURVE", "PLACER", "SCORER", "SLICER"]


class _Window(NamedTuple):
    max_age_seconds: timedelta
    score: float


# A pair in the curve is an object in the document.
_WINDOW = adapted(
    Record(_Window, [Field("maxAgeSeconds", SECONDS), Field("score", SHARE)]),
    write=_Window._make,
)


def _refuse_query(value: Any, _: Context) -> Any:  # noqa: ARG001 - whatever it is
    raise DocumentError("a question belongs to a call, not to a policy: pass query= to select or Pipeline.run")


_NO_QUERY = FunctionCodec({"type": "null"}, _refuse_query, _refuse_query)


def _refuse_function(kinds: Any) -> Any:
    if callable(kinds):
        raise DocumentError("a function cannot be written to a file; name kinds instead")
    return kinds


_KINDS = adapted(list_of(KIND), write=_refuse_function)

_INNER_SCORER = Field("innerScorer", INNER_SCORER, attribute="inner")

CURVE.define(scorers.Exponential, Field("halfLifeSeconds", SECONDS, attribute="half_life"))
CURVE.define(scorers.Window, Field("maxAgeSeconds", SECONDS, attribute="max_age"))
CURVE.define(scorers.Step, Field("windows", list_of(_WINDOW, at_least=1)))

SCORER.define(scorers.RecencyScorer)
SCORER.define(scorers.ReflexiveScorer)
SCORER.define(
    scorers.RelevanceScorer,
    Field("query", _NO_QUERY),
    Field("k1", WEIGHT, description="how fast repetitions of a word stop counting"),
    Field("b", SHARE, description="how strongly long contents are penalised"),
    Field("window", COUNT, description="how many positions away a neighbour may be"),
    Field("share", SHARE, description="how much of the best neighbour's score is added"),
    Field("group", TEXT, description="the metadata key that names an item's group"),
    Field("groupShare", SHARE, description="how much of the group's best score is added"),
    Field("lengthExponent", SHARE, description="scores are divided by the number of words to this power"),
    Field("optional", FLAG, description="without a question, score 0 instead of an error"),
)
SCORER.define(
    scorers.KindScorer,
    Field("kindWeights", map_of(KIND, WEIGHT), scorers.KindScorer().weights, attribute="weights"),
)
SCORER.define(scorers.TagScorer, Field("tagWeights", map_of(TEXT, WEIGHT)))
SCORER.define(scorers.ScaledScorer, _INNER_SCORER)
SCORER.define(scorers.BoostedScorer, _INNER_SCORER)
SCORER.define(scorers.CompositeScorer, Field("scorers", WEIGHTED_SCORERS, attribute="entries"))
SCORER.define(scorers.MetadataTrustScorer, Field("defaultScore", SHARE))
SCORER.define(scorers.MetadataKeyScorer, Field("boost", POSITIVE))
SCORER.define(
    scorers.DecayScorer,
    Field("time", CLOCK, description="the clock against which ages are measured", attribute="time_provider"),
    Field("nullTimestampScore", SHARE),
)

SLICER.define(
    slicers.GreedySlice,
    Field("costExponent", limited(FINITE, 0, 2), description="1 orders by score per token, 0 by score"),
    Field("bestFirst", FLAG, description="take the best-scored item that fits before anything else"),
)
SLICER.define(slicers.MinScoreSlice)
SLICER.define(
    slicers.KnapsackSlice,
    Field("bucketSize", POSITIVE_INTEGER, description="the granularity in tokens; 1 is exact"),
    Field("maxCells", LIMIT),
    Field("maxStates", POSITIVE_INTEGER),
    Field("fillFree", FLAG, description="add what still fits afterwards"),
)
SLICER.define(slicers.StreamSlice, Field("batchSize", POSITIVE_INTEGER))
SLICER.define(
    slicers.QuotaSlice,
    Field("redistribute", FLAG, description="offer the unused share of a kind to the others"),
)
SLICER.define(slicers.CountQuotaSlice)
SLICER.define(
    slicers.CountConstrainedKnapsackSlice,
    Field("knapsack", Record(slicers.KnapsackSlice, SLICER.record(slicers.KnapsackSlice).fields)),
)

PLACER.define(placers.ChronologicalPlacer)
PLACER.define(
    placers.FramedPlacer,
    Field("first", _KINDS, description="the kinds at the start"),
    Field("last", _KINDS, description="the kinds at the end"),
)
