"""The greedy half of the multiple-choice knapsack: the hull of each item, and steps in the order of their prices."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

# The items with a step at most this many steps away from the break are near it.
_NEAR = 40

Corner = tuple[int, int, int]
"""A corner of a hull: weight, value, version."""


def hull(sizes: Sequence[int], worths: Sequence[int], capacity: int, *, is_required: bool) -> list[Corner]:
    """Return the corners, lightest first. The first chooses nothing, or the lightest version if one is required."""
    fitting = [
        (weight, -worth, k)
        for k, (weight, worth) in enumerate(zip(sizes, worths, strict=True))
        if weight <= capacity and (worth > 0 or is_required)
    ]
    fitting.sort()
    corners: list[Corner] = [] if is_required and fitting else [(0, 0, -1)]
    for weight, negated, k in fitting:
        worth = -negated
        if corners:
            light, low, _ = corners[-1]
            if worth <= low:
                continue
            if weight == light:
                # This point has more value at the same weight.
                corners.pop()
            while len(corners) > 1:
                # A point on or below the line between its neighbours is not a corner.
                (first, least, _), (light, low, _) = corners[-2], corners[-1]
                if (low - least) * (weight - first) > (worth - least) * (light - first):
                    break
                corners.pop()
        corners.append((weight, worth, k))
    return corners


class Greedy(NamedTuple):
    """The greedy choice and its value, and the greedy choice up to the first step that did not fit.

    That step, the break, is worth `price` for `unit` of weight. `near` are the items with steps close to it. The bound
    is multiplied by `unit`.
    """

    chosen: list[int]
    value: int
    scaled_bound: int
    start: list[int]
    near: list[int]
    unit: int
    price: int


def fill(corners: Sequence[Sequence[Corner]], capacity: int) -> Greedy:
    """Take steps, the best price first, then whatever still fits."""
    steps: list[tuple[float, int, int, int, int]] = []
    slack = capacity
    value = 0
    for item, own in enumerate(corners):
        light, low, _ = own[0]
        slack -= light
        value += low
        for k in range(1, len(own)):
            weight, worth, _ = own[k]
            steps.append(((low - worth) / (weight - light), item, k, weight - light, worth - low))
            light, low = weight, worth
    steps.sort()
    at = [0] * len(corners)
    bound, unit, price = value, 0, 0
    start: list[int] = at
    near: list[int] = []
    for i, (_, item, k, heavier, better) in enumerate(steps):
        weight, worth = heavier, better
        # After a step that did not fit, the next step of the item includes it.
        if at[item] < k - 1:
            (light, low, _), (weight, worth, _) = corners[item][at[item]], corners[item][k]
            weight, worth = weight - light, worth - low
        if weight <= slack:
            slack -= weight
            value += worth
            at[item] = k
        elif not unit:
            unit, price, start = weight, worth, at[:]
            bound = value * unit + slack * price
            near = sorted({step[1] for step in steps[max(0, i - _NEAR) : i + _NEAR]})
            if not slack:
                break
    chosen = [own[k][2] for own, k in zip(corners, at, strict=True)]
    if not unit:
        return Greedy(chosen, value, value, chosen, near, 1, 0)
    return Greedy(chosen, value, bound, [own[k][2] for own, k in zip(corners, start, strict=True)], near, unit, price)
