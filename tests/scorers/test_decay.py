"""DecayScorer: what the vectors `decay-*` do not show."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest

from pycupel import CompositeScorer, ContextBudget, ContextItem, DecayScorer, Pipeline
from pycupel.errors import ScorerConfigError
from pycupel.protocols import TimeProvider
from pycupel.scorers import Exponential, Step, SystemTimeProvider, Window
from tests.strategies import FixedClock

# The reference time of the chapter's outlines.
REFERENCE = datetime(2025, 1, 1, 12, tzinfo=UTC)
CLOCK = FixedClock(REFERENCE)
HOUR = timedelta(hours=1)
STEPS = Step([(HOUR, 0.9), (24 * HOUR, 0.5), (72 * HOUR, 0.1)])


def aged(age: timedelta | None) -> ContextItem:
    return ContextItem("x", 1, timestamp=None if age is None else REFERENCE - age)


def score_of(scorer: DecayScorer, item: ContextItem) -> float:
    """What `score` and `score_all` agree on."""
    (batch,) = scorer.score_all([item])
    assert scorer.score(item, [item]) == batch
    return batch


# Curves.


@pytest.mark.proves("S-DE-12")
def test_exponential_keeps_microseconds() -> None:
    """DS-06: seconds with all their decimals."""
    micro = timedelta(microseconds=1)
    assert Exponential(micro).at(timedelta(0)) == 1.0
    assert Exponential(micro).at(micro) == 0.5
    assert Exponential(2 * micro).at(micro) == 2.0**-0.5
    assert Exponential(micro).at(timedelta.max) == 0.0
    assert Exponential(timedelta.max).at(micro) == 1.0
    assert Exponential(timedelta.max).at(timedelta.max) == 0.5


def test_step_boundaries_are_exact() -> None:
    """STEP-CURVE: strictly greater, to the microsecond."""
    assert STEPS.at(HOUR - timedelta(microseconds=1)) == 0.9
    assert STEPS.at(HOUR + timedelta(microseconds=1)) == 0.5


def test_step_scores_need_not_fall() -> None:
    """Step: only the ages are ordered."""
    curve = Step([(HOUR, 0.0), (2 * HOUR, 1.0), (3 * HOUR, 1)])
    assert [curve.at(age * HOUR) for age in (0, 1, 2, 3)] == [0.0, 1.0, 1.0, 1.0]


@pytest.mark.proves("S-DE-03", "S-DE-05", "S-DE-08", "S-DE-14")
@pytest.mark.parametrize("duration", [timedelta(0), -HOUR, timedelta(microseconds=-1)])
def test_durations_must_be_positive(duration: timedelta) -> None:
    """DS-04: also negative ones; the error MUST name the halfLife parameter."""
    with pytest.raises(ScorerConfigError, match="halfLife") as caught:
        Exponential(duration)
    assert "half_life" in str(caught.value)
    with pytest.raises(ScorerConfigError, match="max_age"):
        Window(duration)
    with pytest.raises(ScorerConfigError, match=r"windows\[1\]"):
        Step([(HOUR, 0.9), (duration, 0.5)])
    with pytest.raises(ScorerConfigError, match=r"windows\[0\]"):
        Step([(duration, 0.5)])


@pytest.mark.parametrize("duration", [3600, 3600.0, "1h", None, REFERENCE])
def test_durations_are_timedeltas(duration: Any) -> None:
    """DS-08: plain numbers of seconds are not accepted."""
    with pytest.raises(TypeError, match="half_life"):
        Exponential(duration)
    with pytest.raises(TypeError, match="max_age"):
        Window(duration)
    with pytest.raises(TypeError, match=r"windows\[0\]"):
        Step([(duration, 0.5)])


@pytest.mark.proves("S-DE-04", "S-DE-14")
@pytest.mark.parametrize("windows", [[], (), iter(())])
def test_step_needs_a_window(windows: Any) -> None:
    """Step: windows MUST contain at least one entry."""
    with pytest.raises(ScorerConfigError, match="at least one"):
        Step(windows)


@pytest.mark.proves("S-DE-16")
@pytest.mark.parametrize(
    "hours",
    [
        pytest.param([72, 1], id="descending"),
        pytest.param([1, 1], id="twice the same"),
        pytest.param([1, 24, 12], id="the last one"),
        pytest.param([1, 24, 24], id="the last one twice"),
    ],
)
def test_step_windows_must_ascend(hours: list[int]) -> None:
    """DS-03: strictly, because the first match would hide the later windows."""
    with pytest.raises(ScorerConfigError, match="windows"):
        Step([(age * HOUR, 0.5) for age in hours])


@pytest.mark.parametrize("score", [-0.1, 1.1, 2, math.nan, math.inf, -math.inf])
def test_step_scores_lie_between_zero_and_one(score: float) -> None:
    """DS-05: and are finite; the message names the window."""
    with pytest.raises(ScorerConfigError, match=r"windows\[1\]"):
        Step([(HOUR, 0.5), (2 * HOUR, score)])


@pytest.mark.parametrize("score", ["0.5", True, None])
def test_step_scores_are_numbers(score: Any) -> None:
    """PB-05: the message names the window."""
    with pytest.raises(TypeError, match=r"windows\[0\]"):
        Step([(HOUR, score)])


def test_windows_come_from_any_iterable_of_pairs() -> None:
    """DM-06: they are copied; scores become floats."""
    pairs: list[Any] = [[HOUR, 1], (2 * HOUR, Fraction(1, 2)), (3 * HOUR, Decimal("0.25"))]
    curve = Step(iter(pairs))
    pairs.clear()
    assert curve.windows == ((HOUR, 1.0), (2 * HOUR, 0.5), (3 * HOUR, 0.25))
    assert {type(score) for _, score in curve.windows} == {float}


# Timestamps.


def test_the_score_without_timestamp_may_be_any_number() -> None:
    """Scorers: scores are 64-bit floats."""
    quarter: Any = Fraction(1, 4)
    assert type(DecayScorer(CLOCK, STEPS, quarter).null_timestamp_score) is float


@pytest.mark.proves("S-DE-11")
def test_no_curve_sees_a_negative_age() -> None:
    """DecayScorer: the clamp MUST occur before the curve computation, not inside each curve."""
    seen: list[timedelta] = []

    class Spy:
        def at(self, age: timedelta, /) -> float:
            seen.append(age)
            return 0.5

    DecayScorer(CLOCK, Spy()).score_all([aged(-HOUR), aged(timedelta(0)), aged(HOUR), aged(None)])
    assert seen == [timedelta(0), timedelta(0), HOUR]


class Unseen(Sequence[ContextItem]):
    """Fails the test if anybody looks into it."""

    def _seen(self, *_: object) -> Any:
        raise AssertionError("all_items was inspected")

    __len__ = __getitem__ = __iter__ = __contains__ = __bool__ = _seen


@pytest.mark.proves("S-DE-13")
@pytest.mark.parametrize("curve", [STEPS, Exponential(HOUR), Window(HOUR)])
def test_the_other_items_are_not_looked_at(curve: Any) -> None:
    """DecayScorer: allItems MUST be accepted, and MUST NOT be iterated or inspected."""
    scorer = DecayScorer(CLOCK, curve)
    others: Any = Unseen()
    for item in (aged(HOUR), aged(None), aged(-HOUR)):
        assert [scorer.score(item, others)] == scorer.score_all([item])


# The clock.


class Ticking:
    """An hour passes with every look at it."""

    def __init__(self) -> None:
        self.looks = 0

    def now(self) -> datetime:
        self.looks += 1
        return REFERENCE + (self.looks - 1) * HOUR


def test_score_reads_the_clock_on_every_call() -> None:
    """DS-02."""
    clock = Ticking()
    scorer = DecayScorer(clock, Exponential(HOUR))
    item = aged(timedelta(0))
    assert [scorer.score(item, [item]) for _ in range(3)] == [1.0, 0.5, 0.25]
    assert clock.looks == 3


def test_a_batch_reads_the_clock_once() -> None:
    """DS-02: consistent ages within a run."""
    clock = Ticking()
    scorer = DecayScorer(clock, Exponential(HOUR))
    items = [aged(age * HOUR) for age in (0, 1, 2)]
    assert scorer.score_all(items) == [1.0, 0.5, 0.25]
    assert clock.looks == 1
    assert scorer.score_all(items) == [0.5, 0.25, 0.125]
    assert clock.looks == 2


def test_a_run_reads_the_clock_once() -> None:
    """DS-02: also inside a composite."""
    clock = Ticking()
    pipeline = Pipeline(CompositeScorer([(DecayScorer(clock, Exponential(HOUR)), 1.0)]))
    pipeline.run([ContextItem(name, 1, timestamp=REFERENCE) for name in "abcdef"], ContextBudget(100))
    assert clock.looks == 1


def test_the_clock_may_be_a_function() -> None:
    """DS-01: a callable without arguments."""
    moments = iter([REFERENCE, REFERENCE + HOUR])
    scorer = DecayScorer(lambda: next(moments), Exponential(HOUR))
    item = aged(timedelta(0))
    assert scorer.score(item, [item]) == 1.0
    assert scorer.score_all([item]) == [0.5]


def test_now_is_preferred_to_a_call() -> None:
    """DS-01: an object that offers both is a time provider."""

    class Both:
        def now(self) -> datetime:
            return REFERENCE

        def __call__(self) -> datetime:
            raise AssertionError("not asked")

    assert score_of(DecayScorer(Both(), Exponential(HOUR)), aged(HOUR)) == 0.5


@pytest.mark.parametrize("answer", [datetime(2025, 1, 1, 12), None, 1735732800.0, REFERENCE.date(), "2025-01-01"])  # noqa: DTZ001
def test_the_clock_must_answer_with_an_aware_datetime(answer: Any) -> None:
    """DS-01: checked on every call, with a TypeError that names the argument."""
    scorer = DecayScorer(lambda: answer, Exponential(HOUR))
    with pytest.raises(TypeError, match="time_provider"):
        scorer.score(aged(HOUR), [])
    with pytest.raises(TypeError, match="time_provider"):
        scorer.score_all([aged(HOUR)])


@pytest.mark.proves("S-DE-01")
def test_there_is_no_default_clock() -> None:
    """DS-01, D042: the caller must inject one."""
    scorer: Any = DecayScorer
    with pytest.raises(TypeError, match="time_provider"):
        scorer(curve=STEPS)
    with pytest.raises(TypeError, match="curve"):
        scorer(CLOCK)


@pytest.mark.proves("S-DE-10")
@pytest.mark.parametrize("score", [-0.1, 1.1, 2, math.nan, math.inf, -math.inf])
def test_a_score_without_timestamp_out_of_bounds_is_refused(score: float) -> None:
    """DS-07: also NaN; the message names the argument."""
    with pytest.raises(ScorerConfigError, match="null_timestamp_score"):
        DecayScorer(CLOCK, STEPS, score)


def test_the_system_clock_tells_the_time_in_utc() -> None:
    """DS-01: SystemTimeProvider."""
    before = datetime.now(UTC)
    told = SystemTimeProvider().now()
    assert before <= told <= datetime.now(UTC)
    assert told.utcoffset() == timedelta(0)
    assert isinstance(SystemTimeProvider(), TimeProvider)
    fresh = ContextItem("x", 1, timestamp=datetime.now(UTC))
    assert DecayScorer(SystemTimeProvider(), Window(timedelta(days=1))).score(fresh, []) == 1.0


# Values.


def test_options_can_be_replaced_and_are_checked_again() -> None:
    """PB-04: immutable, so a change is a new value."""
    scorer = DecayScorer(CLOCK, STEPS)
    assert dataclasses.replace(scorer, curve=Window(HOUR)) == DecayScorer(CLOCK, Window(HOUR))
    assert dataclasses.replace(STEPS, windows=((HOUR, 0.5),)) == Step([(HOUR, 0.5)])
    assert dataclasses.replace(Window(HOUR), max_age=2 * HOUR) == Window(2 * HOUR)
    assert dataclasses.replace(Exponential(HOUR), half_life=2 * HOUR) == Exponential(2 * HOUR)
    with pytest.raises(ScorerConfigError):
        dataclasses.replace(scorer, null_timestamp_score=7.0)
    with pytest.raises(ScorerConfigError):
        dataclasses.replace(STEPS, windows=())
    frozen: Iterable[Any] = (scorer, STEPS, Window(HOUR), Exponential(HOUR))
    for value in frozen:
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(value, dataclasses.fields(value)[0].name, None)
