from pycupel.scorers.decay import (
    DecayScorer as DecayScorer,
    Exponential as Exponential,
    Step as Step,
    SystemTimeProvider as SystemTimeProvider,
    Window as Window,
)
from pycupel.scorers.fields import (
    FrequencyScorer as FrequencyScorer,
    KindScorer as KindScorer,
    MetadataKeyScorer as MetadataKeyScorer,
    MetadataTrustScorer as MetadataTrustScorer,
    PriorityScorer as PriorityScorer,
    RecencyScorer as RecencyScorer,
    ReflexiveScorer as ReflexiveScorer,
    TagScorer as TagScorer,
)
from pycupel.scorers.fusing import FusedScorer as FusedScorer, rescale_hints as rescale_hints
from pycupel.scorers.relevance import RelevanceScorer as RelevanceScorer, clear_caches as clear_caches
from pycupel.scorers.similarity import SimilarityScorer as SimilarityScorer
from pycupel.scorers.wrapping import (
    BoostedScorer as BoostedScorer,
    CompositeScorer as CompositeScorer,
    ScaledScorer as ScaledScorer,
)
