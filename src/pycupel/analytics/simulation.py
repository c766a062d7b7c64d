"""Budget simulation: what another budget would select.

Scoring, deduplicating and sorting do not depend on the budget and are done once; only slicing and placing are repeated.

"More budget, more items" is a rule of thumb, not a law, even for `GreedySlice` and `KnapsackSlice`: a larger budget
may take one large item in place of a smaller one (BS-01).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from typing import NamedTuple

from pycupel.analytics.metrics import share_of
from pycupel.errors import (
    BudgetOverflowError,
    InvalidArgumentError,
    NonMonotonicSlicerError,
    PinnedExceedsBudgetError,
    digits,
)
from pycupel.model import ContextBudget, ContextItem
from pycupel.model.checks import checked_bool, checked_int, checked_iterable
from pycupel.pipeline import Pipeline, Policy, PresetName
from pycupel.pipeline.pipeline import Selection
from pycupel.pipeline.rank import Ranking

__all__ = ["BudgetPoint", "find_min_budget_for", "get_marginal_items", "sweep_budgets"]

# Sizes times items: how much an exhaustive search may slice.
_MAX_SLICED = 50_000_000


def get_marginal_items(
    pipeline: Policy | PresetName, items: Iterable[ContextItem], budget: ContextBudget | int, slack_tokens: int
) -> list[ContextItem]:
    """The items that are selected now and would not be with `slack_tokens` less, in placed order.

    Raises:
        NonMonotonicSlicerError: the slicer is a `QuotaSlice`, or says that this makes no sense with it.
        InvalidArgumentError: `slack_tokens` is negative.
    """
    runner, limits = Pipeline.from_policy(pipeline), ContextBudget.of(budget)
    if not getattr(runner.slicer, "supports_marginal_items", True):
        raise NonMonotonicSlicerError(
            "GetMarginalItems requires monotonic item inclusion. QuotaSlice produces non-monotonic inclusion as budget "
            "changes shift percentage allocations."
        )
    slack = checked_int("slack_tokens", slack_tokens)
    if slack < 0:
        raise InvalidArgumentError("slack_tokens must not be negative", argument="slack_tokens", value=slack)
    if slack == 0:
        return []
    ranking = runner.rank(items)
    primary = runner.select(ranking, limits).items
    # What the reduced run selects is crossed off, each occurrence of an object once.
    margin = Counter(map(id, runner.select(ranking, _reduced(limits, slack)).items))
    marginal: list[ContextItem] = []
    for item in primary:
        if margin[id(item)]:
            margin[id(item)] -= 1
        else:
            marginal.append(item)
    return marginal


def find_min_budget_for(
    pipeline: Policy | PresetName,
    items: Iterable[ContextItem],
    target_item: ContextItem,
    search_ceiling: int,
    *,
    base_budget: ContextBudget | int | None = None,
    exhaustive: bool = False,
) -> int | None:
    """A budget at which `target_item` is selected: the smallest that bisection finds up to `search_ceiling`, or None.

    A probe's `max_tokens` and `target_tokens` are both the size in question. With `base_budget` it has that budget's
    output reserve, reserved slots and safety margin, too. A probe that pinned items do not fit into counts as "not
    selected".

    Because inclusion is not monotonic, the answer may depend on the ceiling. `exhaustive=True` tries every size from
    below and finds the true minimum, at the price of one slicing for each. It stops with an error when sizes times
    items exceed 50 million.

    Raises:
        NonMonotonicSlicerError: the slicer has quotas, or says that this makes no sense with it.
        InvalidArgumentError: the target is none of the items, or larger than the ceiling; or an exhaustive search has
            tried as many sizes as it may.
    """
    runner = Pipeline.from_policy(pipeline)
    if not getattr(runner.slicer, "supports_min_budget", True):
        raise NonMonotonicSlicerError(
            "FindMinBudgetFor requires monotonic item inclusion. QuotaSlice and CountQuotaSlice produce non-monotonic "
            "inclusion as budget changes shift allocations. Use a GreedySlice or KnapsackSlice inner slicer for budget "
            "simulation."
        )
    candidates: list[ContextItem] = list(checked_iterable("items", "an iterable of ContextItem", items))
    if not any(item is target_item for item in candidates):
        raise InvalidArgumentError(
            "targetItem must be an element of items",
            argument="target_item",
            hint="A copy is another item: pass the object.",
        )
    ceiling = checked_int("search_ceiling", search_ceiling)
    if ceiling < target_item.tokens:
        raise InvalidArgumentError(
            "searchCeiling must be >= targetItem.Tokens", argument="search_ceiling", value=ceiling
        )
    if target_item.tokens < 0:
        return None
    ranking = runner.rank(candidates)
    base = None if base_budget is None else ContextBudget.of(base_budget, "base_budget")

    def is_selected(size: int) -> bool:
        selection = _select(runner, ranking, _probe(size, base))
        return selection is not None and any(item is target_item for item in selection.items)

    if checked_bool("exhaustive", exhaustive):
        return _smallest_size(is_selected, target_item.tokens, ceiling, len(candidates))
    low, high = target_item.tokens, ceiling
    while high - low > 1:
        middle = low + (high - low) // 2
        if is_selected(middle):
            high = middle
        else:
            low = middle
    # The search has not tried the lower bound itself, if it still is the first one (BS-03).
    if low == target_item.tokens and is_selected(low):
        return low
    return high if is_selected(high) else None


def _smallest_size(is_selected: Callable[[int], bool], smallest: int, ceiling: int, candidates: int) -> int | None:
    """The first size that selects the target, as far as may be tried."""
    limit = min(ceiling, smallest + _MAX_SLICED // candidates)
    found = next((size for size in range(smallest, limit + 1) if is_selected(size)), None)
    if found is None and limit < ceiling:
        raise InvalidArgumentError(
            f"no size from {digits(smallest)} to {digits(limit)} selects the target, and an exhaustive search among {candidates} items "
            f"ends there; lower search_ceiling to {digits(limit)}, or leave exhaustive out",
            argument="search_ceiling",
            value=ceiling,
        )
    return found


class BudgetPoint(NamedTuple):
    """One point of a curve: what a budget selects.

    `utilization` is relative to `max_tokens`; `score` adds up the scores of the items that are not pinned. At an
    infeasible point, whose budget is too small for what is pinned or required, there is no selection.
    """

    budget: ContextBudget
    feasible: bool
    items: tuple[ContextItem, ...] = ()
    tokens: int = 0
    utilization: float = 0.0
    score: float = 0.0


def sweep_budgets(
    pipeline: Policy | PresetName, items: Iterable[ContextItem], budgets: Iterable[ContextBudget | int]
) -> tuple[BudgetPoint, ...]:
    """The whole curve: one point for each budget, in the order given. An int is a budget of that size."""
    runner = Pipeline.from_policy(pipeline)
    ranking = runner.rank(items)
    points: list[BudgetPoint] = []
    for each in checked_iterable("budgets", "an iterable of ContextBudget or int", budgets):
        budget = ContextBudget.of(each, "every budget in budgets")
        selection = _select(runner, ranking, budget)
        points.append(BudgetPoint(budget, feasible=False) if selection is None else _point(budget, selection))
    return tuple(points)


def _point(budget: ContextBudget, selection: Selection) -> BudgetPoint:
    chosen = selection.items
    tokens = sum(item.tokens for item in chosen)
    score = 0.0
    for i in selection.placement.kept[len(selection.ranking.classified.pinned) :]:
        score += selection.placement.scores[i]
    return BudgetPoint(budget, True, tuple(chosen), tokens, share_of(tokens, budget.max_tokens), score)


def _select(pipeline: Pipeline, ranking: Ranking, budget: ContextBudget) -> Selection | None:
    """None if the budget is too small for what cannot be dropped (BS-06). Any other error is the caller's to see."""
    try:
        return pipeline.select(ranking, budget)
    except (PinnedExceedsBudgetError, BudgetOverflowError):
        return None


def _reduced(budget: ContextBudget, slack: int) -> ContextBudget:
    """The budget with so much less, never below zero (BS-11)."""
    return budget.resized(max(0, budget.max_tokens - slack), max(0, budget.target_tokens - slack))


def _probe(size: int, base: ContextBudget | None) -> ContextBudget:
    return ContextBudget(size) if base is None else base.resized(size)
