"""ReflexiveScorer: the caller's own hint."""

from __future__ import annotations

import math

import pytest

from pycupel import ContextItem, ReflexiveScorer


@pytest.mark.parametrize(
    ("hint", "score"),
    [
        (None, 0.0),
        (math.nan, 0.0),
        (-math.nan, 0.0),
        (math.inf, 0.0),
        (-math.inf, 0.0),
        (0.5, 0.5),
        (-0.3, 0.0),
        (1.7, 1.0),
        (0.0, 0.0),
        (-0.0, -0.0),
        (1.0, 1.0),
        (math.nextafter(1.0, 2.0), 1.0),
        (math.nextafter(1.0, 0.0), math.nextafter(1.0, 0.0)),
        (-5e-324, 0.0),
        (5e-324, 5e-324),
        (1.7976931348623157e308, 1.0),
        (-1.7976931348623157e308, 0.0),
    ],
)
def test_the_score_is_the_hint_within_bounds(hint: float | None, score: float) -> None:
    """ReflexiveScorer, Edge Cases; RX-01: null check, then finiteness, then clamp."""
    item = ContextItem("x", 1, future_relevance_hint=hint)
    scorer = ReflexiveScorer()
    assert scorer.score(item, [item]).hex() == score.hex()
    assert [each.hex() for each in scorer.score_all([item])] == [score.hex()]


def test_an_integer_hint_is_a_float() -> None:
    """DM-08: integers are converted."""
    items = [ContextItem("x", 1, future_relevance_hint=hint) for hint in (0, 1, 2)]
    scores = ReflexiveScorer().score_all(items)
    assert scores == [0.0, 1.0, 1.0]
    assert {type(score) for score in scores} == {float}


def test_other_items_do_not_matter() -> None:
    """ReflexiveScorer is absolute: allItems is ignored."""
    item = ContextItem("x", 1, future_relevance_hint=0.4)
    other = ContextItem("y", 1, future_relevance_hint=0.9)
    assert ReflexiveScorer().score(item, []) == ReflexiveScorer().score(item, [other, item]) == 0.4
    assert ReflexiveScorer().score_all([other, item]) == [0.9, 0.4]
    assert ReflexiveScorer().score_all([]) == []
