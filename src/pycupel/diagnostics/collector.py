"""Collectors: observers of a run. One is passed to `Pipeline.run` and serves one run at a time.

A collector needs no base class. A method that it lacks is not called. An instrumentation makes one for each run.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from time import perf_counter
from typing import TYPE_CHECKING, Any, Literal, Protocol, Self, TypeAlias, TypeVar

from pycupel.diagnostics.reasons import (
    ExcludedItem,
    IncludedItem,
    OverflowEvent,
    StageTraceSnapshot,
    TraceDetailLevel,
    TraceEvent,
)
from pycupel.diagnostics.report import SelectionReport, report_over
from pycupel.errors import InvalidArgumentError
from pycupel.model import ContextBudget
from pycupel.model.checks import checked_callable, checked_name

T = TypeVar("T")


class TraceCollector:
    """A base class for observers of a run. Its methods do nothing: override those you need.

    The calls of a run, in order: `on_pipeline_started`; for each completed stage, what it excluded, an event
    for each item, and one event for the stage; finally `on_pipeline_completed` or `on_pipeline_failed`.

    If a method raises, the exception is logged with `logging.getLogger("pycupel")`, and the run continues. If
    `is_enabled` or `detail_level` raises, that is logged, too, and the run is not recorded. Only exceptions that are
    not an `Exception`, such as `KeyboardInterrupt`, are passed on.
    """

    __slots__ = ()

    @property
    def is_enabled(self) -> bool:
        """Whether to record. It is read once at the start of a run; if false, nothing is recorded or measured."""
        return True

    def record_stage_event(self, event: TraceEvent, /) -> None:
        """Called when a stage has completed."""

    def record_item_event(self, event: TraceEvent, /) -> None:
        """Called for each decision about an item. The message contains numbers, but never content.

        Not called if the collector has a `detail_level` below `TraceDetailLevel.ITEM`.
        """

    def set_candidates(self, count: int, tokens: int, /) -> None:
        """Called once, when the candidates are known, with their number and the sum of their tokens."""

    def record_included(self, included_item: IncludedItem, /) -> None:
        """Called for each selected item, in placed order."""

    def record_excluded(self, excluded_item: ExcludedItem, /) -> None:
        """Called for each item that a stage has excluded."""

    def on_overflow(self, event: OverflowEvent, /) -> None:
        """Called when the selection exceeds the budget and the strategy is Proceed."""

    def on_pipeline_started(self, budget: ContextBudget, /) -> None:
        """Called when a run begins."""

    def on_pipeline_completed(
        self, report: SelectionReport, budget: ContextBudget, snapshots: Sequence[StageTraceSnapshot], /
    ) -> None:
        """Called when a run has completed. The report makes its lists when they are first read."""

    def on_pipeline_failed(
        self, error: BaseException, budget: ContextBudget, snapshots: Sequence[StageTraceSnapshot], /
    ) -> None:
        """Called when a run has raised, with a snapshot of each stage that has completed."""


if TYPE_CHECKING:
    # A protocol has no optional methods, so there is one for each hook.

    class _RecordsStageEvents(Protocol):
        def record_stage_event(self, event: TraceEvent, /) -> object: ...

    class _RecordsItemEvents(Protocol):
        def record_item_event(self, event: TraceEvent, /) -> object: ...

    class _SetsCandidates(Protocol):
        def set_candidates(self, count: int, tokens: int, /) -> object: ...

    class _RecordsIncluded(Protocol):
        def record_included(self, included_item: IncludedItem, /) -> object: ...

    class _RecordsExcluded(Protocol):
        def record_excluded(self, excluded_item: ExcludedItem, /) -> object: ...

    class _OnOverflow(Protocol):
        def on_overflow(self, event: OverflowEvent, /) -> object: ...

    class _OnStarted(Protocol):
        def on_pipeline_started(self, budget: ContextBudget, /) -> object: ...

    class _OnCompleted(Protocol):
        def on_pipeline_completed(
            self, report: SelectionReport, budget: ContextBudget, snapshots: tuple[StageTraceSnapshot, ...], /
        ) -> object: ...

    class _OnFailed(Protocol):
        def on_pipeline_failed(
            self, error: BaseException, budget: ContextBudget, snapshots: tuple[StageTraceSnapshot, ...], /
        ) -> object: ...

    CollectorLike: TypeAlias = (
        TraceCollector
        | _RecordsStageEvents
        | _RecordsItemEvents
        | _SetsCandidates
        | _RecordsIncluded
        | _RecordsExcluded
        | _OnOverflow
        | _OnStarted
        | _OnCompleted
        | _OnFailed
    )
    """A `TraceCollector`, or any object with at least one of its methods."""
else:
    CollectorLike = TraceCollector


class NullTraceCollector(TraceCollector):
    """A disabled collector: passing it is the same as passing none."""

    __slots__ = ()

    @property
    def is_enabled(self) -> bool:
        """Always false."""
        return False


class DiagnosticTraceCollector(TraceCollector):
    """Keeps the events of the last run in memory, and builds its report."""

    __slots__ = ("_events", "_report", "callback", "detail_level")

    detail_level: TraceDetailLevel
    """`STAGE` for one event per stage, `ITEM` for one per decision about an item as well."""

    callback: Callable[[TraceEvent], object] | None
    """Called with every event right after it was recorded. If it raises, that is logged, and the run continues."""

    def __init__(
        self,
        detail_level: TraceDetailLevel | Literal["Stage", "Item"] = TraceDetailLevel.STAGE,
        callback: Callable[[TraceEvent], object] | None = None,
    ) -> None:
        self.detail_level = checked_name("detail_level", detail_level, TraceDetailLevel, InvalidArgumentError)
        if callback is not None:
            checked_callable("callback", "a function that takes a TraceEvent", callback)
        self.callback = callback
        self._events: list[TraceEvent] = []
        self._report: SelectionReport | None = None

    @property
    def events(self) -> tuple[TraceEvent, ...]:
        """The events recorded so far; after a failed run, those of the completed stages."""
        if self._report is not None and not self._events:
            return self._report.events
        return tuple(self._events)

    def build_report(self) -> SelectionReport:
        """Return the report of the last run. It builds its lists when they are first read."""
        if self._report is None:
            raise InvalidArgumentError(
                "there is no report yet: no run has completed with this collector; "
                "pass it to Pipeline.run(items, budget, collector=...)"
            )
        # What was recorded here is complete, and has what a caller recorded after the run, too.
        return report_over(self._report, events=tuple(self._events)) if self._events else self._report

    def record_stage_event(self, event: TraceEvent, /) -> None:
        """Record the event."""
        self._record(event)

    def record_item_event(self, event: TraceEvent, /) -> None:
        """Record the event, unless the detail level is `STAGE`."""
        if self.detail_level >= TraceDetailLevel.ITEM:
            self._record(event)

    def on_pipeline_started(self, budget: ContextBudget, /) -> None:  # noqa: ARG002
        """Clear the records of the last run."""
        self._events = []
        self._report = None

    def on_pipeline_completed(
        self,
        report: SelectionReport,
        budget: ContextBudget,  # noqa: ARG002
        snapshots: Sequence[StageTraceSnapshot],  # noqa: ARG002
        /,
    ) -> None:
        """Keep the report."""
        self._report = report

    def _record(self, event: TraceEvent) -> None:
        if self._report is not None:
            # The events of the run may still be deferred.
            self._events = list(self.events)
        self._events.append(event)
        if self.callback is not None:
            try:
                self.callback(event)
            except Exception:  # noqa: BLE001 - what an observer does must not end a run
                log_exception("the callback of a DiagnosticTraceCollector")


def log_exception(raised_by: str) -> None:
    """Log the current exception: an observer's error neither stops a run nor is lost."""
    import logging  # noqa: PLC0415 - most runs never need it

    logging.getLogger("pycupel").exception("ignored an exception raised by %s", raised_by)  # noqa: LOG004 - called by handlers


# Observers of the whole process: what an instrumentation needs.


collector_factories: list[Callable[[], Any]] = []
"""Each makes a collector for every run of this process. Read once when a run begins; empty, it costs nothing."""

_UNOBSERVED = ""
# What selects in this thread or task: the name of a hook, or None for the user's own code.
_CALLER: ContextVar[str | None] = ContextVar("pycupel_caller", default=None)


@contextmanager
def called_by(hook: str) -> Generator[None]:
    """Note that a hook makes the selections inside."""
    token = _CALLER.set(hook)
    try:
        yield
    finally:
        _CALLER.reset(token)


def unobserved() -> Any:
    """Hide what runs inside: what-if runs are many, and their results are not sent to a model (PL-06)."""
    return called_by(_UNOBSERVED)


def collectors_for_run() -> list[Any]:
    """Ask each factory for a collector for the run that begins."""
    if not collector_factories or _CALLER.get() == _UNOBSERVED:
        return []
    made: list[Any] = []
    for factory in tuple(collector_factories):
        try:
            made.append(factory())
        except Exception:  # noqa: BLE001 - an observer must not end the run
            log_exception("a factory of collectors")
    return made


class MessagesRun:
    """A selection from a chat history. A collector's `on_messages` is told of it when it has ended."""

    __slots__ = ("_collectors", "_start", "error", "hook", "model", "seconds", "selection")

    selection: Any
    """The `MessageSelection`; None if it failed."""

    error: BaseException | None
    """What it raised."""

    model: str | None
    """The model's name, as the caller gave it."""

    hook: str | None
    """The hook that selected; None for a call of `select_messages`."""

    seconds: float
    """How long it took, with the summary."""

    def __init__(self, model: str | None, collectors: Sequence[Any]) -> None:
        self.model = model
        self.selection = self.error = self.hook = None
        self._collectors = collectors
        self._start = perf_counter()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, error: BaseException | None, traceback: object, /) -> None:
        """Tell the collectors. Without an instrumentation, there are none."""
        self.error, self.hook, self.seconds = error, _CALLER.get(), perf_counter() - self._start
        for collector in self._collectors:
            try:
                collector.on_messages(self)
            except Exception:  # noqa: BLE001 - as above
                log_exception(f"on_messages of {type(collector).__name__}")

    def done(self, selection: T) -> T:
        """Note the result, and return it."""
        self.selection = selection
        return selection


def observe_messages(model: str | None) -> MessagesRun:
    """Observe a selection from a chat history."""
    collectors = [each for each in collectors_for_run() if hasattr(each, "on_messages") and each.is_enabled]
    return MessagesRun(model, collectors)
