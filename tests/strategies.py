"""Hypothesis strategies full of ties and corner cases. `tests/samples.py` lists every strategy once."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from functools import cache
from typing import TYPE_CHECKING, Any, Literal

from hypothesis import strategies as st

from pycupel import (
    BoostedScorer,
    ChronologicalPlacer,
    CompositeScorer,
    ContextBudget,
    ContextItem,
    CountConstrainedKnapsackSlice,
    CountQuotaEntry,
    CountQuotaSlice,
    DecayScorer,
    Exponential,
    FrequencyScorer,
    GreedySlice,
    KindScorer,
    KnapsackSlice,
    MetadataKeyScorer,
    MetadataTrustScorer,
    OverflowStrategy,
    Pipeline,
    PriorityScorer,
    QuotaEntry,
    QuotaSlice,
    RecencyScorer,
    ReflexiveScorer,
    ScaledScorer,
    ScarcityBehavior,
    Step,
    TagScorer,
    UShapedPlacer,
    Window,
)
from tests import samples

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pycupel import Placer, Scorer, Slicer

NOW = samples.NOW
FixedClock = samples.FixedClock
HOUR = timedelta(hours=1)

SPELLINGS = ("Message", "Document", "custom", "message", "MESSAGE", "DOCUMENT", "Custom", "Memory")
TOKENS = (0, 1, 1, 2, 3, 3, 5, 8, 10, 10, 17, 25, 40, 100)
HINTS = (None, 0.0, -0.0, 0.25, 0.5, 0.5, 0.75, 1.0, 0.00004, -0.3, 1.7, float("nan"), float("inf"), float("-inf"))
INSTANTS = (None, NOW - 72 * HOUR, NOW - 24 * HOUR, NOW - 6 * HOUR, NOW - HOUR, NOW, NOW + HOUR)
TRUSTS = ("0.85", "0.5", "1.5", "-0.1", "+.5", "5.", "1e-1", "1e999", 0.5, 1, 2, 10**400, float("nan"))
DISTRUSTED = ("high", "", " 0.5", "1_0", "NaN", "inf", "\u0660.\u0665", True, None, ["0.5"])
SIGNALS = ("high", "High", "low", 1, True, None)
UNIT = (0.0, 0.1, 0.5, 0.5, 0.9, 1.0)


@dataclass(frozen=True)
class RawHintScorer:
    """A user's scorer without manners: the hint as it is, be it NaN, infinite or negative; 0.0 without one."""

    def score(self, item: ContextItem, all_items: Sequence[ContextItem], /) -> float:
        return 0.0 if item.future_relevance_hint is None else item.future_relevance_hint


@cache
def metadata() -> st.SearchStrategy[dict[str, Any]]:
    return st.fixed_dictionaries(
        {}, optional={"cupel:trust": st.sampled_from((*TRUSTS, *DISTRUSTED)), "signal": st.sampled_from(SIGNALS)}
    )


@cache
def items() -> st.SearchStrategy[ContextItem]:
    """Items with few distinct values in every field; now and then negative tokens, now and then pinned."""
    return st.builds(
        ContextItem,
        content=st.sampled_from(("a", "b", "c", "d", "e", "f", "g", "A", "a ", "\u00e9", "e\u0301")),
        tokens=st.sampled_from(TOKENS) | st.sampled_from((*TOKENS, -1, -7)) | st.integers(0, 60),
        kind=st.sampled_from(SPELLINGS),
        priority=st.sampled_from((None, -3, 0, 1, 1, 5)),
        tags=st.lists(st.sampled_from(("x", "X", "y", "Y", "z", "\u00c9", "\u00e9")), max_size=3),
        metadata=metadata(),
        timestamp=st.sampled_from(INSTANTS),
        future_relevance_hint=st.sampled_from(HINTS),
        pinned=st.sampled_from((False,) * 11 + (True,)),
    )


@st.composite
def item_lists(draw: st.DrawFn, *, max_size: int = 10) -> list[ContextItem]:
    """Draw lists of items in which sometimes the same object occurs several times."""
    min_size = draw(st.sampled_from((4, 6, 2, 0)))
    distinct = draw(st.lists(items(), min_size=min(min_size, max_size), max_size=max_size))
    if not distinct or draw(st.sampled_from((True, True, False))):
        return distinct
    again = draw(st.lists(st.sampled_from(distinct), min_size=1, max_size=3))
    return draw(st.permutations(distinct + again))


def kind_maps(values: st.SearchStrategy[Any], *, max_size: int = 4) -> st.SearchStrategy[dict[str, Any]]:
    """Map kinds to values, no kind twice, however spelled."""
    pairs = st.tuples(st.sampled_from(SPELLINGS), values)
    return st.lists(pairs, unique_by=lambda pair: pair[0].lower(), max_size=max_size).map(dict)


@st.composite
def budgets(draw: st.DrawFn) -> ContextBudget:
    """Draw valid budgets, from nothing at all to room for everything."""
    max_tokens = draw(st.sampled_from((100, 40, 150, 200, 300, 300, 1000, 10, 0)) | st.integers(0, 300))
    output_reserve = draw(st.just(0) | st.integers(0, max_tokens // 3) | st.integers(0, max_tokens))
    return ContextBudget(
        max_tokens,
        draw(st.none() | st.just(max_tokens) | st.integers(0, max_tokens)),
        output_reserve=output_reserve,
        reserved_slots=draw(st.just({}) | kind_maps(st.sampled_from((0, 1, 5, 30)), max_size=2)),
        estimation_safety_margin_percent=draw(st.sampled_from((0.0, 0.0, 0.0, 0.1, 10.0, 33.3, 90.0, 100.0))),
    )


@cache
def curves() -> st.SearchStrategy[Exponential | Step | Window]:
    ages = st.sampled_from((timedelta(microseconds=1), HOUR, 6 * HOUR, 24 * HOUR, 72 * HOUR))
    windows = st.lists(st.tuples(ages, st.sampled_from(UNIT)), unique_by=lambda pair: pair[0], min_size=1, max_size=3)
    return st.one_of(st.builds(Exponential, ages), st.builds(Step, windows.map(sorted)), st.builds(Window, ages))


@cache
def tag_scorers() -> st.SearchStrategy[TagScorer]:
    pairs = st.tuples(
        st.sampled_from(("x", "X", "y", "Y", "z", "\u00e9")), st.sampled_from((1.0, 0.0, 0.1, 0.2, 0.7, 3.0))
    )
    exact = st.lists(pairs, unique_by=lambda pair: pair[0], max_size=3).map(dict)
    folded = st.lists(pairs, unique_by=lambda pair: pair[0].lower(), max_size=3).map(dict)
    return st.builds(TagScorer, exact) | st.builds(TagScorer, folded, case_insensitive=st.just(True))


@cache
def key_scorers() -> st.SearchStrategy[MetadataKeyScorer]:
    return st.builds(
        MetadataKeyScorer,
        st.sampled_from(("signal", "absent")),
        st.sampled_from(("high", "low", "1", "True", "None")),
        st.sampled_from((0.5, 1.0, 1.5, 1.5, 1e308)),
    )


@cache
def kind_scorers() -> st.SearchStrategy[KindScorer]:
    weights = kind_maps(st.sampled_from((0.0, 0.2, 0.2, 0.5, 1.0, 4.0, 1e308)))
    return st.builds(KindScorer) | st.builds(KindScorer, weights)


@cache
def leaf_scorers() -> st.SearchStrategy[Scorer]:
    without_options = (RecencyScorer(), PriorityScorer(), FrequencyScorer(), ReflexiveScorer())
    return st.one_of(
        st.sampled_from(without_options),
        st.just(RawHintScorer()),
        kind_scorers(),
        tag_scorers(),
        key_scorers(),
        st.builds(MetadataTrustScorer, st.sampled_from(UNIT)),
        st.builds(DecayScorer, st.just(FixedClock()), curves(), st.sampled_from(UNIT)),
    )


@cache
def boost_scorers() -> st.SearchStrategy[list[Scorer]]:
    return st.lists(key_scorers() | kind_scorers() | leaf_scorers(), min_size=1, max_size=2)


@st.composite
def scorers(draw: st.DrawFn, *, depth: int = 3) -> Scorer:
    """Draw any scorer, wrapped in others up to `depth` levels."""
    shape = "leaf" if depth <= 1 else draw(st.sampled_from(("leaf", "composite", "scaled", "boosted")))
    inner = scorers(depth=depth - 1)
    if shape == "leaf":
        return draw(leaf_scorers())
    if shape == "composite":
        weights = st.sampled_from((1.0, 1.0, 2.0, 3.0, 0.1, 0.7, 1e-9))
        return CompositeScorer(draw(st.lists(st.tuples(inner, weights), min_size=1, max_size=3)))
    if shape == "scaled":
        return ScaledScorer(draw(inner))
    return BoostedScorer(draw(inner), *draw(boost_scorers()))


@cache
def knapsacks() -> st.SearchStrategy[KnapsackSlice]:
    return st.builds(
        KnapsackSlice,
        bucket_size=st.sampled_from((1, 1, 2, 5, 10, 100)),
        fill_free=st.sampled_from((False, False, True)),
    )


@cache
def quota_entries() -> st.SearchStrategy[list[QuotaEntry]]:
    """Entries whose requirements never add up to more than 100 per cent."""
    percents = st.sampled_from((0.0, 10.0, 29.0, 33.3, 50.0, 100.0))
    return kind_maps(st.tuples(percents, percents)).map(affordable)


def affordable(percents: dict[str, tuple[float, float]]) -> list[QuotaEntry]:
    entries = []
    left = 100.0
    for kind, (require, cap) in percents.items():
        entries.append(QuotaEntry(kind, min(require, cap, left), cap))
        left -= min(require, cap, left)
    return entries


@cache
def count_entries() -> st.SearchStrategy[list[CountQuotaEntry]]:
    counts = st.sampled_from((1, 0, 0, 1, 2, 4))
    return kind_maps(st.tuples(counts, counts), max_size=3).map(
        lambda chosen: [
            CountQuotaEntry(kind, cap_count=max(pair), require_count=min(pair)) for kind, pair in chosen.items()
        ]
    )


@cache
def scarcities() -> st.SearchStrategy[ScarcityBehavior]:
    return st.sampled_from((ScarcityBehavior.DEGRADE,) * 4 + (ScarcityBehavior.THROW,))


@cache
def cap_orders() -> st.SearchStrategy[Literal["inner", "score"]]:
    return st.sampled_from(("inner", "score"))


@st.composite
def slicers(draw: st.DrawFn, *, depth: int = 3) -> Slicer:
    """Draw any of the five slicers, wrapped in one another where that is legal, with extensions on sometimes."""
    shapes = ("greedy", "knapsack", "constrained") + (("quota", "count") * 2 if depth > 1 else ())
    shape = draw(st.sampled_from(shapes))
    inner = slicers(depth=depth - 1)
    if shape == "greedy":
        return GreedySlice()
    if shape == "knapsack":
        return draw(knapsacks())
    if shape == "constrained":
        return CountConstrainedKnapsackSlice(draw(count_entries()), draw(knapsacks()), draw(scarcities()))
    if shape == "quota":
        return QuotaSlice(draw(quota_entries()), draw(inner), redistribute=draw(st.sampled_from((False, False, True))))
    legal = inner.filter(lambda slicer: not isinstance(slicer, KnapsackSlice))
    return CountQuotaSlice(draw(count_entries()), draw(legal), draw(scarcities()), cap_order=draw(cap_orders()))


@cache
def placers() -> st.SearchStrategy[Placer]:
    return st.sampled_from((ChronologicalPlacer(), UShapedPlacer()))


def pipelines() -> st.SearchStrategy[Pipeline]:
    """Pipelines with every option."""
    deduplications = st.sampled_from([(True, True), (True, False), (False, False)])
    return st.builds(
        lambda scorer, slicer, placer, deduplication, strategy: Pipeline(
            scorer,
            slicer,
            placer,
            deduplication=deduplication[0],
            dedupe_against_pinned=deduplication[1],
            overflow_strategy=strategy,
        ),
        scorers(),
        slicers(),
        placers(),
        deduplications,
        st.sampled_from(OverflowStrategy),
    )
