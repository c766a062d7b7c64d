"""The scorers: they give every item a score.

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

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pycupel.scorers.boosted import BoostedScorer
    from pycupel.scorers.composite import CompositeScorer
    from pycupel.scorers.decay import DecayScorer, Exponential, Step, SystemTimeProvider, Window
    from pycupel.scorers.frequency import FrequencyScorer
    from pycupel.scorers.kind import KindScorer
    from pycupel.scorers.metadata_key import MetadataKeyScorer
    from pycupel.scorers.metadata_trust import MetadataTrustScorer
    from pycupel.scorers.priority import PriorityScorer
    from pycupel.scorers.recency import RecencyScorer
    from pycupel.scorers.reflexive import ReflexiveScorer, rescale_hints
    from pycupel.scorers.relevance import RelevanceScorer, clear_caches
    from pycupel.scorers.scaled import ScaledScorer
    from pycupel.scorers.similarity import SimilarityScorer
    from pycupel.scorers.tag import TagScorer
else:
    # Loaded when they are first used: a program uses a few of them. Hidden from type checkers, for
    # which it would make every name valid.
    _HOMES = {
        "DecayScorer": "decay",
        "Exponential": "decay",
        "Step": "decay",
        "SystemTimeProvider": "decay",
        "Window": "decay",
        "clear_caches": "relevance",
        "rescale_hints": "reflexive",
        "MetadataKeyScorer": "metadata_key",
        "MetadataTrustScorer": "metadata_trust",
    }

    def __getattr__(name: str) -> Any:
        if name not in __all__:
            raise AttributeError(f"module 'pycupel.scorers' has no attribute {name!r}")
        home = _HOMES.get(name) or name.removesuffix("Scorer").lower()
        value = globals()[name] = getattr(import_module(f"pycupel.scorers.{home}"), name)
        return value


__all__ = [
    "BoostedScorer",
    "CompositeScorer",
    "DecayScorer",
    "Exponential",
    "FrequencyScorer",
    "KindScorer",
    "MetadataKeyScorer",
    "MetadataTrustScorer",
    "PriorityScorer",
    "RecencyScorer",
    "ReflexiveScorer",
    "RelevanceScorer",
    "ScaledScorer",
    "SimilarityScorer",
    "Step",
    "SystemTimeProvider",
    "TagScorer",
    "Window",
    "clear_caches",
    "rescale_hints",
]
