from pycupel.diagnostics.collector import (
    CollectorLike as CollectorLike,
    DiagnosticTraceCollector as DiagnosticTraceCollector,
    NullTraceCollector as NullTraceCollector,
    TraceCollector as TraceCollector,
)
from pycupel.diagnostics.explanation import Explanation as Explanation, ScorePart as ScorePart
from pycupel.diagnostics.reasons import (
    BudgetExceeded as BudgetExceeded,
    CountCapExceeded as CountCapExceeded,
    CountRequireCandidatesExhausted as CountRequireCandidatesExhausted,
    CountRequirementShortfall as CountRequirementShortfall,
    Deduplicated as Deduplicated,
    ExcludedItem as ExcludedItem,
    ExclusionReason as ExclusionReason,
    Filtered as Filtered,
    IncludedItem as IncludedItem,
    InclusionReason as InclusionReason,
    NegativeTokens as NegativeTokens,
    OverflowEvent as OverflowEvent,
    PinnedOverride as PinnedOverride,
    PipelineStage as PipelineStage,
    QuotaCapExceeded as QuotaCapExceeded,
    QuotaRequireDisplaced as QuotaRequireDisplaced,
    ScoredTooLow as ScoredTooLow,
    StageTraceSnapshot as StageTraceSnapshot,
    TraceDetailLevel as TraceDetailLevel,
    TraceEvent as TraceEvent,
    UnknownReason as UnknownReason,
)
from pycupel.diagnostics.report import SelectionReport as SelectionReport
