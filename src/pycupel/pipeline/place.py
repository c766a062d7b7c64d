"""Stage 6, Place: merge with the pinned items, handle overflow, put into order."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import compress
from typing import TYPE_CHECKING, NamedTuple

from pycupel.diagnostics import OverflowEvent
from pycupel.errors import BudgetOverflowError
from pycupel.kernels.order import maker
from pycupel.model import ContextItem, OverflowStrategy
from pycupel.placers import make_lineup, place_by_index
from pycupel.protocols import Placer
from pycupel.text import quantity

if TYPE_CHECKING:
    from pycupel.pipeline.record import Selection

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


def place_items(selection: Selection, strategy: OverflowStrategy, placer: Placer) -> Placement:
    """Merge what was sliced with the pinned items, handle overflow, and let the placer order the items."""
    ranking, sliced, budget = selection.ranking, selection.sliced, selection.budget
    pinned, chosen, versions = ranking.classified.pinned, sliced.selected, sliced.versions
    # Step 1: merge.
    merged = list(compress(ranking.items, sliced.is_selected))
    merged_scores = list(compress(ranking.scores, sliced.is_selected))
    if versions:
        merged = [versions.get(i, ranking.items[i]) for i in chosen]
    if pinned:
        merged, merged_scores = [*pinned, *merged], [PINNED_SCORE] * len(pinned) + merged_scores
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
    def positions() -> list[int]:
        # Numbers that sort both as in the input: a pinned item comes after so many scoreable ones.
        before, order = ranking.classified.pinned_after, ranking.order
        return [*(2 * count for count in before), *(2 * order[i] + 1 for i in chosen)]

    among = None if len(kept) == len(merged) else kept
    placed = place_by_index(placer, make_lineup((merged, merged_scores, positions)), among)
    return _placement((merged, merged_scores, tokens, kept, placed, overflow))


def truncate(tokens: Sequence[int], pinned: int, limit: int) -> list[int]:
    """Keep the pinned items, then whatever fits, in order: a smaller item may stay after a larger one was dropped."""
    kept = list(range(pinned))
    current = sum(tokens[:pinned])
    for i in range(pinned, len(tokens)):
        if current + tokens[i] <= limit:
            kept.append(i)
            current += tokens[i]
    return kept
