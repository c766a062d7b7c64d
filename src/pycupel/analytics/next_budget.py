"""Find the next larger budget that selects an item, for `SelectionReport.why`.

A larger budget may drop an item that a smaller one selects, so bisection finds such a budget, but not always the
smallest. For `GreedySlice`, the smallest is computed.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import takewhile
from typing import NamedTuple

from pycupel.analytics.simulation import bisected
from pycupel.errors import BudgetOverflowError
from pycupel.kernels.fill import by_density, capacities_for
from pycupel.model import ContextBudget, ContextItem
from pycupel.model.percent import enlarged
from pycupel.pipeline import Pipeline, Policy
from pycupel.pipeline.rank import Ranking
from pycupel.slicers import GreedySlice

__all__ = ["NextBudget", "find_next_budget"]

# The work limit for the smallest budget: items times tokens. It takes about half a second.
_MAX_WORK = 10_000_000_000


class NextBudget(NamedTuple):
    """A budget that selects an item."""

    size: int
    """Its `max_tokens` and `target_tokens`."""

    is_smallest: bool
    """Whether no other budget between it and the current one selects the item."""


def find_next_budget(
    policy: Policy, items: Sequence[ContextItem], target: ContextItem, budget: ContextBudget
) -> NextBudget | None:
    """Find a larger budget that selects `target`, an object from `items` that `budget` leaves out.

    Returns:
        The budget, with the reserves of `budget`. None if no budget selects the item, if the policy shortens, or if its
        slicer has quotas or `supports_min_budget = False`.
    """
    pipeline = Pipeline.from_policy(policy)
    if pipeline.shorten is not None or not getattr(pipeline.slicer, "supports_min_budget", True):
        return None
    ranking = pipeline.rank(items)

    def room(size: int) -> int:
        return _room(budget.resized(size), ranking)

    def is_selected(size: int) -> bool:
        try:
            selected = pipeline.select(ranking, budget.resized(size)).items
        except BudgetOverflowError:
            # A slicer of somebody else selects too much for this size.
            return False
        return any(item is target for item in selected)

    now, ceiling = _room(budget, ranking), _ceiling(items, budget)
    if room(ceiling) <= now or not is_selected(ceiling):
        return None
    # Budgets are compared by the room that they leave, because the target may be less than the maximum.
    low = bisected(lambda size: room(size) > now, -1, ceiling) - 1
    found = bisected(is_selected, low, ceiling)
    needed = _smallest_room(pipeline, ranking, target, now, room(found))
    if needed is None:
        return NextBudget(found, is_smallest=False)
    return NextBudget(bisected(lambda size: room(size) >= needed, low, found), is_smallest=True)


def _room(budget: ContextBudget, ranking: Ranking) -> int:
    """Return the tokens that a budget leaves for the items that compete."""
    return budget.effective(ranking.classified.pinned_tokens).target_tokens


def _ceiling(items: Sequence[ContextItem], budget: ContextBudget) -> int:
    """Return a budget that holds everything, unless its safety margin leaves nothing."""
    # Without any room, slicers do not even select items without tokens.
    everything = max(1, sum([max(0, item.tokens) for item in items]))
    return budget.total_reserved + enlarged(everything, budget.estimation_safety_margin_percent)


def _smallest_room(pipeline: Pipeline, ranking: Ranking, target: ContextItem, above: int, ceiling: int) -> int | None:
    """Return the smallest room above a number that selects the item; None if it cannot be computed quickly."""
    slicer, tokens = pipeline.slicer, [item.tokens for item in ranking.items]
    # By score alone, the best item comes first anyway; otherwise, which one does depends on the room.
    if not isinstance(slicer, GreedySlice) or (slicer.best_first and slicer.cost_exponent):
        return None
    # Without deduplication, one object may compete several times.
    if not pipeline.deduplication or len(tokens) * ceiling > _MAX_WORK:
        return None
    order = by_density(ranking.scores, tokens, slicer.cost_exponent)
    before = takewhile(lambda i: ranking.items[i] is not target, order)
    larger = capacities_for(target.tokens, [tokens[i] for i in before], ceiling) >> (above + 1)
    # The lowest bit that is set.
    return above + (larger & -larger).bit_length()
