"""Ranking once and selecting for many budgets: the first four stages do not depend on the budget."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import pytest

from pycupel import (
    ContextBudget,
    ContextItem,
    CountQuotaEntry,
    CountQuotaSlice,
    GreedySlice,
    KnapsackSlice,
    OverflowStrategy,
    Pipeline,
    QuotaEntry,
    QuotaSlice,
    Slicer,
    UShapedPlacer,
)
from pycupel.diagnostics import OverflowEvent
from pycupel.errors import BudgetOverflowError, PinnedExceedsBudgetError
from tests.strategies import RawHintScorer

BUDGETS = [
    ContextBudget(0),
    ContextBudget(30),
    ContextBudget(100),
    ContextBudget(100, 70, output_reserve=20),
    ContextBudget(300, reserved_slots={"tool": 50}, estimation_safety_margin_percent=10.0),
    ContextBudget(10_000),
]


class Counting:
    """A scorer that counts its calls."""

    def __init__(self) -> None:
        self.calls = 0

    def score(self, item: ContextItem, all_items: Sequence[ContextItem], /) -> float:
        self.calls += 1
        return item.future_relevance_hint or 0.0


def items() -> list[ContextItem]:
    made = [
        ContextItem(
            f"i{i % 17}", (i * 13) % 40, kind=("tool", "doc", "msg")[i % 3], future_relevance_hint=(i * 7) % 10 / 10
        )
        for i in range(24)
    ]
    return [*made, ContextItem("negative", -3)]


@pytest.mark.parametrize("deduplication", [True, False])
@pytest.mark.parametrize(
    "slicer",
    [
        GreedySlice(),
        KnapsackSlice(1),
        QuotaSlice([QuotaEntry("tool", 20, 40)]),
        CountQuotaSlice([CountQuotaEntry("doc", cap_count=3, require_count=1)]),
    ],
    ids=lambda slicer: type(slicer).__name__,
)
def test_one_ranking_sliced_for_many_budgets_equals_separate_runs(slicer: Slicer, deduplication: bool) -> None:
    """Pipeline: Classify to Sort are independent of the budget."""
    pipeline = Pipeline(
        RawHintScorer(),
        slicer,
        UShapedPlacer(),
        deduplication=deduplication,
        overflow_strategy=OverflowStrategy.TRUNCATE,
    )
    candidates = items()
    ranking = pipeline.rank(candidates)
    for budget in [*BUDGETS, *reversed(BUDGETS)]:
        selected = pipeline.select(ranking, budget).items
        assert list(map(id, selected)) == list(map(id, pipeline.run(candidates, budget)))


def test_pinned_items_are_part_of_the_ranking() -> None:
    """Stage 6, Place: they are merged for every budget."""
    candidates = [ContextItem("pinned", 10, pinned=True), *items()]
    pipeline = Pipeline(RawHintScorer())
    ranking = pipeline.rank(candidates)
    for budget in BUDGETS[1:]:
        selected = pipeline.select(ranking, budget).items
        assert candidates[0] in selected
        assert list(map(id, selected)) == list(map(id, pipeline.run(candidates, budget)))


def test_scoring_happens_once() -> None:
    """SC-02: however many budgets follow."""
    scorer = Counting()
    pipeline = Pipeline(scorer)
    candidates = items()
    ranking = pipeline.rank(candidates)
    assert scorer.calls == 24
    for budget in BUDGETS:
        pipeline.select(ranking, budget)
    assert scorer.calls == 24
    pipeline.run(candidates, BUDGETS[1])
    assert scorer.calls == 48


def test_a_generator_is_read_once_for_all_budgets() -> None:
    """CL-03."""
    read: list[str] = []

    def generate() -> Iterator[ContextItem]:
        for item in items():
            read.append(item.content)
            yield item

    pipeline = Pipeline(RawHintScorer())
    ranking = pipeline.rank(generate())
    sizes = [len(pipeline.select(ranking, budget).items) for budget in BUDGETS]
    assert len(read) == 25
    assert sizes[0] == 0 < sizes[1] < sizes[-1]


def test_the_ranking_is_sorted_and_remembers_what_was_left_out() -> None:
    """Stage 4, Sort: score descending, ties by index; duplicates are gone from it."""
    first, better = ContextItem("dup", 1, future_relevance_hint=0.2), ContextItem("dup", 1, future_relevance_hint=0.4)
    other, tie = ContextItem("x", 1, future_relevance_hint=0.9), ContextItem("y", 1, future_relevance_hint=0.4)
    ranking = Pipeline(RawHintScorer()).rank([first, ContextItem("n", -1), better, other, tie])
    assert [item is expected for item, expected in zip(ranking.items, [other, better, tie], strict=True)] == [True] * 3
    assert list(ranking.scores) == [0.9, 0.4, 0.4]


def test_a_budget_that_is_too_small_for_the_pinned_items_fails_alone() -> None:
    """CL-01: the ranking knows no budget, so the error comes with one, and other budgets still work."""
    pipeline = Pipeline(RawHintScorer())
    ranking = pipeline.rank([ContextItem("pinned", 50, pinned=True), ContextItem("a", 10)])
    with pytest.raises(PinnedExceedsBudgetError) as caught:
        pipeline.select(ranking, ContextBudget(60, output_reserve=20))
    assert (caught.value.pinned_tokens, caught.value.available) == (50, 40)
    with pytest.raises(BudgetOverflowError):
        pipeline.select(ranking, ContextBudget(60, 40))
    assert len(pipeline.select(ranking, ContextBudget(60)).items) == 2


def test_selecting_notifies_nobody() -> None:
    """PL-06: observers belong to `run`."""
    events: list[OverflowEvent] = []
    pipeline = Pipeline(RawHintScorer(), overflow_strategy=OverflowStrategy.PROCEED, on_overflow=events.append)
    ranking = pipeline.rank([ContextItem("pinned", 50, pinned=True)])
    assert len(pipeline.select(ranking, ContextBudget(100, 10)).items) == 1
    assert events == []


def test_an_empty_ranking() -> None:
    """Pipeline: nothing in, nothing out."""
    pipeline = Pipeline(RawHintScorer())
    assert pipeline.select(pipeline.rank([]), ContextBudget(0)).items == []


@pytest.mark.parametrize("budget", [None, "100"])
def test_a_budget_of_another_type_is_refused(budget: Any) -> None:
    """PB-05."""
    pipeline = Pipeline(RawHintScorer())
    with pytest.raises(TypeError, match="budget must be a ContextBudget"):
        pipeline.select(pipeline.rank([]), budget)


def test_wrong_items_are_refused() -> None:
    """PB-05: as in `run`."""
    wrong: Any = [ContextItem("a", 1), "b"]
    with pytest.raises(TypeError, match=r"items\[1\] must be a ContextItem"):
        Pipeline(RawHintScorer()).rank(wrong)
    text: Any = "text"
    with pytest.raises(TypeError, match="items must be"):
        Pipeline(RawHintScorer()).rank(text)
