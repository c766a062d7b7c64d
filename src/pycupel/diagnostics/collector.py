"""Collectors: who watches a run. One is passed to `Pipeline.run`, at call time, and serves one run at a time.

A collector needs no base class. Whatever method it lacks is not called.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from pycupel.diagnostics.events import OverflowEvent, StageTraceSnapshot, TraceDetailLevel, TraceEvent
from pycupel.diagnostics.report import ExcludedItem, IncludedItem, SelectionReport
from pycupel.errors import InvalidArgumentError
from pycupel.model import ContextBudget
from pycupel.model.checks import checked_choice, wrong_type

__all__ = ["DiagnosticTraceCollector", "NullTraceCollector", "TraceCollector"]


class TraceCollector:
    """A base class whose methods do nothing: override what you want to hear.

    The calls of one run, in order: `on_pipeline_started`; for each stage, as it completes, what it excluded, an event
    for each item, one event for the stage; last `on_pipeline_completed`, or `on_pipeline_failed`.
    """

    __slots__ = ()

    @property
    def is_enabled(self) -> bool:
        """Read once at the start of a run. If it is false, nothing is recorded and nothing is spent."""
        return True

    def record_stage_event(self, event: TraceEvent, /) -> None:
        """A stage has completed."""

    def record_item_event(self, event: TraceEvent, /) -> None:
        """A decision about one item. The message tells numbers, never content."""

    def set_candidates(self, count: int, tokens: int, /) -> None:
        """How many items there are, and their tokens."""

    def record_included(self, included_item: IncludedItem, /) -> None:
        """An item of the selection, in placed order."""

    def record_excluded(self, excluded_item: ExcludedItem, /) -> None:
        """An item that a stage has excluded."""

    def on_overflow(self, event: OverflowEvent, /) -> None:
        """The selection exceeds the budget and is accepted."""

    def on_pipeline_started(self, budget: ContextBudget, /) -> None:
        """A run begins."""

    def on_pipeline_completed(
        self, report: SelectionReport, budget: ContextBudget, snapshots: Sequence[StageTraceSnapshot], /
    ) -> None:
        """A run has ended well."""

    def on_pipeline_failed(
        self, error: BaseException, budget: ContextBudget, snapshots: Sequence[StageTraceSnapshot], /
    ) -> None:
        """A run has raised; the snapshots are those of the completed stages."""


class NullTraceCollector(TraceCollector):
    """Disabled: passing it is the same as passing none."""

    __slots__ = ()

    @property
    def is_enabled(self) -> bool:
        return False


class DiagnosticTraceCollector(TraceCollector):
    """Keeps the events of the last run in memory, and builds its report.

    Args:
        detail_level: `STAGE` for one event a stage, `ITEM` for one about each decision, too.
        callback: Called with every recorded event, right after it was recorded. If it raises, that is logged, and the
            run goes on.
    """

    __slots__ = ("_events", "_report", "callback", "detail_level")

    def __init__(
        self,
        detail_level: TraceDetailLevel | str = TraceDetailLevel.STAGE,
        callback: Callable[[TraceEvent], object] | None = None,
    ) -> None:
        self.detail_level = checked_choice("detail_level", detail_level, TraceDetailLevel, InvalidArgumentError)
        if callback is not None and not callable(callback):
            raise wrong_type("callback", "a function that takes a TraceEvent", callback)
        self.callback = callback
        self._events: list[TraceEvent] = []
        self._report: SelectionReport | None = None

    @property
    def events(self) -> tuple[TraceEvent, ...]:
        """What was recorded so far; of a failed run, the events of the completed stages."""
        return tuple(self._events)

    def build_report(self) -> SelectionReport:
        """The report of the last run.

        Raises:
            InvalidArgumentError: no run has completed with this collector.
        """
        if self._report is None:
            raise InvalidArgumentError(
                "there is no report, because no run has completed with this collector; "
                "pass it to Pipeline.run(items, budget, collector=...)"
            )
        return replace(self._report, events=self.events)

    def record_stage_event(self, event: TraceEvent, /) -> None:
        self._record(event)

    def record_item_event(self, event: TraceEvent, /) -> None:
        if self.detail_level >= TraceDetailLevel.ITEM:
            self._record(event)

    def on_pipeline_started(self, budget: ContextBudget, /) -> None:  # noqa: ARG002
        self._events = []
        self._report = None

    def on_pipeline_completed(
        self,
        report: SelectionReport,
        budget: ContextBudget,  # noqa: ARG002
        snapshots: Sequence[StageTraceSnapshot],  # noqa: ARG002
        /,
    ) -> None:
        self._report = report

    def _record(self, event: TraceEvent) -> None:
        self._events.append(event)
        if self.callback is not None:
            try:
                self.callback(event)
            except Exception:
                # Imported here, because hardly anybody ever needs it.
                import logging  # noqa: PLC0415

                logging.getLogger("pycupel").exception("the callback of a DiagnosticTraceCollector raised")
