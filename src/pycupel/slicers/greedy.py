"""GreedySlice: by score per token, as long as it fits."""

from __future__ import annotations

from collections.abc import Sequence

from pycupel.kernels.fill import by_density, fill
from pycupel.model import ContextBudget, ContextItem
from pycupel.model.optionless import Optionless
from pycupel.slicers._base import IndexedSlicer, IndexSlice

__all__ = ["GreedySlice"]


class GreedySlice(Optionless, IndexedSlicer):
    """Takes items by density, `score / tokens`, descending.

    Items without tokens always fit; at equal density the earlier one comes first.
    """

    __slots__ = ()

    def slice_indices(
        self, items: Sequence[ContextItem], scores: Sequence[float], budget: ContextBudget, /
    ) -> IndexSlice:
        if not items or budget.target_tokens <= 0:
            return IndexSlice([])
        tokens = [item.tokens for item in items]
        return IndexSlice(fill(by_density(scores, tokens), tokens, budget.target_tokens))
