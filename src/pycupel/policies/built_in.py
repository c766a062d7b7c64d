"""The codecs of strategies and their options, with the details that the signatures of the built-in ones lack."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from datetime import timedelta
from math import nextafter
from typing import Any, NamedTuple

from pycupel import placers, scorers, slicers
from pycupel.codecs.base import Codec, Context, adapted, must_be
from pycupel.codecs.derive import DERIVED, derive_fields
from pycupel.codecs.records import OPTIONAL, Field, Record
from pycupel.codecs.values import FINITE, FLAG, INTEGER, KIND, TEXT, choice, limited, list_of, map_of
from pycupel.errors import DocumentError
from pycupel.model import ContextKind, CountQuotaEntry, QuotaEntry, ScarcityBehavior
from pycupel.model.enums import ScarcityLike
from pycupel.model.names import name_key
from pycupel.policies.strategies import Strategy, registered_name
from pycupel.protocols import Placer, Scorer, Shortener, Slicer, TimeProvider
from pycupel.registry import CLOCKS, CURVES, PLACERS, SCORERS, SHORTENERS, SLICERS
from pycupel.scorers.decay import Curve
from pycupel.text import shortened

# The weight of a scorer in a composite, which checks it itself.
_WEIGHT = limited(FINITE, above=0)
POSITIVE_INTEGER = limited(INTEGER, above=0)

# The longest duration that both a float and a `timedelta` can express.
_LONGEST = nextafter(timedelta.max.total_seconds(), 0)


def _number_of_seconds(duration: timedelta) -> float:
    seconds = duration.total_seconds()
    if seconds > _LONGEST or timedelta(seconds=seconds) != duration:
        raise DocumentError(f"{duration!r} cannot be written exactly as a number of seconds")
    return seconds


_SECONDS = adapted(
    limited(FINITE, low=1e-6, high=_LONGEST, above=0),
    read=lambda seconds: timedelta(seconds=seconds),
    write=_number_of_seconds,
)


# The codec for each type of option. Strategies are added below: options may be strategies, too.
_TYPES: dict[Any, Codec] = {
    bool: FLAG,
    int: INTEGER,
    float: FINITE,
    str: TEXT,
    ContextKind: KIND,
    ContextKind | str: KIND,
    timedelta: _SECONDS,
    ScarcityLike: choice(ScarcityBehavior),
}


def _limits(cls: type[Any], least: Field, most: Field, build: Callable[..., Any]) -> Record:
    """Return the codec of a kind with a lower and an upper limit. Errors use the names of the file's fields."""
    kind, *limits = derive_fields(
        cls, _TYPES, (Field("kind", DERIVED, description="the kind of the items"), least, most)
    )
    if limits[0].attribute != least.attribute:
        limits.reverse()

    def check(given: Mapping[str, Any]) -> Iterator[DocumentError]:
        low, high = given.get(least.attribute), given.get(most.attribute)
        if low is not None and high is not None and low > high:
            low, high = (limit.codec.write(each, Context()) for limit, each in zip(limits, (low, high), strict=True))
            yield DocumentError(
                f"{least.name} ({shortened(low)}) must not exceed {most.name} ({shortened(high)})", path=least.name
            )

    return Record(build, [kind, *limits], check=check)


def _quota_entry(kind: Any, **shares: float) -> QuotaEntry:
    # Unlike in Python, a share is required (QS-10).
    if not shares:
        raise DocumentError("needs minPercent, maxPercent or both")
    return QuotaEntry(kind, **shares)


_TYPES[QuotaEntry] = _limits(
    QuotaEntry,
    Field("minPercent", DERIVED, OPTIONAL, "the minimum share of the budget for the kind", "require"),
    Field("maxPercent", DERIVED, OPTIONAL, "the maximum share of the budget for the kind", "cap"),
    _quota_entry,
)
_TYPES[CountQuotaEntry] = _limits(
    CountQuotaEntry,
    Field("requireCount", DERIVED, description="the minimum number of selected items"),
    Field("capCount", DERIVED, description="the maximum number of selected items"),
    CountQuotaEntry,
)
QUOTAS = list_of(_TYPES[QuotaEntry])

_SCORER = Strategy(SCORERS, _TYPES, "weight")
SLICER = Strategy(SLICERS, _TYPES)
PLACER = Strategy(PLACERS, _TYPES)
SHORTENER = Strategy(SHORTENERS, _TYPES)
_CURVE = Strategy(CURVES, _TYPES)
STRATEGIES = (_SCORER, SLICER, PLACER, SHORTENER, _CURVE)
_CLOCK = registered_name(CLOCKS)


def _read_weighted(value: Any, context: Context) -> Any:
    """Read an object as a `(scorer, weight)` pair, as `CompositeScorer` takes it."""
    mistakes: list[DocumentError] = []
    scorer, weight = context.attempt(_SCORER.read, value, "", mistakes), 1.0
    if isinstance(value, Mapping) and value.get("weight") is not None:  # pyright: ignore[reportUnknownMemberType]
        weight = context.attempt(_WEIGHT.read, value["weight"], "weight", mistakes)
    context.raise_all(mistakes)
    return scorer, weight


def _write_weighted(value: Any, context: Context) -> dict[str, Any]:
    scorer, weight = value
    document = _SCORER.write(scorer, context)
    return {"type": document.pop("type"), "weight": _WEIGHT.write(weight, context), **document}


_WEIGHTED = Codec(
    lambda: {"allOf": [_SCORER.schema(), {"properties": {"weight": _WEIGHT.schema()}}]},
    _read_weighted,
    _write_weighted,
)
WEIGHTED_SCORERS = list_of(_WEIGHTED, at_least=1)

# An inner scorer is written with a weight, which other implementations require, but ignore.
_INNER = Codec(_SCORER.schema, _SCORER.read, lambda scorer, context: _write_weighted((scorer, 1.0), context))
_TYPES.update(
    {Scorer: _INNER, Slicer: SLICER, Placer: PLACER, Shortener: SHORTENER, Curve: _CURVE, TimeProvider: _CLOCK}
)


class _Window(NamedTuple):
    max_age_seconds: timedelta
    score: float


# A window is a pair in the curve, but an object in the document.
_WINDOW = adapted(
    Record(_Window, [Field("maxAgeSeconds", _SECONDS), Field("score", limited(FINITE, 0, 1))]), write=_Window._make
)

_CURVE.define(scorers.Exponential, Field("halfLifeSeconds", _SECONDS, attribute="half_life"))
_CURVE.define(scorers.Window, Field("maxAgeSeconds", _SECONDS, attribute="max_age"))
_CURVE.define(scorers.Step, windows=list_of(_WINDOW, at_least=1))


def _reject_query(_value: Any, _context: Context) -> Any:
    raise DocumentError("a query belongs to a call, not to a policy; pass query= to select or Pipeline.run")


_NO_QUERY = Codec(lambda: {"type": "null"}, _reject_query, _reject_query)
_INNER_SCORER = Field("innerScorer", _INNER, attribute="inner")
_KIND_WEIGHTS = Field(
    "kindWeights", map_of(KIND, limited(FINITE, low=0)), scorers.KindScorer().weights, attribute="weights"
)
_TIME = Field("time", _CLOCK, description="The name of the clock that ages are measured by.", attribute="time_provider")

_SCORER.define(scorers.RecencyScorer)
_SCORER.define(scorers.ReflexiveScorer)
_SCORER.define(scorers.TagScorer)
_SCORER.define(scorers.MetadataTrustScorer)
_SCORER.define(scorers.MetadataKeyScorer)
_SCORER.define(scorers.RelevanceScorer, query=_NO_QUERY)
_SCORER.define(scorers.KindScorer, _KIND_WEIGHTS)
_SCORER.define(scorers.ScaledScorer, _INNER_SCORER)
_SCORER.define(scorers.BoostedScorer, _INNER_SCORER)
_SCORER.define(scorers.CompositeScorer, Field("scorers", WEIGHTED_SCORERS, attribute="entries"))
_SCORER.define(scorers.DecayScorer, _TIME)

# Options of other types are ignored, except an inner scorer, which other implementations reject, too.
_INNER_ONLY = "is only valid for scaled and boosted; remove it or change the type"
_SCORER.related_keys |= dict.fromkeys(_INNER_SCORER.spellings, _INNER_ONLY)


def _read_limit(value: Any, context: Context) -> Any:
    if not isinstance(value, str):
        return POSITIVE_INTEGER.read(value, context)
    if name_key(value) != "unlimited":
        raise must_be('an integer or "unlimited"', value)
    return None


def _write_limit(value: Any, context: Context) -> Any:
    # Not as null, which means absent, and which TOML does not have.
    return "unlimited" if value is None else POSITIVE_INTEGER.write(value, context)


_LIMIT = Codec(lambda: {"anyOf": [POSITIVE_INTEGER.schema(), {"const": "unlimited"}]}, _read_limit, _write_limit)
_MAX_CELLS = Field("maxCells", _LIMIT, description='The maximum number of candidates times buckets, or "unlimited".')

SLICER.define(slicers.KnapsackSlice, _MAX_CELLS)
SLICER.define(slicers.GreedySlice)
SLICER.define(slicers.MinScoreSlice)
SLICER.define(slicers.StreamSlice)
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
