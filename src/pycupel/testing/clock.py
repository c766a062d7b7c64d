"""A clock that stands still."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, cast

from pycupel.errors import InvalidArgumentError
from pycupel.model.checks import wrong_type

__all__ = ["FixedTimeProvider"]


@dataclass(frozen=True, slots=True, init=False, repr=False)
class FixedTimeProvider:
    """A time provider that always gives the same time, in UTC: for `DecayScorer`, where runs have to be repeatable.

    Raises:
        TypeError: `now` is no datetime.
        InvalidArgumentError: `now` has no time zone.
    """

    instant: datetime

    def __init__(self, now: datetime) -> None:
        object.__setattr__(self, "instant", _checked_aware("now", now).astimezone(UTC))

    def now(self) -> datetime:
        return self.instant

    def advance(self, by: timedelta) -> FixedTimeProvider:
        """Another clock, which stands still so much later."""
        if not isinstance(cast(Any, by), timedelta):
            raise wrong_type("by", "a timedelta", by)
        return FixedTimeProvider(self.instant + by)

    def __repr__(self) -> str:
        return f"FixedTimeProvider({self.instant!r})"


def _checked_aware(name: str, value: Any) -> datetime:
    """Without a zone, nobody knows which instant is meant (DM-07)."""
    if not isinstance(value, datetime):
        raise wrong_type(name, "a datetime", value)
    if value.utcoffset() is None:
        raise InvalidArgumentError(
            f"{name} must have a time zone, {value!r} has none; write datetime(..., tzinfo=timezone.utc)",
            argument=name,
            value=value,
        )
    return value
