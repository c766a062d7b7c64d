"""Encode the selections of other budgets, compact enough to be part of a page."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from graphlib import CycleError, TopologicalSorter
from itertools import chain, pairwise

from pycupel.analytics import BudgetPoint, sweep_budgets
from pycupel.errors import CupelError
from pycupel.model import ContextBudget, ContextItem
from pycupel.model.percent import enlarged
from pycupel.pipeline import Policy, PresetName
from pycupel.render._data import Data, Kinds, script_number, use_data
from pycupel.render._rows import RowIndex

MOST_POINTS = 64
# This many of them lie between 0 and twice the target, the range that matters most.
_NEAR = 40


def sweep_data(
    policy: Policy | PresetName,
    items: Sequence[ContextItem],
    budget: ContextBudget | None,
    rows: Sequence[ContextItem],
    kinds: Kinds,
) -> Data:
    """Return the points, each with the rows that change from the point before it.

    The target and the maximum move together, so that the distance between them stays the same.
    """
    base = budget or ContextBudget(all_tokens(items))
    targets = _targets(base.target_tokens, _top(items, base))
    shift = base.max_tokens - base.target_tokens
    try:
        points = sweep_budgets(policy, items, [base.resized(target + shift, target) for target in targets])
    except CupelError as error:
        return {"failed": str(error)}
    index = RowIndex(rows)
    selected = [[row for row in index.find(point.items) if row is not None] for point in points]
    return {
        "points": [_point(point, kinds) for point in points],
        "flips": [_deltas(set(before) ^ set(after)) for before, after in pairwise([[], *selected])],
        "start": targets.index(base.target_tokens),
        "order": _common_order(selected),
    }


def all_tokens(items: Iterable[ContextItem]) -> int:
    """Sum the tokens of the items. Negative counts, which are invalid, do not count."""
    return sum([max(0, item.tokens) for item in items])


def _top(items: Iterable[ContextItem], budget: ContextBudget) -> int:
    """Return a target that holds everything, unless the safety margin leaves nothing."""
    needed = all_tokens(items) + sum(budget.reserved_slots.values())
    needed = enlarged(needed, budget.estimation_safety_margin_percent)
    return needed + max(0, budget.target_tokens - budget.available_tokens)


def _targets(target: int, top: int) -> list[int]:
    """Return at most 64 targets from 0 on, including the given one: evenly spaced at first, then in growing steps."""
    near = max(1, min(2 * target, top) if target else top)
    spread = MOST_POINTS - 1 if near >= top else _NEAR
    targets = {near * i // (spread - 1) for i in range(spread)}
    steps = MOST_POINTS - 1 - spread
    if steps:
        # With integers, because token counts may be larger than any float.
        targets |= {near + (top - near) * i * i // (steps * steps) for i in range(1, steps + 1)}
    return sorted(targets | {target})


def _point(point: BudgetPoint, kinds: Kinds) -> Data:
    budget, items = point.budget, point.items
    pinned = sum([item.tokens for item in items if item.pinned])
    use = use_data(items, pinned, budget, kinds)
    target, limit = script_number(budget.target_tokens), script_number(budget.max_tokens)
    return {"target": target, "max": limit, "ok": point.feasible, "use": use}


def _deltas(rows: Iterable[int]) -> list[int]:
    """Encode each row as its distance from the one before it, which needs few digits."""
    return [after - before for before, after in pairwise([0, *sorted(rows)])]


def _common_order(selections: Sequence[Sequence[int]]) -> list[int] | None:
    """Find an order of all rows that agrees with each selection; None if two rows change order with the budget."""
    predecessors: dict[int, set[int]] = {}
    for rows in selections:
        for first, second in pairwise(rows):
            predecessors.setdefault(second, set()).add(first)
    try:
        return [
            *TopologicalSorter({**dict.fromkeys(chain.from_iterable(selections), ()), **predecessors}).static_order()
        ]
    except CycleError:
        return None
