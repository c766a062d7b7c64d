"""Every built-in slicer alone against its pseudocode in `tests/oracle`, with input in any order (SL-05)."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, strategies as st

from pycupel import (
    ContextBudget,
    ContextItem,
    CountConstrainedKnapsackSlice,
    CountQuotaSlice,
    GreedySlice,
    KnapsackSlice,
    QuotaSlice,
    ScoredItem,
)
from pycupel.errors import CountRequirementError
from tests import strategies
from tests.examples import examples
from tests.oracle.slicers import oracle_slice
from tests.oracle.stages import OracleError, candidates_of

SCORES = (0.0, -0.0, 0.25, 0.5, 0.5, 0.75, 0.9, 1.0, 0.0001, 0.00004, -0.3, 1.7, 1e308)
ODD_SCORES = (*SCORES, float("nan"), float("inf"), float("-inf"))
KINDS = ("Message", "message", "Document", "custom", "MESSAGE")


def rows(scores: tuple[float, ...]) -> st.SearchStrategy[list[tuple[int, str, float]]]:
    """Draw tokens, kind and score, with many ties."""
    tokens = st.sampled_from(strategies.TOKENS) | st.integers(0, 60)
    return st.lists(st.tuples(tokens, st.sampled_from(KINDS), st.sampled_from(scores)), max_size=12)


@st.composite
def scored_items(draw: st.DrawFn) -> list[ScoredItem]:
    """Draw items in no particular order, sometimes the same object twice; one object has one score."""
    drawn = draw(rows(SCORES) | rows(ODD_SCORES))
    scored = [ScoredItem(ContextItem("c", tokens, kind=kind), score) for tokens, kind, score in drawn]
    again = draw(st.lists(st.sampled_from(scored), max_size=2)) if scored else []
    return again + scored


@st.composite
def slicer_budgets(draw: st.DrawFn) -> ContextBudget:
    """Draw what a slicer sees of a budget: a maximum and a target."""
    target = draw(st.sampled_from((0, 1, 7, 40, 100, 120, 200, 1000)) | st.integers(0, 150))
    return ContextBudget(target + draw(st.sampled_from((0, 0, 50))), target)


def compare_with_oracle(slicer: Any, scored: list[ScoredItem], budget: ContextBudget) -> None:
    before = list(scored)
    try:
        expected = oracle_slice(slicer, candidates_of(scored), budget.max_tokens, budget.target_tokens)
    except OracleError as error:
        compare_errors(slicer, scored, budget, error.numbers)
        return
    outcome = slicer.slice_detailed(scored, budget)
    assert list(map(id, outcome.selected)) == [id(scored[i].item) for i in expected.selected]
    assert [(s.kind.value, s.required_count, s.satisfied_count) for s in outcome.shortfalls] == expected.shortfalls
    capped = [(id(item), reason.kind, reason.cap, reason.count) for item, reason in outcome.cap_excluded]
    expected_caps = [(id(scored[cap.index].item), cap.kind, cap.cap, cap.count) for cap in expected.cap_excluded]
    assert sorted(capped) == sorted(expected_caps)
    assert list(map(id, slicer.slice(tuple(scored), budget))) == list(map(id, outcome.selected))
    assert list(map(id, scored)) == list(map(id, before)), "the input is left alone"


def compare_errors(slicer: Any, scored: list[ScoredItem], budget: ContextBudget, numbers: dict[str, int | str]) -> None:
    """Only a count requirement can fail here: the tables are small."""
    for method in (slicer.slice, slicer.slice_detailed):
        with pytest.raises(CountRequirementError) as caught:
            method(scored, budget)
        assert caught.value.kind == numbers["context_kind"]
        assert caught.value.required_count == numbers["required"]
        assert caught.value.satisfied_count == numbers["satisfied"]


@pytest.mark.proves("S-GR-10")
@examples(70)
@given(st.just(GreedySlice()), scored_items(), slicer_budgets())
def test_greedy(slicer: GreedySlice, scored: list[ScoredItem], budget: ContextBudget) -> None:
    """GreedySlice: GREEDY-SLICE."""
    compare_with_oracle(slicer, scored, budget)


@examples(90)
@given(strategies.knapsacks(), scored_items(), slicer_budgets())
def test_knapsack(slicer: KnapsackSlice, scored: list[ScoredItem], budget: ContextBudget) -> None:
    """KnapsackSlice: KNAPSACK-SLICE, tie for tie (KN-07)."""
    compare_with_oracle(slicer, scored, budget)


@examples(90)
@given(
    st.builds(QuotaSlice, strategies.quota_entries(), strategies.slicers(depth=2), redistribute=st.booleans()),
    scored_items(),
    slicer_budgets(),
)
def test_quota(slicer: QuotaSlice, scored: list[ScoredItem], budget: ContextBudget) -> None:
    """QuotaSlice: QUOTA-SLICE, around any slicer, and with the opt-in of QS-06."""
    compare_with_oracle(slicer, scored, budget)


@examples(90)
@given(
    st.builds(
        CountQuotaSlice,
        strategies.count_entries(),
        strategies.slicers(depth=2).filter(lambda slicer: not isinstance(slicer, KnapsackSlice)),
        strategies.scarcities(),
        cap_order=strategies.cap_orders(),
    ),
    scored_items(),
    slicer_budgets(),
)
def test_count_quota(slicer: CountQuotaSlice, scored: list[ScoredItem], budget: ContextBudget) -> None:
    """CountQuotaSlice: COUNT-QUOTA-SLICE, around any slicer that it allows, and with the opt-in of CQ-07."""
    compare_with_oracle(slicer, scored, budget)


@pytest.mark.proves("S-CK-01")
@examples(90)
@given(
    st.builds(
        CountConstrainedKnapsackSlice, strategies.count_entries(), strategies.knapsacks(), strategies.scarcities()
    ),
    scored_items(),
    slicer_budgets(),
)
def test_count_constrained_knapsack(
    slicer: CountConstrainedKnapsackSlice, scored: list[ScoredItem], budget: ContextBudget
) -> None:
    """CountConstrainedKnapsackSlice: COUNT-KNAPSACK-CAP."""
    compare_with_oracle(slicer, scored, budget)


@pytest.mark.proves("S-SC-S2")
@examples(40)
@given(st.just(GreedySlice()) | strategies.knapsacks(), scored_items(), slicer_budgets())
def test_slicers_without_requirements_stay_within_the_target(
    slicer: GreedySlice | KnapsackSlice, scored: list[ScoredItem], budget: ContextBudget
) -> None:
    """PL-02: Greedy and Knapsack never exceed the target, fill_free or not."""
    assert sum(item.tokens for item in slicer.slice(scored, budget)) <= budget.target_tokens
