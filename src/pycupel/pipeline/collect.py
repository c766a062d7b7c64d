"""Notify a collector as the stages complete."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from time import perf_counter
from typing import Any

from pycupel.diagnostics import (
    DiagnosticTraceCollector,
    ExcludedItem,
    IncludedItem,
    NullTraceCollector,
    PipelineStage,
    StageTraceSnapshot,
    TraceCollector,
    TraceDetailLevel,
    TraceEvent,
)
from pycupel.diagnostics.collector import log_exception
from pycupel.model import ContextBudget
from pycupel.model.checks import refuse_class, wrong_type
from pycupel.pipeline import explain
from pycupel.pipeline.classify import Classified
from pycupel.pipeline.events import (
    exclusion_messages,
    item_events,
    place_messages,
    score_messages,
    slice_messages,
    stage_events,
)
from pycupel.pipeline.place import Placement
from pycupel.pipeline.rank import Ranking
from pycupel.pipeline.selection import Selection, keep_part
from pycupel.pipeline.slice import Sliced
from pycupel.pipeline.trace import UNTRACED, NoteSources, TimedTrace, Trace

__all__ = ["CollectorTrace", "trace_for"]

_STAGE = TraceDetailLevel.STAGE
_HOOKS = [name for name, hook in vars(TraceCollector).items() if name[0] != "_" and callable(hook)]
_CLASSIFY, _SCORE, _DEDUPLICATE, _SLICE, _PLACE = PipelineStage


def trace_for(sources: NoteSources, budget: ContextBudget, collector: Any) -> Trace:
    """Make a trace for the collector, if it is enabled (TC-04).

    Raises:
        TypeError: it is a class, or has none of the hooks.
    """
    cls = collector.__class__
    if cls is NullTraceCollector:
        return UNTRACED
    if cls is DiagnosticTraceCollector and collector.callback is None and collector.detail_level is _STAGE:
        return DeferredTrace(sources, budget, collector)
    refuse_class("collector", collector)
    if not (isinstance(collector, TraceCollector) or _has_hooks(collector)):
        raise wrong_type("collector", "a TraceCollector, or an object with some of its methods", collector)
    try:
        enabled = getattr(collector, "is_enabled", True)
        return CollectorTrace(sources, budget, collector) if (enabled() if callable(enabled) else enabled) else UNTRACED
    except Exception:  # noqa: BLE001 - an observer must not end the run
        log_exception(f"is_enabled or detail_level of {cls.__name__}")
        return UNTRACED


def _has_hooks(collector: object) -> bool:
    """Whether an object has at least one method of a collector."""
    try:
        return any(hasattr(collector, hook) for hook in _HOOKS)
    except Exception:  # noqa: BLE001 - an attribute that raises is logged when it is needed
        return True


class DeferredTrace(TimedTrace):
    """A trace for a `DiagnosticTraceCollector` at Stage detail without a callback: it is only notified at the end."""

    __slots__ = ("_budget", "_collector")

    with_items = False

    def __init__(self, sources: NoteSources, budget: ContextBudget, collector: DiagnosticTraceCollector) -> None:
        self._budget = budget
        self._collector = collector
        collector.on_pipeline_started(budget)
        super().__init__(sources)

    def completed(self, selection: Selection) -> None:
        """Hand over the report."""
        self._collector.on_pipeline_completed(selection.report, self._budget, ())
        # The collector keeps the report, which refers to this trace.
        del self._collector

    def failed(self, error: BaseException) -> None:  # noqa: ARG002
        """Hand over the events of the stages that have completed."""
        for event in stage_events(self):
            self._collector.record_stage_event(event)


class CollectorTrace(TimedTrace):
    """A trace that notifies a collector. It makes only what the collector's hooks need."""

    __slots__ = (
        "_budget",
        "_collector",
        "_events",
        "_excluded",
        "_idle",
        "_included",
        "_snapshots",
        "_with_excluded",
        "_with_snapshots",
        "with_items",
    )

    def __init__(self, sources: NoteSources, budget: ContextBudget, collector: Any) -> None:
        self._budget = budget
        self._collector = collector
        self._idle = {hook for hook in _HOOKS if _is_idle(collector, hook)}
        self.with_items = self._overrides("record_item_event") and (
            getattr(collector, "detail_level", TraceDetailLevel.ITEM) >= TraceDetailLevel.ITEM
        )
        self._with_snapshots = self._overrides("on_pipeline_completed") or self._overrides("on_pipeline_failed")
        self._with_excluded = self.with_items or self._with_snapshots or self._overrides("record_excluded")
        self._events: list[TraceEvent] = []
        self._excluded: list[Sequence[ExcludedItem]] = []
        self._included: tuple[IncludedItem, ...] | None = None
        self._snapshots: list[StageTraceSnapshot] = []
        self._notify("on_pipeline_started", budget)
        super().__init__(sources)

    def classified(self, classified: Classified) -> None:
        """Report the candidates and what was excluded."""
        super().classified(classified)
        count = self.laps[-1][1] + len(classified.invalid)
        if self._overrides("set_candidates"):
            tokens = [item.tokens for item in (*classified.pinned, *classified.scoreable, *classified.invalid)]
            self._notify("set_candidates", count, sum(tokens))
        excluded = explain.excluded_by_classify(classified) if self._with_excluded else ()
        self._complete(_CLASSIFY, count, excluded, lambda: exclusion_messages(excluded))

    def scored(self, classified: Classified, scores: Sequence[float]) -> None:
        """Report the scores."""
        super().scored(classified, scores)
        self._complete(_SCORE, len(scores), None, lambda: score_messages(scores))

    def deduplicated(self, classified: Classified, scores: Sequence[float], dropped: Sequence[int]) -> None:
        """Report the duplicates."""
        super().deduplicated(classified, scores, dropped)
        items = classified.scoreable
        excluded = explain.excluded_by_deduplicate(items, scores, dropped) if self._with_excluded else ()
        self._complete(_DEDUPLICATE, len(scores), excluded, lambda: exclusion_messages(excluded))

    def sliced(self, ranking: Ranking, sliced: Sliced) -> None:
        """Report what did not fit."""
        super().sliced(ranking, sliced)
        excluded: Sequence[ExcludedItem] = ()
        if self._with_excluded:
            available = explain.available_tokens(ranking, sliced)
            excluded = explain.excluded_by_slice(ranking, sliced, self._budget, available)

        def messages() -> list[str]:
            notes = self.slice_notes
            if notes is None:
                notes = explain.slice_notes(ranking, sliced, self.sources.slicer)
            return slice_messages(excluded, notes, sliced.shortfalls)

        self._complete(_SLICE, len(ranking.items), excluded, messages)

    def placed(self, ranking: Ranking, placement: Placement) -> None:
        """Report the selection, and what was truncated."""
        super().placed(ranking, placement)
        classified = ranking.classified
        excluded = explain.excluded_by_place(classified, placement, self._budget) if self._with_excluded else ()
        included: Sequence[IncludedItem] = ()
        if self.with_items or self._overrides("record_included"):
            included = self._included = explain.included(classified, placement)
        if placement.overflow is not None:
            self._notify("on_overflow", placement.overflow)
        self._notify_each("record_included", included)
        self._complete(_PLACE, len(placement.items), excluded, lambda: place_messages(excluded, included))

    def completed(self, selection: Selection) -> None:
        """Hand over the report, with everything already made for the collector."""
        keep_part(selection, "events", tuple(self._events))
        if self._with_excluded:
            keep_part(selection, "excluded_by_stage", self._excluded)
        if self._included is not None:
            keep_part(selection, "included", self._included)
        self._notify("on_pipeline_completed", selection.report, self._budget, tuple(self._snapshots))
        # The collector may keep the report, which refers to this trace.
        del self._collector

    def failed(self, error: BaseException) -> None:
        """Report the error."""
        self._notify("on_pipeline_failed", error, self._budget, tuple(self._snapshots))

    def _complete(
        self,
        stage: PipelineStage,
        count_in: int,
        excluded: Sequence[ExcludedItem] | None,
        messages: Callable[[], list[str]],
    ) -> None:
        """Report the stage's exclusions, decisions and completion, then start timing the next stage."""
        seconds, count_out = self.laps[-1]
        duration = seconds * 1e3
        if excluded is not None:
            self._excluded.append(excluded)
            self._notify_each("record_excluded", excluded)
        if self.with_items:
            events = item_events(stage, messages())
            self._events += events
            self._notify_each("record_item_event", events)
        event = TraceEvent(stage, duration, count_out)
        self._events.append(event)
        if self._with_snapshots:
            self._snapshots.append(StageTraceSnapshot(stage, count_in, count_out, duration, tuple(excluded or ())))
        self._notify("record_stage_event", event)
        self._mark = perf_counter()

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


def _is_idle(collector: object, hook: str) -> bool:
    """Whether a collector lacks a hook, or inherits it, so that it does nothing or ignores the snapshots."""
    try:
        method = getattr(collector, hook, None)
        function = getattr(method, "__func__", None)
    except Exception:  # noqa: BLE001 - an attribute that raises is logged when it is needed
        return False
    return method is None or function in (getattr(TraceCollector, hook), DiagnosticTraceCollector.on_pipeline_completed)
