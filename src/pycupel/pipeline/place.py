"""Stage 6, Place: merge with the pinned items, handle overflow, put into order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from pycupel.diagnostics import OverflowEvent
from pycupel.errors import BudgetOverflowError
from pycupel.kernels.order import maker
from pycupel.model import ContextBudget, ContextItem, OverflowStrategy
from pycupel.pipeline.classify import Classified
from pycupel.placers import place_by_index
from pycupel.protocols import Placer
from pycupel.text import quantity

PINNED_SCORE = 1.0


class Placement(NamedTuple):
    """The result of the Place stage."""

    items: list[ContextItem]
    """The pinned and the selected items, merged, pinned ones first."""

    scores: list[float]
    """Their scores; 1.0 for a pinned item."""

    tokens: list[int]
    """Their tokens."""

    kept: Sequence[int]
    """The indices in `items` that truncation kept, ascending; all of them if nothing was truncated."""

    order: list[int]
    """The same indices, in placed order."""

    overflow: OverflowEvent | None
    """The overflow that was accepted, if there was one."""

    def __repr__(self) -> str:
        return f"<Placement: {quantity(len(self.order), 'item')}>"


_placement = maker(Placement)


def place_items(
    pinned: Sequence[ContextItem],
    sliced: list[ContextItem],
    scores: list[float],
    budget: ContextBudget,
    strategy: OverflowStrategy,
    placer: Placer,
    positions: Sequence[int] | None = None,
) -> Placement:
    """Merge, handle overflow, and let the placer order the items.

    `positions` are numbers that sort pinned and sliced items as in the input, for a placer that reads them.
    """
    # Step 1: merge.
    merged = [*pinned, *sliced] if pinned else sliced
    merged_scores = [PINNED_SCORE] * len(pinned) + scores if pinned else scores
    # Step 2: detect and handle overflow.
    tokens = [item.tokens for item in merged]
    kept: Sequence[int] = range(len(merged))
    overflow = None
    merged_tokens, limit = sum(tokens), budget.selection_limit
    if merged_tokens > limit:
        if strategy is OverflowStrategy.THROW:
            raise BudgetOverflowError(merged_tokens, limit)
        if strategy is OverflowStrategy.TRUNCATE:
            kept = truncate(tokens, len(pinned), limit)
        else:
            overflow = OverflowEvent(merged_tokens - limit, tuple(merged), budget)
    # Step 3: let the placer order the items.
    if len(kept) == len(merged):
        order = place_by_index(placer, merged, merged_scores, positions)
        return _placement((merged, merged_scores, tokens, kept, order, overflow))
    kept_positions = None if positions is None else [positions[i] for i in kept]
    order = place_by_index(placer, [merged[i] for i in kept], [merged_scores[i] for i in kept], kept_positions)
    return _placement((merged, merged_scores, tokens, kept, [kept[i] for i in order], overflow))


def truncate(tokens: Sequence[int], pinned: int, limit: int) -> list[int]:
    """Keep the pinned items, then whatever fits, in order: a smaller item may stay after a larger one was dropped."""
    kept = list(range(pinned))
    current = sum(tokens[:pinned])
    for i in range(pinned, len(tokens)):
        if current + tokens[i] <= limit:
            kept.append(i)
            current += tokens[i]
    return kept


def input_positions(classified: Classified, chosen: Sequence[int]) -> list[int]:
    """Return sort keys that put the pinned items and the chosen indices of `classified.scoreable` into input order."""
    return [*(2 * before for before in classified.pinned_after), *(2 * i + 1 for i in chosen)]
