"""DecayScorer: the older an item, the lower its score, by the caller's curve and clock."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from math import pow  # noqa: A004 - of floats only
from typing import Any, ClassVar, Protocol, runtime_checkable

from pycupel.errors import ScorerConfigError
from pycupel.model import ContextItem
from pycupel.model.checks import (
    SHARE,
    argument_of,
    as_float,
    checked_float,
    checked_pairs,
    is_aware,
    refuse_class,
    rule,
    wrong_type,
)
from pycupel.protocols import TimeProvider
from pycupel.scorers._base import CheckedScorer
from pycupel.values import hold, sealed

_ZERO = timedelta(0)


@runtime_checkable
class Curve(Protocol):
    """Turns the age of an item into a score."""

    def at(self, age: timedelta, /) -> float:
        """Return the score at an age, which is never negative."""
        ...


def checked_clock(name: str, value: Any) -> Any:
    """Check for an object with `now()`, or a function."""
    refuse_class(name, value)
    # A datetime has a now(), too, but it returns the machine's local time without a zone.
    is_clock = isinstance(value, TimeProvider) and not isinstance(value, datetime)
    if not (is_clock or callable(value)):
        raise wrong_type(name, "an object with now() or a function", value)
    return value


def _checked_duration(name: str, value: Any) -> timedelta:
    if not isinstance(value, timedelta):
        raise wrong_type(name, "a timedelta", value)
    if value <= _ZERO:
        message = f"{name} must be greater than zero, not {value}"
        raise ScorerConfigError(message, argument=argument_of(name), value=value)
    return value


def _checked_curve(name: str, value: Any) -> Any:
    refuse_class(name, value)
    if not isinstance(value, Curve):
        raise wrong_type(name, "a curve: Exponential, Step or Window", value)
    return value


@sealed
@dataclass(frozen=True, slots=True)
class Exponential(CheckedScorer):
    """A curve that halves the score every `half_life`: `2 ** (-age / half_life)`."""

    # DS-04: the specification wants its own spelling in the error, too.
    half_life: timedelta = field(metadata=rule(lambda _, value: _checked_duration("half_life (halfLife)", value)))
    """The time in which the score halves, greater than zero."""

    def at(self, age: timedelta, /) -> float:
        """Return the score at an age."""
        return pow(2.0, -age.total_seconds() / self.half_life.total_seconds())


@sealed
@dataclass(frozen=True, slots=True, init=False)
class Step:
    """A curve of steps: the score of the first window that is longer than the age, or of the last window."""

    windows: tuple[tuple[timedelta, float], ...]
    """Pairs of a maximum age and a score between 0 and 1, in order of age."""

    def __init__(self, windows: Iterable[tuple[timedelta, float]]) -> None:
        checked: list[tuple[timedelta, float]] = []
        for i, (max_age, score) in enumerate(checked_pairs("windows", "(max_age, score)", windows)):
            age = _checked_duration(f"windows[{i}]: max_age", max_age)
            if checked and age <= checked[-1][0]:
                message = f"windows must be sorted from youngest to oldest, but windows[{i}] ends at {age}"
                raise ScorerConfigError(message, argument="windows")
            checked.append((age, checked_float(f"windows[{i}]: score", score, ScorerConfigError, low=0.0, high=1.0)))
        if not checked:
            raise ScorerConfigError("windows must contain at least one entry", argument="windows")
        hold(self, windows=tuple(checked))

    def at(self, age: timedelta, /) -> float:
        """Return the score at an age."""
        for max_age, score in self.windows:
            if max_age > age:
                return score
        return self.windows[-1][1]


@sealed
@dataclass(frozen=True, slots=True)
class Window(CheckedScorer):
    """A curve with one step: 1.0 while the age is less than `max_age`, then 0.0."""

    max_age: timedelta = field(metadata=rule(_checked_duration))
    """The length of the window, greater than zero."""

    def at(self, age: timedelta, /) -> float:
        """Return the score at an age."""
        return 1.0 if age < self.max_age else 0.0


@sealed
@dataclass(frozen=True, slots=True)
class SystemTimeProvider:
    """The clock of this machine."""

    def now(self) -> datetime:
        """Return the current time in UTC."""
        return datetime.now(UTC)


@sealed
@dataclass(frozen=True, slots=True)
class DecayScorer(CheckedScorer):
    """The older an item, the lower its score. An item from the future has age zero.

    The clock is read once per run, so all ages are consistent; with a live clock, two runs may differ.
    """

    reads: ClassVar[str] = "timestamp"

    time_provider: TimeProvider | Callable[[], datetime] = field(metadata=rule(checked_clock))
    """The clock: `SystemTimeProvider()`, any object with `now()`, or a function. There is no default."""

    curve: Curve = field(metadata=rule(_checked_curve))
    """`Exponential`, `Step`, `Window`, or any object with `at(age)`."""

    null_timestamp_score: float = field(default=0.5, metadata=SHARE)
    """The score of items without a timestamp, from 0 to 1."""

    def score(self, item: ContextItem, all_items: Sequence[ContextItem], /) -> float:  # noqa: ARG002 - absolute
        """Return the curve's score at the item's age."""
        if item.timestamp is None:
            return self.null_timestamp_score
        return self._at(item.timestamp, self._now())

    def score_all(self, items: Sequence[ContextItem], /) -> list[float]:
        """Score all items at once; the results equal those of `score` bit for bit."""
        now = self._now()  # DS-02: once
        absent = self.null_timestamp_score
        return [absent if item.timestamp is None else self._at(item.timestamp, now) for item in items]

    def _at(self, timestamp: datetime, now: datetime) -> float:
        score: Any = self.curve.at(max(_ZERO, now - timestamp))
        if type(score) is float:
            return score
        return as_float(f"the score that {type(self.curve).__name__} returned", score)

    def _now(self) -> datetime:
        provider: Any = self.time_provider
        now = provider.now() if isinstance(provider, TimeProvider) else provider()
        if not is_aware(now):
            raise wrong_type("the time that time_provider returned", "a datetime with a time zone", now)
        utc: datetime = now.astimezone(UTC)
        return utc
