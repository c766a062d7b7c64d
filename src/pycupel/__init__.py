"""pycupel selects and orders the best context for a language model under a token budget, and explains every decision.

    from pycupel import ContextBudget, ContextItem, Pipeline, RecencyScorer

    pipeline = Pipeline(RecencyScorer())
    selected = pipeline.run(items, ContextBudget(8_000))
    report = pipeline.dry_run(items, ContextBudget(8_000))

It is an implementation of the Cupel specification. `docs/` has the rest.
"""

from __future__ import annotations

from pycupel.diagnostics import SelectionReport
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
from pycupel.pipeline import Pipeline
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
from pycupel.slicers import (
    CountConstrainedKnapsackSlice,
    CountQuotaSlice,
    GreedySlice,
    KnapsackSlice,
    QuotaSlice,
)

__version__ = "0.1.0"

__all__ = [
    "BoostedScorer",
    "ChronologicalPlacer",
    "CompositeScorer",
    "ContextBudget",
    "ContextItem",
    "ContextKind",
    "ContextSource",
    "CountConstrainedKnapsackSlice",
    "CountQuotaEntry",
    "CountQuotaSlice",
    "CupelError",
    "DecayScorer",
    "Exponential",
    "FrequencyScorer",
    "GreedySlice",
    "KindScorer",
    "KnapsackSlice",
    "MetadataKeyScorer",
    "MetadataTrustScorer",
    "OverflowStrategy",
    "Pipeline",
    "Placer",
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
    "SystemTimeProvider",
    "TagScorer",
    "TimeProvider",
    "TokenCounter",
    "UShapedPlacer",
    "Window",
    "__version__",
]
