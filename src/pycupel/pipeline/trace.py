"""Watching a run: as each stage completes, reasons, events and snapshots are made of what it did.

The stages know nothing of this. Without a watcher there is no `Trace`, no clock is read and nothing is made.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from time import perf_counter
from typing import Any

from pycupel.diagnostics import (
    BudgetExceeded,
    CountCapExceeded,
    CountRequirementShortfall,
    ExcludedItem,
    IncludedItem,
    NegativeTokens,
    NullTraceCollector,
    PinnedOverride,
    PipelineStage,
    SelectionReport,
    StageTraceSnapshot,
    TraceCollector,
    TraceDetailLevel,
    TraceEvent,
)
from pycupel.errors import digits
from pycupel.kernels.order import descending
from pycupel.model import ContextBudget, ContextItem
from pycupel.pipeline import explain
from pycupel.pipeline.classify import Classified
from pycupel.pipeline.place import Placement
from pycupel.pipeline.rank import Ranking
from pycupel.pipeline.slice import Sliced
from pycupel.protocols import Scorer, Slicer
from pycupel.scorers import scorer_notes

__all__ = ["Trace"]


class Trace:
    """One run, watched by a collector, or by nobody but the report that it ends in."""

    def __init__(self, budget: ContextBudget, collector: Any = None) -> None:
        self._budget = budget
        self._collector = collector
        self._with_item_events = collector is None or _wants_item_events(collector)
        self._events: list[TraceEvent] = []
        self._snapshots: list[StageTraceSnapshot] = []
        self._excluded: list[ExcludedItem] = []
        self._included: list[IncludedItem] = []
        self._shortfalls: tuple[CountRequirementShortfall, ...] = ()
        self._notes: tuple[str, ...] = ()
        self._tell("on_pipeline_started", budget)
        self._mark = perf_counter()

    @classmethod
    def of(cls, budget: ContextBudget, collector: Any) -> Trace | None:
        """A trace for the collector, or None if there is none or it is not enabled (TC-04)."""
        if collector is None or type(collector) is NullTraceCollector:
            return None
        if isinstance(collector, type):
            raise TypeError(
                f"collector must be a collector, not the class {collector.__name__}; did you mean its call?"
            )
        enabled = getattr(collector, "is_enabled", True)
        return cls(budget, collector) if (enabled() if callable(enabled) else enabled) else None

    def classified(self, classified: Classified) -> None:
        took = self._took()
        excluded = explain.excluded_by_classify(classified)
        kept = [*classified.pinned, *classified.scoreable]
        tokens = sum([item.tokens for item in kept]) + sum([each.item.tokens for each in excluded])
        self._tell("set_candidates", len(kept) + len(excluded), tokens)
        self._complete(PipelineStage.CLASSIFY, took, len(kept) + len(excluded), len(kept), excluded)

    def scored(self, items: Sequence[ContextItem], scores: Sequence[float], scorer: Scorer) -> None:
        took = self._took()
        self._notes = scorer_notes(scorer, items)
        messages = [f"Score: {score:.6g}" for score in scores] if self._with_item_events else ()
        self._complete(PipelineStage.SCORE, took, len(scores), len(scores), (), messages)

    def deduplicated(self, items: Sequence[ContextItem], scores: Sequence[float], dropped: Sequence[int]) -> None:
        took = self._took()
        excluded = explain.excluded_by_deduplicate(items, scores, dropped)
        self._complete(PipelineStage.DEDUPLICATE, took, len(items), len(items) - len(dropped), excluded)

    def sliced(self, ranking: Ranking, sliced: Sliced, slicer: Slicer) -> None:
        took = self._took()
        excluded = explain.excluded_by_slice(ranking, sliced, self._budget)
        self._shortfalls = sliced.shortfalls
        messages: list[str] = []
        if self._with_item_events:
            notes = explain.slice_notes(ranking, sliced, slicer)
            messages = [_message(each, note) for each, note in zip(excluded, notes, strict=True)]
            messages += [
                f"CountRequirementShortfall: kind {short.kind.value!r}, {short.required_count} required, "
                f"{short.satisfied_count} satisfied"
                for short in sliced.shortfalls
            ]
        self._complete(PipelineStage.SLICE, took, len(ranking.items), len(sliced.selected), excluded, messages)

    def placed(self, ranking: Ranking, placement: Placement) -> None:
        took = self._took()
        excluded = explain.excluded_by_place(ranking, placement, self._budget)
        self._included = explain.included(ranking, placement)
        if placement.overflow is not None:
            self._tell("on_overflow", placement.overflow)
        self._tell_each("record_included", self._included)
        messages: list[str] = []
        if self._with_item_events:
            messages = [_message(each) for each in excluded]
            messages += [f"{reason}: {score:.6g}" for _, score, reason in self._included]
        self._complete(PipelineStage.PLACE, took, len(placement.items), len(placement.order), excluded, messages)

    def completed(self) -> SelectionReport:
        # The highest score first; at equal scores, what was excluded earlier (SR-07).
        by_score = descending([each.score for each in self._excluded])
        tokens = [each.item.tokens for each in self._included] + [each.item.tokens for each in self._excluded]
        report = SelectionReport(
            events=self._events,
            included=self._included,
            excluded=[self._excluded[i] for i in by_score],
            total_candidates=len(tokens),
            total_tokens_considered=sum(tokens),
            count_requirement_shortfalls=self._shortfalls,
            budget=self._budget,
            notes=self._notes,
        )
        self._tell("on_pipeline_completed", report, self._budget, tuple(self._snapshots))
        return report

    def failed(self, error: BaseException) -> None:
        self._tell("on_pipeline_failed", error, self._budget, tuple(self._snapshots))

    def _took(self) -> float:
        return (perf_counter() - self._mark) * 1e3

    def _complete(
        self,
        stage: PipelineStage,
        took: float,
        count_in: int,
        count_out: int,
        excluded: Sequence[ExcludedItem],
        messages: Iterable[str] | None = None,
    ) -> None:
        """Tell what the stage excluded, its item events, its stage event. The next stage's time begins after that."""
        self._excluded += excluded
        self._tell_each("record_excluded", excluded)
        if self._with_item_events:
            texts = map(_message, excluded) if messages is None else messages
            events = [TraceEvent(stage, 0.0, 1, text) for text in texts]
            self._events += events
            self._tell_each("record_item_event", events)
        event = TraceEvent(stage, took, count_out)
        self._events.append(event)
        self._snapshots.append(StageTraceSnapshot(stage, count_in, count_out, took, tuple(excluded)))
        self._tell("record_stage_event", event)
        self._mark = perf_counter()

    def _tell(self, hook: str, *arguments: object) -> None:
        method: Callable[..., object] | None = getattr(self._collector, hook, None)
        if method is not None:
            method(*arguments)

    def _tell_each(self, hook: str, values: Iterable[object]) -> None:
        if _hears(self._collector, hook):
            method = getattr(self._collector, hook)
            for value in values:
                method(value)


def _wants_item_events(collector: Any) -> bool:
    level = getattr(collector, "detail_level", TraceDetailLevel.ITEM)
    return level >= TraceDetailLevel.ITEM and _hears(collector, "record_item_event")


def _hears(collector: Any, hook: str) -> bool:
    """Whether the collector has the hook, and not just the base class's, which does nothing."""
    own: object = getattr(collector.__class__, hook, None)
    return hasattr(collector, hook) and own is not getattr(TraceCollector, hook)


def _message(excluded: ExcludedItem, note: str = "") -> str:
    """The reason and its numbers. Content stays out of events, because events go to logs (EV-01)."""
    text = _reason_text(excluded)
    return f"{text} ({note})" if note else text


def _reason_text(excluded: ExcludedItem) -> str:
    reason = excluded.reason
    name = type(reason).__name__
    if isinstance(reason, BudgetExceeded):
        return f"{name}: {digits(reason.item_tokens)} tokens requested, {digits(reason.available_tokens)} available"
    if isinstance(reason, PinnedOverride):
        return f"{name}: {digits(excluded.item.tokens)} tokens requested, no room beside the pinned items"
    if isinstance(reason, NegativeTokens):
        return f"{name}: {digits(reason.tokens)} tokens"
    if isinstance(reason, CountCapExceeded):
        return f"{name}: kind {reason.kind!r}, cap {reason.cap}, {reason.count} selected"
    return f"{name}: score {excluded.score:.6g}"
