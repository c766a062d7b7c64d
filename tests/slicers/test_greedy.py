"""The GreedySlice chapter, and GS-*."""

from __future__ import annotations

import math
import pickle
from typing import Any

import pytest

from pycupel import ContextBudget, ContextItem, GreedySlice, ScoredItem
from pycupel.errors import SlicerConfigError
from pycupel.testing import check_slicer

Rows = list[tuple[str, int, float]]

INF = math.inf
NAN = math.nan


def scored(rows: Rows) -> list[ScoredItem]:
    """Build scored items from rows of content, tokens, score."""
    return [ScoredItem(ContextItem(content, tokens), score) for content, tokens, score in rows]


def greedy(rows: Rows, target: int) -> list[str]:
    return [item.content for item in GreedySlice().slice(scored(rows), ContextBudget(target))]


@pytest.mark.parametrize("target", [0, 1, 100])
def test_empty_input_selects_nothing(target: int) -> None:
    """GreedySlice: edge cases."""
    assert greedy([], target) == []


def test_a_target_of_zero_selects_nothing_not_even_zero_token_items() -> None:
    """EB-02: the contract's MUST beats the convention about zero-token items."""
    assert greedy([("free", 0, 1.0), ("a", 1, 1.0)], 0) == []


def test_only_the_target_counts_not_the_maximum() -> None:
    """Slicers: the contract speaks of budget.targetTokens."""
    rows = scored([("a", 10, 1.0), ("b", 10, 0.5)])
    selected = GreedySlice().slice(rows, ContextBudget(1000, 10))
    assert [item.content for item in selected] == ["a"]


@pytest.mark.parametrize(
    ("rows", "target", "expected"),
    [
        pytest.param([("x", 0, 0.1), ("y", 0, 0.0)], 1, ["x", "y"], id="all items are zero-token"),
        pytest.param([("a", 10, 0.5)], 10, ["a"], id="a single item fits"),
        pytest.param([("a", 11, 0.5)], 10, [], id="a single item exceeds the budget"),
        pytest.param([("a", 11, 0.5), ("free", 0, 0.1)], 10, ["free"], id="a single item exceeds, a free one stays"),
        pytest.param(
            [("a", 11, 0.9), ("free", 0, 0.0), ("b", 12, 0.8)], 10, ["free"], id="all exceed the budget one by one"
        ),
        pytest.param([("a", 5, 0.9), ("b", 3, 0.1), ("c", 2, 0.0)], 10, ["a", "b", "c"], id="all items fit"),
    ],
)
def test_edge_cases(rows: Rows, target: int, expected: list[str]) -> None:
    """GreedySlice: the table of edge cases."""
    assert greedy(rows, target) == expected


def test_the_output_is_in_density_order() -> None:
    """GreedySlice: the output order is the order of the greedy walk, not that of the input."""
    assert greedy([("big", 100, 0.9), ("small", 10, 0.5)], 200) == ["small", "big"]


def test_at_equal_density_the_earlier_item_is_preferred() -> None:
    """GreedySlice: the deterministic tie-break contract."""
    assert greedy([("first", 10, 0.5), ("double", 20, 1.0), ("last", 10, 0.5)], 40) == ["first", "double", "last"]
    assert greedy([("first", 10, 0.5), ("last", 10, 0.5)], 10) == ["first"]
    assert greedy([("double", 20, 1.0), ("first", 10, 0.5)], 20) == ["double"]


def test_a_higher_score_does_not_help_against_density() -> None:
    """GreedySlice: value density is score per token."""
    assert greedy([("heavy", 100, 1.0), ("light", 10, 0.2)], 105) == ["light"]


def test_zero_token_items_come_first_by_index_whatever_their_scores() -> None:
    """GreedySlice: among zero-token items score values MUST NOT affect relative order."""
    rows = [("low", 0, 0.1), ("paid", 1, 1.0), ("high", 0, 0.9), ("nan", 0, NAN), ("negative", 0, -3.0)]
    assert greedy(rows, 1) == ["low", "high", "nan", "negative", "paid"]


def test_a_smaller_item_is_tried_after_one_that_did_not_fit() -> None:
    """GS-01: the pseudocode goes on, although a note denies it."""
    assert greedy([("a", 50, 0.9), ("too large", 60, 0.9), ("c", 40, 0.2)], 100) == ["a", "c"]


def test_what_was_selected_is_not_given_back_for_something_better() -> None:
    """GreedySlice: a single pass that does not backtrack."""
    assert greedy([("dense", 60, 0.6), ("b", 50, 0.45), ("c", 50, 0.45)], 100) == ["dense"]


@pytest.mark.parametrize(
    ("target", "is_in"), [(59, False), (60, True), (99, True), (100, False), (159, False), (160, True)]
)
def test_more_budget_can_lose_an_item(target: int, is_in: bool) -> None:
    """BS-01: A (100 tokens, density .01) and B (60, .005): B is in at 60 to 99, out at 100 to 159, in from 160."""
    assert ("B" in greedy([("A", 100, 1.0), ("B", 60, 0.3)], target)) is is_in


def test_zero_and_negative_scores_are_selected_if_they_fit() -> None:
    """GS-02: nothing is left out for its score alone."""
    assert greedy([("zero", 10, 0.0), ("negative", 10, -0.5)], 20) == ["zero", "negative"]


def test_zero_and_minus_zero_tie() -> None:
    """SO-01: IEEE equality, so the index decides."""
    assert greedy([("minus", 10, -0.0), ("plus", 10, 0.0)], 10) == ["minus"]


def test_nan_never_wins_but_may_fill_what_is_left() -> None:
    """SC-03: NaN is below every number in density, too."""
    rows = [("nan", 10, NAN), ("endless debt", 10, -INF), ("low", 10, -5.0)]
    assert greedy(rows, 10) == ["low"]
    assert greedy(rows, 20) == ["low", "endless debt"]
    assert greedy(rows, 30) == ["low", "endless debt", "nan"]


def test_an_infinite_score_outranks_free_items_without_costing_them_their_place() -> None:
    """GS-03: the density of a zero-token item is the largest finite float."""
    assert greedy([("free", 0, 0.5), ("infinite", 10, INF), ("finite", 1, 1e300)], 10) == ["infinite", "free"]


def test_token_counts_beyond_the_range_of_floats_do_no_harm() -> None:
    """DM-02: token counts are not bounded."""
    astronomic = 10**400
    rows = [("astronomic", astronomic, 1.0), ("free", 0, 0.0), ("a", 10, 0.5)]
    assert greedy(rows, 10) == ["free", "a"]
    assert greedy(rows, astronomic + 10) == ["free", "a", "astronomic"]


def test_unsorted_input_gives_the_same_selection() -> None:
    """SL-05: slicers do not require sorted input."""
    rows = [("c", 10, 0.1), ("a", 10, 0.9), ("free", 0, 0.0), ("b", 10, 0.5)]
    assert greedy(rows, 20) == ["free", "a", "b"]


def test_the_same_object_twice_is_two_candidates() -> None:
    """SL-03: identity with multiplicity."""
    item = ContextItem("twice", 10)
    twice = [ScoredItem(item, 0.5), ScoredItem(item, 0.5)]
    assert GreedySlice().slice(twice, ContextBudget(19)) == [item]
    both = GreedySlice().slice(twice, ContextBudget(20))
    assert [chosen is item for chosen in both] == [True, True]


def test_the_very_objects_are_returned_and_the_input_is_left_alone() -> None:
    """Slicers: a slicer MUST NOT create, modify or duplicate items."""
    rows = scored([("b", 10, 0.1), ("a", 10, 0.9)])
    before = list(rows)
    selected = GreedySlice().slice(tuple(rows), ContextBudget(100))
    assert selected[0] is rows[1].item
    assert selected[1] is rows[0].item
    assert rows == before


def test_details_hold_the_selection_and_nothing_else() -> None:
    """CQ-03: `slice_detailed` is `slice` with what else there is to tell."""
    rows = scored([("b", 10, 0.1), ("a", 10, 0.9)])
    outcome = GreedySlice().slice_detailed(rows, ContextBudget(10))
    assert outcome.selected == GreedySlice().slice(rows, ContextBudget(10))
    assert outcome.shortfalls == ()
    assert outcome.cap_excluded == ()


@pytest.mark.parametrize("method", ["slice", "slice_detailed"])
@pytest.mark.parametrize("budget", [100, None, "100"])
def test_a_budget_of_another_type_is_refused(method: str, budget: Any) -> None:
    """PB-05: a wrong type is a TypeError that names the argument."""
    with pytest.raises(TypeError, match="budget must be a ContextBudget"):
        getattr(GreedySlice(), method)(scored([("a", 1, 1.0)]), budget)


def test_budget_simulation_is_supported() -> None:
    """BS-09: both class attributes are True."""
    assert GreedySlice.supports_marginal_items is True
    assert GreedySlice.supports_min_budget is True


STRONG_AND_WEAK: Rows = [("strong", 120, 0.95), *((f"weak {i}", 10, 0.15) for i in range(10))]


@pytest.mark.parametrize(
    ("slicer", "expected"),
    [
        pytest.param(GreedySlice(), [f"weak {i}" for i in range(10)], id="by density"),
        pytest.param(GreedySlice(cost_exponent=0), ["strong"], id="by score"),
        pytest.param(GreedySlice(best_first=True), ["strong"], id="the best first"),
    ],
)
def test_a_long_top_hit_is_kept_by_score_order_and_by_best_first(slicer: GreedySlice, expected: list[str]) -> None:
    """Density prefers ten weak items to the strong one: 0.015 a token against 0.0079."""
    assert [item.content for item in slicer.slice(scored(STRONG_AND_WEAK), ContextBudget(120))] == expected


def test_after_the_best_the_others_follow_by_density() -> None:
    """`best_first` is one exception, not another order."""
    rows = scored([("best", 50, 0.9), ("dense", 10, 0.5), ("strong", 50, 0.8)])
    selected = GreedySlice(best_first=True).slice(rows, ContextBudget(60))
    assert [item.content for item in selected] == ["best", "dense"]


def test_the_best_that_does_not_fit_is_not_waited_for() -> None:
    """The best of those that fit is taken instead."""
    rows = scored([("too large", 100, 0.9), ("fits", 50, 0.5), ("dense", 10, 0.2)])
    assert [item.content for item in GreedySlice(best_first=True).slice(rows, ContextBudget(50))] == ["fits"]


@pytest.mark.parametrize("exponent", [0, 0.2, 2.0])
def test_zero_token_items_are_taken_whatever_the_options(exponent: float) -> None:
    """GreedySlice: items without tokens always fit, and a target of 0 selects nothing (EB-02)."""
    rows = scored([("paid", 10, 0.9), ("free", 0, -1.0)])
    slicer = GreedySlice(exponent, best_first=True)
    assert {item.content for item in slicer.slice(rows, ContextBudget(10))} == {"paid", "free"}
    assert slicer.slice(rows, ContextBudget(0)) == []


@pytest.mark.parametrize("exponent", [-0.1, 2.1, NAN, INF])
def test_an_exponent_out_of_range_is_refused(exponent: float) -> None:
    """The error carries the argument's name and the value."""
    with pytest.raises(SlicerConfigError, match="cost_exponent must be") as caught:
        GreedySlice(exponent)
    assert caught.value.argument == "cost_exponent"


@pytest.mark.parametrize(
    ("options", "name"), [({"cost_exponent": "1"}, "cost_exponent"), ({"best_first": 1}, "best_first")]
)
def test_options_of_a_wrong_type_are_refused(options: dict[str, Any], name: str) -> None:
    """PB-05: a wrong type is a TypeError that names the argument."""
    with pytest.raises(TypeError, match=f"{name} must be"):
        GreedySlice(**options)


def test_options_make_the_value() -> None:
    """PB-04: options are kept as floats and shown where they are not the default."""
    slicer = GreedySlice(0, best_first=True)
    assert slicer == GreedySlice(0.0, best_first=True) != GreedySlice()
    assert repr(slicer) == "GreedySlice(cost_exponent=0.0, best_first=True)"
    assert pickle.loads(pickle.dumps(slicer)) == slicer


@pytest.mark.parametrize("slicer", [GreedySlice(0), GreedySlice(0.2, best_first=True), GreedySlice(best_first=True)])
def test_keeps_the_contract_of_slicers(slicer: GreedySlice) -> None:
    """The checks that authors of slicers run."""
    check_slicer(slicer)
