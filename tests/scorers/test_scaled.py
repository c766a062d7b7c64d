"""ScaledScorer: another scorer, stretched to the range from 0 to 1."""

from __future__ import annotations

import copy
import math
from collections.abc import Sequence
from typing import Any

import pytest

from pycupel import (
    CompositeScorer,
    ContextItem,
    KindScorer,
    PriorityScorer,
    RecencyScorer,
    ReflexiveScorer,
    ScaledScorer,
)
from tests.strategies import RawHintScorer


def hinted(*hints: float) -> list[ContextItem]:
    return [ContextItem("x", 1, future_relevance_hint=hint) for hint in hints]


def expect(scorer: ScaledScorer, items: Sequence[ContextItem], scores: list[float]) -> None:
    assert [scorer.score(item, items) for item in items] == scores
    assert scorer.score_all(items) == scores


@pytest.mark.parametrize(
    ("inner", "scores"),
    [
        pytest.param([], [], id="no items"),
        pytest.param([0.3], [0.5], id="a single item"),
        pytest.param([0.0], [0.5], id="a single item with 0.0"),
        pytest.param([0.4, 0.4, 0.4], [0.5, 0.5, 0.5], id="all equal"),
        pytest.param([0.0, -0.0], [0.5, 0.5], id="zeros of both signs are equal"),
        pytest.param([0.3, 0.5], [0.0, 1.0], id="two distinct scores"),
        pytest.param([0.5, 0.25, 0.375], [1.0, 0.0, 0.5], id="a narrow range is spread"),
        pytest.param([0.25, 0.5, 0.25, 0.5], [0.0, 1.0, 0.0, 1.0], id="several lowest and highest"),
        pytest.param([-2.0, 6.0, 0.0], [0.0, 1.0, 0.25], id="beyond the conventional range"),
        pytest.param([1e300, 3e300, 2e300], [0.0, 1.0, 0.5], id="huge"),
    ],
)
def test_inner_scores_are_stretched(inner: list[float], scores: list[float]) -> None:
    """ScaledScorer, Edge Cases and Score Distribution."""
    expect(ScaledScorer(RawHintScorer()), hinted(*inner), scores)


@pytest.mark.parametrize(
    ("inner", "scores"),
    [
        pytest.param([math.nan], [0.5], id="nothing but NaN"),
        pytest.param([math.nan, math.nan], [0.5, 0.5], id="NaN is not even equal to itself"),
        pytest.param([1.0, math.nan, 3.0, 2.0], [0.0, 0.5, 1.0, 0.5], id="NaN is ignored by lowest and highest"),
        pytest.param([math.nan, 1.0, 3.0], [0.5, 0.0, 1.0], id="also in the first place"),
        pytest.param([math.nan, 2.0, math.nan], [0.5, 0.5, 0.5], id="one number among NaN"),
        pytest.param([math.inf, math.inf], [0.5, 0.5], id="all infinite"),
        pytest.param([-math.inf, math.inf], [0.5, 0.5], id="infinite in both directions"),
        pytest.param([1.0, math.inf, 2.0], [0.0, 0.5, 0.0], id="an infinite highest score flattens the others"),
    ],
)
def test_an_inner_score_that_is_not_finite_says_nothing(inner: list[float], scores: list[float]) -> None:
    """SS-01: 0.5 if it is not finite; SS-02: NaN does not take part."""
    expect(ScaledScorer(RawHintScorer()), hinted(*inner), scores)


def test_an_item_that_is_not_in_the_list_says_nothing() -> None:
    """SS-01: 0.5; also for an equal copy, since items are found by identity."""
    items = hinted(0.0, 0.5, 1.0)
    scorer = ScaledScorer(ReflexiveScorer())
    assert scorer.score(ContextItem("other", 1, future_relevance_hint=0.9), items) == 0.5
    twin = copy.copy(items[2])
    assert twin == items[2]
    assert scorer.score(twin, items) == 0.5
    assert scorer.score(items[2], items) == 1.0


def test_an_empty_list_gives_one_half() -> None:
    """ScaledScorer, Edge Cases: empty allItems."""
    assert ScaledScorer(ReflexiveScorer()).score(hinted(0.9)[0], []) == 0.5
    assert ScaledScorer(ReflexiveScorer()).score_all([]) == []


def test_the_same_object_in_two_places_has_one_score() -> None:
    """ScaledScorer: the item is identified by reference identity."""
    low, high = hinted(0.2, 0.8)
    expect(ScaledScorer(ReflexiveScorer()), [high, low, high], [1.0, 0.0, 1.0])


def test_scaling_twice_changes_nothing() -> None:
    """ScaledScorer, Score Distribution: the scores span the range already."""
    items = hinted(0.25, 0.5, 0.375)
    expect(ScaledScorer(ScaledScorer(ReflexiveScorer())), items, [0.0, 1.0, 0.5])


def test_a_composite_can_be_scaled() -> None:
    """ScaledScorer uses whatever its inner scorer uses."""
    items = [ContextItem("a", 1, kind="Memory", priority=1), ContextItem("b", 1, priority=2)]
    inner = CompositeScorer([(KindScorer(), 1.0), (PriorityScorer(), 1.0)])
    assert inner.score_all(items) == [0.4, 0.6]
    expect(ScaledScorer(inner), items, [0.0, 1.0])


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


@pytest.mark.parametrize("inner", [None, 3, "recency", object()])
def test_an_inner_scorer_that_cannot_score_is_a_type_error(inner: Any) -> None:
    """PB-05."""
    with pytest.raises(TypeError, match="inner"):
        ScaledScorer(inner)


def test_a_class_instead_of_an_instance_is_a_type_error_that_suggests_the_call() -> None:
    """PB-05."""
    inner: Any = RecencyScorer
    with pytest.raises(TypeError, match=r"did you mean RecencyScorer\("):
        ScaledScorer(inner)
