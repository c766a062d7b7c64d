"""PriorityScorer: the rank among the items that have a priority."""

from __future__ import annotations

import pytest

from pycupel import ContextItem, PriorityScorer


def ranked(*priorities: int | None) -> list[ContextItem]:
    return [ContextItem("x", 1, priority=priority) for priority in priorities]


def expect(items: list[ContextItem], scores: list[float]) -> None:
    scorer = PriorityScorer()
    assert [scorer.score(item, items) for item in items] == scores
    assert scorer.score_all(items) == scores


@pytest.mark.parametrize(
    ("priorities", "scores"),
    [
        pytest.param([], [], id="no items"),
        pytest.param([None], [0.0], id="a lone item without priority"),
        pytest.param([None, None], [0.0, 0.0], id="all without priority"),
        pytest.param([-9], [1.0], id="a lone item"),
        pytest.param([None, 0, None], [0.0, 1.0, 0.0], id="only one has a priority"),
        pytest.param([3, 3, 3], [0.0, 0.0, 0.0], id="all share one priority"),
        pytest.param([10, 5], [1.0, 0.0], id="ten beats five"),
        pytest.param([0, 40, 20, 30, 10], [0.0, 1.0, 0.5, 0.75, 0.25], id="evenly spaced"),
        pytest.param([1, 2, 1_000_000], [0.0, 0.5, 1.0], id="by rank, not by distance"),
        pytest.param([1, 2, 2, 3], [0.0, 1 / 3, 1 / 3, 1.0], id="a tie shares the lower rank"),
        pytest.param([1, 5, 5], [0.0, 0.5, 0.5], id="tied for the top stays below one"),
        pytest.param([-1, 0, -2], [0.5, 1.0, 0.0], id="negative priorities rank below zero"),
        pytest.param([None, 1, 2, None, 3], [0.0, 0.0, 0.5, 0.0, 1.0], id="only those with a priority divide"),
        pytest.param([10**400, 10**400 + 1, 0], [0.5, 1.0, 0.0], id="integers of any size"),
    ],
)
def test_the_score_is_the_rank_among_items_with_a_priority(priorities: list[int | None], scores: list[float]) -> None:
    """PriorityScorer, Edge Cases and Score Distribution; RS-01."""
    expect(ranked(*priorities), scores)


def test_the_divisor_counts_items_with_a_priority_only() -> None:
    """PriorityScorer: the denominator is countWithPriority - 1, not length(allItems) - 1."""
    expect(ranked(1, 2, 3, 4, *[None] * 7), [0.0, 1 / 3, 2 / 3, 1.0, *[0.0] * 7])


def test_zero_is_a_priority() -> None:
    """PriorityScorer: only null is no priority."""
    expect(ranked(0, -1, None), [1.0, 0.0, 0.0])


def test_an_item_outside_the_list_is_ranked_against_it() -> None:
    """PRIORITY-SCORE asks nothing of the item but its priority."""
    scorer = PriorityScorer()
    assert scorer.score(ranked(3)[0], ranked(1, 2, 5)) == 1.0
    assert scorer.score(ranked(2)[0], ranked(1, 2, 5)) == 0.5
    assert scorer.score(ranked(2)[0], []) == 1.0
