"""The multiple-choice knapsack: at most one version of each item, with the highest total value.

1. Of each item only the versions count that no combination of its others beats: the corners of its upper hull. From
   one corner to the next is a *step*, with a price: value per weight. All steps, the best price first, are taken until
   one does not fit, the *break*. The break's price, for all capacity, is a bound that no selection exceeds.
2. Against that price, every version *loses* something beside the best one of its item. A selection is worth the bound
   less what its versions lose and less what it leaves empty, so what loses more than the gap between the bound and the
   best selection known cannot be part of a better one.
3. The rest, the *core*, is enumerated, the smallest losses first. Of states with the same weight the better survives,
   and only while it can still beat the best selection known. Where that makes more states than a table of the core
   would cost, the table is built.
4. Leftover capacity makes items longer, the first ones first, if that costs no value.

Ties: of an item's versions with equal value the lightest counts; of steps with equal prices the earlier item's comes
first; and a selection replaces another only if it is worth more.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import NamedTuple

from pycupel.kernels.core import Core
from pycupel.kernels.hull import fill, hull

EXACT_ITEMS = 200
"""The number of items up to which the search does not stop early."""

# Above EXACT_ITEMS, the search stops when this much of the bound is reached, in thousandths.
_ENOUGH = 999


class Choice(NamedTuple):
    """The chosen versions."""

    versions: list[int]
    """For each item the index of its version, or -1 for none."""

    value: int
    """The total value."""

    bound: int
    """An upper bound of all selections; equal to `value` if the selection is proved to be the best."""


def choose(
    weights: Sequence[Sequence[int]], values: Sequence[Sequence[int]], capacity: int, required: Collection[int] = ()
) -> Choice:
    """Choose at most one version of each item.

    Up to 200 items the choice is the best one, unless a table for it would have more than 200 million cells and half a
    million states are not enough. Above, the search stops once it has 99.9 % of the bound, or after 3,000 states.

    Args:
        weights: For each item the weights of its versions, not negative.
        values: Their values, not negative. A version without value is only chosen of a required item.
        capacity: The most that the chosen versions may weigh together.
        required: The items of which a version has to be chosen, if one of them fits. Together they may exceed the
            capacity: then the lightest of each is chosen, and nothing else.
    """
    many = len(weights) > EXACT_ITEMS
    corners = [
        hull(sizes, worths, capacity, is_required=item in required)
        for item, (sizes, worths) in enumerate(zip(weights, values, strict=True))
    ]
    greedy = fill(corners, capacity)
    chosen, value, bound = greedy.chosen, greedy.value, greedy.scaled_bound // greedy.unit
    if value < _enough(bound, many=many):
        items = greedy.near if many else range(len(weights))
        core = Core(weights, values, capacity, required, greedy, items)
        bound = core.bound
        better = core.search(value, _enough(bound, many=many), many=many)
        if better is not None:
            chosen, value = better
        if core.is_complete:
            bound = value
    _lengthen(chosen, weights, values, capacity - sum([weights[i][k] for i, k in enumerate(chosen) if k >= 0]))
    return Choice(chosen, value, bound)


def choose_in_order(
    weights: Sequence[Sequence[int]], order: Sequence[int], capacity: int, required: Collection[int] = ()
) -> list[int]:
    """Choose the heaviest version that still fits of each item, in the given order.

    Args:
        weights: For each item the weights of its versions, not negative.
        order: The indices of all items, the most important first.
        capacity: The most that the chosen versions may weigh together.
        required: The items that come before all others. Each leaves room for the lightest versions of the rest of them;
            if those do not fit together, none is chosen.

    Returns:
        For each item the index of its version, or -1 for none.
    """
    chosen = [-1] * len(weights)
    left = capacity - sum([min(weights[i]) for i in required])
    for i in sorted(order, key=lambda i: i not in required):
        room = left + (min(weights[i]) if i in required else 0)
        fitting = [k for k, weight in enumerate(weights[i]) if weight <= room]
        if fitting:
            chosen[i] = max(fitting, key=weights[i].__getitem__)
            left = room - weights[i][chosen[i]]
    return chosen


def _enough(bound: int, *, many: bool) -> int:
    return -(-bound * _ENOUGH // 1000) if many else bound


def _lengthen(chosen: list[int], weights: Sequence[Sequence[int]], values: Sequence[Sequence[int]], slack: int) -> None:
    """Use leftover capacity for longer versions of the chosen ones, first items first, if they are worth as much."""
    for item, version in enumerate(chosen):
        if version < 0:
            continue
        sizes, worths = weights[item], values[item]
        weight, worth = sizes[version], worths[version]
        for k, size in enumerate(sizes):
            if weight < size <= sizes[version] + slack and worths[k] >= worth:
                weight, chosen[item] = size, k
        slack -= weight - sizes[version]
