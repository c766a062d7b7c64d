"""BoostedScorer: what the vectors `boosted-*` do not show."""

from __future__ import annotations

from typing import Any

import pytest

from pycupel import (
    BoostedScorer,
    ContextItem,
    MetadataKeyScorer,
    PriorityScorer,
    RecencyScorer,
    ReflexiveScorer,
)

HIGH = MetadataKeyScorer("cupel:priority", "high", 1.5)


def test_without_boosts_it_delegates() -> None:
    """CS-03: an empty product changes nothing."""
    items = [ContextItem("x", 1, future_relevance_hint=hint) for hint in (0.4, 0.8)]
    scorer = BoostedScorer(ReflexiveScorer())
    assert [scorer.score(item, items) for item in items] == scorer.score_all(items) == [0.4, 0.8]


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
