"""The error of assertions, a fixed clock, and `ReportRunner`, the value of the fixture `cupel_report`."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any, TypeAlias, TypeVar, cast

from pycupel.diagnostics import SelectionReport
from pycupel.errors import CupelError, InvalidArgumentError
from pycupel.model import ContextBudget, ContextItem
from pycupel.model.checks import checked_aware, refuse_class, wrong_type
from pycupel.pipeline import Pipeline, Policy, PresetName
from pycupel.pipeline.policy import as_policy
from pycupel.protocols import Scorer, Shortener
from pycupel.render._layout import plural
from pycupel.values import hold, sealed

# Makes pytest tracebacks end in the test, not in this module.
__tracebackhide__ = True


class SelectionReportAssertionError(AssertionError):
    """A report is not what a test expects. It is an `AssertionError`, so test runners count a failure, not an error.

    The text is the specification's message. A note, which every traceback shows, lists the entries concerned; those of
    `include_item_matching` are in the text itself.
    """

    # The public path, short enough for a line of a traceback.
    __module__ = "pycupel.testing"

    assertion: str
    """The assertion's name in the specification, such as `IncludeItemWithKind`."""

    expected: object
    """What the test expects: a kind, a count, or positions, depending on the assertion."""

    actual: object
    """What was found instead."""

    report: SelectionReport | None
    """The report, or None if it is not known."""

    def __init__(
        self,
        message: str,
        *,
        assertion: str = "",
        expected: object = None,
        actual: object = None,
        report: SelectionReport | None = None,
        note: str = "",
    ) -> None:
        super().__init__(message)
        self.assertion = assertion
        self.expected = expected
        self.actual = actual
        self.report = report
        if note:
            self.add_note(note)


# The name in the specification.
SelectionReportAssertionException = SelectionReportAssertionError


_Checked = TypeVar("_Checked")


def hiding(check: Callable[..., _Checked], *arguments: Any) -> _Checked:
    """Run a check so that the traceback of its error ends in the test."""
    try:
        return check(*arguments)
    except (TypeError, ValueError) as error:
        raise error.with_traceback(None) from None


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


_Choice: TypeAlias = Policy | Scorer | PresetName


class ReportRunner:
    """Runs pipelines without side effects and keeps their reports, so that the plug-in can save them if a test fails.

    Args:
        default: What to run by default: a pipeline, a policy, the name of a preset, or a scorer.
    """

    reports: list[SelectionReport]
    """The reports so far, in the order of the calls."""

    def __init__(self, default: _Choice = "chat") -> None:
        self._default = _pipeline("default", default)
        self.reports = []

    def __call__(
        self,
        items: Iterable[ContextItem],
        budget: ContextBudget | int,
        pipeline: _Choice | None = None,
        *,
        query: str | None = None,
        shorten: Shortener | None = None,
    ) -> SelectionReport:
        """Dry-run a pipeline and return its report.

        Args:
            items: The candidates, in any iterable.
            budget: The limits, or just a number of tokens.
            pipeline: What to run instead of the default: a pipeline, a policy, the name of a preset, or a scorer for a
                pipeline with defaults.
            query: The question that the selection should be relevant to, for scorers that take one.
            shorten: Makes shorter versions of the items, as for `select`. It replaces the pipeline's own.
        """
        runner = self._default if pipeline is None else hiding(_pipeline, "pipeline", pipeline)
        if shorten is not None:
            runner = hiding(partial(replace, runner, shorten=shorten))
        limits = hiding(ContextBudget.of, budget)
        try:
            report = runner.dry_run(items, limits, query=query)
        except CupelError as error:
            # It says what is wrong. An error of a strategy's own needs its traceback.
            raise error.with_traceback(None)  # noqa: B904
        self.reports.append(report)
        return report

    def __repr__(self) -> str:
        return f"<ReportRunner: {plural(len(self.reports), 'report')}>"


def _pipeline(name: str, choice: Any) -> Pipeline:
    if isinstance(choice, (Policy, str)):
        return Pipeline.from_policy(as_policy(choice, name))
    refuse_class(name, choice)
    if not isinstance(choice, Scorer):
        raise wrong_type(name, "a Policy, a Pipeline, the name of a preset or a scorer", choice)
    return Pipeline(choice)
