"""Filling a budget greedily."""

from __future__ import annotations

import math
import sys

import pytest

from pycupel.kernels.order import best_fitting, by_density, capacities_for, fill

HUGE = 10**400


@pytest.mark.parametrize(
    ("order", "tokens", "capacity", "taken"),
    [
        pytest.param([], [], 10, [], id="nothing to take"),
        pytest.param([0, 1, 2], [5, 5, 5], 10, [0, 1], id="until it is full"),
        pytest.param([2, 1, 0], [5, 5, 5], 10, [2, 1], id="in the order given"),
        pytest.param([0, 1, 2], [8, 5, 2], 10, [0, 2], id="smaller ones after a large one are tried"),
        pytest.param([0, 1, 2], [11, 12, 13], 10, [], id="none fits"),
        pytest.param([0, 1], [10, 1], 10, [0], id="exactly full"),
        pytest.param([0, 1, 2], [10, 0, 0], 10, [0, 1, 2], id="what costs nothing always fits"),
        pytest.param([0, 1], [0, 1], 0, [0], id="no capacity"),
        pytest.param([0, 1], [0, 1], -1, [], id="less than none"),
        pytest.param([1], [5, 5, 5], 10, [1], id="some of them"),
        pytest.param([0, 1], [HUGE, 1], 10, [1], id="integers of any size"),
    ],
)
def test_whatever_still_fits_is_taken(order: list[int], tokens: list[int], capacity: int, taken: list[int]) -> None:
    """GREEDY-SLICE, second half; GS-01: it goes on after an item that did not fit."""
    assert fill(order, tokens, capacity) == taken
    assert fill(iter(order), tokens, capacity) == taken


@pytest.mark.parametrize(
    "tokens", [[5], [0], [3, 0], [0, 3], [24, 1], [25, 1], [7, 2, 9, 4, 4, 3], [30, 1, 2], [3, 3, 3, 10]]
)
def test_the_capacities_that_take_an_item_are_those_with_which_it_is_taken(tokens: list[int]) -> None:
    *before, cost = tokens
    expected = [capacity for capacity in range(25) if len(before) in fill(range(len(tokens)), tokens, capacity)]
    found = capacities_for(cost, before, 24)
    assert [capacity for capacity in range(found.bit_length()) if found >> capacity & 1] == expected


@pytest.mark.parametrize(
    ("scores", "tokens", "order"),
    [
        pytest.param([], [], [], id="nothing"),
        pytest.param([0.9, 0.5], [100, 10], [1, 0], id="by score per token"),
        pytest.param([0.9, 0.5], [9, 5], [0, 1], id="ties by index"),
        pytest.param([0.2, 0.4, 0.1], [2, 4, 1], [0, 1, 2], id="a longer tie"),
        pytest.param([0.9, 0.0, 0.1], [1, 0, 0], [1, 2, 0], id="what costs nothing first, whatever its score"),
        pytest.param([-1.0, 0.9], [0, 1], [0, 1], id="also with a negative score"),
        pytest.param([math.nan, 0.9], [0, 1], [0, 1], id="also with no score at all"),
        pytest.param([0.5, -0.5, 0.0], [5, 5, 5], [0, 2, 1], id="zero and negative scores"),
        pytest.param([0.0, -0.0, 0.0], [5, 5, 5], [0, 1, 2], id="zeros of both signs tie"),
        pytest.param([math.nan, -math.inf, 0.1], [1, 1, 1], [2, 1, 0], id="NaN last"),
        pytest.param([math.inf, 0.5, 0.5], [5, 0, 1], [0, 1, 2], id="infinity even before what costs nothing"),
    ],
)
def test_density_is_score_per_token(scores: list[float], tokens: list[int], order: list[int]) -> None:
    """GREEDY-SLICE, first half; GS-03, SC-03."""
    assert by_density(scores, tokens) == order


@pytest.mark.proves("S-GR-01")
def test_what_costs_nothing_has_the_largest_finite_density() -> None:
    """GS-03: it ties with what reaches that density by itself."""
    assert by_density([sys.float_info.max, 0.5], [1, 0]) == [0, 1]
    assert by_density([0.5, sys.float_info.max], [0, 1]) == [0, 1]


@pytest.mark.parametrize(
    ("scores", "tokens", "order"),
    [
        pytest.param([0.9, 0.1], [HUGE, 5], [1, 0], id="a density of nothing"),
        pytest.param([0.9, -0.1, 0.0], [HUGE, 5, 0], [2, 0, 1], id="among negative and free ones"),
        pytest.param([-0.9, 0.0], [HUGE, 5], [0, 1], id="minus nothing ties with nothing"),
    ],
)
def test_token_counts_beyond_floats_are_as_good_as_infinite(
    scores: list[float], tokens: list[int], order: list[int]
) -> None:
    """DM-02: tokens have no upper limit."""
    assert by_density(scores, tokens) == order


def test_scores_and_tokens_go_together() -> None:
    """SC-02: no row is dropped silently."""
    with pytest.raises(ValueError, match="1 scores for 2 token counts"):
        by_density([0.5], [1, 2])


@pytest.mark.parametrize(
    ("exponent", "order"),
    [
        pytest.param(0.0, [3, 0, 1, 2], id="0 is the order of the scores"),
        pytest.param(0.5, [3, 1, 0, 2], id="0.5: 0.9 / 10, 0.5 / 5, 0.06 / 2"),
        pytest.param(1.0, [3, 1, 2, 0], id="1 is score per token"),
        pytest.param(2.0, [3, 2, 1, 0], id="2: 0.9 / 10000, 0.5 / 625, 0.06 / 16"),
    ],
)
def test_the_exponent_says_how_much_tokens_count(exponent: float, order: list[int]) -> None:
    """`score / tokens**exponent`, and what costs nothing first."""
    assert by_density([0.9, 0.5, 0.06, 0.0], [100, 25, 4, 0], exponent) == order


@pytest.mark.parametrize("exponent", [0.0, 0.3, 1.0, 2.0])
def test_every_exponent_copes_with_counts_beyond_floats(exponent: float) -> None:
    """DM-02: a token count is not bounded, and infinite for every exponent but 0."""
    expected = [0, 1] if exponent == 0.0 else [1, 0]
    assert by_density([0.9, 0.5], [HUGE, 10], exponent) == expected


def test_a_negative_count_has_no_root_and_costs_nothing() -> None:
    """Direct callers only: a pipeline excludes such items."""
    assert by_density([0.9, 0.5], [10, -7], 0.5) == [1, 0]


@pytest.mark.parametrize(
    ("scores", "tokens", "order"),
    [
        pytest.param([0.9, 0.5, 0.1], [9, 5, 1], [0, 2, 1], id="the best score comes first"),
        pytest.param([0.9, 0.5, 0.1], [11, 5, 1], [1, 2, 0], id="unless it does not fit"),
        pytest.param([0.5, 0.5, 0.1], [9, 5, 1], [0, 2, 1], id="the earlier one of equal scores"),
        pytest.param([math.nan, 0.5, 0.1], [9, 5, 1], [1, 2, 0], id="NaN is not the best"),
        pytest.param([0.9, 0.5, 0.1], [11, 12, 13], [2, 1, 0], id="none fits"),
    ],
)
def test_the_best_score_that_fits_can_come_first(scores: list[float], tokens: list[int], order: list[int]) -> None:
    """SC-03 for NaN; the rest stays in its order."""
    assert best_fitting(scores, tokens, 10, [2, 1, 0]) == order
