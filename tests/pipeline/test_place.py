"""Stage 6, Place: what the vectors `place-*`, `overflow-*`, `truncate-*` and `pinned-override-*` do not show.

No built-in slicer but those with count requirements can overfill a budget (PL-02), so one here takes everything.
"""

from __future__ import annotations

import dataclasses
import pickle
from collections.abc import Callable, Iterable, Sequence
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
    QuotaSlice,
    ScoredItem,
    SelectionReport,
    Slicer,
    UShapedPlacer,
)
from pycupel.diagnostics import BudgetExceeded, OverflowEvent, PinnedOverride
from pycupel.errors import BudgetOverflowError, CupelError, PipelineConfigError, PlacerContractError
from tests.strategies import RawHintScorer

THROW, TRUNCATE, PROCEED = OverflowStrategy.THROW, OverflowStrategy.TRUNCATE, OverflowStrategy.PROCEED


class Everything:
    def slice(self, scored_items: Sequence[ScoredItem], budget: ContextBudget, /) -> list[ContextItem]:
        return [pair.item for pair in scored_items]


class Recorder:
    """A placer that leaves the order alone and remembers what it got."""

    def __init__(self) -> None:
        self.seen: list[Sequence[ScoredItem]] = []

    def place(self, scored_items: Sequence[ScoredItem], /) -> list[ContextItem]:
        self.seen.append(scored_items)
        return [pair.item for pair in scored_items]


def item(content: str, tokens: int, score: float = 0.5) -> ContextItem:
    return ContextItem(content, tokens, future_relevance_hint=score)


def pinned(content: str, tokens: int) -> ContextItem:
    return ContextItem(content, tokens, pinned=True)


def contents(items: Iterable[ContextItem]) -> list[str]:
    return [each.content for each in items]


def pipeline(strategy: OverflowStrategy, slicer: Slicer | None = None, **options: Any) -> Pipeline:
    return Pipeline(RawHintScorer(), slicer or Everything(), overflow_strategy=strategy, **options)


def reasons(report: SelectionReport) -> dict[str, Any]:
    return {each.item.content: each.reason for each in report.excluded}


# Merging.


@pytest.mark.proves("S-SI-02", "S-PL-01", "S-PL-07")
def test_pinned_items_come_first_with_score_1_then_the_rest_by_score() -> None:
    """Stage 6, Place: MUST; the placer gets the merged list as a tuple of pairs."""
    recorder = Recorder()
    items = [item("low", 1, 0.1), pinned("p2", 1), item("high", 1, 7.0), pinned("p1", 1), item("mid", 1, 0.5)]
    Pipeline(RawHintScorer(), placer=recorder).run(items, ContextBudget(100))
    (merged,) = recorder.seen
    assert [(pair.item.content, pair.score) for pair in merged] == [
        ("p2", 1.0),
        ("p1", 1.0),
        ("high", 7.0),
        ("mid", 0.5),
        ("low", 0.1),
    ]
    assert isinstance(merged, tuple)


@pytest.mark.proves("S-CL-05", "S-PL-06")
@pytest.mark.parametrize(
    ("items", "expected"),
    [
        pytest.param([item("a", 1, 0.1), item("b", 1, 0.9)], [("b", 0.9), ("a", 0.1)], id="no pinned items"),
        pytest.param([pinned("p", 1), pinned("q", 1)], [("p", 1.0), ("q", 1.0)], id="no sliced items"),
        pytest.param([], [], id="an empty merged list"),
    ],
)
def test_edge_cases_of_merging(items: list[ContextItem], expected: list[tuple[str, float]]) -> None:
    """Stage 6, Place: edge cases; the placer is asked in each of them."""
    recorder = Recorder()
    selected = Pipeline(RawHintScorer(), placer=recorder).run(items, ContextBudget(10))
    assert [[(pair.item.content, pair.score) for pair in merged] for merged in recorder.seen] == [expected]
    assert contents(selected) == [content for content, _ in expected]


# Throw.


@pytest.mark.proves("S-PL-02")
@pytest.mark.parametrize("method", ["run", "dry_run"])
def test_throw_has_the_words_of_the_specification_and_the_numbers(method: str) -> None:
    """PL-07: an exception of its own, not Python's OverflowError."""
    with pytest.raises(BudgetOverflowError) as caught:
        getattr(pipeline(THROW), method)([item("a", 60), item("b", 61)], ContextBudget(200, 120))
    error = caught.value
    assert str(error) == "Selected items require 121 tokens, exceeding target budget of 120"
    assert (error.merged_tokens, error.target_tokens) == (121, 120)
    assert isinstance(error, CupelError)
    assert not isinstance(error, OverflowError)
    copy = pickle.loads(pickle.dumps(error))
    assert (str(copy), copy.merged_tokens, copy.target_tokens) == (str(error), 121, 120)


@pytest.mark.proves("S-BU-22", "S-PL-08")
def test_overflow_is_measured_against_the_original_target() -> None:
    """Stage 6, Place: not the effective target, which reserved slots and margin make smaller."""
    budget = ContextBudget(100, reserved_slots={"Message": 40}, estimation_safety_margin_percent=50.0)
    items = [pinned("p", 20), item("a", 80)]
    assert pipeline(THROW).run(items, budget) == items
    with pytest.raises(BudgetOverflowError) as caught:
        pipeline(THROW).run([*items, item("b", 1)], budget)
    assert (caught.value.merged_tokens, caught.value.target_tokens) == (101, 100)


# Truncate.


def test_truncate_keeps_zero_token_items() -> None:
    """PL-01: they fit as long as the limit is not exceeded, here at exactly the limit."""
    items = [item("a", 100, 0.9), item("free", 0, 0.1), item("b", 1, 0.0)]
    assert contents(pipeline(TRUNCATE).run(items, ContextBudget(100))) == ["a", "free"]


@pytest.mark.proves("S-PL-05")
def test_truncate_with_pinned_items_above_the_target_drops_even_zero_token_items() -> None:
    """PL-03: current + 0 <= target is false; PL-04: without the pinned item all three would have stayed."""
    items = [pinned("p", 101), item("free", 0, 0.9), item("a", 60, 0.8), item("b", 40, 0.1)]
    report = pipeline(TRUNCATE).dry_run(items, ContextBudget(200, 100))
    assert contents(report.items) == ["p"]
    assert reasons(report) == {name: PinnedOverride("p") for name in ("free", "a", "b")}


@pytest.mark.proves("S-ER-36")
def test_the_counterfactual_starts_from_the_front() -> None:
    """PL-04: without the pinned item a would take the place, so b would not be kept either way."""
    items = [pinned("p", 60), item("a", 90, 0.9), item("c", 30, 0.8), item("b", 20, 0.7)]
    report = pipeline(TRUNCATE).dry_run(items, ContextBudget(500, 100))
    assert contents(report.items) == ["p", "c"]
    assert reasons(report) == {"a": PinnedOverride("p"), "b": BudgetExceeded(20, 10)}


@pytest.mark.proves("S-PL-09", "S-PL-10")
def test_the_placer_gets_what_truncation_kept_in_merged_order() -> None:
    """PL-09."""
    recorder = Recorder()
    items = [item("b", 60, 0.8), item("c", 30, 0.7), pinned("p", 5), item("a", 60, 0.9)]
    pipeline(TRUNCATE, placer=recorder).run(items, ContextBudget(100))
    (kept,) = recorder.seen
    assert [(pair.item.content, pair.score) for pair in kept] == [("p", 1.0), ("a", 0.9), ("c", 0.7)]


def test_the_same_object_twice_is_truncated_once() -> None:
    """SL-03: occurrences are kept or dropped one by one."""
    twice = item("twice", 60)
    report = pipeline(TRUNCATE, deduplication=False).dry_run([twice, twice], ContextBudget(100))
    assert [each.item is twice for each in report.included] == [True]
    assert [(each.item is twice, each.reason) for each in report.excluded] == [(True, BudgetExceeded(60, 40))]


@pytest.mark.parametrize("slicer", [GreedySlice(), KnapsackSlice(1), QuotaSlice([])])
def test_truncate_has_nothing_to_do_after_a_slicer_that_respects_its_budget(slicer: Slicer) -> None:
    """PL-02: what Throw returns, Truncate and Proceed return, too."""
    items = [pinned("p", 15), *(item(f"i{i}", 10 + i, i / 10) for i in range(10))]
    results = [pipeline(strategy, slicer).run(items, ContextBudget(100, 70)) for strategy in OverflowStrategy]
    assert results[0] == results[1] == results[2]


# PinnedOverride at Slice.


def test_a_single_pinned_token_can_displace() -> None:
    """PL-04: at Slice and at Place."""
    items = [pinned("p", 1), item("a", 100)]
    assert reasons(pipeline(THROW, GreedySlice()).dry_run(items, ContextBudget(100))) == {"a": PinnedOverride("p")}
    assert reasons(pipeline(TRUNCATE).dry_run(items, ContextBudget(100))) == {"a": PinnedOverride("p")}


# Proceed.


@pytest.mark.proves("S-EN-13", "S-PL-04", "S-EV-06")
def test_proceed_accepts_everything_and_notifies_once() -> None:
    """PL-05: the tokens beyond the limit, all items in merged order, and the caller's own budget."""
    events: list[OverflowEvent] = []
    budget = ContextBudget(500, 100, output_reserve=10)
    items = [item("low", 60, 0.1), pinned("p", 30), item("high", 60, 0.9)]
    proceeding = pipeline(PROCEED, placer=UShapedPlacer(), on_overflow=events.append)
    selected = proceeding.run(items, budget)
    assert contents(selected) == ["p", "low", "high"]
    (event,) = events
    assert event.tokens_over_budget == 50
    assert event.overflowing_items == (items[1], items[2], items[0])
    assert event.budget is budget
    proceeding.run(items, budget)
    assert len(events) == 2


def test_proceed_needs_no_observer() -> None:
    """PL-05."""
    items = [item("a", 60), item("b", 60)]
    assert pipeline(PROCEED).run(items, ContextBudget(100)) == items


def test_a_dry_run_notifies_nobody() -> None:
    """PL-06: what-if calls run dozens of times."""
    events: list[OverflowEvent] = []
    report = pipeline(PROCEED, on_overflow=events.append).dry_run([item("a", 60), item("b", 60)], ContextBudget(100))
    assert report.included_tokens == 120
    assert events == []


def test_a_run_that_fails_notifies_nobody() -> None:
    """PL-05: the event belongs to a completed run."""
    events: list[OverflowEvent] = []

    class Broken:
        def place(self, scored_items: Sequence[ScoredItem], /) -> list[ContextItem]:
            raise LookupError

    with pytest.raises(LookupError):
        pipeline(PROCEED, placer=Broken(), on_overflow=events.append).run([item("a", 60)], ContextBudget(10))
    assert events == []


@pytest.mark.proves("S-EV-10")
@pytest.mark.parametrize("strategy", [THROW, TRUNCATE, "throw", "Truncate"])
def test_an_observer_is_for_proceed_only(strategy: Any) -> None:
    """PL-05: a ValueError, because an event MUST NOT be produced for other strategies."""
    with pytest.raises(PipelineConfigError, match="on_overflow requires overflow_strategy='proceed', not 't") as caught:
        Pipeline(RawHintScorer(), overflow_strategy=strategy, on_overflow=print)
    assert isinstance(caught.value, ValueError)
    assert caught.value.argument == "on_overflow"
    with pytest.raises(PipelineConfigError, match="on_overflow"):
        Pipeline(RawHintScorer(), on_overflow=print)


@pytest.mark.parametrize("observer", ["print", 3, []])
def test_an_observer_is_callable(observer: Any) -> None:
    """PB-05."""
    with pytest.raises(TypeError, match="on_overflow must be a function"):
        Pipeline(RawHintScorer(), overflow_strategy=PROCEED, on_overflow=observer)


# EB-05.

REQUIRED = CountQuotaSlice([CountQuotaEntry("Message", cap_count=2, require_count=2)])
TWO = [item("a", 100, 0.9), item("b", 100, 0.8)]


def test_the_limit_is_the_target_in_every_normal_case() -> None:
    """EB-05: the smaller of the two."""
    with pytest.raises(BudgetOverflowError) as caught:
        pipeline(THROW, REQUIRED).run(TWO, ContextBudget(250, 140, output_reserve=100))
    assert caught.value.target_tokens == 140


# The placer's contract.


@pytest.mark.proves("S-PC-01")
@pytest.mark.parametrize(
    "place",
    [
        pytest.param(lambda items: items[1:], id="an item lost"),
        pytest.param(lambda items: [*items, items[0]], id="an item twice"),
        pytest.param(lambda items: [items[0]] * len(items), id="one item in the place of another"),
        pytest.param(lambda items: [dataclasses.replace(each) for each in items], id="copies"),
        pytest.param(lambda items: [*items[1:], ContextItem("foreign", 1)], id="a foreign item"),
        pytest.param(lambda items: None, id="nothing"),
        pytest.param(lambda items: "ab", id="a string"),
    ],
)
@pytest.mark.parametrize("strategy", [THROW, TRUNCATE])
def test_a_placer_returns_what_it_was_given(
    place: Callable[[list[ContextItem]], Any], strategy: OverflowStrategy
) -> None:
    """SL-04: PlacerContractError, also after truncation."""

    class Custom:
        def place(self, scored_items: Sequence[ScoredItem], /) -> list[ContextItem]:
            result: list[ContextItem] = place([pair.item for pair in scored_items])
            return result

    items = [item("a", 10), item("b", 10), item("c", 1000)]
    slicer = GreedySlice() if strategy is THROW else Everything()
    with pytest.raises(PlacerContractError, match="Custom"):
        pipeline(strategy, slicer, placer=Custom()).run(items, ContextBudget(100))


def test_a_custom_placer_decides_the_order_by_identity() -> None:
    """SL-04 and SL-03: any rearrangement, the same object twice included."""

    class Reversed:
        def place(self, scored_items: Sequence[ScoredItem], /) -> list[ContextItem]:
            return [pair.item for pair in reversed(scored_items)]

    twice = item("twice", 10, 0.5)
    items = [twice, item("a", 10, 0.9), twice, item("a", 10, 0.1)]
    placed = Pipeline(RawHintScorer(), placer=Reversed(), deduplication=False).run(items, ContextBudget(100))
    assert list(map(id, placed)) == list(map(id, [items[3], twice, twice, items[1]]))
