"""RecencyScorer: what the vectors `recency-*` do not show."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone, tzinfo

import pytest

from pycupel import ContextItem, RecencyScorer
from pycupel.errors import ScorerConfigError
from pycupel.testing import check_scorer
from tests.strategies import HOUR, NOW


def dated(*ages: int | None) -> list[ContextItem]:
    """Items so many hours old; None has no timestamp."""
    return [ContextItem("x", 1, timestamp=None if age is None else NOW - age * HOUR) for age in ages]


def expect(items: list[ContextItem], scores: list[float]) -> None:
    scorer = RecencyScorer()
    assert [scorer.score(item, items) for item in items] == scores
    assert scorer.score_all(items) == scores


def test_one_instant_in_two_time_zones_is_a_tie() -> None:
    """RecencyScorer: by the underlying instant, not by representation."""
    tokyo = timezone(timedelta(hours=9))
    items = [
        ContextItem("utc", 1, timestamp=datetime(2025, 1, 1, 12, tzinfo=UTC)),
        ContextItem("tokyo", 1, timestamp=datetime(2025, 1, 1, 21, tzinfo=tokyo)),
        ContextItem("later by the clock on the wall only", 1, timestamp=datetime(2025, 1, 1, 13, tzinfo=tokyo)),
    ]
    expect(items, [0.5, 0.5, 0.0])


class SummerEnds(tzinfo):
    """Two hours ahead of UTC in the first pass of a repeated hour, one hour in the second."""

    def utcoffset(self, moment: datetime | None, /) -> timedelta:
        return HOUR if moment is not None and moment.fold else 2 * HOUR

    def dst(self, moment: datetime | None, /) -> timedelta:
        return self.utcoffset(moment) - HOUR

    def tzname(self, moment: datetime | None, /) -> str:
        return "SUMMER" if self.dst(moment) else "WINTER"


def test_a_repeated_hour_is_ordered_by_instant() -> None:
    """PY-02: within one time zone Python compares the clock on the wall, which goes back when summer ends."""
    zone = SummerEnds()
    earlier = datetime(2024, 10, 27, 2, 30, tzinfo=zone)
    later = datetime(2024, 10, 27, 2, 15, tzinfo=zone, fold=1)
    assert later < earlier, "what Python thinks"
    expect([ContextItem("earlier", 1, timestamp=earlier), ContextItem("later", 1, timestamp=later)], [0.0, 1.0])


def test_an_item_outside_the_list_is_ranked_against_it() -> None:
    """RECENCY-SCORE asks nothing of the item but its timestamp."""
    scorer = RecencyScorer()
    peers = dated(4, 2, 0)
    assert scorer.score(dated(3)[0], peers) == 0.5
    assert scorer.score(dated(3)[0], []) == 1.0
    assert scorer.score(dated(3)[0], dated(1)) == 1.0


def test_undated_items_can_be_ranked_by_position() -> None:
    """Only if none has a timestamp; an object that occurs twice is as new as its last occurrence."""
    scorer = RecencyScorer("position")
    one, two, three = dated(None, None, None)
    for items, scores in (
        ([one, two, three], [0.0, 0.5, 1.0]),
        ([one, two, one], [1.0, 0.5, 1.0]),
        ([one], [1.0]),
        ([], []),
        (dated(3, None, 1), [0.0, 0.0, 1.0]),
        ([one, ContextItem("document", 1, kind="Document"), two], [0.0, 0.0, 1.0]),
    ):
        assert scorer.score_all(items) == scores
        assert [scorer.score(item, items) for item in items] == scores
    assert RecencyScorer().score_all([one, two]) == [0.0, 0.0]
    check_scorer(scorer)


def test_what_happens_to_undated_items_is_one_of_two_things() -> None:
    assert repr(RecencyScorer("position")) == "RecencyScorer(undated='position')"
    assert RecencyScorer("position").reads is None
    with pytest.raises(ScorerConfigError, match="undated must be one of oldest, position, not 'newest'") as caught:
        RecencyScorer("newest")  # type: ignore[arg-type]
    assert caught.value.argument == "undated"
