"""StreamSlice against the letter of its algorithm in `tests/oracle`, and what replacing promises."""

from __future__ import annotations

import math
from collections import Counter
from unittest import mock

import pytest
from hypothesis import given, strategies as st

from pycupel import ContextBudget, QuotaSlice, ScoredItem
from pycupel.slicers import StreamSlice, greedy
from tests.examples import examples
from tests.oracle.stages import outranks
from tests.property.test_slicers import compare_with_oracle, scored_items, slicer_budgets

BATCH_SIZES = st.sampled_from((1, 2, 3, 5, 32))


@examples(90)
@given(st.builds(StreamSlice, BATCH_SIZES, replace=st.booleans()), scored_items(), slicer_budgets())
def test_stream(slicer: StreamSlice, scored: list[ScoredItem], budget: ContextBudget) -> None:
    """StreamSlice: its algorithm, tie for tie, with input in any order."""
    compare_with_oracle(slicer, scored, budget)


@examples(40)
@given(st.builds(StreamSlice, BATCH_SIZES, replace=st.booleans()), scored_items(), slicer_budgets())
def test_within_quotas(slicer: StreamSlice, scored: list[ScoredItem], budget: ContextBudget) -> None:
    """QS-12: any slicer may be an inner one."""
    compare_with_oracle(QuotaSlice([], slicer), scored, budget)


@pytest.mark.proves("S-SC-S4")
@examples(40)
@given(st.builds(StreamSlice, BATCH_SIZES, replace=st.booleans()), scored_items(), slicer_budgets())
def test_the_target_is_never_exceeded(slicer: StreamSlice, scored: list[ScoredItem], budget: ContextBudget) -> None:
    """Slicers: subset selection within budget."""
    assert sum(item.tokens for item in slicer.slice(scored, budget)) <= budget.target_tokens


@examples(70)
@given(scored_items().filter(bool), slicer_budgets().filter(lambda budget: budget.target_tokens > 0))
def test_a_newcomer_is_selected_exactly_if_giving_up_all_lower_scores_makes_room(
    scored: list[ScoredItem], budget: ContextBudget
) -> None:
    """StreamSlice, replace: what scores at least as much stays, and nothing is given up for nothing."""
    slicer = StreamSlice(1, replace=True)
    *earlier, newcomer = scored
    scores = {id(pair.item): pair.score for pair in scored}
    before, after = slicer.slice(earlier, budget), slicer.slice(scored, budget)
    staying = [item for item in before if not outranks(newcomer.score, scores[id(item)])]
    if sum(item.tokens for item in staying) + newcomer.item.tokens > budget.target_tokens:
        assert list(map(id, after)) == list(map(id, before))
    else:
        expected = [*staying, newcomer.item]
        assert list(map(id, after[: len(expected)])) == list(map(id, expected))
        assert Counter(map(id, after)) <= Counter(map(id, [*before, newcomer.item]))


@examples(40)
@given(BATCH_SIZES, scored_items(), slicer_budgets())
def test_replacing_changes_nothing_that_costs_tokens_if_the_best_come_first(
    batch_size: int, scored: list[ScoredItem], budget: ContextBudget
) -> None:
    """StreamSlice: in a pipeline, which sorts, only zero-token items behind a full budget make a difference."""
    scored.sort(key=lambda pair: (math.isnan(pair.score), -pair.score if not math.isnan(pair.score) else 0.0))
    costly = [pair for pair in scored if pair.item.tokens]
    kept = StreamSlice(batch_size).slice(costly, budget)
    assert list(map(id, StreamSlice(batch_size, replace=True).slice(costly, budget))) == list(map(id, kept))
    assert list(map(id, StreamSlice(1000).slice(costly, budget))) == list(map(id, kept))


@examples(100)
@given(st.builds(StreamSlice, st.sampled_from((1, 2, 3)), replace=st.just(True)), scored_items(), slicer_budgets())
def test_many_batches(slicer: StreamSlice, scored: list[ScoredItem], budget: ContextBudget) -> None:
    """StreamSlice, replace: the same without a walk for each batch."""
    with mock.patch.object(greedy, "_MANY_BATCHES", 0):
        compare_with_oracle(slicer, scored, budget)
