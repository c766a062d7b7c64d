"""What a run reports: what the vectors `report-*` do not show."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import pytest

from pycupel import (
    ContextBudget,
    ContextItem,
    CountConstrainedKnapsackSlice,
    CountQuotaEntry,
    CountQuotaSlice,
    GreedySlice,
    KnapsackSlice,
    OverflowStrategy,
    Pipeline,
    QuotaEntry,
    QuotaSlice,
    ScoredItem,
    Slicer,
    UShapedPlacer,
)
from pycupel.diagnostics import (
    BudgetExceeded,
    CountCapExceeded,
    CountRequireCandidatesExhausted,
    Deduplicated,
    Filtered,
    NegativeTokens,
    PinnedOverride,
    QuotaCapExceeded,
    QuotaRequireDisplaced,
    ScoredTooLow,
)
from tests.strategies import RawHintScorer

NAN = math.nan


class Everything:
    def slice(self, scored_items: Sequence[ScoredItem], budget: ContextBudget, /) -> list[ContextItem]:
        return [pair.item for pair in scored_items]


def item(content: str, tokens: int, score: float = 0.5, kind: str = "Message") -> ContextItem:
    return ContextItem(content, tokens, kind=kind, future_relevance_hint=score)


def pinned(content: str, tokens: int) -> ContextItem:
    return ContextItem(content, tokens, pinned=True, future_relevance_hint=0.3)


# Included.


# Excluded.


def test_available_tokens_at_place_are_what_was_kept_of_the_limit() -> None:
    """ER-04: EB-05's limit less the kept list, pinned items included."""
    pipeline = Pipeline(RawHintScorer(), Everything(), overflow_strategy=OverflowStrategy.TRUNCATE)
    items = [pinned("p", 10), item("a", 60, 0.9), item("b", 200, 0.8)]
    report = pipeline.dry_run(items, ContextBudget(150, 100, output_reserve=60))
    assert [each.reason for each in report.excluded] == [BudgetExceeded(200, 20)]


def test_a_cap_comes_before_pinned_items_and_these_before_the_budget() -> None:
    """ER-03: precedence at Slice."""

    class Capping:
        def slice(self, scored_items: Sequence[ScoredItem], budget: ContextBudget, /) -> list[ContextItem]:
            return [pair.item for pair in scored_items]

    entries = [CountQuotaEntry("tool", cap_count=1)]
    items = [pinned("pin", 60), item("t1", 30, 0.9, "tool"), item("t2", 90, 0.8, "tool"), item("m", 101, 0.7)]
    pipeline = Pipeline(
        RawHintScorer(), CountQuotaSlice(entries, Capping()), overflow_strategy=OverflowStrategy.TRUNCATE
    )
    report = pipeline.dry_run(items, ContextBudget(100))
    assert {each.item.content: each.reason for each in report.excluded} == {
        "t2": CountCapExceeded("tool", 1, 1),
        "m": BudgetExceeded(101, 10),
    }
    report = Pipeline(RawHintScorer(), CountQuotaSlice(entries)).dry_run(items, ContextBudget(100))
    assert {each.item.content: each.reason for each in report.excluded} == {
        "t2": PinnedOverride("pin"),
        "m": BudgetExceeded(101, 10),
    }


@pytest.mark.proves("S-RP-07")
def test_excluded_is_sorted_by_score_with_nan_last() -> None:
    """SR-07: MUST be score descending."""
    items = [
        item("nan", 100, NAN),
        item("low", 100, 0.1),
        item("negative tokens", -1, 0.9),
        item("high", 100, 0.9),
        item("debt", 100, -math.inf),
        item("negative score", 100, -0.5),
    ]
    report = Pipeline(RawHintScorer()).dry_run(items, ContextBudget(50))
    assert [each.item.content for each in report.excluded] == [
        "high",
        "low",
        "negative tokens",
        "negative score",
        "debt",
        "nan",
    ]


@pytest.mark.proves("S-RP-02", "S-RP-07")
def test_at_equal_scores_what_was_excluded_earlier_comes_first() -> None:
    """SR-07: Classify and Deduplicate in input order, Slice in sorted order, Place in merged order."""

    class AllButSlow:
        def slice(self, scored_items: Sequence[ScoredItem], budget: ContextBudget, /) -> list[ContextItem]:
            return [pair.item for pair in scored_items if not pair.item.content.startswith("sliced")]

    items = [
        item("sliced 1", 1, 0.0),
        item("placed 1", 500, -0.0),
        item("dup", 1, 0.0),
        item("classified 1", -1, 0.9),
        item("sliced 2", 1, -0.0),
        item("dup", 2, 0.0),
        item("placed 2", 500, 0.0),
        item("dup", 3, -0.0),
        item("classified 2", -1, 0.8),
    ]
    pipeline = Pipeline(RawHintScorer(), AllButSlow(), overflow_strategy=OverflowStrategy.TRUNCATE)
    report = pipeline.dry_run(items, ContextBudget(100))
    assert [(each.item.content, each.item.tokens) for each in report.excluded] == [
        ("classified 1", -1),
        ("classified 2", -1),
        ("dup", 2),
        ("dup", 3),
        ("sliced 1", 1),
        ("sliced 2", 1),
        ("placed 1", 500),
        ("placed 2", 500),
    ]
    assert [type(each.reason) for each in report.excluded] == [
        NegativeTokens,
        NegativeTokens,
        Deduplicated,
        Deduplicated,
        BudgetExceeded,
        BudgetExceeded,
        BudgetExceeded,
        BudgetExceeded,
    ]


RESERVED = (ScoredTooLow, QuotaCapExceeded, QuotaRequireDisplaced, Filtered, CountRequireCandidatesExhausted)
COUNTS = [
    CountQuotaEntry("tool", cap_count=1, require_count=1),
    CountQuotaEntry("absent", cap_count=1, require_count=1),
]


@pytest.mark.proves("S-ER-30")
@pytest.mark.parametrize("strategy", [OverflowStrategy.TRUNCATE, OverflowStrategy.PROCEED])
@pytest.mark.parametrize(
    "slicer",
    [
        GreedySlice(),
        KnapsackSlice(1),
        QuotaSlice([QuotaEntry("tool", 10, 10), QuotaEntry("Message", cap=0)]),
        CountQuotaSlice(COUNTS),
        CountConstrainedKnapsackSlice(COUNTS, KnapsackSlice(1)),
        Everything(),
    ],
    ids=lambda slicer: type(slicer).__name__,
)
def test_reserved_reasons_are_never_given(slicer: Slicer, strategy: OverflowStrategy) -> None:
    """ER-01: MUST NOT be emitted by built-in stages."""
    items = [
        *(item(f"t{i}", 10 * i, i / 10, "tool") for i in range(8)),
        *(item(f"m{i % 3}", 10 * i, i / 10) for i in range(8)),
        item("negative", -1),
        pinned("pin", 30),
    ]
    pipeline = Pipeline(RawHintScorer(), slicer, overflow_strategy=strategy)
    report = pipeline.dry_run(items, ContextBudget(100))
    assert report.excluded
    assert not [each for each in report.excluded if isinstance(each.reason, RESERVED)]


# The report as a whole.


def test_every_candidate_is_in_the_report_exactly_once() -> None:
    """SelectionReport: the excluded list is complete, whatever stage excluded an item."""
    twice = item("twice", 10, 0.4)
    items = [pinned("p", 10), twice, item("dup", 10, 0.9), item("dup", 10, 0.8), item("n", -1), twice, item("x", 99)]
    report = Pipeline(RawHintScorer()).dry_run(items, ContextBudget(40))
    accounted = [each.item for each in report.included] + [each.item for each in report.excluded]
    assert sorted(map(id, accounted)) == sorted(map(id, items))
    assert report.total_tokens_considered == sum(each.tokens for each in items)


def test_an_empty_run_has_an_empty_report() -> None:
    """SelectionReport: nothing in, nothing out; SR-06: the shortfalls are there all the same."""
    report = Pipeline(RawHintScorer()).dry_run([], ContextBudget(0))
    assert report.included == ()
    assert report.excluded == ()
    assert (report.total_candidates, report.total_tokens_considered) == (0, 0)
    assert report.count_requirement_shortfalls == ()


def test_the_report_holds_the_budget_in_force() -> None:
    """PL-10: that of the call."""
    budget = ContextBudget(100, 50, output_reserve=20)
    assert Pipeline(RawHintScorer()).dry_run([], budget).budget is budget


def test_the_report_tells_of_the_run() -> None:
    """BS-02: the selected items are what `run` returns."""
    items = [item(f"i{i}", 7 * i, (i * 5) % 7 / 7) for i in range(12)]
    for options in ({}, {"placer": UShapedPlacer()}, {"slicer": KnapsackSlice(1)}):
        chosen: dict[str, Any] = dict(options)
        pipeline = Pipeline(RawHintScorer(), **chosen)
        assert pipeline.dry_run(items, ContextBudget(100)).items == pipeline.run(items, ContextBudget(100))


def test_two_dry_runs_have_the_same_selection() -> None:
    """SR-09: events are left out of it, durations differ; another budget gives another selection."""
    items = [item(f"i{i}", 10, i / 10) for i in range(5)]
    pipeline = Pipeline(RawHintScorer())
    first, second = (pipeline.dry_run(items, ContextBudget(25)) for _ in range(2))
    assert (first.included, first.excluded) == (second.included, second.excluded)
    assert first.same_selection(second)
    assert not first.same_selection(pipeline.dry_run(items, ContextBudget(35)))
