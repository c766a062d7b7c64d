"""pycupel selects and orders the best context for a language model under a token budget, and explains every decision.

    from pycupel import select
    from pycupel.messages import select_messages

    context = select(items, 8_000, policy="rag").items
    messages = select_messages(history, 8_000).messages

It is an implementation of the Cupel specification. `docs/` has the rest.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pycupel.diagnostics import (
        DiagnosticTraceCollector,
        NullTraceCollector,
        SelectionReport,
        TraceCollector,
        TraceDetailLevel,
    )
    from pycupel.errors import CupelError
    from pycupel.model import (
        ContextBudget,
        ContextItem,
        ContextKind,
        ContextSource,
        CountQuotaEntry,
        OverflowStrategy,
        QuotaEntry,
        ScarcityBehavior,
        ScoredItem,
    )
    from pycupel.pipeline import Pipeline, Policy
    from pycupel.placers import ChronologicalPlacer, UShapedPlacer
    from pycupel.protocols import Placer, Scorer, SliceOutcome, Slicer, TimeProvider, TokenCounter
    from pycupel.scorers import (
        BoostedScorer,
        CompositeScorer,
        DecayScorer,
        Exponential,
        FrequencyScorer,
        KindScorer,
        MetadataKeyScorer,
        MetadataTrustScorer,
        PriorityScorer,
        RecencyScorer,
        ReflexiveScorer,
        ScaledScorer,
        Step,
        SystemTimeProvider,
        TagScorer,
        Window,
    )
    from pycupel.selecting import ContextResult, select
    from pycupel.slicers import (
        CountConstrainedKnapsackSlice,
        CountQuotaSlice,
        GreedySlice,
        KnapsackSlice,
        QuotaSlice,
        StreamSlice,
    )

__version__ = "0.1.0"

__all__ = [
    "BoostedScorer",
    "ChronologicalPlacer",
    "CompositeScorer",
    "ContextBudget",
    "ContextItem",
    "ContextKind",
    "ContextResult",
    "ContextSource",
    "CountConstrainedKnapsackSlice",
    "CountQuotaEntry",
    "CountQuotaSlice",
    "CupelError",
    "DecayScorer",
    "DiagnosticTraceCollector",
    "Exponential",
    "FrequencyScorer",
    "GreedySlice",
    "KindScorer",
    "KnapsackSlice",
    "MetadataKeyScorer",
    "MetadataTrustScorer",
    "NullTraceCollector",
    "OverflowStrategy",
    "Pipeline",
    "Placer",
    "Policy",
    "PriorityScorer",
    "QuotaEntry",
    "QuotaSlice",
    "RecencyScorer",
    "ReflexiveScorer",
    "ScaledScorer",
    "ScarcityBehavior",
    "ScoredItem",
    "Scorer",
    "SelectionReport",
    "SliceOutcome",
    "Slicer",
    "Step",
    "StreamSlice",
    "SystemTimeProvider",
    "TagScorer",
    "TimeProvider",
    "TokenCounter",
    "TraceCollector",
    "TraceDetailLevel",
    "UShapedPlacer",
    "Window",
    "__version__",
    "select",
]

# Names are loaded when they are first used, so that importing the package costs next to nothing.
_HOME = {
    "DiagnosticTraceCollector": "pycupel.diagnostics",
    "NullTraceCollector": "pycupel.diagnostics",
    "SelectionReport": "pycupel.diagnostics",
    "TraceCollector": "pycupel.diagnostics",
    "TraceDetailLevel": "pycupel.diagnostics",
    "CupelError": "pycupel.errors",
    "ContextBudget": "pycupel.model",
    "ContextItem": "pycupel.model",
    "ContextKind": "pycupel.model",
    "ContextSource": "pycupel.model",
    "CountQuotaEntry": "pycupel.model",
    "OverflowStrategy": "pycupel.model",
    "QuotaEntry": "pycupel.model",
    "ScarcityBehavior": "pycupel.model",
    "ScoredItem": "pycupel.model",
    "Pipeline": "pycupel.pipeline",
    "Policy": "pycupel.pipeline",
    "ChronologicalPlacer": "pycupel.placers",
    "UShapedPlacer": "pycupel.placers",
    "Placer": "pycupel.protocols",
    "Scorer": "pycupel.protocols",
    "SliceOutcome": "pycupel.protocols",
    "Slicer": "pycupel.protocols",
    "TimeProvider": "pycupel.protocols",
    "TokenCounter": "pycupel.protocols",
    "BoostedScorer": "pycupel.scorers",
    "CompositeScorer": "pycupel.scorers",
    "DecayScorer": "pycupel.scorers",
    "Exponential": "pycupel.scorers",
    "FrequencyScorer": "pycupel.scorers",
    "KindScorer": "pycupel.scorers",
    "MetadataKeyScorer": "pycupel.scorers",
    "MetadataTrustScorer": "pycupel.scorers",
    "PriorityScorer": "pycupel.scorers",
    "RecencyScorer": "pycupel.scorers",
    "ReflexiveScorer": "pycupel.scorers",
    "ScaledScorer": "pycupel.scorers",
    "Step": "pycupel.scorers",
    "SystemTimeProvider": "pycupel.scorers",
    "TagScorer": "pycupel.scorers",
    "Window": "pycupel.scorers",
    "ContextResult": "pycupel.selecting",
    "select": "pycupel.selecting",
    "CountConstrainedKnapsackSlice": "pycupel.slicers",
    "CountQuotaSlice": "pycupel.slicers",
    "GreedySlice": "pycupel.slicers",
    "KnapsackSlice": "pycupel.slicers",
    "QuotaSlice": "pycupel.slicers",
    "StreamSlice": "pycupel.slicers",
}
_MODULES = (
    "analytics",
    "conformance",
    "diagnostics",
    "errors",
    "extras",
    "messages",
    "model",
    "pipeline",
    "placers",
    "policies",
    "protocols",
    "registry",
    "render",
    "scorers",
    "slicers",
    "testing",
    "tokens",
    "wire",
)


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return import_module(f"pycupel.{name}")
    if name not in _HOME:
        raise AttributeError(f"module 'pycupel' has no attribute {name!r}", name=name, obj=__import__("pycupel"))
    value = globals()[name] = getattr(import_module(_HOME[name]), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, *_MODULES})
