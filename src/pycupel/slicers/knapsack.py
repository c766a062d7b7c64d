"""KnapsackSlice: the combination with the highest total score."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from pycupel.errors import SlicerConfigError, TableTooLargeError
from pycupel.kernels.knapsack import StateLimitError, solve
from pycupel.kernels.order import fill
from pycupel.model import ContextBudget, ContextItem
from pycupel.model.checks import BOOLEAN, POSITIVE, or_none
from pycupel.slicers._base import NO_VERSIONS, IndexedSlicer, IndexSlice, index_slice
from pycupel.text import number_text
from pycupel.values import check_fields, record_repr, sealed

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

    Raises:
        TypeError: an argument has the wrong type.
        SlicerConfigError: a number is not positive.
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

    def __post_init__(self) -> None:
        check_fields(self, SlicerConfigError)

    def _slice_indices(
        self, items: Sequence[ContextItem], scores: Sequence[float], budget: ContextBudget, /
    ) -> IndexSlice:
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

    def _notes(self, items: Sequence[ContextItem], scores: Sequence[float], budget: ContextBudget) -> dict[int, str]:  # noqa: ARG002
        """Note scores that round to zero, and tokens that are rounded up."""
        worthless = f"a score below {1 / _UNITS:g} is worth nothing to a knapsack"
        rounded = f"tokens are rounded up to buckets of {number_text(self.bucket_size)}"
        values = _integer_values(scores)
        return {
            i: worthless if value == 0 else rounded
            for i, value in enumerate(values)
            if value == 0 or (self.bucket_size > 1 and items[i].tokens > 0)
        }

    def _advice(
        self, items: Sequence[ContextItem], scores: Sequence[float], budget: ContextBudget, is_selected: Sequence[int]
    ) -> Iterator[str]:
        """Note why nothing was selected, although something fits."""
        target = budget.target_tokens
        fitting = [i for i, item in enumerate(items) if 0 < item.tokens <= target]
        if not fitting or any(is_selected[i] for i in fitting):
            return
        if any(_integer_values([scores[i] for i in fitting])):
            yield (
                f"nothing fits into {number_text(target)} tokens if tokens are counted in buckets of "
                f"{number_text(self.bucket_size)}; "
                "use KnapsackSlice(bucket_size=1)"
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
