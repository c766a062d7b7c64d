"""Budget simulation: what another budget would select.

Scoring, deduplicating and sorting do not depend on the budget and are done once; only slicing and placing are repeated.

A larger budget does not always select more, even with `GreedySlice` and `KnapsackSlice`: it may take one large item
instead of a smaller one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from itertools import takewhile
from typing import Any, NamedTuple, cast

from pycupel.analytics.measures import fraction
from pycupel.diagnostics.report import refuse_history
from pycupel.errors import BudgetOverflowError, InvalidArgumentError, NonMonotonicSlicerError, PinnedExceedsBudgetError
from pycupel.kernels.order import by_density, capacities_for
from pycupel.model import ContextBudget, ContextItem
from pycupel.model.budget import enlarged
from pycupel.model.checks import checked_bool, checked_count, checked_int, checked_iterable, wrong_type
from pycupel.pipeline import Pipeline, Policy, PresetName, Ranking, Selection
from pycupel.pipeline.policy import as_policy
from pycupel.slicers import GreedySlice
from pycupel.text import number_text
from pycupel.values import record_repr

# The work limit of an exhaustive search: sizes times items.
_MAX_SLICED = 50_000_000

# The work limit for the next larger budget: items times tokens. It takes about half a second.
_MAX_WORK = 10_000_000_000

# The limits for the first budgets of all items: candidates, and pieces in all steps.
_MAX_FIRST, _MAX_PIECES = 1_000, 1_000_000


def get_marginal_items(
    pipeline: Policy | PresetName,
    items: Iterable[ContextItem],
    budget: ContextBudget | int,
    slack_tokens: int,
    *,
    query: str | None = None,
) -> list[ContextItem]:
    """Return the items that a budget `slack_tokens` smaller would lose, in placed order.

    Args:
        pipeline: The policy to simulate: a `Pipeline`, a `Policy` or the name of a preset.
        items: The candidates, in any iterable.
        budget: The limits now, or just a number of tokens.
        slack_tokens: How much to subtract from `max_tokens` and `target_tokens`. With 0, the result is empty, and
            nothing is run.
        query: The question that the selection should be relevant to, for scorers that take one.

    Raises:
        NonMonotonicSlicerError: the slicer is a `QuotaSlice`, or has `supports_marginal_items = False`.
        InvalidArgumentError: `slack_tokens` is negative, or there is no such preset.
        PinnedExceedsBudgetError: the pinned items do not fit into the reduced budget.
    """
    runner = _monotonic(
        pipeline,
        "supports_marginal_items",
        "GetMarginalItems requires monotonic item inclusion. QuotaSlice produces non-monotonic inclusion as budget "
        "changes shift percentage allocations.",
    )
    # An unsuitable slicer is named before any mistake in the arguments, the budget's included (BS-14).
    limits = ContextBudget.of(budget)
    slack = checked_count("slack_tokens", slack_tokens, InvalidArgumentError)
    if slack == 0:
        return []
    ranking = _ranked(runner, items, query)
    primary = runner.select(ranking, limits).items
    # The budget is never reduced below zero (BS-11).
    reduced = limits.resized(max(0, limits.max_tokens - slack), max(0, limits.target_tokens - slack))
    # Each occurrence of an object in the reduced selection cancels one in the full selection (BS-13).
    margin = Counter(map(id, runner.select(ranking, reduced).items))
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
    query: str | None = None,
) -> int | None:
    """Find the smallest budget up to `search_ceiling` that selects `target_item`, by bisection; None if there is none.

    A larger budget may drop an item that a smaller one selects. So the result selects the item, but may depend on the
    ceiling; `exhaustive=True` finds the true minimum.

    Args:
        pipeline: The policy to simulate: a `Pipeline`, a `Policy` or the name of a preset.
        items: The candidates, in any iterable.
        target_item: The item to select: an object from `items`.
        search_ceiling: The largest budget to try.
        base_budget: Provides the output reserve, reserved slots and safety margin of the budgets to try. By default
            they have none. Their `max_tokens` and `target_tokens` are both the size to try.
        exhaustive: Whether to try every size, smallest first; each takes one slicing. With N items, at most
            50 million / N sizes.
        query: The question that the selection should be relevant to, for scorers that take one.

    Raises:
        NonMonotonicSlicerError: the slicer has quotas, or has `supports_min_budget = False`.
        InvalidArgumentError: the target is not one of the items, or larger than the ceiling; or there is no such
            preset; or an exhaustive search has tried as many sizes as it may.
    """
    runner = _monotonic(
        pipeline,
        "supports_min_budget",
        "FindMinBudgetFor requires monotonic item inclusion. QuotaSlice and CountQuotaSlice produce non-monotonic "
        "inclusion as budget changes shift allocations. Use a GreedySlice or KnapsackSlice inner slicer for budget "
        "simulation.",
    )
    candidates: list[ContextItem] = list(checked_iterable("items", "an iterable of ContextItem", items))
    if not any(item is target_item for item in candidates):
        if not isinstance(cast(Any, target_item), ContextItem):
            raise wrong_type("target_item", "a ContextItem from items", target_item)
        raise InvalidArgumentError(
            "target_item must be an element of items",
            argument="target_item",
            value=target_item,
            hint="An equal copy is another item: pass the same object.",
        )
    # This also checks that all candidates are items.
    ranking = _ranked(runner, candidates, query)
    ceiling = checked_int("search_ceiling", search_ceiling)
    smallest = target_item.tokens
    if ceiling < smallest:
        raise InvalidArgumentError(
            "search_ceiling must be >= target_item.tokens", argument="search_ceiling", value=ceiling
        )
    if smallest < 0:
        return None
    base = None if base_budget is None else ContextBudget.of(base_budget, "base_budget")

    def is_selected(size: int) -> bool:
        budget = ContextBudget(size) if base is None else base.resized(size)
        return _selects(runner, ranking, budget, target_item)

    if checked_bool("exhaustive", exhaustive):
        return _smallest_size(is_selected, smallest, ceiling, len(candidates))
    # Bisect as if every size above one that selects the target did, too.
    found = bisected(is_selected, smallest, ceiling)
    # If the lower bound never moved, it has not been tried yet (BS-03).
    if found <= smallest + 1 and is_selected(smallest):
        return smallest
    return found if is_selected(found) else None


def bisected(holds: Callable[[int], bool], low: int, high: int) -> int:
    """Bisect from `low`, for which it should not hold, to `high`, for which it should. Neither of them is tried."""
    while high - low > 1:
        middle = low + (high - low) // 2
        if holds(middle):
            high = middle
        else:
            low = middle
    return high


def _smallest_size(is_selected: Callable[[int], bool], smallest: int, ceiling: int, candidates: int) -> int | None:
    """Return the first size that selects the target, within the work limit."""
    limit = min(ceiling, smallest + _MAX_SLICED // candidates)
    found = next((size for size in range(smallest, limit + 1) if is_selected(size)), None)
    if found is None and limit < ceiling:
        raise InvalidArgumentError(
            f"no budget from {number_text(smallest)} to {number_text(limit)} selects the target, and an exhaustive "
            f"search over {candidates} items stops there; lower search_ceiling to {number_text(limit)}, or omit "
            "exhaustive",
            argument="search_ceiling",
            value=ceiling,
        )
    return found


class BudgetPoint(NamedTuple):
    """What one budget selects."""

    budget: ContextBudget
    """The budget."""

    feasible: bool
    """Whether the budget is large enough for the pinned and required items. If not, nothing is selected."""

    items: tuple[ContextItem, ...] = ()
    """The selected items, in placed order."""

    tokens: int = 0
    """Their tokens."""

    utilization: float = 0.0
    """Their tokens as a share of `max_tokens`."""

    score: float = 0.0
    """The sum of the scores of the items that are not pinned."""

    def __repr__(self) -> str:
        return record_repr(self)


class BudgetSweep(tuple[BudgetPoint, ...]):
    """What several budgets select: a tuple that a notebook shows as a page."""

    __slots__ = ()

    def _repr_html_(self) -> str:
        from pycupel.render.html import sweep_html  # noqa: PLC0415 - for notebooks only

        return sweep_html(self)


def sweep_budgets(
    pipeline: Policy | PresetName,
    items: Iterable[ContextItem],
    budgets: Iterable[ContextBudget | int],
    *,
    query: str | None = None,
) -> tuple[BudgetPoint, ...]:
    """Show what each of several budgets selects: one point for each, in the order given.

    This is an extension: the specification leaves sweeps to others. The arguments are those of `get_marginal_items`.

    Raises:
        CountRequirementError: a required count is not met, and the slicer's `scarcity` is Throw.
    """
    runner = _pipeline(pipeline)
    ranking = _ranked(runner, items, query)
    points: list[BudgetPoint] = []
    for i, each in enumerate(checked_iterable("budgets", "an iterable of ContextBudget or int", budgets)):
        budget = ContextBudget.of(each, f"budgets[{i}]")
        selection = _select(runner, ranking, budget)
        if selection is None:
            points.append(BudgetPoint(budget, feasible=False))
            continue
        chosen, placement = tuple(selection.items), selection.placement
        tokens = sum(item.tokens for item in chosen)
        score = 0.0
        # Pinned items, which have no score of their own, come first.
        for k in placement.kept[len(ranking.classified.pinned) :]:
            score += placement.scores[k]
        points.append(BudgetPoint(budget, True, chosen, tokens, fraction(tokens, budget.max_tokens), score))
    return BudgetSweep(points)


def _pipeline(policy: Policy | PresetName) -> Pipeline:
    return Pipeline.from_policy(as_policy(policy, "pipeline"))


def _ranked(runner: Pipeline, items: Iterable[ContextItem], query: str | None) -> Ranking:
    """Rank the candidates; raise if they are of a report of a chat history."""
    ranking = runner.rank(items, query=query)
    refuse_history([*ranking.classified.pinned, *ranking.items])
    return ranking


def _monotonic(policy: Policy | PresetName, attribute: str, message: str) -> Pipeline:
    """Return the pipeline; raise if it shortens, or if an attribute of its slicer says that it is unsuitable."""
    pipeline = _pipeline(policy)
    if not getattr(pipeline.slicer, attribute, True):
        raise NonMonotonicSlicerError(message)
    if pipeline.shortener is not None:
        raise NonMonotonicSlicerError(
            "a policy that shortens may select a shorter version with a larger budget; use one with shorten=None"
        )
    return pipeline


def _select(pipeline: Pipeline, ranking: Ranking, budget: ContextBudget) -> Selection | None:
    """Select; None if the budget is too small for the pinned or required items (BS-06). Other errors are raised."""
    try:
        return pipeline.select(ranking, budget)
    except (PinnedExceedsBudgetError, BudgetOverflowError):
        return None


def _selects(pipeline: Pipeline, ranking: Ranking, budget: ContextBudget, target: ContextItem) -> bool:
    selection = _select(pipeline, ranking, budget)
    return selection is not None and any(item is target for item in selection.items)


class NextBudget(NamedTuple):
    """A budget that selects an item."""

    size: int  # Its `max_tokens` and `target_tokens`.
    is_smallest: bool  # Whether no other budget between it and the current one selects the item.


def find_next_budget(
    policy: Policy, items: Sequence[ContextItem], target: ContextItem, budget: ContextBudget
) -> NextBudget | None:
    """Find a larger budget that selects `target`, an object from `items` that `budget` leaves out.

    It has the reserves of `budget`. None if no budget selects the item, if the policy shortens, or if its slicer has
    quotas or `supports_min_budget = False`.
    """
    # Bisection finds one, but not always the smallest. For `GreedySlice`, the smallest is computed.
    pipeline = Pipeline.from_policy(policy)
    if pipeline.shortener is not None or not getattr(pipeline.slicer, "supports_min_budget", True):
        return None
    ranking = pipeline.rank(items)

    def room(limits: ContextBudget) -> int:
        """Return the tokens that a budget leaves for the items that compete."""
        return limits.effective(ranking.classified.pinned_tokens).target_tokens

    def room_of(size: int) -> int:
        return room(budget.resized(size))

    def is_selected(size: int) -> bool:
        return _selects(pipeline, ranking, budget.resized(size), target)

    now = room(budget)
    # A budget that holds everything, unless its safety margin leaves nothing. Without any room, slicers do not even
    # select items without tokens.
    everything = max(1, sum([max(0, item.tokens) for item in items]))
    ceiling = budget.total_reserved + enlarged(everything, budget.estimation_safety_margin_percent)
    if room_of(ceiling) <= now or not is_selected(ceiling):
        return None
    # Budgets are compared by the room that they leave, because the target may be less than the maximum.
    low = bisected(lambda size: room_of(size) > now, -1, ceiling) - 1
    found = bisected(is_selected, low, ceiling)
    needed = _smallest_room(pipeline, ranking, target, now, room_of(found))
    if needed is None:
        return NextBudget(found, is_smallest=False)
    return NextBudget(bisected(lambda size: room_of(size) >= needed, low, found), is_smallest=True)


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


def first_budgets(
    policy: Policy | PresetName, items: Sequence[ContextItem], base: ContextBudget, most: int
) -> dict[int, int]:
    """Return the smallest target up to `most` that selects each item that is not pinned, by the id of the item.

    The maximum moves with the target. Empty if it cannot be computed quickly, and if the slicer does not take items by
    score alone.
    """
    pipeline = _pipeline(policy)
    slicer = pipeline.slicer
    if not isinstance(slicer, GreedySlice) or slicer.cost_exponent or len(items) > _MAX_FIRST:
        return {}
    ranking = pipeline.rank(items)
    tokens = [item.tokens for item in ranking.items]
    # Items without tokens come first, whatever their scores are, so that the best one does not.
    is_reordered = slicer.best_first and min(tokens, default=1) <= 0
    if pipeline.shortener is not None or not pipeline.deduplication or is_reordered:
        return {}
    shift = base.max_tokens - base.target_tokens

    def room(target: int) -> int:
        return base.resized(target + shift, target).effective(ranking.classified.pinned_tokens).target_tokens

    def target_of(needed: int) -> int:
        return bisected(lambda target: room(target) >= needed, -1, most)

    order = by_density(ranking.scores, tokens, 0.0)
    rooms = _first_rooms([tokens[i] for i in order], room(most))
    found = zip(order, rooms, strict=False)
    return {id(ranking.items[i]): target_of(needed) for i, needed in found if needed is not None}


def _first_rooms(tokens: Sequence[int], most: int) -> list[int | None]:
    """Return the smallest room with which `fill` takes each item, in one pass; None if there is none.

    Fewer than there are items if it would take too long.
    """
    # Where each piece of the possible rooms begins, what is left of the first room in it, and how many rooms it has.
    # Without any room, not even an item without tokens is taken.
    pieces = [(1, 1, most)]
    found: list[int | None] = []
    work = 0
    for cost in tokens:
        work += len(pieces)
        if work > _MAX_PIECES:
            break
        first, split = None, list[tuple[int, int, int]]()
        for start, left, size in pieces:
            short = min(size, max(0, cost - left))
            if short:
                split.append((start, left, short))
            if short < size:
                first = start + short if first is None else first
                split.append((start + short, left + short - cost, size - short))
        found.append(first)
        pieces = split
    return found
