"""Hypothesis strategies full of ties and corner cases. `tests/samples.py` lists every strategy once.

What can be made once is made once (`@cache`): Hypothesis examines every new strategy, which takes longer than a draw.
"""

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
    TagScorer,
    UShapedPlacer,
)
from pycupel.scorers import Exponential, Step, Window
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


CONTENTS = ("a", "b", "c", "d", "e", "f", "g", "A", "a ", "\u00e9", "e\u0301")
TAGS = ("x", "X", "y", "Y", "z", "\u00c9", "\u00e9")
# Few distinct sizes, so that there are ties; now and then any size, or a negative one.
SIZES = (*TOKENS * 9, *range(61), *(-1, -7) * 8)


class _Choices:
    """Choices among a few values each, from one draw of bytes: a draw for each takes longer than the tests."""

    COUNT = 14

    def __init__(self, drawn: bytes) -> None:
        self._drawn = iter(drawn)

    def one_of(self, *options: Any) -> Any:
        """One of the options; Hypothesis shrinks towards the first."""
        return options[next(self._drawn) % len(options)]

    def item(self) -> ContextItem:
        tags = [self.one_of(*TAGS) for _ in range(3)]
        metadata = {"cupel:trust": self.one_of(*TRUSTS, *DISTRUSTED), "signal": self.one_of(*SIGNALS)}
        return ContextItem(
            content=self.one_of(*CONTENTS),
            tokens=self.one_of(*SIZES),
            kind=self.one_of(*SPELLINGS),
            priority=self.one_of(None, -3, 0, 1, 1, 5),
            tags=tags[: self.one_of(0, 1, 2, 3)],
            metadata={key: metadata[key] for key in self.one_of((), ("signal",), ("cupel:trust",), tuple(metadata))},
            timestamp=self.one_of(*INSTANTS),
            future_relevance_hint=self.one_of(*HINTS),
            pinned=self.one_of(*(False,) * 11, True),
        )


@cache
def items() -> st.SearchStrategy[ContextItem]:
    """Items with few distinct values in every field; now and then negative tokens, now and then pinned."""
    return st.binary(min_size=_Choices.COUNT, max_size=_Choices.COUNT).map(lambda drawn: _Choices(drawn).item())


@cache
def distinct_items(min_size: int, max_size: int) -> st.SearchStrategy[list[ContextItem]]:
    return st.lists(items(), min_size=min(min_size, max_size), max_size=max_size)


@st.composite
def item_lists(draw: st.DrawFn, *, max_size: int = 10) -> list[ContextItem]:
    """Draw lists of items in which sometimes the same object occurs several times."""
    distinct = draw(distinct_items(draw(st.sampled_from((4, 6, 2, 0))), max_size))
    if not distinct or draw(st.sampled_from((True, True, False))):
        return distinct
    again = draw(st.lists(st.sampled_from(distinct), min_size=1, max_size=3))
    return draw(st.permutations(distinct + again))


def kind_maps(values: st.SearchStrategy[Any], *, max_size: int = 4) -> st.SearchStrategy[dict[str, Any]]:
    """Map kinds to values, no kind twice, however spelled."""
    pairs = st.tuples(st.sampled_from(SPELLINGS), values)
    return st.lists(pairs, unique_by=lambda pair: pair[0].lower(), max_size=max_size).map(dict)


@cache
def output_reserves(max_tokens: int) -> st.SearchStrategy[int]:
    return st.just(0) | st.integers(0, max_tokens // 3) | st.integers(0, max_tokens)


@cache
def target_sizes(max_tokens: int) -> st.SearchStrategy[int | None]:
    return st.none() | st.just(max_tokens) | st.integers(0, max_tokens)


@cache
def reserved_slots() -> st.SearchStrategy[dict[str, int]]:
    return st.builds(dict[str, int]) | kind_maps(st.sampled_from((0, 1, 5, 30)), max_size=2)


@st.composite
def budgets(draw: st.DrawFn) -> ContextBudget:
    """Draw valid budgets, from nothing at all to room for everything."""
    max_tokens = draw(st.sampled_from((100, 40, 150, 200, 300, 300, 1000, 10, 0)) | st.integers(0, 300))
    return ContextBudget(
        max_tokens,
        draw(target_sizes(max_tokens)),
        output_reserve=draw(output_reserves(max_tokens)),
        reserved_slots=draw(reserved_slots()),
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


@cache
def weighted_scorers(depth: int) -> st.SearchStrategy[list[tuple[Scorer, float]]]:
    weights = st.sampled_from((1.0, 1.0, 2.0, 3.0, 0.1, 0.7, 1e-9))
    return st.lists(st.tuples(scorers(depth=depth), weights), min_size=1, max_size=3)


@cache
@st.composite
def scorers(draw: st.DrawFn, *, depth: int = 3) -> Scorer:
    """Draw any scorer, wrapped in others up to `depth` levels."""
    shape = "leaf" if depth <= 1 else draw(st.sampled_from(("leaf", "composite", "scaled", "boosted")))
    if shape == "leaf":
        return draw(leaf_scorers())
    if shape == "composite":
        return CompositeScorer(draw(weighted_scorers(depth - 1)))
    inner = draw(scorers(depth=depth - 1))
    return ScaledScorer(inner) if shape == "scaled" else BoostedScorer(inner, *draw(boost_scorers()))


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


@cache
def count_quota_inner(depth: int) -> st.SearchStrategy[Slicer]:
    """What a count quota may wrap: it refuses a knapsack."""
    return slicers(depth=depth).filter(lambda slicer: not isinstance(slicer, KnapsackSlice))


@cache
@st.composite
def slicers(draw: st.DrawFn, *, depth: int = 3) -> Slicer:
    """Draw any of the five slicers, wrapped in one another where that is legal, with extensions on sometimes."""
    shapes = ("greedy", "knapsack", "constrained") + (("quota", "count") * 2 if depth > 1 else ())
    shape = draw(st.sampled_from(shapes))
    if shape == "greedy":
        return GreedySlice()
    if shape == "knapsack":
        return draw(knapsacks())
    if shape == "constrained":
        return CountConstrainedKnapsackSlice(draw(count_entries()), draw(knapsacks()), draw(scarcities()))
    if shape == "quota":
        inner = draw(slicers(depth=depth - 1))
        return QuotaSlice(draw(quota_entries()), inner, redistribute=draw(st.sampled_from((False, False, True))))
    legal = draw(count_quota_inner(depth - 1))
    return CountQuotaSlice(draw(count_entries()), legal, draw(scarcities()), cap_order=draw(cap_orders()))


@cache
def placers() -> st.SearchStrategy[Placer]:
    return st.sampled_from((ChronologicalPlacer(), UShapedPlacer()))


@cache
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
