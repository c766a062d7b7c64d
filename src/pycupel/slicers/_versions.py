"""Choose among versions of items, in place of a greedy or knapsack slicer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isnan
from typing import NamedTuple

from pycupel.kernels.order import descending
from pycupel.kernels.versions import choose_in_order, choose_versions
from pycupel.model import ContextBudget, ContextItem
from pycupel.slicers._base import IndexedSlicer, IndexSlice

# The kernel takes integer values.
_UNITS = 10_000
_HIGHEST = 1e9
# Far more than any units, so that prices are still floats.
_LARGEST = 1e300


class ItemVersions(NamedTuple):
    """The shorter versions of an item with the units of each, and those of the whole item."""

    shorter: Sequence[ContextItem]
    units: Sequence[float]
    whole: float = 1.0


_WHOLE = ItemVersions((), ())


class VersionSlice(IndexedSlicer):
    """Chooses at most one version of each item: the whole, a shorter one, or none.

    A version is worth `units * (1/2 + score/2)`, unless the selection follows the scores: then items are taken in that
    order, each in the longest version that still fits. If everything fits, everything stays whole. The item with the
    best score that fits in some version is always selected.
    """

    __slots__ = ("by_id", "by_score")

    supports_marginal_items = False
    supports_min_budget = False

    def __init__(self, by_id: Mapping[int, ItemVersions], *, by_score: bool = False) -> None:
        """Store the versions of items, by the id of the item, and whether to follow the scores."""
        self.by_id = by_id
        self.by_score = by_score

    def _slice_indices(
        self, items: Sequence[ContextItem], scores: Sequence[float], budget: ContextBudget, /
    ) -> IndexSlice:
        if not items or budget.target_tokens <= 0:
            return IndexSlice([])
        return self.slice_required(items, scores, budget, ())

    def slice_required(
        self, items: Sequence[ContextItem], scores: Sequence[float], budget: ContextBudget, required: Sequence[int]
    ) -> IndexSlice:
        """Return the selection, with versions of the required items, even if they do not fit."""
        capacity = budget.target_tokens
        if sum([item.tokens for item in items]) <= capacity:
            return IndexSlice(list(range(len(items))))
        known = [self.by_id.get(id(item), _WHOLE) for item in items]
        weights = [
            [item.tokens, *[each.tokens for each in own.shorter]] for item, own in zip(items, known, strict=True)
        ]
        chosen, notes = self._choose(known, weights, scores, capacity, required)
        selected = [i for i, k in enumerate(chosen) if k >= 0]
        versions = {i: known[i].shorter[k - 1] for i, k in enumerate(chosen) if k > 0}
        for i in required:
            if chosen[i] < 0:
                # Not even its shortest version fits.
                selected.append(i)
                if known[i].shorter:
                    versions[i] = min(known[i].shorter, key=lambda version: version.tokens)
        return IndexSlice(selected, versions=versions, notes=notes)

    def _choose(
        self,
        known: Sequence[ItemVersions],
        weights: Sequence[Sequence[int]],
        scores: Sequence[float],
        capacity: int,
        required: Sequence[int],
    ) -> tuple[list[int], tuple[str, ...]]:
        order = descending(scores)
        if self.by_score:
            return choose_in_order(weights, order, capacity, required), ()
        values = [
            [value_of(units, score) for units in (own.whole, *own.units)]
            for score, own in zip(scores, known, strict=True)
        ]
        best = next((i for i in order if min(weights[i]) <= capacity), None)
        choice = choose_versions(weights, values, capacity, {*required, *(() if best is None else (best,))})
        if choice.value * 1000 >= choice.bound * 999:
            return choice.versions, ()
        share = choice.value / choice.bound
        note = f"the chosen versions are worth at least {share:.1%} of the best choice; the search stopped early"
        return choice.versions, (note,)


def value_of(units: float, score: float) -> int:
    """Return a value of at least 1, so that an item without units can fill free room. NaN counts as 0."""
    rated = 0.0 if isnan(score) else min(max(score, 0.0), _HIGHEST)
    return max(1, round(min(_UNITS * units * (0.5 + 0.5 * rated), _LARGEST)))
