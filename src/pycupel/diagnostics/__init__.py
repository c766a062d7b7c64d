"""What a run can tell about itself: reasons, events and the report."""

from __future__ import annotations

from pycupel.diagnostics.events import OverflowEvent, TraceEvent
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
)
from pycupel.diagnostics.report import CountRequirementShortfall, ExcludedItem, IncludedItem, SelectionReport
from pycupel.diagnostics.stages import PipelineStage

__all__ = [
    "BudgetExceeded",
    "CountCapExceeded",
    "CountRequireCandidatesExhausted",
    "CountRequirementShortfall",
    "Deduplicated",
    "ExcludedItem",
    "ExclusionReason",
    "Filtered",
    "IncludedItem",
    "InclusionReason",
    "NegativeTokens",
    "OverflowEvent",
    "PinnedOverride",
    "PipelineStage",
    "QuotaCapExceeded",
    "QuotaRequireDisplaced",
    "ScoredTooLow",
    "SelectionReport",
    "TraceEvent",
]
