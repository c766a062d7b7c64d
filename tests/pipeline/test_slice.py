"""Stage 5, Slice, with EB-* and SL-*."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import pytest

from pycupel import (
    ContextBudget,
    ContextItem,
    GreedySlice,
    KnapsackSlice,
    OverflowStrategy,
    Pipeline,
    QuotaSlice,
    ScoredItem,
    Slicer,
)
from pycupel.diagnostics import BudgetExceeded
from pycupel.errors import BudgetOverflowError
from tests.strategies import RawHintScorer


def item(content: str, tokens: int, score: float = 0.5, kind: str = "Message") -> ContextItem:
    return ContextItem(content, tokens, kind=kind, future_relevance_hint=score)


def contents(items: Iterable[ContextItem]) -> list[str]:
    return [each.content for each in items]


class Recorder:
    """A slicer that selects nothing and remembers what it was asked."""

    def __init__(self) -> None:
        self.calls: list[tuple[Sequence[ScoredItem], ContextBudget]] = []

    def slice(self, scored_items: Sequence[ScoredItem], budget: ContextBudget, /) -> list[ContextItem]:
        self.calls.append((scored_items, budget))
        return []


def effective(budget: ContextBudget, pinned_tokens: int) -> ContextBudget:
    recorder = Recorder()
    pipeline = Pipeline(RawHintScorer(), recorder, overflow_strategy=OverflowStrategy.PROCEED)
    pipeline.run([ContextItem("pinned", pinned_tokens, pinned=True), item("a", 1)], budget)
    ((_, seen),) = recorder.calls
    return seen


@pytest.mark.parametrize(
    ("budget", "pinned", "expected"),
    [
        pytest.param(ContextBudget(1000), 0, (1000, 1000), id="nothing to take off"),
        pytest.param(ContextBudget(1000, 800), 0, (1000, 800), id="a target below the maximum"),
        pytest.param(ContextBudget(1000, 800, output_reserve=100), 0, (900, 800), id="the reserve leaves the target"),
        pytest.param(ContextBudget(1000, 800, output_reserve=300), 0, (700, 700), id="the target is clamped (DM-15)"),
        pytest.param(ContextBudget(1000, 800), 200, (800, 600), id="pinned tokens"),
        pytest.param(ContextBudget(1000, 800), 800, (200, 0), id="pinned items use the target"),
        pytest.param(ContextBudget(1000, 800), 900, (100, 0), id="pinned items exceed the target"),
        pytest.param(ContextBudget(1000, 800, reserved_slots={"A": 50, "B": 25}), 0, (925, 725), id="reserved slots"),
        pytest.param(ContextBudget(1000, 800, reserved_slots={"A": 0}), 0, (1000, 800), id="a slot of nothing"),
        pytest.param(
            ContextBudget(100, reserved_slots={"A": 60, "B": 60}), 0, (0, 0), id="slots exceed the budget (DM-17)"
        ),
        pytest.param(
            ContextBudget(100, 50, reserved_slots={"A": 30}, output_reserve=40), 30, (0, 0), id="slots exceed the rest"
        ),
        pytest.param(ContextBudget(1000, 800, estimation_safety_margin_percent=10.0), 0, (900, 720), id="margin"),
        pytest.param(ContextBudget(100, 99, estimation_safety_margin_percent=33.3), 0, (66, 66), id="margin, floored"),
        pytest.param(ContextBudget(10, estimation_safety_margin_percent=90.0), 0, (0, 0), id="10 tokens, 90 %: 0"),
        pytest.param(ContextBudget(1000, estimation_safety_margin_percent=100.0), 0, (0, 0), id="all of it"),
        pytest.param(ContextBudget(1000, 500, estimation_safety_margin_percent=0.1), 0, (999, 499), id="a thousandth"),
        pytest.param(
            ContextBudget(
                1000, 900, output_reserve=100, reserved_slots={"A": 50}, estimation_safety_margin_percent=12.5
            ),
            150,
            (612, 612),
            id="all together: floor(700 * 0.875)",
        ),
        pytest.param(
            ContextBudget(1000, 500, output_reserve=100, reserved_slots={"A": 50}, estimation_safety_margin_percent=20),
            150,
            (560, 240),
            id="all together, with a lower target",
        ),
        pytest.param(ContextBudget(0), 0, (0, 0), id="nothing at all (DM-13)"),
    ],
)
def test_the_effective_budget(budget: ContextBudget, pinned: int, expected: tuple[int, int]) -> None:
    """EB-01: the formulas exactly, as (effectiveMax, effectiveTarget); no other field is forwarded."""
    assert effective(budget, pinned) == ContextBudget(*expected)


def test_the_margin_is_a_float_product_and_then_floor() -> None:
    """EB-01: rounding artefacts stay."""
    assert math.floor(10 * (1.0 - 90.0 / 100.0)) == 0
    for max_tokens, percent in [(10, 90.0), (100, 71.0), (1000, 0.7), (12345, 33.3)]:
        budget = ContextBudget(max_tokens, estimation_safety_margin_percent=percent)
        assert effective(budget, 0).target_tokens == math.floor(max_tokens * (1.0 - percent / 100.0))


def test_the_slicer_receives_an_empty_list_if_there_is_nothing() -> None:
    """Stage 5, Slice: edge cases."""
    recorder = Recorder()
    assert Pipeline(RawHintScorer(), recorder).run([], ContextBudget(10)) == []
    assert recorder.calls == [((), ContextBudget(10))]


SLICERS: list[Slicer] = [GreedySlice(), KnapsackSlice(1), QuotaSlice([]), QuotaSlice([], redistribute=True)]


@pytest.mark.parametrize("slicer", SLICERS)
def test_all_items_are_selected_if_they_fit(slicer: Slicer) -> None:
    """Stage 5, Slice: edge cases; all these slicers do so with positive scores, and one kind."""
    items = [item("a", 40, 0.9), item("b", 30, 0.5), item("c", 30, 0.1)]
    assert Pipeline(RawHintScorer(), slicer).run(items, ContextBudget(100)) == items


@pytest.mark.parametrize("slicer", SLICERS)
def test_without_an_effective_target_not_even_zero_token_items_are_selected(slicer: Slicer) -> None:
    """EB-02 and EB-04: pinned items that use exactly the target give a result of pinned items only."""
    pinned, free = ContextItem("pinned", 100, pinned=True), item("free", 0)
    report = Pipeline(RawHintScorer(), slicer).dry_run([free, pinned], ContextBudget(200, 100))
    assert report.items == [pinned]
    assert [(each.item is free, each.reason) for each in report.excluded] == [(True, BudgetExceeded(0, 0))]


def test_pinned_items_above_the_target_are_left_to_the_overflow_strategy() -> None:
    """EB-04: Throw raises."""
    items = [ContextItem("pinned", 101, pinned=True), item("a", 1)]
    with pytest.raises(BudgetOverflowError) as caught:
        Pipeline(RawHintScorer()).run(items, ContextBudget(200, 100))
    assert (caught.value.merged_tokens, caught.value.target_tokens) == (101, 100)
    for strategy in (OverflowStrategy.TRUNCATE, OverflowStrategy.PROCEED):
        assert Pipeline(RawHintScorer(), overflow_strategy=strategy).run(items, ContextBudget(200, 100)) == items[:1]


def test_reserved_slots_hold_tokens_back_from_the_slicer() -> None:
    """EB-01 and DM-16: they are tokens, and nothing fills them."""
    items = [item("a", 40, kind="Memory"), item("b", 40)]
    budget = ContextBudget(100, reserved_slots={"Memory": 40})
    assert contents(Pipeline(RawHintScorer()).run(items, budget)) == ["a"]
    assert contents(Pipeline(RawHintScorer()).run(items, ContextBudget(100))) == ["a", "b"]


def test_the_selection_is_merged_in_score_order_not_in_the_slicers() -> None:
    """SL-01: no timestamps, big (0.9, 100 tokens) and small (0.5, 10 tokens): big comes first."""
    items = [item("small", 10, 0.5), item("big", 100, 0.9)]
    assert contents(Pipeline(RawHintScorer()).run(items, ContextBudget(200))) == ["big", "small"]


@pytest.mark.parametrize("slicer", SLICERS)
def test_no_slicers_own_order_shows(slicer: Slicer) -> None:
    """SL-01: neither density, nor reconstruction, nor partitions; ties are in input order."""
    items = [
        item("1", 10, 0.2, "A"),
        item("2", 30, 0.9, "B"),
        item("3", 20, 0.2, "B"),
        item("4", 10, 0.9, "A"),
        item("5", 10, 0.5, "C"),
    ]
    assert contents(Pipeline(RawHintScorer(), slicer).run(items, ContextBudget(80))) == ["2", "4", "5", "1", "3"]


def test_one_of_two_occurrences_does_not_bring_in_the_other() -> None:
    """SL-03: a set of selected objects would return both, and 120 tokens."""
    twice = item("twice", 60)
    report = Pipeline(RawHintScorer(), deduplication=False).dry_run([twice, twice], ContextBudget(100))
    assert report.items == [twice]
    assert [(each.item is twice, each.reason) for each in report.excluded] == [(True, BudgetExceeded(60, 40))]
    assert report.included_tokens == 60


def test_duplicate_contents_with_room_for_both_keep_their_own_scores() -> None:
    """SL-02: scores are found by identity, not by content."""
    first, second = item("dup", 100, 0.9), item("dup", 50, 0.2)
    report = Pipeline(RawHintScorer(), deduplication=False).dry_run([second, first], ContextBudget(500))
    assert [(each.item is first, each.score) for each in report.included] == [(True, 0.9), (False, 0.2)]
