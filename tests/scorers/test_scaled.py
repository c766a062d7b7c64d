"""ScaledScorer: what the vectors `scaled-*` do not show."""

from __future__ import annotations

import copy
import math
from collections.abc import Sequence

import pytest

from pycupel import (
    ContextItem,
    ReflexiveScorer,
    ScaledScorer,
)
from tests.strategies import RawHintScorer


def hinted(*hints: float) -> list[ContextItem]:
    return [ContextItem("x", 1, future_relevance_hint=hint) for hint in hints]


def expect(scorer: ScaledScorer, items: Sequence[ContextItem], scores: list[float]) -> None:
    assert [scorer.score(item, items) for item in items] == scores
    assert scorer.score_all(items) == scores


@pytest.mark.proves("S-SS-05")
@pytest.mark.parametrize(
    ("inner", "scores"),
    [
        pytest.param([0.0, -0.0], [0.5, 0.5], id="zeros of both signs are equal"),
        pytest.param([-2.0, 6.0, 0.0], [0.0, 1.0, 0.25], id="negative scores"),
        pytest.param([math.nan, 2.0, math.nan], [0.5, 0.5, 0.5], id="one number among NaN"),
        pytest.param([math.inf, math.inf], [0.5, 0.5], id="all infinite"),
        pytest.param([-math.inf, math.inf], [0.5, 0.5], id="infinite in both directions"),
    ],
)
def test_scores_that_only_custom_scorers_give(inner: list[float], scores: list[float]) -> None:
    """SS-01: 0.5 for a score that is not finite; SS-02: NaN does not take part."""
    expect(ScaledScorer(RawHintScorer()), hinted(*inner), scores)


@pytest.mark.proves("S-SS-06")
def test_an_item_that_is_not_in_the_list_says_nothing() -> None:
    """SS-01: 0.5; also for an equal copy, since items are found by identity."""
    items = hinted(0.0, 0.5, 1.0)
    scorer = ScaledScorer(ReflexiveScorer())
    assert scorer.score(ContextItem("other", 1, future_relevance_hint=0.9), items) == 0.5
    twin = copy.copy(items[2])
    assert twin == items[2]
    assert scorer.score(twin, items) == 0.5
    assert scorer.score(items[2], items) == 1.0


@pytest.mark.proves("S-SS-01")
def test_an_empty_list_gives_one_half() -> None:
    """ScaledScorer, Edge Cases: empty allItems."""
    assert ScaledScorer(ReflexiveScorer()).score(hinted(0.9)[0], []) == 0.5


def test_the_same_object_in_two_places_has_one_score() -> None:
    """ScaledScorer: the item is identified by reference identity."""
    low, high = hinted(0.2, 0.8)
    expect(ScaledScorer(ReflexiveScorer()), [high, low, high], [1.0, 0.0, 1.0])


class Counting:
    """Counts how often it is asked, and for what."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def score(self, item: ContextItem, all_items: Sequence[ContextItem], /) -> float:
        assert len(all_items) == 4
        self.asked.append(item.content)
        return float(len(item.content))


def test_a_batch_asks_the_inner_scorer_once_for_each_item() -> None:
    """SS-03: N calls instead of N^2, and N instead of N^3 for two levels."""
    items = [ContextItem("x" * n, 1) for n in (1, 3, 2, 5)]
    counting = Counting()
    assert ScaledScorer(ScaledScorer(counting)).score_all(items) == [0.0, 0.5, 0.25, 1.0]
    assert counting.asked == ["x", "xxx", "xx", "xxxxx"]


def test_a_single_score_asks_for_all_items_in_order() -> None:
    """SCALED-SCORE: a single pass over allItems."""
    items = [ContextItem("x" * n, 1) for n in (1, 3, 2, 5)]
    counting = Counting()
    assert ScaledScorer(counting).score(items[2], items) == 0.25
    assert counting.asked == ["x", "xxx", "xx", "xxxxx"]
