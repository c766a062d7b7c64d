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
from pycupel.diagnostics.collector import collector_factories, collectors_for_run, log_exception
from pycupel.model import ContextBudget
from pycupel.model.checks import refuse_class, wrong_type
from pycupel.pipeline import explain
from pycupel.pipeline.explain import CLASSIFY, PLACE, STAGES
from pycupel.pipeline.record import Run, Selection, Strategies

_HOOKS = [name for name, hook in vars(TraceCollector).items() if name[0] != "_" and callable(hook)]

_STAGE = TraceDetailLevel.STAGE


def run_for(
    strategies: Strategies, budget: ContextBudget, collector: Any, *, recorded: bool = False, with_items: bool = False
) -> Run:
    """Make a run that notifies a collector, and those of an instrumentation, if they are enabled (TC-04).

    It is recorded if somebody observes it, or if `recorded` says so; `with_items` asks for events of items.
    """
    if collector is None and not collector_factories:
        return Run(strategies, recorded=recorded, with_items=with_items)
    notifiers: list[Notifier] = []
    for each in (collector, *collectors_for_run()):
        notifier = _notifier_for(budget, each)
        if notifier is not None:
            notifiers.append(notifier)
            with_items = with_items or notifier.with_items
    for notifier in notifiers:
        notifier.notify("on_pipeline_started", budget)
    run = Run(strategies, recorded=recorded or bool(notifiers), with_items=with_items)
    run.notifiers = notifiers
    run.listeners = [each for each in notifiers if isinstance(each, StageNotifier)]
    return run


def _notifier_for(budget: ContextBudget, collector: Any) -> Notifier | None:
    cls = collector.__class__
    if collector is None or cls is NullTraceCollector:
        return None
    if cls is DiagnosticTraceCollector and collector.callback is None and collector.detail_level is _STAGE:
        # It only keeps what the report has anyway, so the end of the run is soon enough.
        return Notifier(budget, collector)
    refuse_class("collector", collector)
    try:
        has_hooks = isinstance(collector, TraceCollector) or any(hasattr(collector, hook) for hook in _HOOKS)
    except Exception:  # noqa: BLE001 - an attribute that raises is logged when it is needed
        has_hooks = True
    if not has_hooks:
        raise wrong_type("collector", "a TraceCollector, or an object with some of its methods", collector)
    try:
        enabled = getattr(collector, "is_enabled", True)
        if enabled() if callable(enabled) else enabled:
            return StageNotifier(budget, collector)
    except Exception:  # noqa: BLE001 - an observer must not end the run
        log_exception(f"is_enabled or detail_level of {cls.__name__}")
    return None


class Notifier:
    """Notifies one collector of the end of one run."""

    __slots__ = ("_budget", "_collector", "with_items")

    with_items: bool
    """Whether the report should have events for items, too."""

    def __init__(self, budget: ContextBudget, collector: Any) -> None:
        self._budget = budget
        self._collector = collector
        self.with_items = False

    def completed(self, selection: Selection) -> None:
        """Hand over the report."""
        self.notify("on_pipeline_completed", selection.report, self._budget, ())

    def failed(self, error: BaseException, laps: Sequence[tuple[float, int]]) -> None:  # noqa: ARG002
        """Hand over the events of the stages that have completed."""
        for event in explain.stage_events(laps):
            self.notify("record_stage_event", event)

    def notify(self, hook: str, *arguments: object) -> None:
        """Call a hook of the collector, if it has that."""
        try:
            method = getattr(self._collector, hook, None)
            if method is not None:
                method(*arguments)
        except Exception:  # noqa: BLE001 - an observer must not end the run, nor replace its error
            log_exception(f"{hook} of {type(self._collector).__name__}")


class StageNotifier(Notifier):
    """Notifies a collector as each stage completes. It makes only what the collector's hooks need."""

    __slots__ = ("_events", "_excluded", "_idle", "_snapshots", "_with_excluded", "_with_snapshots")

    def __init__(self, budget: ContextBudget, collector: Any) -> None:
        super().__init__(budget, collector)
        # Asked once for a run: a collector may get thousands of events, and most have few hooks.
        self._idle = {hook for hook in _HOOKS if _is_idle(collector, hook)}
        self.with_items = self._overrides("record_item_event") and (
            getattr(collector, "detail_level", TraceDetailLevel.ITEM) >= TraceDetailLevel.ITEM
        )
        self._with_snapshots = self._overrides("on_pipeline_completed") or self._overrides("on_pipeline_failed")
        self._with_excluded = self.with_items or self._with_snapshots or self._overrides("record_excluded")
        self._events: list[TraceEvent] = []
        self._excluded: list[Sequence[ExcludedItem]] = []
        self._snapshots: list[StageTraceSnapshot] = []

    def stage_completed(self, stage: int, record: Any, lap: tuple[float, int]) -> None:
        """Report a stage, as `Run.completed` knows it: what it excluded, its decisions about items, then itself."""
        seconds, count = lap
        excluded = explain.EXCLUDED_BY[stage](record) if self._with_excluded else ()
        self._excluded.append(excluded)
        if stage == CLASSIFY and self._overrides("set_candidates"):
            every = [item for part in record.classified[:3] for item in part]
            self.notify("set_candidates", len(every), sum([item.tokens for item in every]))
        elif stage == PLACE:
            if record.placement.overflow is not None:
                self.notify("on_overflow", record.placement.overflow)
            if self._overrides("record_included"):
                self._notify_each("record_included", record.included)
        self._notify_each("record_excluded", excluded)
        if self.with_items:
            texts = explain.item_messages(stage, record, excluded)
            events = [TraceEvent(STAGES[stage], 0.0, 1, text) for text in texts]
            self._events += events
            self._notify_each("record_item_event", events)
        event = TraceEvent(STAGES[stage], seconds * 1e3, count)
        self._events.append(event)
        if self._with_snapshots:
            entered = _COUNTS_IN[stage](record)
            snapshot = StageTraceSnapshot(STAGES[stage], entered, count, event.duration_ms, tuple(excluded))
            self._snapshots.append(snapshot)
        self.notify("record_stage_event", event)

    def completed(self, selection: Selection) -> None:
        """Hand over the report. What was made for the collector need not be made again."""
        if self.with_items or not selection.run.with_items:
            # The report must have the very events that the collector was told.
            selection.made[explain.events] = tuple(self._events)
        if self._with_excluded:
            selection.made[explain.excluded_by_stage] = self._excluded
        self.notify("on_pipeline_completed", selection.report, self._budget, tuple(self._snapshots))

    def failed(self, error: BaseException, laps: Sequence[tuple[float, int]]) -> None:  # noqa: ARG002
        """Report the error."""
        self.notify("on_pipeline_failed", error, self._budget, tuple(self._snapshots))

    def _notify_each(self, hook: str, values: Sequence[object]) -> None:
        if self._overrides(hook):
            for value in values:
                self.notify(hook, value)

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
