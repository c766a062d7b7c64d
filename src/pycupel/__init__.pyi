from pycupel import (
    analytics as analytics,
    batch as batch,
    conformance as conformance,
    diagnostics as diagnostics,
    errors as errors,
    messages as messages,
    model as model,
    pipeline as pipeline,
    placers as placers,
    policies as policies,
    protocols as protocols,
    registry as registry,
    render as render,
    replay as replay,
    scorers as scorers,
    shorten as shorten,
    slicers as slicers,
    testing as testing,
    tokens as tokens,
    wire as wire,
)
from pycupel.diagnostics import (
    DiagnosticTraceCollector as DiagnosticTraceCollector,
    SelectionReport as SelectionReport,
    TraceCollector as TraceCollector,
    TraceDetailLevel as TraceDetailLevel,
)
from pycupel.errors import CupelError as CupelError
from pycupel.messages import select_messages as select_messages
from pycupel.model import (
    ContextBudget as ContextBudget,
    ContextItem as ContextItem,
    ContextKind as ContextKind,
    ContextSource as ContextSource,
    CountQuotaEntry as CountQuotaEntry,
    OverflowStrategy as OverflowStrategy,
    QuotaEntry as QuotaEntry,
    ScarcityBehavior as ScarcityBehavior,
    ScoredItem as ScoredItem,
)
from pycupel.pipeline import Pipeline as Pipeline, Policy as Policy, Ranking as Ranking, Selection as Selection
from pycupel.placers import (
    ChronologicalPlacer as ChronologicalPlacer,
    FramedPlacer as FramedPlacer,
    PromptPlacer as PromptPlacer,
    UShapedPlacer as UShapedPlacer,
)
from pycupel.protocols import Placer as Placer, Scorer as Scorer, Slicer as Slicer
from pycupel.scorers import (
    BoostedScorer as BoostedScorer,
    CompositeScorer as CompositeScorer,
    DecayScorer as DecayScorer,
    FrequencyScorer as FrequencyScorer,
    FusedScorer as FusedScorer,
    KindScorer as KindScorer,
    MetadataKeyScorer as MetadataKeyScorer,
    MetadataTrustScorer as MetadataTrustScorer,
    PriorityScorer as PriorityScorer,
    RecencyScorer as RecencyScorer,
    ReflexiveScorer as ReflexiveScorer,
    RelevanceScorer as RelevanceScorer,
    ScaledScorer as ScaledScorer,
    SimilarityScorer as SimilarityScorer,
    TagScorer as TagScorer,
)
from pycupel.selecting import (
    ContextResult as ContextResult,
    ExplainedResult as ExplainedResult,
    aselect as aselect,
    select as select,
)
from pycupel.slicers import (
    CountConstrainedKnapsackSlice as CountConstrainedKnapsackSlice,
    CountQuotaSlice as CountQuotaSlice,
    GreedySlice as GreedySlice,
    KnapsackSlice as KnapsackSlice,
    MinScoreSlice as MinScoreSlice,
    QuotaSlice as QuotaSlice,
    StreamSlice as StreamSlice,
)

__version__: str
