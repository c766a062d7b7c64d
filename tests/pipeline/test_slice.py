"""Stage 5, Slice: the budget that slicers get, which vectors do not show."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from pycupel import (
    ContextBudget,
    ContextItem,
    CountConstrainedKnapsackSlice,
    CountQuotaEntry,
    OverflowStrategy,
    Pipeline,
    ScoredItem,
)
from pycupel.diagnostics import BudgetExceeded, CountCapExceeded
from tests.strategies import RawHintScorer


def item(content: str, tokens: int, score: float = 0.5, kind: str = "Message") -> ContextItem:
    return ContextItem(content, tokens, kind=kind, future_relevance_hint=score)


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


@pytest.mark.proves("S-BU-20", "S-SL-01", "S-SL-08")
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


@pytest.mark.proves("S-SL-03")
def test_the_slicer_receives_an_empty_list_if_there_is_nothing() -> None:
    """Stage 5, Slice: edge cases."""
    recorder = Recorder()
    assert Pipeline(RawHintScorer(), recorder).run([], ContextBudget(10)) == []
    assert recorder.calls == [((), ContextBudget(10))]


def test_one_of_two_occurrences_does_not_bring_in_the_other() -> None:
    """SL-03: a set of selected objects would return both, and 120 tokens."""
    twice = item("twice", 60)
    report = Pipeline(RawHintScorer(), deduplication=False).dry_run([twice, twice], ContextBudget(100))
    assert report.items == [twice]
    assert [(each.item is twice, each.reason) for each in report.excluded] == [(True, BudgetExceeded(60, 40))]
    assert report.included_tokens == 60


class Capped:
    """A custom slicer that delegates: what it returns are objects, not indices."""

    def __init__(self, inner: CountConstrainedKnapsackSlice) -> None:
        self.slice = inner.slice


def test_the_first_occurrence_is_selected_by_built_in_and_custom_slicers() -> None:
    """SL-03: the cap keeps the later occurrence (CK-02), which consumes the first."""
    twice, between = item("twice", 100), item("between", 100, kind="Document")
    capped = CountConstrainedKnapsackSlice([CountQuotaEntry("Message", cap_count=1)])
    pipeline = Pipeline(RawHintScorer(), capped, deduplication=False)
    report = pipeline.dry_run([twice, between, twice], 1_000)
    assert report.items == [twice, between]
    assert [(each.item, each.reason) for each in report.excluded] == [(twice, CountCapExceeded("Message", 1, 1))]
    assert replace(pipeline, slicer=Capped(capped)).run([twice, between, twice], 1_000) == report.items
