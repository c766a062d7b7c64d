"""The diagnostics of a run: reasons, events and the report."""

from __future__ import annotations

from pycupel.diagnostics.collector import CollectorLike, DiagnosticTraceCollector, NullTraceCollector, TraceCollector
from pycupel.diagnostics.entries import CountRequirementShortfall, ExcludedItem, IncludedItem
from pycupel.diagnostics.events import OverflowEvent, StageTraceSnapshot, TraceDetailLevel, TraceEvent
from pycupel.diagnostics.explanation import Explanation, ScorePart
from pycupel.diagnostics.reasons import (
    BudgetExceeded,
    CountCapExceeded,
    CountRequireCandidatesExhausted,
    Deduplicated,
    ExclusionReason,
    Filtered,
    InclusionReason,
    NegativeTokens,
    PinnedOverride,
    QuotaCapExceeded,
    QuotaRequireDisplaced,
    ScoredTooLow,
    UnknownReason,
)
from pycupel.diagnostics.report import SelectionReport
from pycupel.diagnostics.stages import PipelineStage

__all__ = [
    "BudgetExceeded",
    "CollectorLike",
    "CountCapExceeded",
    "CountRequireCandidatesExhausted",
    "CountRequirementShortfall",
    "Deduplicated",
    "DiagnosticTraceCollector",
    "ExcludedItem",
    "ExclusionReason",
    "Explanation",
    "Filtered",
    "IncludedItem",
    "InclusionReason",
    "NegativeTokens",
    "NullTraceCollector",
    "OverflowEvent",
    "PinnedOverride",
    "PipelineStage",
    "QuotaCapExceeded",
    "QuotaRequireDisplaced",
    "ScorePart",
    "ScoredTooLow",
    "SelectionReport",
    "StageTraceSnapshot",
    "TraceCollector",
    "TraceDetailLevel",
    "TraceEvent",
    "UnknownReason",
]
