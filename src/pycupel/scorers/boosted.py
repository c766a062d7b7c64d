"""BoostedScorer: another scorer, really multiplied. An extension of pycupel.

`MetadataKeyScorer` returns a multiplier, but in a `CompositeScorer`, which averages, it only adds a constant to the
items that match (CS-03). `BoostedScorer(inner, MetadataKeyScorer("cupel:priority", "high", 1.5))` does what its
description promises.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from pycupel.kernels.blend import product
from pycupel.model import ContextItem
from pycupel.protocols import Scorer, checked_scorer
from pycupel.scorers._base import WrappingScorer, check_nesting, combined, score_one

__all__ = ["BoostedScorer"]


@dataclass(frozen=True, slots=True, init=False)
class BoostedScorer(WrappingScorer):
    """The score of `inner`, multiplied by that of each boost, from left to right."""

    inner: Scorer
    boosts: tuple[Scorer, ...]

    def __init__(self, inner: Scorer, *boosts: Scorer) -> None:
        object.__setattr__(self, "inner", checked_scorer("inner", inner))
        object.__setattr__(self, "boosts", tuple(checked_scorer(f"boosts[{i}]", b) for i, b in enumerate(boosts)))
        check_nesting(self)

    @property
    def children(self) -> tuple[Scorer, ...]:
        return (self.inner, *self.boosts)

    def score(self, item: ContextItem, all_items: Sequence[ContextItem], /) -> float:
        result = score_one(self.inner, item, all_items)
        for boost in self.boosts:
            result *= score_one(boost, item, all_items)
        return result

    def score_all(self, items: Sequence[ContextItem], /) -> list[float]:
        return combined(self, items, {})

    def combine(self, columns: list[list[float]]) -> list[float]:
        """The product of the columns."""
        return product(columns)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), self.children
