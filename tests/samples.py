"""Every built-in strategy with each of its options: the one list, for tests of what holds for all of them.

It needs nothing but pycupel. `tests/strategies.py` draws random ones.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from pycupel import (
    BoostedScorer,
    ChronologicalPlacer,
    CompositeScorer,
    CountConstrainedKnapsackSlice,
    CountQuotaEntry,
    CountQuotaSlice,
    DecayScorer,
    FrequencyScorer,
    FusedScorer,
    GreedySlice,
    KindScorer,
    KnapsackSlice,
    MetadataKeyScorer,
    MetadataTrustScorer,
    Placer,
    PriorityScorer,
    QuotaEntry,
    QuotaSlice,
    RecencyScorer,
    ReflexiveScorer,
    ScaledScorer,
    Scorer,
    Slicer,
    StreamSlice,
    TagScorer,
    UShapedPlacer,
)
from pycupel.placers import FramedPlacer, PromptPlacer
from pycupel.scorers import Exponential, RelevanceScorer, SimilarityScorer, Step, Window
from pycupel.slicers import MinScoreSlice

NOW = datetime(2025, 1, 1, 12, tzinfo=UTC)
DAY = timedelta(days=1)


@dataclass(frozen=True)
class FixedClock:
    """A time provider that always answers the same."""

    instant: datetime = NOW

    def now(self) -> datetime:
        return self.instant


def embed(texts: list[str]) -> list[list[float]]:
    """A stand-in for a model: vectors by length and vowels."""
    return [[float(len(text)), text.count("a") + 0.5 * text.count("e"), 1.0] for text in texts]


_TAGS = {"alpha": 0.1, "gamma": 0.7, "delta": 0.2, "epsilon": 0.3}
_BLEND = CompositeScorer(
    [(RecencyScorer(), 0.1), (PriorityScorer(), 0.7), (FrequencyScorer(), 0.2), (TagScorer(_TAGS), 0.3)]
)

SCORERS: tuple[Scorer, ...] = (
    RecencyScorer(),
    RecencyScorer("position"),
    PriorityScorer(),
    KindScorer(),
    KindScorer({"document": 0.3, "Note": 2.5}),
    TagScorer(_TAGS),
    TagScorer(_TAGS, case_insensitive=True),
    FrequencyScorer(),
    ReflexiveScorer(),
    ReflexiveScorer("auto"),
    FusedScorer("source", k=1),
    RelevanceScorer("alpha and item 3", group="level"),
    RelevanceScorer("alpha", k1=0.9, b=0.4, window=1, share=0.3, group_share=0.1, length_exponent=0.15),
    RelevanceScorer(optional=True),
    SimilarityScorer(embed, "alpha"),
    MetadataTrustScorer(0.4),
    MetadataKeyScorer("level", "2", 1.5),
    DecayScorer(FixedClock(), Exponential(DAY)),
    DecayScorer(FixedClock(), Step([(2 * DAY, 0.9), (9 * DAY, 0.4)])),
    DecayScorer(FixedClock(), Window(7 * DAY), 0.1),
    _BLEND,
    ScaledScorer(_BLEND),
    BoostedScorer(ScaledScorer(RecencyScorer()), MetadataKeyScorer("level", "1", 1.3)),
)

_QUOTAS = [QuotaEntry("document", 20.0, 33.3), QuotaEntry("Memory", cap=12.5), QuotaEntry("absent", 10.0)]
_COUNTS = [
    CountQuotaEntry("TOOLOUTPUT", cap_count=6, require_count=2),
    CountQuotaEntry("Note", cap_count=4),
    CountQuotaEntry("absent", cap_count=3, require_count=1),
]

SLICERS: tuple[Slicer, ...] = (
    GreedySlice(),
    GreedySlice(0.2, best_first=True),
    MinScoreSlice(GreedySlice(0), 0.4),
    KnapsackSlice(1),
    KnapsackSlice(fill_free=True),
    QuotaSlice(_QUOTAS),
    QuotaSlice(_QUOTAS, KnapsackSlice(10), redistribute=True),
    CountQuotaSlice(_COUNTS),
    CountQuotaSlice(_COUNTS, QuotaSlice(_QUOTAS), cap_order="score"),
    CountConstrainedKnapsackSlice(_COUNTS, KnapsackSlice(20)),
    QuotaSlice(_QUOTAS, CountQuotaSlice(_COUNTS)),
    StreamSlice(32),
    StreamSlice(8, replace=True),
)

PLACERS: tuple[Placer, ...] = (
    ChronologicalPlacer(),
    UShapedPlacer(),
    FramedPlacer(UShapedPlacer(), last=("Memory",)),
    PromptPlacer(ChronologicalPlacer(), query="x"),
)
