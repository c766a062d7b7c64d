"""Where the names in files meet the classes."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from pycupel import placers, scorers, slicers

__all__ = ["PLACERS", "SCORERS", "SLICERS"]

SCORERS: Mapping[str, type[Any]] = MappingProxyType(
    {
        "recency": scorers.RecencyScorer,
        "priority": scorers.PriorityScorer,
        "kind": scorers.KindScorer,
        "tag": scorers.TagScorer,
        "frequency": scorers.FrequencyScorer,
        "reflexive": scorers.ReflexiveScorer,
        "composite": scorers.CompositeScorer,
        "scaled": scorers.ScaledScorer,
        "metadata_trust": scorers.MetadataTrustScorer,
        "decay": scorers.DecayScorer,
        "metadata_key": scorers.MetadataKeyScorer,
        "boosted": scorers.BoostedScorer,
    }
)

SLICERS: Mapping[str, type[Any]] = MappingProxyType(
    {
        "greedy": slicers.GreedySlice,
        "knapsack": slicers.KnapsackSlice,
        "quota": slicers.QuotaSlice,
        "count_quota": slicers.CountQuotaSlice,
        "count_constrained_knapsack": slicers.CountConstrainedKnapsackSlice,
    }
)

PLACERS: Mapping[str, type[Any]] = MappingProxyType(
    {
        "chronological": placers.ChronologicalPlacer,
        "u-shaped": placers.UShapedPlacer,
    }
)
