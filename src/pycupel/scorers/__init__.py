"""The scorers, which give every item a score.

| scorer | reads | score |
|---|---|---|
| `RecencyScorer` | timestamp | rank among the items that have one |
| `PriorityScorer` | priority | rank among the items that have one |
| `KindScorer` | kind | a weight for each kind |
| `TagScorer` | tags | weight of the matching tags, as a share of all weights |
| `FrequencyScorer` | tags | share of the other items that have a tag in common |
| `ReflexiveScorer` | future_relevance_hint | the hint itself |
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
    from pycupel.scorers.boosted import BoostedScorer as BoostedScorer
    from pycupel.scorers.composite import CompositeScorer as CompositeScorer
    from pycupel.scorers.decay import (
        DecayScorer as DecayScorer,
        Exponential as Exponential,
        Step as Step,
        SystemTimeProvider as SystemTimeProvider,
        Window as Window,
    )
    from pycupel.scorers.frequency import FrequencyScorer as FrequencyScorer
    from pycupel.scorers.kind import KindScorer as KindScorer
    from pycupel.scorers.metadata_key import MetadataKeyScorer as MetadataKeyScorer
    from pycupel.scorers.metadata_trust import MetadataTrustScorer as MetadataTrustScorer
    from pycupel.scorers.priority import PriorityScorer as PriorityScorer
    from pycupel.scorers.recency import RecencyScorer as RecencyScorer
    from pycupel.scorers.reflexive import ReflexiveScorer as ReflexiveScorer, rescale_hints as rescale_hints
    from pycupel.scorers.relevance import RelevanceScorer as RelevanceScorer, clear_caches as clear_caches
    from pycupel.scorers.scaled import ScaledScorer as ScaledScorer
    from pycupel.scorers.similarity import SimilarityScorer as SimilarityScorer
    from pycupel.scorers.tag import TagScorer as TagScorer
else:
    # Imported on first use, because a program needs only a few of them.
    _NAMES = {
        ".boosted": "BoostedScorer",
        ".composite": "CompositeScorer",
        ".decay": "DecayScorer Exponential Step SystemTimeProvider Window",
        ".frequency": "FrequencyScorer",
        ".kind": "KindScorer",
        ".metadata_key": "MetadataKeyScorer",
        ".metadata_trust": "MetadataTrustScorer",
        ".priority": "PriorityScorer",
        ".recency": "RecencyScorer",
        ".reflexive": "ReflexiveScorer rescale_hints",
        ".relevance": "RelevanceScorer clear_caches",
        ".scaled": "ScaledScorer",
        ".similarity": "SimilarityScorer",
        ".tag": "TagScorer",
    }
    __all__ = public_names(_NAMES)  # noqa: PLE0605 - by the table
    __getattr__, __dir__ = load_when_used(__name__, _NAMES)
