"""ER-05: where the letter's reason would mislead, the item event says the true cause."""

from __future__ import annotations

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
    MinScoreSlice,
    Pipeline,
    QuotaEntry,
    QuotaSlice,
    ReflexiveScorer,
    ScoredItem,
)
from pycupel.diagnostics import TraceEvent
from pycupel.protocols import Slicer
from pycupel.slicers._base import SliceOffer


def item(content: str, tokens: int, hint: float, kind: str = "Message") -> ContextItem:
    return ContextItem(content, tokens, kind=kind, future_relevance_hint=hint)


def slice_messages(slicer: Slicer, items: list[ContextItem], target: int) -> list[str]:
    events: tuple[TraceEvent, ...] = Pipeline(ReflexiveScorer(), slicer).dry_run(items, ContextBudget(target)).events
    return [event.message for event in events if event.stage == "Slice" and event.message is not None]


def test_a_quota_names_the_share_of_the_kind() -> None:
    items = [item("a", 60, 0.9), item("b", 60, 0.8, "Document")]
    [message] = slice_messages(QuotaSlice([QuotaEntry("Document", cap=10)]), items, 130)
    cause = "10% of the 130 tokens left by pinned items is 13; Document has 0"
    assert message == f"BudgetExceeded: 60 tokens requested, 70 available ({cause})"
    within = MinScoreSlice(QuotaSlice([QuotaEntry("Document", cap=10)]), 0.0)
    assert slice_messages(within, items, 130) == [message]


def test_a_knapsack_says_that_a_score_is_worth_nothing() -> None:
    """KN-01."""
    assert slice_messages(KnapsackSlice(1), [item("a", 10, 0.9), item("b", 10, 0.0)], 100) == [
        "BudgetExceeded: 10 tokens requested, 90 available (a score below 0.0001 is worth nothing to a knapsack)"
    ]


def test_a_knapsack_names_its_buckets() -> None:
    """KN-02."""
    assert slice_messages(KnapsackSlice(), [item("a", 101, 0.9), item("b", 50, 0.8)], 200) == [
        "BudgetExceeded: 50 tokens requested, 99 available (tokens are rounded up to buckets of 100)"
    ]


def test_notes_of_inner_slicers_are_passed_on() -> None:
    items = [item("a", 10, 0.9), item("b", 10, 0.0)]
    assert slice_messages(QuotaSlice([], KnapsackSlice(1)), items, 100) == [
        (
            "BudgetExceeded: 10 tokens requested, 90 available (the share of kind 'Message' was 100 tokens; "
            "a score below 0.0001 is worth nothing to a knapsack)"
        )
    ]
    counts = CountConstrainedKnapsackSlice([CountQuotaEntry("Message", cap_count=2)], KnapsackSlice(1))
    assert "worth nothing" in slice_messages(counts, items, 100)[0]


def test_there_is_no_note_where_the_reason_is_the_whole_truth() -> None:
    items = [item("a", 60, 0.9), item("b", 60, 0.8)]
    for slicer in (GreedySlice(), KnapsackSlice(1), QuotaSlice([])):
        assert slice_messages(slicer, items, 100) == ["BudgetExceeded: 60 tokens requested, 40 available"]


def test_what_a_cap_removed_says_so() -> None:
    items = [item("a", 10, 0.9), item("b", 10, 0.8)]
    assert slice_messages(CountQuotaSlice([CountQuotaEntry("message", cap_count=1)]), items, 100) == [
        "CountCapExceeded: kind 'message', cap 1, 1 selected"
    ]


def test_shortfalls_are_item_events_of_slice() -> None:
    """EV-01."""
    slicer = CountQuotaSlice([CountQuotaEntry("Tool", require_count=3, cap_count=3)])
    assert slice_messages(slicer, [item("a", 10, 0.9)], 100) == [
        "CountRequirementShortfall: kind 'Tool', 3 required, 0 satisfied"
    ]


def test_a_displaced_item_says_that_pinned_items_took_the_room() -> None:
    """PL-04: without the pinned item's content."""
    items = [ContextItem("secret", 80, pinned=True), item("b", 60, 0.9)]
    assert slice_messages(GreedySlice(), items, 100) == [
        "PinnedOverride: 60 tokens requested, no room beside the pinned items"
    ]


class Lazy:
    """A custom slicer that selects nothing."""

    def slice(self, scored_items: Any, budget: ContextBudget, /) -> list[ContextItem]:
        return []


def test_a_custom_slicer_has_nothing_to_add() -> None:
    assert slice_messages(Lazy(), [item("a", 10, 0.9)], 100) == ["BudgetExceeded: 10 tokens requested, 100 available"]


@pytest.mark.parametrize("target", [0, 50])
def test_notes_for_nothing_are_nothing(target: int) -> None:
    quota = QuotaSlice([])
    assert quota._notes(SliceOffer([], [], ContextBudget(target))) == {}
    assert quota.slice([ScoredItem(item("a", 10, 0.9), 0.9)], ContextBudget(0)) == []


def test_the_note_of_an_inner_quota_is_about_what_was_left_to_it() -> None:
    slicer = CountQuotaSlice(
        [CountQuotaEntry("Tool", require_count=1, cap_count=1)], QuotaSlice([QuotaEntry("Document", cap=10)])
    )
    items = [item("tool", 30, 0.9, "Tool"), item("document", 20, 0.5, "Document")]
    [message] = slice_messages(slicer, items, 130)
    cause = "10% of the 100 tokens left by pinned items is 10; Document has 0"
    assert message == f"BudgetExceeded: 20 tokens requested, 100 available ({cause})"


def test_a_single_token_is_rounded_up_too() -> None:
    assert slice_messages(KnapsackSlice(100), [item("a", 1, 0.9)], 50) == [
        "BudgetExceeded: 1 tokens requested, 50 available (tokens are rounded up to buckets of 100)"
    ]


def test_a_quota_that_redistributes_names_its_cap_or_what_a_kind_may_use() -> None:
    slicer = QuotaSlice([QuotaEntry("Document", cap=10)], redistribute=True)
    [message] = slice_messages(slicer, [item("a", 60, 0.9), item("b", 60, 0.8, "Document")], 130)
    assert message.endswith("70 available (10% of the 130 tokens left by pinned items is 13; Document has 0)")
    # What the others left is counted.
    documents = [item("b", 10, 0.9, "Document"), item("c", 10, 0.8, "Document"), item("d", 10, 0.7, "Document")]
    slicer = QuotaSlice([QuotaEntry("Document", cap=20)], redistribute=True)
    assert slice_messages(slicer, [item("a", 900, 0.9), *documents], 100)[-1].endswith("is 20; Document has 20)")
    rounding = QuotaSlice([QuotaEntry("Document", cap=10)], KnapsackSlice(100), redistribute=True)
    [message] = slice_messages(rounding, [item("a", 60, 0.9)], 70)
    assert message.endswith("(kind 'Message' may use 70 tokens; tokens are rounded up to buckets of 100)")


@pytest.mark.parametrize(
    ("slicer", "excluded"),
    [
        (CountQuotaSlice, [("60 tokens requested, 110 available", "Message has 10")]),
        (
            CountConstrainedKnapsackSlice,
            [
                (f"{tokens} tokens requested, 120 available", "Message has 0; tokens are rounded up to buckets of 100")
                for tokens in (10, 60)
            ],
        ),
    ],
)
def test_notes_never_raise_for_a_requirement_of_another_kind(slicer: Any, excluded: list[tuple[str, str]]) -> None:
    """CQ-03: under a quota, a partition is judged by its own kind's entries."""
    inner = slicer([CountQuotaEntry("Tool", require_count=1, cap_count=1)], scarcity="throw")
    items = [item("tool", 10, 0.9, "Tool"), item("small", 10, 0.8), item("large", 60, 0.7)]
    share = "50% of the 130 tokens left by pinned items is 65"
    assert slice_messages(QuotaSlice([QuotaEntry("Message", cap=50)], inner), items, 130) == [
        f"BudgetExceeded: {needs} ({share}; {cause})" for needs, cause in excluded
    ]
