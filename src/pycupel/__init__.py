"""pycupel selects and orders the best context for a language model under a token budget, and explains every decision.

    from pycupel import select, select_messages

    context = select(items, 8_000, policy="rag").items
    messages = select_messages(history, 8_000).messages

It implements the Cupel specification. See `docs/` for guides.
"""

from __future__ import annotations

from pycupel.lazy import load_when_used, public_names

TYPE_CHECKING = False

__version__ = "0.1.0"

_NAMES = {
    ".diagnostics": "DiagnosticTraceCollector SelectionReport TraceCollector TraceDetailLevel",
    ".errors": "CupelError",
    ".messages": "select_messages",
    ".model": "ContextBudget ContextItem ContextKind ContextSource CountQuotaEntry OverflowStrategy QuotaEntry "
    "ScarcityBehavior ScoredItem",
    ".pipeline": "Pipeline Policy Ranking Selection",
    ".placers": "ChronologicalPlacer FramedPlacer PromptPlacer UShapedPlacer",
    ".protocols": "Placer Scorer Slicer",
    ".scorers": "BoostedScorer CompositeScorer DecayScorer FrequencyScorer FusedScorer KindScorer MetadataKeyScorer "
    "MetadataTrustScorer PriorityScorer RecencyScorer ReflexiveScorer RelevanceScorer ScaledScorer SimilarityScorer "
    "TagScorer",
    ".selecting": "ContextResult ExplainedResult aselect select",
    ".slicers": "CountConstrainedKnapsackSlice CountQuotaSlice GreedySlice KnapsackSlice MinScoreSlice QuotaSlice "
    "StreamSlice",
}
_MODULES = (
    "analytics batch conformance diagnostics errors messages model pipeline placers policies protocols registry render "
    "replay scorers shorten slicers testing tokens wire"
)

if TYPE_CHECKING:
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
    from pycupel.pipeline import (
        Pipeline as Pipeline,
        Policy as Policy,
        Ranking as Ranking,
        Selection as Selection,
    )
    from pycupel.placers import (
        ChronologicalPlacer as ChronologicalPlacer,
        FramedPlacer as FramedPlacer,
        PromptPlacer as PromptPlacer,
        UShapedPlacer as UShapedPlacer,
    )
    from pycupel.protocols import (
        Placer as Placer,
        Scorer as Scorer,
        Slicer as Slicer,
    )
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
else:
    __all__ = public_names(_NAMES, "__version__")  # noqa: PLE0605 - by the table
    __getattr__, __dir__ = load_when_used(__name__, _NAMES, _MODULES)
