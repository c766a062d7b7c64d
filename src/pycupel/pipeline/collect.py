"""Telling a collector what happens, as the stages complete."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache, partial
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
from pycupel.pipeline import account, explain
from pycupel.pipeline.account import StageAccount
from pycupel.pipeline.classify import Classified
from pycupel.pipeline.events import item_events
from pycupel.pipeline.place import Placement
from pycupel.pipeline.rank import Ranking
from pycupel.pipeline.selection import Selection
from pycupel.pipeline.slice import Sliced
from pycupel.pipeline.trace import Trace
from pycupel.protocols import Scorer, Slicer

__all__ = ["CollectorTrace"]

_CLASSIFY, _SCORE, _DEDUPLICATE, _SLICE, _PLACE = PipelineStage


class CollectorTrace(Trace):
    """A trace that a collector listens to. What the collector does not listen to is not made."""

    __slots__ = (
        "_budget",
        "_collector",
        "_events",
        "_excluded",
        "_idle",
        "_included",
        "_snapshots",
        "_with_excluded",
        "_with_items",
        "_with_snapshots",
    )

    def __init__(self, budget: ContextBudget, collector: Any) -> None:
        self._budget = budget
        self._collector = collector
        self._idle = _idle_hooks(collector.__class__)
        self._with_items = self._overrides("record_item_event") and (
            getattr(collector, "detail_level", TraceDetailLevel.ITEM) >= TraceDetailLevel.ITEM
        )
        self._with_snapshots = self._overrides("on_pipeline_completed") or self._overrides("on_pipeline_failed")
        self._with_excluded = self._with_items or self._with_snapshots or self._overrides("record_excluded")
        self._events: list[TraceEvent] = []
        self._excluded: list[Sequence[ExcludedItem]] = []
        self._included: tuple[IncludedItem, ...] | None = None
        self._snapshots: list[StageTraceSnapshot] = []
        self._notify("on_pipeline_started", budget)
        super().__init__()

    @classmethod
    def of(cls, budget: ContextBudget, collector: Any) -> CollectorTrace | None:
        """A trace for the collector, or None if there is none or it is not enabled (TC-04)."""
        if collector is None or type(collector) is NullTraceCollector:
            return None
        if isinstance(collector, type):
            raise TypeError(f"collector must be an instance; did you mean {collector.__name__}()?")
        try:
            enabled = getattr(collector, "is_enabled", True)
            return cls(budget, collector) if (enabled() if callable(enabled) else enabled) else None
        except Exception:  # noqa: BLE001 - an observer must not end the run
            log_exception(f"is_enabled or detail_level of {type(collector).__name__}")
            return None

    def classified(self, classified: Classified) -> None:
        self._lap()
        if self._overrides("set_candidates"):
            tokens = [item.tokens for item in (*classified.pinned, *classified.scoreable, *classified.invalid)]
            self._notify("set_candidates", len(tokens), sum(tokens))
        if self._with_excluded:
            self._tell(account.of_classify(classified))
        self._complete(_CLASSIFY, len(classified.pinned) + len(classified.scoreable))

    def scored(self, classified: Classified, scores: Sequence[float], scorer: Scorer) -> None:
        super().scored(classified, scores, scorer)
        if self._with_excluded:
            self._tell(account.of_score(scores))
        self._complete(_SCORE, len(scores))

    def deduplicated(self, classified: Classified, scores: Sequence[float], dropped: Sequence[int]) -> None:
        self._lap()
        if self._with_excluded:
            self._tell(account.of_deduplicate(classified, scores, dropped))
        self._complete(_DEDUPLICATE, len(scores) - len(dropped))

    def sliced(self, ranking: Ranking, sliced: Sliced, slicer: Slicer) -> None:
        self._lap()
        if self._with_excluded:
            notes = partial(explain.slice_notes, ranking, sliced, slicer)
            self._tell(account.of_slice(ranking, sliced, self._budget, notes))
        self._complete(_SLICE, len(sliced.selected))

    def placed(self, ranking: Ranking, placement: Placement) -> None:
        self._lap()
        included: Sequence[IncludedItem] = ()
        if self._with_items or self._overrides("record_included"):
            included = self._included = explain.included(ranking.classified, placement)
        if placement.overflow is not None:
            self._notify("on_overflow", placement.overflow)
        self._notify_each("record_included", included)
        if self._with_excluded:
            self._tell(account.of_place(ranking.classified, placement, self._budget, lambda: included))
        self._complete(_PLACE, len(placement.order))

    def completed(self, selection: Selection) -> None:
        """The run has ended well. The report takes over what was made for the collector."""
        selection.keep("events", tuple(self._events))
        if self._with_excluded:
            selection.keep("excluded_by_stage", self._excluded)
        if self._included is not None:
            selection.keep("included", self._included)
        self._notify("on_pipeline_completed", selection.report, self._budget, tuple(self._snapshots))
        # The report knows this trace, and a collector may keep the report.
        self._collector = None

    def failed(self, error: BaseException) -> None:
        self._notify("on_pipeline_failed", error, self._budget, tuple(self._snapshots))

    def _tell(self, stage: StageAccount) -> None:
        """Tell what the stage excluded, and its decisions."""
        excluded = stage.excluded()
        self._excluded.append(excluded)
        self._notify_each("record_excluded", excluded)
        if self._with_items:
            events = item_events(stage.stage, stage.messages(excluded))
            self._events += events
            self._notify_each("record_item_event", events)
        if self._with_snapshots:
            duration = self.durations_ms[-1]
            snapshot = StageTraceSnapshot(stage.stage, stage.count_in, stage.count_out, duration, tuple(excluded))
            self._snapshots.append(snapshot)

    def _complete(self, stage: PipelineStage, count_out: int) -> None:
        """Tell that the stage has completed. The next stage's time begins after that."""
        event = TraceEvent(stage, self.durations_ms[-1], count_out)
        self._events.append(event)
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
        """Whether the collector has the hook, and not just ours that ignores what it is told."""
        return hook not in self._idle and hasattr(self._collector, hook)


@lru_cache(maxsize=512)
def _idle_hooks(cls: type[object]) -> frozenset[str]:
    """The hooks of a class that are ours and do nothing; or nothing with the snapshots, as for `on_pipeline_completed`."""
    idle = {name: function for name, function in vars(TraceCollector).items() if callable(function)}
    kept = DiagnosticTraceCollector.on_pipeline_completed
    return frozenset(name for name in idle if getattr(cls, name, None) in (idle[name], kept))
