"""StreamSlice: select batch by batch, as items arrive."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from pycupel.errors import SlicerConfigError
from pycupel.kernels.order import descending, fill
from pycupel.kernels.scores import SortedSums
from pycupel.model import ContextBudget, ContextItem
from pycupel.model.checks import BOOLEAN, POSITIVE
from pycupel.slicers._base import IndexedSlicer, IndexSlice
from pycupel.values import check_fields, record_repr, sealed

# Up to this size, walking through the selection for each batch is faster.
_MANY_BATCHES = 64

_Key = TypeVar("_Key")


@sealed
@dataclass(frozen=True, slots=True)
class StreamSlice(IndexedSlicer):
    """Takes what fits from each batch, by score (not score per token), until the budget is full.

    Earlier batches win over better items that come later, and once a batch has filled the budget, the rest is ignored,
    even items without tokens. (A pipeline sorts all items by score first, so nothing better comes later.)

    Raises:
        TypeError: an argument has the wrong type.
        SlicerConfigError: `batch_size` is not positive.
    """

    batch_size: int = field(default=32, metadata=POSITIVE)
    """The number of items in a batch."""

    replace: bool = field(default=False, kw_only=True, metadata=BOOLEAN)
    """Whether each batch competes with the selection so far: both are sorted by score together, and what fits stays.

    A later item may then replace earlier ones with lower scores.
    """

    __repr__ = record_repr

    def __post_init__(self) -> None:
        check_fields(self, SlicerConfigError)

    def _slice_indices(
        self, items: Sequence[ContextItem], scores: Sequence[float], budget: ContextBudget, /
    ) -> IndexSlice:
        if not items or budget.target_tokens <= 0:
            return IndexSlice([])
        tokens = [item.tokens for item in items]
        # Distributing one sorted list sorts all batches.
        ranked = descending(scores)
        batches: list[list[int]] = [[] for _ in range(0, len(ranked), self.batch_size)]
        for i in ranked:
            batches[i // self.batch_size].append(i)
        if self.replace:
            return IndexSlice(_compete(batches, ranked, tokens, budget.target_tokens))
        selected: list[int] = []
        remaining = budget.target_tokens
        for batch in batches:
            taken = fill(batch, tokens, remaining)
            selected += taken
            remaining -= sum(tokens[i] for i in taken)
            if remaining <= 0:
                break
        return IndexSlice(selected)

    def _notes(self, items: Sequence[ContextItem], scores: Sequence[float], budget: ContextBudget) -> dict[int, str]:  # noqa: ARG002
        """Note items without tokens, which are left out only if the stream ended before them."""
        if self.replace or budget.target_tokens <= 0:
            return {}
        note = "the stream ended when an earlier batch had filled the budget"
        return {i: note for i, item in enumerate(items) if item.tokens == 0}


def _compete(batches: Sequence[list[int]], ranked: Sequence[int], tokens: Sequence[int], target: int) -> list[int]:
    """Return the best items of all batches."""
    # Ranks are integers without ties, so that the order of equal scores is that of `ranked`.
    rank = [0] * len(ranked)
    for position, i in enumerate(ranked):
        rank[i] = position
    if len(batches) > _MANY_BATCHES and min(tokens) >= 0:
        best = SortedSums[int]()
        for batch in batches:
            compete(best, [(rank[i], tokens[i]) for i in batch], target)
        return [ranked[position] for position in best]
    selected: list[int] = []
    for batch in batches:
        selected = fill(sorted(selected + batch, key=rank.__getitem__), tokens, target)
    return selected


def compete(selected: SortedSums[_Key], batch: Iterable[tuple[_Key, int]], target: int) -> list[_Key]:
    """Let a batch compete with the selection, as if both were sorted together and the target were filled again.

    Filling again would only find which new items fit after those ranked before them, and which old ones no longer fit:
    the first whose running sum exceeds the target, and so on. So that is computed directly.

    Args:
        selected: The tokens of the selected items, none negative, by rank. It is changed.
        batch: Ranks and tokens of the new items, the best first.
        target: The maximum number of selected tokens.

    Returns:
        The ranks that are not selected: dropped old ones, and rejected new ones.
    """
    out: list[_Key] = []

    def drop_first_above() -> None:
        worst = selected.first_above(target)
        selected.remove(worst)
        out.append(worst)

    for rank, tokens in batch:
        while (before := selected.before(rank)) > target:
            drop_first_above()
        if before + tokens <= target:
            selected.add(rank, tokens)
        else:
            out.append(rank)
    while selected.total > target:
        drop_first_above()
    return out
