"""The worst known input of each strategy, at any size."""

from __future__ import annotations

import random
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import NamedTuple

from pycupel import (
    BoostedScorer,
    ChronologicalPlacer,
    CompositeScorer,
    ContextBudget,
    ContextItem,
    CountConstrainedKnapsackSlice,
    CountQuotaEntry,
    CountQuotaSlice,
    FramedPlacer,
    FrequencyScorer,
    GreedySlice,
    KindScorer,
    KnapsackSlice,
    Pipeline,
    Placer,
    Policy,
    PriorityScorer,
    QuotaEntry,
    QuotaSlice,
    RecencyScorer,
    ReflexiveScorer,
    RelevanceScorer,
    ScaledScorer,
    ScoredItem,
    Scorer,
    Slicer,
    StreamSlice,
    TagScorer,
    UShapedPlacer,
)
from pycupel.analytics import find_min_budget_for
from pycupel.scorers import clear_caches
from pycupel.scorers._base import score_all
from pycupel.shorten import KeyLines

NOW = datetime(2025, 1, 1, tzinfo=UTC)

Work = Callable[[], object]


class Case(NamedTuple):
    """What grows, from which size to ten times that, and what prepares the work of a size."""

    name: str
    size: int
    prepare: Callable[[int], Work]


def scoring(
    scorer: Scorer, tags: Callable[[random.Random, int], list[str]] = lambda _, __: []
) -> Callable[[int], Work]:
    def prepare(n: int) -> Work:
        dice = random.Random(1)
        items = tuple(
            ContextItem(
                f"{i}",
                1,
                kind=f"kind{i}",
                priority=dice.randrange(n),
                timestamp=NOW + timedelta(seconds=dice.randrange(n)),
                tags=tags(dice, n),
            )
            for i in range(n)
        )
        return partial(score_all, scorer, items)

    return prepare


def shared(depth: int) -> Scorer:
    scorer: Scorer = ReflexiveScorer()
    for _ in range(depth):
        scorer = BoostedScorer(CompositeScorer([(scorer, 1.0), (scorer, 2.0)]), scorer)
    return scorer


def slicing(make: Callable[[list[str]], Slicer], share: float = 0.4) -> Callable[[int], Work]:
    """Scores in proportion to tokens, and as many kinds as items."""

    def prepare(n: int) -> Work:
        dice = random.Random(1)
        items = [ContextItem("-", dice.randint(5, 600), kind=f"kind{i}") for i in range(n)]
        scored = [ScoredItem(item, item.tokens / 1_000) for item in items]
        dice.shuffle(scored)
        budget = ContextBudget(int(share * sum(item.tokens for item in items)))
        return partial(make([item.kind.value for item in items]).slice, scored, budget)

    return prepare


def counts(kinds: list[str]) -> list[CountQuotaEntry]:
    return [CountQuotaEntry(kind, cap_count=1, require_count=1) for kind in kinds]


def percents(kinds: list[str]) -> list[QuotaEntry]:
    return [QuotaEntry(kind, 99 / len(kinds)) for kind in kinds]


def knapsack(n: int) -> Work:
    """A table of 10 000 buckets, whatever the number of candidates."""
    dice = random.Random(1)
    scored = [
        ScoredItem(item, item.tokens / 1_000) for item in (ContextItem("-", dice.randint(5, 600)) for _ in range(n))
    ]
    return partial(KnapsackSlice(1).slice, scored, ContextBudget(10_000))


def placing(placer: Placer) -> Callable[[int], Work]:
    def prepare(n: int) -> Work:
        items = [ContextItem(f"{i}", 1, timestamp=NOW - timedelta(seconds=i)) for i in range(n)]
        return partial(Pipeline(RecencyScorer(), placer=placer).dry_run, items, 2 * n)

    return prepare


def deduplicating(n: int) -> Work:
    items = [ContextItem("same", 1, priority=i) for i in range(n)]
    return partial(Pipeline(PriorityScorer()).dry_run, items, 10)


def exhaustive(n: int) -> Work:
    target = ContextItem("target", 1, priority=0)
    items = [target, *(ContextItem(f"{i}", 1, priority=1) for i in range(n))]
    return partial(find_min_budget_for, Pipeline(PriorityScorer()), items, target, 200, exhaustive=True)


def relevance(n: int) -> Work:
    """Contents of many different words that no cache has seen."""
    dice = random.Random(1)
    items = [ContextItem(" ".join(f"w{dice.randrange(10 * n)}" for _ in range(50)), 50) for _ in range(n)]
    scorer = RelevanceScorer(" ".join(f"w{i}" for i in range(20)))

    def work() -> object:
        clear_caches()
        return scorer.score_all(items)

    return work


def shortening(n: int) -> Work:
    dice = random.Random(1)
    items = [ContextItem("\n".join(f"line {dice.random()}" for _ in range(20)), 100, priority=i) for i in range(n)]
    return partial(Pipeline.from_policy(Policy(PriorityScorer(), shorten=KeyLines())).run, items, 30 * n)


def long_text(n: int) -> Work:
    item = ContextItem("\n".join(f"{i} lines" for i in range(n)), 3 * n)
    return partial(Pipeline.from_policy(Policy(PriorityScorer(), shorten=KeyLines())).run, [item], n)


CASES = (
    Case("RecencyScorer", 1_000, scoring(RecencyScorer())),
    Case("PriorityScorer", 1_000, scoring(PriorityScorer())),
    Case("KindScorer, N kinds", 1_000, scoring(KindScorer())),
    Case(
        "TagScorer, 100 tags",
        1_000,
        scoring(TagScorer({"t1": 1.0}), lambda d, _: [f"t{d.randrange(700)}" for _ in range(100)]),
    ),
    Case(
        "FrequencyScorer, 10 of 700",
        1_000,
        scoring(FrequencyScorer(), lambda d, _: [f"t{d.randrange(700)}" for _ in range(10)]),
    ),
    # From 10,000 on, because only the masks of 1,000 fit into the processor's cache.
    Case(
        "FrequencyScorer, 10 of N",
        10_000,
        scoring(FrequencyScorer(), lambda d, n: [f"t{d.randrange(n)}" for _ in range(10)]),
    ),
    Case(
        "FrequencyScorer, spellings",
        1_000,
        scoring(FrequencyScorer(), lambda d, _: [f"{d.randrange(2**20):020b}".replace("0", "a").replace("1", "A")]),
    ),
    Case("ScaledScorer", 1_000, scoring(ScaledScorer(PriorityScorer()))),
    Case("one scorer, 3**40 positions", 1_000, scoring(shared(40))),
    Case("GreedySlice", 1_000, slicing(lambda _: GreedySlice())),
    Case("KnapsackSlice, proportional", 100, knapsack),
    Case("StreamSlice", 1_000, slicing(lambda _: StreamSlice())),
    Case("StreamSlice, replace", 1_000, slicing(lambda _: StreamSlice(1, replace=True))),
    Case("QuotaSlice, N entries", 300, slicing(lambda kinds: QuotaSlice(percents(kinds)))),
    Case("CountQuotaSlice, N entries", 300, slicing(lambda kinds: CountQuotaSlice(counts(kinds)))),
    Case("Quota(CountQuota), N entries", 300, slicing(lambda kinds: QuotaSlice([], CountQuotaSlice(counts(kinds))))),
    Case(
        "Quota(CountConstrained), N",
        300,
        slicing(lambda kinds: QuotaSlice([], CountConstrainedKnapsackSlice(counts(kinds)))),
    ),
    Case(
        "CountQuota(CountQuota), N",
        300,
        slicing(lambda kinds: CountQuotaSlice(counts(kinds), CountQuotaSlice(counts(kinds)))),
    ),
    Case("Quota(Quota), N entries", 100, slicing(lambda kinds: QuotaSlice([], QuotaSlice(percents(kinds))))),
    Case("ChronologicalPlacer", 1_000, placing(ChronologicalPlacer())),
    Case("UShapedPlacer", 1_000, placing(UShapedPlacer())),
    Case("deduplication, one content", 1_000, deduplicating),
    Case("find_min_budget_for, 200 sizes", 300, exhaustive),
    Case("RelevanceScorer, N words", 1_000, relevance),
    Case("FramedPlacer, N first", 1_000, placing(FramedPlacer(ChronologicalPlacer(), first=("Document",)))),
    Case("KeyLines, N items", 100, shortening),
    Case("KeyLines, a text of N lines", 1_000, long_text),
)
