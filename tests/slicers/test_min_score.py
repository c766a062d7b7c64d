"""MinScoreSlice: nothing below a minimum score."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from pycupel import (
    ContextBudget,
    ContextItem,
    ContextKind,
    CountQuotaEntry,
    CountQuotaSlice,
    GreedySlice,
    KnapsackSlice,
    Pipeline,
    QuotaEntry,
    QuotaSlice,
    ReflexiveScorer,
    ScoredItem,
)
from pycupel.diagnostics import CountCapExceeded, CountRequirementShortfall, ScoredTooLow
from pycupel.slicers import MinScoreSlice
from pycupel.slicers._base import SliceOffer, exclusion_notes, quota_constraints_of

if TYPE_CHECKING:
    from collections.abc import Sequence

BUDGET = ContextBudget(100)


def scored(*scores: float, kind: str = "Message", tokens: int = 10) -> list[ScoredItem]:
    return [ScoredItem(ContextItem(f"item {i}", tokens, kind=kind), score) for i, score in enumerate(scores)]


def test_only_what_scores_high_enough_is_selected_although_there_is_room() -> None:
    """At the minimum is high enough; NaN is not."""
    rows = scored(0.9, 0.29, 0.3, math.nan, -math.inf)
    outcome = MinScoreSlice(GreedySlice(), 0.3).slice_detailed(rows, BUDGET)
    assert [item.content for item in outcome.selected] == ["item 0", "item 2"]
    assert outcome.cap_excluded[0] == (rows[1].item, ScoredTooLow(0.29, 0.3))
    assert [item.content for item, _ in outcome.cap_excluded] == ["item 1", "item 3", "item 4"]


def test_items_without_tokens_are_no_exception() -> None:
    assert MinScoreSlice(GreedySlice(), 0.5).slice(scored(0.4, tokens=0), BUDGET) == []


def test_the_report_gives_score_and_threshold() -> None:
    """ER-01: an opt-in extension may give the reserved reason."""
    items = [ContextItem("good", 10, future_relevance_hint=0.9), ContextItem("weak", 10, future_relevance_hint=0.1)]
    report = Pipeline(ReflexiveScorer(), MinScoreSlice(GreedySlice(), 0.5)).dry_run(items, 100)
    assert [each.item.content for each in report.included] == ["good"]
    assert [each.reason for each in report.excluded] == [ScoredTooLow(0.1, 0.5)]


def test_the_inner_slicer_has_its_say() -> None:
    """Its caps and shortfalls are passed on, by the right indices."""
    entries = [
        CountQuotaEntry("Message", cap_count=1, require_count=0),
        CountQuotaEntry("Tool", require_count=1, cap_count=1),
    ]
    outcome = MinScoreSlice(CountQuotaSlice(entries), 0.3).slice_detailed(scored(0.1, 0.9, 0.8), BUDGET)
    assert [item.content for item in outcome.selected] == ["item 1"]
    assert {item.content: type(reason) for item, reason in outcome.cap_excluded} == {
        "item 0": ScoredTooLow,
        "item 2": CountCapExceeded,
    }
    assert outcome.shortfalls == (CountRequirementShortfall(ContextKind("Tool"), 1, 0),)


def test_its_notes_are_the_inner_slicers() -> None:
    rows = scored(0.1, 0.9, 0.00001)
    items, scores = [pair.item for pair in rows], [pair.score for pair in rows]
    notes = exclusion_notes(MinScoreSlice(KnapsackSlice(1), 0.000001), SliceOffer(items, scores, BUDGET))
    assert notes == exclusion_notes(KnapsackSlice(1), SliceOffer(items, scores, BUDGET))
    assert exclusion_notes(MinScoreSlice(KnapsackSlice(1), 0.5), SliceOffer(items, scores, BUDGET)) == {}


def test_inside_a_quota_it_judges_one_kind_at_a_time() -> None:
    """CQ-03: the count requirement for an absent kind is reported once."""
    counts = CountQuotaSlice([CountQuotaEntry("Tool", require_count=1, cap_count=2)])
    slicer = QuotaSlice([], MinScoreSlice(counts, 0.2))
    rows = [*scored(0.9, 0.1), *scored(0.8, 0.15, kind="Document")]
    outcome = slicer.slice_detailed(rows, BUDGET)
    assert outcome.shortfalls == (CountRequirementShortfall(ContextKind("Tool"), 1, 0),)
    assert [reason for _, reason in outcome.cap_excluded] == [ScoredTooLow(0.1, 0.2), ScoredTooLow(0.15, 0.2)]


def test_a_subclass_stays_one_inside_a_quota() -> None:
    class Strict(MinScoreSlice):
        __slots__ = ()

    strict = Strict(GreedySlice(), 0.5)
    assert strict._for_group("message") is strict
    assert QuotaSlice([], strict).slice(scored(0.4, 0.6), BUDGET) == [ContextItem("item 1", 10)]


def test_a_custom_inner_slicer_will_do() -> None:
    class First:
        def slice(self, scored_items: Sequence[ScoredItem], budget: ContextBudget, /) -> list[ContextItem]:
            return [scored_items[0].item]

    slicer = MinScoreSlice(First(), 0.5)
    assert slicer.slice(scored(0.4, 0.6), BUDGET) == [ContextItem("item 1", 10)]
    assert slicer._judge_absent(set()) == ()
    assert slicer.supports_min_budget is slicer.supports_marginal_items is True


def test_what_it_supports_and_its_quotas_are_the_inner_slicers() -> None:
    """BS-09: a quota inside has the same effect as a quota alone."""
    quota = QuotaSlice([QuotaEntry("Memory", cap=30)])
    slicer = MinScoreSlice(quota, 0.5)
    assert slicer.supports_min_budget is slicer.supports_marginal_items is False
    assert quota_constraints_of(slicer) == quota_constraints_of(quota)
