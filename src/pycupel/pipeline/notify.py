"""Notify a collector as the stages complete."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from pycupel.diagnostics import (
    DiagnosticTraceCollector,
    ExcludedItem,
    NullTraceCollector,
    StageTraceSnapshot,
    TraceCollector,
    TraceDetailLevel,
    TraceEvent,
)
from pycupel.diagnostics.collector import log_exception
from pycupel.model import ContextBudget
from pycupel.model.checks import refuse_class, wrong_type
from pycupel.pipeline import explain
from pycupel.pipeline.explain import CLASSIFY, PLACE, STAGES
from pycupel.pipeline.record import Run, Selection, Strategies

_HOOKS = [name for name, hook in vars(TraceCollector).items() if name[0] != "_" and callable(hook)]


def observed_run(strategies: Strategies, budget: ContextBudget, collector: Any) -> Run:
    """Make a run that notifies a collector; one that records nothing if the collector is not enabled (TC-04).

    Raises:
        TypeError: the collector is a class, or has none of the hooks.
    """
    cls = collector.__class__
    if cls is NullTraceCollector:
        return Run(strategies, recorded=False)
    if cls is not DiagnosticTraceCollector:
        refuse_class("collector", collector)
        if not (isinstance(collector, TraceCollector) or _has_hooks(collector)):
            raise wrong_type("collector", "a TraceCollector, or an object with some of its methods", collector)
    try:
        enabled = getattr(collector, "is_enabled", True)
        if not (enabled() if callable(enabled) else enabled):
            return Run(strategies, recorded=False)
        notifier = Notifier(budget, collector)
    except Exception:  # noqa: BLE001 - an observer must not end the run
        log_exception(f"is_enabled or detail_level of {cls.__name__}")
        return Run(strategies, recorded=False)
    notifier.started()
    return Run(strategies, with_items=notifier.with_items, notifier=notifier)


def _has_hooks(collector: object) -> bool:
    """Whether an object has at least one method of a collector."""
    try:
        return any(hasattr(collector, hook) for hook in _HOOKS)
    except Exception:  # noqa: BLE001 - an attribute that raises is logged when it is needed
        return True


class Notifier:
    """Notifies one collector of one run. It makes only what the collector's hooks need."""

    __slots__ = (
        "_budget",
        "_collector",
        "_events",
        "_excluded",
        "_idle",
        "_snapshots",
        "_waits",
        "_with_excluded",
        "_with_snapshots",
        "with_items",
    )

    with_items: bool
    """Whether the collector is told of each decision about an item."""

    def __init__(self, budget: ContextBudget, collector: Any) -> None:
        self._budget = budget
        self._collector = collector
        # A collector that only keeps the events of stages need not be told of each: the report has them.
        self._waits = (
            collector.__class__ is DiagnosticTraceCollector
            and collector.callback is None
            and collector.detail_level is TraceDetailLevel.STAGE
        )
        self._idle = () if self._waits else {hook for hook in _HOOKS if _is_idle(collector, hook)}
        self.with_items = not self._waits and (
            self._overrides("record_item_event")
            and getattr(collector, "detail_level", TraceDetailLevel.ITEM) >= TraceDetailLevel.ITEM
        )
        self._with_snapshots = self._overrides("on_pipeline_completed") or self._overrides("on_pipeline_failed")
        self._with_excluded = self.with_items or self._with_snapshots or self._overrides("record_excluded")
        self._events: list[TraceEvent] = []
        self._excluded: list[Sequence[ExcludedItem]] = []
        self._snapshots: list[StageTraceSnapshot] = []

    def started(self) -> None:
        """The run begins."""
        self._notify("on_pipeline_started", self._budget)

    def stage_completed(self, stage: int, record: Any, lap: tuple[float, int]) -> None:
        """Report a stage: what it excluded, its decisions about items, then the stage itself.

        Args:
            stage: The index of the stage.
            record: The `Ranking` or, from Slice on, the `Selection`.
            lap: Its duration in seconds, and how many items came out.
        """
        if self._waits:
            return
        seconds, count = lap
        excluded = explain.excluded_by(stage, record) if self._with_excluded else ()
        self._excluded.append(excluded)
        if stage == CLASSIFY and self._overrides("set_candidates"):
            every = [item for part in record.classified[:3] for item in part]
            self._notify("set_candidates", len(every), sum([item.tokens for item in every]))
        elif stage == PLACE:
            if record.placement.overflow is not None:
                self._notify("on_overflow", record.placement.overflow)
            if self._overrides("record_included"):
                self._notify_each("record_included", record.included)
        self._notify_each("record_excluded", excluded)
        if self.with_items:
            events = explain.item_events(stage, explain.messages(stage, record, excluded))
            self._events += events
            self._notify_each("record_item_event", events)
        event = TraceEvent(STAGES[stage], seconds * 1e3, count)
        self._events.append(event)
        if self._with_snapshots:
            entered = _COUNTS_IN[stage](record)
            self._snapshots.append(
                StageTraceSnapshot(STAGES[stage], entered, count, event.duration_ms, tuple(excluded))
            )
        self._notify("record_stage_event", event)

    def completed(self, selection: Selection) -> None:
        """Hand over the report. What was made for the collector need not be made again."""
        if not self._waits:
            selection.made[explain.events] = tuple(self._events)
            if self._with_excluded:
                selection.made[explain.excluded_by_stage] = self._excluded
        self._notify("on_pipeline_completed", selection.report, self._budget, tuple(self._snapshots))

    def failed(self, error: BaseException, laps: Sequence[tuple[float, int]]) -> None:
        """Report the error and, to a collector that waits for the end, the stages that have completed."""
        if self._waits:
            for event in explain.stage_events(laps):
                self._notify("record_stage_event", event)
        self._notify("on_pipeline_failed", error, self._budget, tuple(self._snapshots))

    def _notify(self, hook: str, *arguments: object) -> None:
        try:
            method = getattr(self._collector, hook, None)
            if method is not None:
                method(*arguments)
        except Exception:  # noqa: BLE001 - an observer must not end the run, nor replace its error
            log_exception(f"{hook} of {type(self._collector).__name__}")

    def _notify_each(self, hook: str, values: Sequence[object]) -> None:
        if self._overrides(hook):
            for value in values:
                self._notify(hook, value)

    def _overrides(self, hook: str) -> bool:
        """Whether the collector has a hook of its own: the inherited one does nothing."""
        return hook not in self._idle


# How many items go into each stage.
_COUNTS_IN: tuple[Callable[[Any], int], ...] = (
    lambda ranking: sum(map(len, ranking.classified[:3])),
    lambda ranking: len(ranking.all_scores),
    lambda ranking: len(ranking.all_scores),
    lambda selection: len(selection.ranking.items),
    lambda selection: len(selection.placement.items),
)


def _is_idle(collector: object, hook: str) -> bool:
    """Whether a collector lacks a hook, or inherits it, so that it does nothing or ignores the snapshots."""
    try:
        method = getattr(collector, hook, None)
        function = getattr(method, "__func__", None)
    except Exception:  # noqa: BLE001 - an attribute that raises is logged when it is needed
        return False
    return method is None or function in (getattr(TraceCollector, hook), DiagnosticTraceCollector.on_pipeline_completed)
