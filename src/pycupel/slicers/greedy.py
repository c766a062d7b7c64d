"""GreedySlice: take items by score per token, or by score, as long as they fit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from pycupel.errors import SlicerConfigError
from pycupel.kernels.fill import best_fitting, by_density, fill
from pycupel.model import ContextBudget, ContextItem
from pycupel.model.checks import FLAG, number
from pycupel.slicers._base import NO_VERSIONS, IndexedSlicer, IndexSlice, index_slice
from pycupel.values import brief_repr, check_fields, sealed


@sealed
@dataclass(frozen=True, slots=True, repr=False)
class GreedySlice(IndexedSlicer):
    """Takes items by `score / tokens**cost_exponent`, highest first, as long as they fit.

    The default is the specification's score per token: a long top hit can lose to many short, weak items. Items
    without tokens always fit. Ties go to the earlier item.

    Raises:
        TypeError: an argument has the wrong type.
        SlicerConfigError: `cost_exponent` is not a number from 0 to 2.
    """

    cost_exponent: float = field(default=1.0, metadata=number(low=0.0, high=2.0))
    """How much the tokens count, from 0 to 2: 1 is score per token, 0 is the order of the scores alone."""

    best_first: bool = field(default=False, metadata=FLAG)
    """Whether the item with the highest score that fits is taken before anything else."""

    def __post_init__(self) -> None:
        check_fields(self, SlicerConfigError)

    __repr__ = brief_repr

    def _slice_indices(
        self, items: Sequence[ContextItem], scores: Sequence[float], budget: ContextBudget, /
    ) -> IndexSlice:
        """Return the selection as indices of `items`."""
        if not items or budget.target_tokens <= 0:
            return IndexSlice([])
        tokens = [item.tokens for item in items]
        order = by_density(scores, tokens, self.cost_exponent)
        # By score alone, the best item comes first anyway, unless there are items without tokens.
        if self.best_first and (self.cost_exponent or min(tokens) <= 0):
            order = best_fitting(scores, tokens, budget.target_tokens, order)
        return index_slice((fill(order, tokens, budget.target_tokens), (), (), NO_VERSIONS, ()))
