"""PriorityScorer: what the vectors `priority-*` do not show. Its `score` is the oracle of its `score_all`, for all."""

from __future__ import annotations

import pytest

from pycupel import ContextItem, PriorityScorer


def ranked(*priorities: int | None) -> list[ContextItem]:
    return [ContextItem("x", 1, priority=priority) for priority in priorities]


@pytest.mark.parametrize(
    ("priorities", "scores"),
    [
        pytest.param([], [], id="no items"),
        pytest.param([10**400, 10**400 + 1, 0], [0.5, 1.0, 0.0], id="integers of any size"),
    ],
)
def test_the_score_is_the_rank_among_items_with_a_priority(priorities: list[int | None], scores: list[float]) -> None:
    """RS-01; vectors have items, and integers of 64 bits."""
    items, scorer = ranked(*priorities), PriorityScorer()
    assert [scorer.score(item, items) for item in items] == scores
    assert scorer.score_all(items) == scores


def test_an_item_outside_the_list_is_ranked_against_it() -> None:
    """PRIORITY-SCORE asks nothing of the item but its priority."""
    scorer = PriorityScorer()
    assert scorer.score(ranked(3)[0], ranked(1, 2, 5)) == 1.0
    assert scorer.score(ranked(2)[0], ranked(1, 2, 5)) == 0.5
    assert scorer.score(ranked(2)[0], []) == 1.0
