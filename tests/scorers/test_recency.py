"""RecencyScorer: the rank among the items that have a timestamp."""

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


@pytest.mark.parametrize(
    ("ages", "scores"),
    [
        pytest.param([], [], id="no items"),
        pytest.param([None], [0.0], id="a lone item without timestamp"),
        pytest.param([None, None, None], [0.0, 0.0, 0.0], id="all without timestamp"),
        pytest.param([5], [1.0], id="a lone item is trivially the most recent"),
        pytest.param([None, 5, None], [0.0, 1.0, 0.0], id="only one has a timestamp"),
        pytest.param([7, 7, 7], [0.0, 0.0, 0.0], id="all share one timestamp"),
        pytest.param([9, 1], [0.0, 1.0], id="two items"),
        pytest.param([0, 3, 1, 2, 4], [1.0, 0.25, 0.75, 0.5, 0.0], id="evenly spaced, whatever the distances"),
        pytest.param([1000, 999, 1], [0.0, 0.5, 1.0], id="by rank, not by distance"),
        pytest.param([2, 1, 1, 0], [0.0, 1 / 3, 1 / 3, 1.0], id="a tie shares the lower rank"),
        pytest.param([2, 0, 0], [0.0, 0.5, 0.5], id="tied for the top stays below one"),
        pytest.param([None, 2, None, 1, 0, None], [0.0, 0.0, 0.0, 0.5, 1.0, 0.0], id="only the dated ones divide"),
        pytest.param([-3, 0], [1.0, 0.0], id="the future is more recent"),
    ],
)
def test_the_score_is_the_rank_among_dated_items(ages: list[int | None], scores: list[float]) -> None:
    """RecencyScorer, Edge Cases and Score Distribution; RS-01."""
    expect(dated(*ages), scores)


def test_the_divisor_counts_dated_items_only() -> None:
    """RecencyScorer: the denominator is countWithTimestamp - 1, not length(allItems) - 1."""
    items = dated(4, 3, 2, 1, *[None] * 10)
    expect(items, [0.0, 1 / 3, 2 / 3, 1.0, *[0.0] * 10])


def test_a_microsecond_makes_a_difference() -> None:
    """RecencyScorer: strictly earlier."""
    items = [ContextItem("x", 1, timestamp=NOW + timedelta(microseconds=i)) for i in (1, 0)]
    expect(items, [1.0, 0.0])


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
    with pytest.raises(ScorerConfigError, match="undated must be 'oldest' or 'position'") as caught:
        RecencyScorer("newest")  # type: ignore[arg-type]
    assert caught.value.argument == "undated"
