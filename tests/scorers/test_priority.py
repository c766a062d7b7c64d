"""PriorityScorer: what the vectors `priority-*` do not show."""

from __future__ import annotations

from pycupel import ContextItem, PriorityScorer


def ranked(*priorities: int | None) -> list[ContextItem]:
    return [ContextItem("x", 1, priority=priority) for priority in priorities]


def test_priorities_are_integers_of_any_size() -> None:
    """RS-01; vectors have integers of 64 bits."""
    items, scorer = ranked(10**400, 10**400 + 1, 0), PriorityScorer()
    assert [scorer.score(item, items) for item in items] == scorer.score_all(items) == [0.5, 1.0, 0.0]


def test_an_item_outside_the_list_is_ranked_against_it() -> None:
    """PRIORITY-SCORE asks nothing of the item but its priority."""
    scorer = PriorityScorer()
    assert scorer.score(ranked(3)[0], ranked(1, 2, 5)) == 1.0
    assert scorer.score(ranked(2)[0], ranked(1, 2, 5)) == 0.5
    assert scorer.score(ranked(2)[0], []) == 1.0
