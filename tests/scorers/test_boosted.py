"""BoostedScorer: another scorer, really multiplied."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import pytest

from pycupel import (
    BoostedScorer,
    ContextItem,
    KindScorer,
    MetadataKeyScorer,
    PriorityScorer,
    RecencyScorer,
    ReflexiveScorer,
)
from tests.strategies import RawHintScorer

HIGH = MetadataKeyScorer("cupel:priority", "high", 1.5)
DRAFT = MetadataKeyScorer("state", "draft", 0.5)


def example_items() -> list[ContextItem]:
    hints = [
        (0.4, {"cupel:priority": "high"}),
        (0.4, {"cupel:priority": "normal"}),
        (0.8, {"cupel:priority": "high", "state": "draft"}),
        (0.8, {}),
    ]
    return [ContextItem("x", 1, future_relevance_hint=hint, metadata=metadata) for hint, metadata in hints]


def expect(scorer: BoostedScorer, items: Sequence[ContextItem], scores: list[float]) -> None:
    assert [scorer.score(item, items) for item in items] == scores
    assert scorer.score_all(items) == scores


def test_matching_items_are_multiplied() -> None:
    """CS-03: what the chapter on MetadataKeyScorer promises; a non-match has no effect."""
    expect(BoostedScorer(ReflexiveScorer(), HIGH), example_items(), [0.4 * 1.5, 0.4, 0.8 * 1.5, 0.8])


def test_several_boosts_compound() -> None:
    """CS-03: from left to right."""
    expect(BoostedScorer(ReflexiveScorer(), HIGH, DRAFT), example_items(), [0.4 * 1.5, 0.4, 0.8 * 1.5 * 0.5, 0.8])


def test_without_boosts_it_delegates() -> None:
    """CS-03: an empty product changes nothing."""
    scorer = BoostedScorer(ReflexiveScorer())
    expect(scorer, example_items(), [0.4, 0.4, 0.8, 0.8])
    scores = scorer.score_all(example_items())
    scores.clear()


def test_factors_are_multiplied_from_left_to_right() -> None:
    """META-08: the order decides about the last bit."""
    items = [ContextItem("x", 1, kind="a", future_relevance_hint=0.1)]
    factors = [KindScorer({"a": weight}) for weight in (0.1, 3.0, 0.7)]
    expect(BoostedScorer(ReflexiveScorer(), *factors), items, [0.1 * 0.1 * 3.0 * 0.7])
    assert 0.1 * 0.1 * 3.0 * 0.7 != 0.1 * (0.1 * 3.0 * 0.7), "the example says something"


def test_nothing_is_clamped() -> None:
    """MetadataKeyScorer: returned values are NOT clamped to [0.0, 1.0]."""
    item = ContextItem("x", 1, kind="a", future_relevance_hint=1.0)
    expect(BoostedScorer(ReflexiveScorer(), KindScorer({"a": 40.0})), [item], [40.0])
    expect(BoostedScorer(KindScorer({"a": 1e308}), KindScorer({"a": 1e308})), [item], [math.inf])


def test_zero_times_infinity_is_nan() -> None:
    """SC-03: every float is accepted as a score."""
    item = ContextItem("x", 1, future_relevance_hint=math.inf)
    scorer = BoostedScorer(RawHintScorer(), KindScorer({}))
    assert math.isnan(scorer.score(item, [item]))
    assert math.isnan(scorer.score_all([item])[0])


def test_relative_scorers_see_all_items() -> None:
    """Scorer Interface: allItems is passed on."""
    items = [ContextItem("x", 1, priority=priority, kind="a") for priority in (1, 2, 3)]
    expect(BoostedScorer(PriorityScorer(), PriorityScorer(), KindScorer({"a": 2.0})), items, [0.0, 0.5, 2.0])


@pytest.mark.parametrize("inner", [None, 3, "recency", object()])
def test_an_inner_scorer_that_cannot_score_is_a_type_error(inner: Any) -> None:
    """PB-05."""
    with pytest.raises(TypeError, match="inner"):
        BoostedScorer(inner, HIGH)


@pytest.mark.parametrize("boost", [None, 1.5, "high", (HIGH,)])
def test_a_boost_that_cannot_score_is_a_type_error(boost: Any) -> None:
    """PB-05: the message names the argument."""
    with pytest.raises(TypeError, match=r"boosts\[1\]"):
        BoostedScorer(RecencyScorer(), HIGH, boost)


def test_a_class_instead_of_an_instance_is_a_type_error_that_suggests_the_call() -> None:
    """PB-05."""
    wrong: Any = RecencyScorer
    with pytest.raises(TypeError, match=r"did you mean RecencyScorer\("):
        BoostedScorer(wrong)
    with pytest.raises(TypeError, match=r"did you mean RecencyScorer\("):
        BoostedScorer(PriorityScorer(), wrong)
