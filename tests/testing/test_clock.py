"""A clock for tests: DS-01 and DM-07."""

from __future__ import annotations

import dataclasses
from datetime import UTC, date, datetime, timedelta, timezone
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from pycupel import ContextItem, DecayScorer
from pycupel.errors import InvalidArgumentError
from pycupel.protocols import TimeProvider
from pycupel.scorers import Exponential
from pycupel.testing._contract import FixedTimeProvider

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
HOUR = timedelta(hours=1)


def test_it_always_tells_the_same_time() -> None:
    """DS-01: a fixed time provider is shipped."""
    clock = FixedTimeProvider(NOON)
    assert clock.now() == clock.now() == NOON
    assert isinstance(clock, TimeProvider)


def test_a_decay_scorer_takes_it() -> None:
    """DS-01: a time provider is an object with now()."""
    scorer = DecayScorer(FixedTimeProvider(NOON), Exponential(HOUR))
    item = ContextItem("an hour old", 1, timestamp=NOON - HOUR)
    assert scorer.score(item, [item]) == scorer.score_all([item])[0] == 0.5


def test_advancing_gives_another_clock() -> None:
    """A clock is a value: nobody's time changes under them."""
    clock = FixedTimeProvider(NOON)
    later = clock.advance(HOUR).advance(timedelta(minutes=-30))
    assert later.now() == NOON + HOUR / 2
    assert clock.now() == NOON


def test_time_is_kept_in_utc_so_that_an_hour_is_an_hour() -> None:
    """PY-02: within one zone Python adds to the wall clock, which jumps."""
    before_the_jump = datetime(2026, 3, 29, 1, 30, tzinfo=ZoneInfo("Europe/Berlin"))
    clock = FixedTimeProvider(before_the_jump).advance(HOUR)
    assert clock.now() == datetime(2026, 3, 29, 1, 30, tzinfo=UTC)
    assert clock.now().tzinfo is UTC


def test_a_time_without_a_zone_is_refused() -> None:
    """DM-07: with a hint."""
    naive = datetime(2026, 3, 1)  # noqa: DTZ001 - the point of the test
    with pytest.raises(InvalidArgumentError) as caught:
        FixedTimeProvider(naive)
    assert str(caught.value) == (
        "now must have a time zone, but datetime.datetime(2026, 3, 1, 0, 0) has none; "
        "use datetime.now(timezone.utc) or add tzinfo"
    )
    assert (caught.value.argument, caught.value.value) == ("now", naive)


@pytest.mark.parametrize("now", [None, "2026-03-01T00:00Z", 0, date(2026, 3, 1), datetime])
def test_a_time_is_a_datetime(now: Any) -> None:
    """A wrong type is a TypeError."""
    with pytest.raises(TypeError, match="now must be a datetime, not"):
        FixedTimeProvider(now)


@pytest.mark.parametrize("by", [None, 3600, NOON])
def test_it_advances_by_a_timedelta(by: Any) -> None:
    """DS-08: durations are timedeltas."""
    with pytest.raises(TypeError, match="by must be a timedelta, not"):
        FixedTimeProvider(NOON).advance(by)


def test_is_a_value() -> None:
    """PB-04: immutable, comparable by instant, hashable, and shown as it is written."""
    clock = FixedTimeProvider(NOON)
    same = FixedTimeProvider(now=NOON.astimezone(timezone(5 * HOUR)))
    assert clock == same != clock.advance(HOUR)
    assert hash(clock) == hash(same)
    assert repr(clock) == "FixedTimeProvider(datetime.datetime(2026, 3, 1, 12, 0, tzinfo=datetime.timezone.utc))"
    with pytest.raises(dataclasses.FrozenInstanceError):
        clock.instant = NOON  # type: ignore[misc]
