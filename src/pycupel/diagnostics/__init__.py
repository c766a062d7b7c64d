"""The diagnostics of a run: reasons, events and the report."""

from __future__ import annotations

from pycupel.diagnostics.collector import CollectorLike, DiagnosticTraceCollector, NullTraceCollector, TraceCollector
from pycupel.diagnostics.explanation import Explanation, ScorePart
from pycupel.diagnostics.reasons import (
    BudgetExceeded,
    CountCapExceeded,
    CountRequireCandidatesExhausted,
    CountRequirementShortfall,
    Deduplicated,
    ExcludedItem,
    ExclusionReason,
    Filtered,
    IncludedItem,
    InclusionReason,
    NegativeTokens,
    OverflowEvent,
    PinnedOverride,
    PipelineStage,
    QuotaCapExceeded,
    QuotaRequireDisplaced,
    ScoredTooLow,
    StageTraceSnapshot,
    TraceDetailLevel,
    TraceEvent,
    UnknownReason,
)
from pycupel.diagnostics.report import SelectionReport

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
