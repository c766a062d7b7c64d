"""GreedySlice: by score per token."""

from __future__ import annotations

from collections.abc import Sequence

from pycupel.kernels.fill import by_density, fill
from pycupel.model import ContextBudget, ContextItem
from pycupel.model.optionless import Optionless
from pycupel.slicers._base import IndexedSlicer, IndexSlice

__all__ = ["GreedySlice"]


class GreedySlice(Optionless, IndexedSlicer):
    """Takes items by score per token, from the highest, skipping those that do not fit any more.

    It is fast, but a long top hit can lose to many short weak ones. Items without tokens are always selected; at equal
    density the earlier item comes first.
    """

    __slots__ = ()

    def slice_indices(
        self, items: Sequence[ContextItem], scores: Sequence[float], budget: ContextBudget, /
    ) -> IndexSlice:
        """The selection, as indices of `items`."""
        if not items or budget.target_tokens <= 0:
            return IndexSlice([])
        tokens = [item.tokens for item in items]
        return IndexSlice(fill(by_density(scores, tokens), tokens, budget.target_tokens))
