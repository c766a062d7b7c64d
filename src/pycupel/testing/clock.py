"""A clock with a fixed time."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, cast

from pycupel.errors import InvalidArgumentError
from pycupel.model.checks import checked_aware, wrong_type
from pycupel.values import hold, sealed


@sealed
@dataclass(frozen=True, slots=True, init=False, repr=False)
class FixedTimeProvider:
    """A time provider that always returns the same time, for a `DecayScorer` in tests.

    Args:
        now: The time, with a time zone.

    Raises:
        TypeError: `now` is not a datetime.
        InvalidArgumentError: `now` has no time zone.
    """

    instant: datetime
    """The time in UTC."""

    def __init__(self, now: datetime) -> None:
        hold(self, instant=checked_aware("now", now, InvalidArgumentError).astimezone(UTC))

    def now(self) -> datetime:
        """Return the fixed time."""
        return self.instant

    def advance(self, by: timedelta) -> FixedTimeProvider:
        """Return a new clock, fixed at a later time; this one does not change.

        Args:
            by: How much later.

        Raises:
            TypeError: it is not a timedelta.
        """
        if not isinstance(cast(Any, by), timedelta):
            raise wrong_type("by", "a timedelta", by)
        return FixedTimeProvider(self.instant + by)

    def __repr__(self) -> str:
        return f"FixedTimeProvider({self.instant!r})"
