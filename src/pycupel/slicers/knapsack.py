"""The combination with the highest value: of items in `KnapsackSlice`, of versions of items in `VersionSlice`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import isnan
from typing import NamedTuple

from pycupel.errors import TableTooLargeError
from pycupel.kernels.knapsack import StateLimitError, solve
from pycupel.kernels.order import descending, fill
from pycupel.kernels.versions import choose_in_order, choose_versions
from pycupel.model import ContextItem
from pycupel.model.checks import BOOLEAN, POSITIVE, or_none
from pycupel.slicers._base import NO_VERSIONS, IndexedSlicer, IndexSlice, SliceOffer, index_slice
from pycupel.text import number_text
from pycupel.values import record_repr, sealed

# The kernels take integer values: so many for a score of 1.
_UNITS = 10_000
_MAX_CELLS = 50_000_000


@sealed
@dataclass(frozen=True, slots=True)
class KnapsackSlice(IndexedSlicer):
    """Selects the combination of items with the highest total score.

    The specification has two surprises. First, an item with a score below 0.0001 is never selected, even if it fits,
    and `RecencyScorer` and `PriorityScorer` give the lowest of several items 0; `fill_free=True` adds what still fits.
    Second, tokens are counted in buckets: with the default of 100, nothing fits into less than 100, and an item of 101
    tokens costs 200; `bucket_size=1` is exact.
    """

    # KN-01, KN-02, KN-03

    bucket_size: int = field(default=100, metadata=POSITIVE)
    """Tokens in a bucket. Items are rounded up to whole buckets, the budget is rounded down."""

    max_cells: int | None = field(default=_MAX_CELLS, metadata=or_none(POSITIVE))
    """The specification's limit on candidates times buckets; None for no limit.

    Within it there is always a result, in less time than the specification's table takes. Few selections need a table,
    so lifting the limit usually costs nothing.
    """

    max_states: int = field(default=2_000_000, metadata=POSITIVE)
    """How many partial selections may be tried if a table would have more than `max_cells` cells, or more than 50
    million if that is None.
    """

    fill_free: bool = field(default=False, metadata=BOOLEAN)
    """Whether to add whatever still fits afterwards, in the order of the candidates."""

    __repr__ = record_repr

    def _slice_indices(self, offer: SliceOffer, /) -> IndexSlice:
        items, scores, budget = offer
        if not items or budget.target_tokens <= 0:
            return IndexSlice([])
        tokens = [item.tokens for item in items]
        everything = range(len(items))
        free = [i for i in everything if tokens[i] == 0]
        candidates = everything if min(tokens) > 0 else [i for i in everything if tokens[i] > 0]
        capacity = budget.target_tokens // self.bucket_size
        selected = free
        if candidates and capacity:
            size = self.bucket_size
            weights = [-(-tokens[i] // size) for i in candidates]
            values = _integer_values([scores[i] for i in candidates])
            # The table's reconstruction runs from the last item to the first.
            selected = free + [candidates[i] for i in reversed(self._solve(weights, values, capacity))]
        if self.fill_free:
            taken = set(selected)
            remaining = budget.target_tokens - sum(tokens[i] for i in selected)
            selected = selected + fill((i for i in candidates if i not in taken), tokens, remaining)
        return index_slice((selected, (), (), NO_VERSIONS, ()))

    def _notes(self, offer: SliceOffer) -> dict[int, str]:
        """Note scores that round to zero, and tokens that are rounded up."""
        worthless = f"a score below {1 / _UNITS:g} is worth nothing to a knapsack"
        rounded = f"tokens are rounded up to buckets of {number_text(self.bucket_size)}"
        return {
            i: worthless if value == 0 else rounded
            for i, value in enumerate(_integer_values(offer.scores))
            if value == 0 or (self.bucket_size > 1 and offer.items[i].tokens > 0)
        }

    def _advice(self, offer: SliceOffer, is_selected: Sequence[int]) -> Iterator[str]:
        """Note why nothing was selected, although something fits."""
        target = offer.budget.target_tokens
        fitting = [i for i, item in enumerate(offer.items) if 0 < item.tokens <= target]
        if not fitting or any(is_selected[i] for i in fitting):
            return
        if any(_integer_values([offer.scores[i] for i in fitting])):
            yield (
                f"nothing fits into {number_text(target)} tokens if tokens are counted in buckets of "
                f"{number_text(self.bucket_size)}; use KnapsackSlice(bucket_size=1)"
            )
        else:
            yield (
                f"nothing was selected, because no item that fits scores {1 / _UNITS:g} or more; "
                "use KnapsackSlice(fill_free=True), or GreedySlice()"
            )

    def _solve(self, weights: Sequence[int], values: Sequence[int], capacity: int) -> list[int]:
        cells = len(weights) * (capacity + 1)
        if self.max_cells is not None and cells > self.max_cells:
            raise TableTooLargeError(len(weights), capacity, cells, "max_cells", self.max_cells)
        try:
            return solve(weights, values, capacity, self.max_states, self.max_cells or _MAX_CELLS)
        except StateLimitError as error:
            raise TableTooLargeError(len(weights), capacity, error.states, "max_states", self.max_states) from None


def _integer_values(scores: Sequence[float]) -> list[int]:
    """Convert scores to units of 1/10 000, never negative.

    NaN counts as 0, and plus infinity as more than all finite scores together (SC-03).
    """
    try:
        # NaN is not greater than 0, and int() does not accept infinity.
        return [int(score * _UNITS) if score > 0.0 else 0 for score in scores]
    except OverflowError:
        infinity = float("inf")
        scaled = [score * _UNITS for score in scores]
        finite = [int(value) if 0.0 < value < infinity else 0 for value in scaled]
        beyond = 1 + sum(finite)
        return [beyond if value == infinity else units for value, units in zip(scaled, finite, strict=True)]


# Scores above this count as this.
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

    def _slice_indices(self, offer: SliceOffer, /) -> IndexSlice:
        return self.slice_required(offer, ()) if offer.items and offer.budget.target_tokens > 0 else IndexSlice([])

    def slice_required(self, offer: SliceOffer, required: Sequence[int]) -> IndexSlice:
        """Return the selection, with versions of the required items, even if they do not fit."""
        items, scores, capacity = offer.items, offer.scores, offer.budget.target_tokens
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
