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

`score` is the specification's pseudocode, and `score_all` gives the same numbers for all items at once. `reads` names
the field of items that a scorer reads.

Arguments of the wrong type are a TypeError, values out of range a `ScorerConfigError`, scorers that contain themselves
or are nested too deeply a `CycleError`.
"""

from __future__ import annotations

from pycupel.lazy import load_when_used

__all__, __getattr__, __dir__ = load_when_used(__name__)
