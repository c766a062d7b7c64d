"""BoostedScorer: what the vectors `boosted-*` do not show."""

from __future__ import annotations

from pycupel import (
    BoostedScorer,
    ContextItem,
    MetadataKeyScorer,
    ReflexiveScorer,
)

HIGH = MetadataKeyScorer("cupel:priority", "high", 1.5)


def test_without_boosts_it_delegates() -> None:
    """CS-03: an empty product changes nothing."""
    items = [ContextItem("x", 1, future_relevance_hint=hint) for hint in (0.4, 0.8)]
    scorer = BoostedScorer(ReflexiveScorer())
    assert [scorer.score(item, items) for item in items] == scorer.score_all(items) == [0.4, 0.8]
