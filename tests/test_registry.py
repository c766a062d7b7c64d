"""The names under which vectors and files know the strategies."""

from __future__ import annotations

from typing import Any

import pytest

import pycupel
from pycupel import placers, registry, scorers, slicers
from pycupel.registry import PLACERS, SCORERS, SLICERS


@pytest.mark.parametrize(
    ("name", "cls"),
    [
        ("recency", pycupel.RecencyScorer),
        ("priority", pycupel.PriorityScorer),
        ("kind", pycupel.KindScorer),
        ("tag", pycupel.TagScorer),
        ("frequency", pycupel.FrequencyScorer),
        ("reflexive", pycupel.ReflexiveScorer),
        ("composite", pycupel.CompositeScorer),
        ("scaled", pycupel.ScaledScorer),
        ("metadata_trust", pycupel.MetadataTrustScorer),
        ("decay", pycupel.DecayScorer),
        ("metadata_key", pycupel.MetadataKeyScorer),
        ("boosted", pycupel.BoostedScorer),
    ],
)
def test_scorers_by_name(name: str, cls: type[Any]) -> None:
    """Test Vector Format: `[test] scorer`; CV-02 for the names beyond the chapter."""
    assert SCORERS[name] is cls


@pytest.mark.parametrize(
    ("name", "cls"),
    [
        ("greedy", pycupel.GreedySlice),
        ("knapsack", pycupel.KnapsackSlice),
        ("quota", pycupel.QuotaSlice),
        ("count_quota", pycupel.CountQuotaSlice),
        ("count_constrained_knapsack", pycupel.CountConstrainedKnapsackSlice),
    ],
)
def test_slicers_by_name(name: str, cls: type[Any]) -> None:
    """Test Vector Format: `[test] slicer`; CV-02 for the names beyond the chapter."""
    assert SLICERS[name] is cls


@pytest.mark.parametrize(
    ("name", "cls"), [("chronological", pycupel.ChronologicalPlacer), ("u-shaped", pycupel.UShapedPlacer)]
)
def test_placers_by_name(name: str, cls: type[Any]) -> None:
    """Test Vector Format: `[test] placer`."""
    assert PLACERS[name] is cls


@pytest.mark.parametrize(
    ("names", "package", "suffix"),
    [(SCORERS, scorers, "Scorer"), (SLICERS, slicers, "Slice"), (PLACERS, placers, "Placer")],
)
def test_every_strategy_has_exactly_one_name(names: Any, package: Any, suffix: str) -> None:
    """A strategy that is added to its package must be added here, too."""
    exported = [name for name in package.__all__ if name.endswith(suffix) and name in pycupel.__all__]
    assert sorted(cls.__name__ for cls in names.values()) == sorted(exported)


@pytest.mark.parametrize("names", [SCORERS, SLICERS, PLACERS])
def test_the_registry_cannot_be_changed(names: Any) -> None:
    with pytest.raises(TypeError):
        names["mine"] = object
    with pytest.raises(AttributeError):
        names.clear()


def test_the_registry_exports_its_three_tables() -> None:
    assert registry.__all__ == ["PLACERS", "SCORERS", "SLICERS"]
