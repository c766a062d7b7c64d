"""The scorers, which give every item a score.

| scorer | reads | score |
|---|---|---|
| `RecencyScorer` | timestamp | rank among the items that have one |
| `PriorityScorer` | priority | rank among the items that have one |
| `KindScorer` | kind | a weight for each kind |
| `TagScorer` | tags | weight of the matching tags, as a share of all weights |
| `FrequencyScorer` | tags | share of the other items that have a tag in common |
| `ReflexiveScorer` | future_relevance_hint | the hint itself |
| `FusedScorer` | future_relevance_hint | the ranks of the hints of several retrievers, fused (an extension) |
| `MetadataTrustScorer` | metadata["cupel:trust"] | the trust value itself |
| `MetadataKeyScorer` | metadata[key] | a multiplier: `boost` on a match, else 1.0 |
| `RelevanceScorer` | content | how well it answers a question, by its words |
| `SimilarityScorer` | content | how close it is to a question, by your embeddings |
| `DecayScorer` | timestamp | age, through a curve |
| `CompositeScorer` | | weighted average of other scorers |
| `ScaledScorer` | | another scorer, stretched to the range from 0 to 1 |
| `BoostedScorer` | | another scorer, multiplied by others (an extension) |

`score` is the specification's pseudocode. `score_all` gives the same numbers for all items at once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pycupel.lazy import load_when_used, public_names

if TYPE_CHECKING:
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
else:
    # Imported on first use, because a program needs only a few of them.
    _NAMES = {
        ".wrapping": "BoostedScorer CompositeScorer ScaledScorer",
        ".decay": "DecayScorer Exponential Step SystemTimeProvider Window",
        ".fields": "FrequencyScorer KindScorer MetadataKeyScorer MetadataTrustScorer PriorityScorer "
        "RecencyScorer ReflexiveScorer TagScorer",
        ".fusing": "FusedScorer rescale_hints",
        ".relevance": "RelevanceScorer clear_caches",
        ".similarity": "SimilarityScorer",
    }
    __all__ = public_names(_NAMES)  # noqa: PLE0605 - by the table
    __getattr__, __dir__ = load_when_used(__name__, _NAMES)
