"""DecayScorer: the older an item, the lower its score, by a curve and against a clock that the caller provides."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from math import pow  # noqa: A004 - of floats only
from typing import Any, ClassVar, Protocol, cast, runtime_checkable

from pycupel.errors import ScorerConfigError
from pycupel.model import ContextItem
from pycupel.model.checks import as_float, checked_float, checked_pairs, wrong_type
from pycupel.model.optionless import Optionless
from pycupel.protocols import TimeProvider

__all__ = ["Curve", "DecayScorer", "Exponential", "Step", "SystemTimeProvider", "Window"]

_ZERO = timedelta(0)


@runtime_checkable
class Curve(Protocol):
    """Turns an age, never negative, into a score."""

    def at(self, age: timedelta, /) -> float: ...


@dataclass(frozen=True, slots=True)
class Exponential:
    """`2 ** (-age / half_life)`."""

    half_life: timedelta

    def __post_init__(self) -> None:
        _checked_duration("half_life (halfLife)", self.half_life)

    def at(self, age: timedelta, /) -> float:
        return pow(2.0, -age.total_seconds() / self.half_life.total_seconds())


@dataclass(frozen=True, slots=True, init=False)
class Step:
    """The score of the first window that is longer than the age; the last one's if none is."""

    windows: tuple[tuple[timedelta, float], ...]

    def __init__(self, windows: Iterable[tuple[timedelta, float]]) -> None:
        checked: list[tuple[timedelta, float]] = []
        for i, (max_age, score) in enumerate(checked_pairs("windows", "(max_age, score)", windows)):
            age = _checked_duration(f"the max_age (maxAge) of windows[{i}]", max_age)
            if checked and age <= checked[-1][0]:
                raise ScorerConfigError(
                    f"windows must be sorted from youngest to oldest, but windows[{i}] ends at {age}",
                    argument="windows",
                )
            checked.append(
                (age, checked_float(f"the score of windows[{i}]", score, ScorerConfigError, low=0.0, high=1.0))
            )
        if not checked:
            raise ScorerConfigError("windows must contain at least one entry", argument="windows")
        object.__setattr__(self, "windows", tuple(checked))

    def at(self, age: timedelta, /) -> float:
        for max_age, score in self.windows:
            if max_age > age:
                return score
        return self.windows[-1][1]


@dataclass(frozen=True, slots=True)
class Window:
    """1.0 while the age is less than `max_age`, then 0.0."""

    max_age: timedelta

    def __post_init__(self) -> None:
        _checked_duration("max_age (maxAge)", self.max_age)

    def at(self, age: timedelta, /) -> float:
        return 1.0 if age < self.max_age else 0.0


class SystemTimeProvider(Optionless):
    """The clock of this machine."""

    __slots__ = ()

    def now(self) -> datetime:
        return datetime.now(UTC)


@dataclass(frozen=True, slots=True)
class DecayScorer:
    """The curve's score for the item's age, which is zero in the future; without a timestamp `null_timestamp_score`.

    There is no default clock: pass `SystemTimeProvider()`, any object with `now()`, or a function. `score_all` reads
    it once, so that all ages in a run are consistent (DS-02); with a live clock, two runs may differ.
    """

    reads: ClassVar[str] = "timestamp"

    time_provider: TimeProvider | Callable[[], datetime]
    curve: Curve
    null_timestamp_score: float = 0.5

    def __post_init__(self) -> None:
        checked_clock("time_provider", self.time_provider)
        if isinstance(self.curve, type) or not isinstance(cast(Any, self.curve), Curve):
            raise wrong_type("curve", "a curve: Exponential, Step or Window", self.curve)
        score = checked_float("null_timestamp_score", self.null_timestamp_score, ScorerConfigError, low=0.0, high=1.0)
        object.__setattr__(self, "null_timestamp_score", score)

    def score(self, item: ContextItem, all_items: Sequence[ContextItem], /) -> float:  # noqa: ARG002 - absolute
        if item.timestamp is None:
            return self.null_timestamp_score
        return self._at(item.timestamp, self._now())

    def score_all(self, items: Sequence[ContextItem], /) -> list[float]:
        now = self._now()
        absent = self.null_timestamp_score
        return [absent if item.timestamp is None else self._at(item.timestamp, now) for item in items]

    def _at(self, timestamp: datetime, now: datetime) -> float:
        score: Any = self.curve.at(max(_ZERO, now - timestamp))
        return score if type(score) is float else as_float(f"the score that {type(self.curve).__name__} gives", score)

    def _now(self) -> datetime:
        provider: Any = self.time_provider
        now = provider.now() if isinstance(provider, TimeProvider) else provider()
        if not isinstance(now, datetime) or now.utcoffset() is None:
            raise wrong_type("what time_provider returns", "a datetime with a time zone", now)
        return now.astimezone(UTC)


def checked_clock(name: str, value: Any) -> Any:
    # A datetime has a now(), too, but it would tell the machine's time, without a zone.
    is_clock = isinstance(value, TimeProvider) and not isinstance(value, datetime)
    if isinstance(value, type) or not (is_clock or callable(value)):
        raise wrong_type(name, "an object with now() or a function", value)
    return value


def _checked_duration(name: str, value: Any) -> timedelta:
    if not isinstance(value, timedelta):
        raise wrong_type(name, "a timedelta", value)
    if value <= _ZERO:
        raise ScorerConfigError(f"{name} must be greater than zero, not {value}", argument=name, value=value)
    return value
