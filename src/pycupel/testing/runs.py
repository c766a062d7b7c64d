"""What assertions share, a fixed clock, and `ReportRunner`, the value of the fixture `cupel_report`.

Assertions share their error, the checks of their arguments, look-ups in the report, and the lists in their messages.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any, Literal, NamedTuple, Self, TypeAlias, TypeVar, cast

from pycupel.diagnostics import ExcludedItem, ExclusionReason, IncludedItem, SelectionReport
from pycupel.diagnostics.reasons import EXCLUSION_REASONS, reason_name
from pycupel.errors import CupelError, InvalidArgumentError
from pycupel.model import ContextBudget, ContextItem, ContextKind
from pycupel.model.checks import checked_aware, checked_count, find_name, refuse_class, suggestion, wrong_type
from pycupel.pipeline import Pipeline, Policy, PresetName
from pycupel.pipeline.policy import as_policy
from pycupel.protocols import Scorer, Shortener
from pycupel.render._layout import Row, Span, Table, clipped, count, finish, plural
from pycupel.values import hold, sealed


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


# Check the arguments of assertions: kinds, counts, predicates and reasons.


Kind: TypeAlias = ContextKind | str
ReasonName: TypeAlias = Literal[
    "BudgetExceeded",
    "ScoredTooLow",
    "Deduplicated",
    "QuotaCapExceeded",
    "QuotaRequireDisplaced",
    "NegativeTokens",
    "PinnedOverride",
    "Filtered",
    "CountCapExceeded",
    "CountRequireCandidatesExhausted",
]
Reason: TypeAlias = type[ExclusionReason] | ExclusionReason | ReasonName

_Checked = TypeVar("_Checked")

# Makes pytest tracebacks end at the assertion in the test, not in this module.
__tracebackhide__ = True


def hiding(check: Callable[..., _Checked], *arguments: Any) -> _Checked:
    """Run a check so that the traceback of its error ends in the test."""
    try:
        return check(*arguments)
    except (TypeError, ValueError) as error:
        raise error.with_traceback(None) from None


def checked_kind(kind: Any) -> ContextKind:
    """Return the kind that a test names."""
    if not isinstance(kind, (str, ContextKind)):
        raise wrong_type("kind", "a str or a ContextKind", kind)
    return hiding(ContextKind.of, kind, "kind")


def checked_n(n: Any) -> int:
    """Return the number that a test expects."""
    return hiding(checked_count, "n", n, InvalidArgumentError)


def check_predicate(predicate: object, example: str) -> None:
    """Raise if a predicate cannot be called; the example shows what it looks like."""
    if not callable(predicate):
        raise wrong_type("predicate", f"a function like `{example}`", predicate)


class Variant(NamedTuple):
    """A kind of exclusion reason: a class, or all unknown reasons of one name (TV-13)."""

    cls: type[ExclusionReason]
    name: str

    @classmethod
    def of(cls, reason: Any) -> Self:
        """Return the variant that a class, a name or an instance stands for."""
        if isinstance(reason, ExclusionReason):
            return cls(type(reason), reason_name(reason))
        if isinstance(reason, str):
            return cls.named(reason)
        if reason is ExclusionReason:
            raise InvalidArgumentError(
                "reason must be a specific reason, not ExclusionReason itself", argument="reason"
            )
        if _is_reason_class(reason):
            return cls(reason, reason.__name__)
        raise wrong_type("reason", "an exclusion reason: its class, its name or an instance", reason)

    @classmethod
    def named(cls, name: str) -> Self:
        """Return the variant of a built-in reason, whose name may be spelt in any way."""
        known = find_name(name, EXCLUSION_REASONS)
        if known is None:
            raise InvalidArgumentError(
                f"unknown exclusion reason {name!r}{suggestion(name, EXCLUSION_REASONS)}",
                argument="reason",
                value=name,
                hint="For your own reason, pass its class; for one from another implementation, UnknownReason(name).",
            )
        return cls(EXCLUSION_REASONS[known], known)

    def matches(self, reason: ExclusionReason) -> bool:
        """Whether a reason is of this variant."""
        return isinstance(reason, self.cls) and self.name in {self.cls.__name__, reason_name(reason)}


def _is_reason_class(value: object) -> bool:
    return isinstance(value, type) and issubclass(value, ExclusionReason)


# The base of the assertion chain: its report, lookups in it, and failures.


_ITEM_PREDICATE = 'lambda item: "refund" in item.content'


@sealed
@dataclass(frozen=True, slots=True)
class ReportSubject:
    """The subject of assertions."""

    report: SelectionReport
    """The report that the assertions are about."""

    def __post_init__(self) -> None:
        if not isinstance(cast(Any, self.report), SelectionReport):
            raise wrong_type("report", "a SelectionReport", self.report)

    def _expect(
        self,
        holds: object,
        message: str,
        *,
        expected: object,
        actual: object,
        listed: tuple[str, Sequence[IncludedItem | ExcludedItem], Sequence[int] | None] | None = None,
    ) -> Self:
        """Fail with the message and a table of entries, unless the assertion holds."""
        if holds:
            return self
        raise SelectionReportAssertionError(
            message,
            assertion=message.partition(" ")[0].partition("(")[0],
            expected=expected,
            actual=actual,
            report=self.report,
            note=listing(*listed) if listed else "",
        )

    def _excluded_matching(
        self, predicate: Callable[[ContextItem], object]
    ) -> tuple[Sequence[ExcludedItem], list[int]]:
        """Return the excluded items, and the indices of those that satisfy the predicate."""
        check_predicate(predicate, _ITEM_PREDICATE)
        excluded = self.report.excluded
        return excluded, [i for i, entry in enumerate(excluded) if predicate(entry.item)]

    def _budget(self, budget: Any) -> ContextBudget:
        if budget is not None:
            return hiding(ContextBudget.of, budget)
        if self.report.budget is None:
            raise InvalidArgumentError("the report has no budget; pass one", argument="budget")
        return self.report.budget


# List the kinds, reasons and entries of a report in failure messages.


# Test runners indent what they show.
_WIDTH = 72
_MAX_ROWS = 5


def kinds_of(included: Iterable[IncludedItem]) -> tuple[ContextKind, ...]:
    """Return each kind once, in order of first appearance (TV-03)."""
    return tuple(dict.fromkeys(entry.item.kind for entry in included))


def reasons_of(excluded: Iterable[ExcludedItem]) -> tuple[str, ...]:
    """Return the name of each reason once, in order of first appearance (TV-03)."""
    return tuple(dict.fromkeys(reason_name(entry.reason) for entry in excluded))


def comma_separated(values: Iterable[object]) -> str:
    """List values as the specification's messages do."""
    return ", ".join(map(str, values))


def listing(title: str, entries: Sequence[IncludedItem | ExcludedItem], indices: Sequence[int] | None = None) -> str:
    """Format the first few entries, or those with the given indices, as a table; empty if there are none."""
    chosen = range(len(entries)) if indices is None else indices
    if not chosen:
        return ""
    rows = [_row(i, entries[i]) for i in chosen[:_MAX_ROWS]]
    table = Table((">idx", "<kind", ">tokens", ">score", "<reason"), rows, _WIDTH)
    lines = [[Span(f"{title}:")], *table.titles("content"), *table.lines(rows)]
    if len(chosen) > _MAX_ROWS:
        lines.append([Span(f"  ... and {len(chosen) - _MAX_ROWS} more")])
    return finish(lines, _WIDTH, color=False)


def _row(index: int, entry: IncludedItem | ExcludedItem) -> Row:
    item, reason = entry.item, entry.reason
    name = reason if isinstance(reason, str) else reason_name(reason)
    cells = (str(index), clipped(item.kind.value, 16), count(item.tokens), f"{entry.score:.6g}", clipped(name, 24))
    return Row([Span(cell) for cell in cells], item.content)


# A clock with a fixed time.


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
