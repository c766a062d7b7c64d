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
from math import gcd
from operator import itemgetter
from typing import Any, NamedTuple


def best_options(groups: Sequence[Sequence[tuple[int, int]]], capacity: int) -> list[int]:
    """Return, for each group, the index of the option that the dynamic program takes, or -1.

    A group has at most 128 options, `(weight, value)` with values above 0. An option is taken only if it strictly
    improves on the groups and options before it, and the result is read from the last group.
    """
    # The cells of a row are the fields of one large integer. The top bit of a field is never part of a value, so that a
    # subtraction compares all fields at once.
    values = [value for options in groups for _, value in options]
    # Smaller values make narrower fields, and all operations on the row faster.
    divisor = gcd(*values)
    size = (sum(values) // (divisor or 1)).bit_length() // 8 + 1
    width = size * 8
    cells = capacity + 1
    ones = int.from_bytes((b"\1" + bytes(size - 1)) * cells, "little")
    tops = ones << (width - 1)
    beyond = tops - ones
    every_bit = (1 << width * cells) - 1
    best = 0
    rows: list[bytes] = []
    for options in groups:
        before = best
        row = bytes(cells)
        for k, (weight, value) in enumerate(options):
            taken = (before + value // divisor * ones << weight * width) & every_bit
            # A top bit for each cell in which taking the option is strictly better.
            better = (taken + beyond - best) & tops
            marks = better.to_bytes(size * cells, "little")[size - 1 :: size]
            if k:
                # Of a marked cell the top bit is set, and the other bits hold the option.
                marked = int.from_bytes(marks, "little") >> 7
                kept = int.from_bytes(row, "little") & ~(marked * 255)
                marks = (kept | marked * (128 + k)).to_bytes(cells, "little")
            row = marks
            best ^= (best ^ taken) & (better - (better >> (width - 1)))
        rows.append(row)
    # Read from the last group to the first, as the specification's table is.
    selected = [-1] * len(groups)
    left = capacity
    for i in range(len(groups) - 1, -1, -1):
        mark = rows[i][left]
        if mark:
            selected[i] = mark & 127
            left -= groups[i][selected[i]][0]
    return selected


# The greedy half of the multiple-choice knapsack: the hull of each item, and steps in the order of their prices.

# The items with a step at most this many steps away from the break are near it.
_NEAR = 40

# A corner of a hull is (weight, value, version).
Corner = tuple[int, int, int]


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


def take_steps(corners: Sequence[Sequence[Corner]], capacity: int) -> Greedy:
    """Take steps, the best price first, then whatever still fits."""
    steps: list[tuple[int, int, int, int, int]] = []
    # Two different prices differ by at least 1 / (weight * weight). So multiplied by this, they are different integers.
    shift = 2 * max([own[-1][0] for own in corners], default=0).bit_length()
    slack = capacity
    value = 0
    for item, own in enumerate(corners):
        light, low, _ = own[0]
        slack -= light
        value += low
        for k in range(1, len(own)):
            weight, worth, _ = own[k]
            heavier, better = weight - light, worth - low
            steps.append((-(better << shift) // heavier, item, k, heavier, better))
            light, low = weight, worth
    # By price, then by item: of equal prices, the earlier item's step comes first.
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


# The exact half of the multiple-choice knapsack: the search among the versions that are not decided by their price.


# How many states may be made for many items.
_STATES_OF_MANY = 3_000
# For few items, this many may be made if a table would have too many cells. If not, the table is built once the states
# cost more.
_STATES = 500_000
_MAX_CELLS = 200_000_000
_CELLS_PER_STATE = 400
_FREE_STATES = 1_000
_MAX_OPTIONS = 128

# An option is (loss, weight beside the best version's, version).
_Option = tuple[int, int, int]
# A state is (weight beyond the capacity, loss, links). Links are the versions chosen in place of the best ones at the
# break's price, the last one first: (item, version, the others).
_State = tuple[int, int, Any]
# An item that is not decided is (the smallest loss of its options, item, options).
_Open = tuple[int, int, list[_Option]]


class Core:
    """The search for something better than the greedy choice, at the break's price: `price` for `unit` of weight.

    Losses and gaps are multiplied by `unit`, so that everything is an integer.
    """

    def __init__(
        self,
        weights: Sequence[Sequence[int]],
        values: Sequence[Sequence[int]],
        capacity: int,
        required: Collection[int],
        greedy: Greedy,
        items: Sequence[int],
    ) -> None:
        self.values = values
        self.capacity = capacity
        unit = self.unit = greedy.unit
        price = self.price = greedy.price
        self.is_complete = len(items) == len(weights)
        # For each item its best version at this price, and that version's weight. Of several, the greedy one, to begin
        # close to the capacity.
        self.best = greedy.start
        self.sizes = [0 if k < 0 else sizes[k] for k, sizes in zip(greedy.start, weights, strict=True)]
        self.scaled_bound = greedy.scaled_bound
        gap = greedy.scaled_bound - greedy.value * unit
        heavier: list[_Open] = []
        lighter: list[_Open] = []
        for item in items:
            gains = [
                (worth * unit - weight * price, weight, k)
                for k, (weight, worth) in enumerate(zip(weights[item], values[item], strict=True))
                if weight <= capacity
            ]
            if item not in required or not gains:
                gains.append((0, 0, -1))
            gain, weight, version = next(each for each in gains if each[2] == self.best[item])
            options = [
                (gain - other, size - weight, k) for other, size, k in gains if k != version and gain - other < gap
            ]
            if options:
                loss, change, _ = min(options)
                (lighter if change < 0 else heavier).append((loss, item, options))
        # The smallest losses first, and of equal ones in turn an item that adds weight and one that removes some.
        ranked = [(other[0], i, other) for side in (heavier, lighter) for i, other in enumerate(sorted(side))]
        self.others = [other for _, _, other in sorted(ranked)]

    def search(self, value: int, enough: int, *, many: bool) -> tuple[list[int], int] | None:
        """A selection that is worth more than `value`, and its value, if there is one; the first that is `enough`.

        `is_complete` says afterwards whether everything was tried.
        """
        # The most that a better selection may lose and leave empty in total.
        gap = self.scaled_bound - value * self.unit - 1
        sufficient = self.scaled_bound - enough * self.unit - 1
        found: _State | None = None
        states: list[_State] = [(sum(self.sizes) - self.capacity, 0, None)]
        states, found, gap = self._survivors(states, found, gap)
        allowed = _STATES_OF_MANY if many else _STATES
        if not many and (cells := self._cells(gap)) <= _MAX_CELLS:
            allowed = max(_FREE_STATES, cells // _CELLS_PER_STATE)
        for least, item, options in self.others:
            if least > gap:
                break
            if gap <= sufficient:
                self.is_complete = False
                break
            allowed -= len(states) * len(options)
            if allowed < 0:
                if not many and self._cells(gap) <= _MAX_CELLS:
                    return self._by_table(gap) or self._selection(found, gap)
                self.is_complete = False
                break
            grown = list(states)
            for loss, weight, k in options:
                room = gap - loss
                grown += [
                    (over + weight, lost + loss, (item, k, links)) for over, lost, links in states if lost <= room
                ]
            states, found, gap = self._survivors(grown, found, gap)
        return self._selection(found, gap)

    def _survivors(
        self, states: list[_State], found: _State | None, gap: int
    ) -> tuple[list[_State], _State | None, int]:
        """The states that no lighter one beats and that can still lead to something better than what was found."""
        price = self.price
        states.sort(key=itemgetter(0, 1))
        kept: list[_State] = []
        least: int | None = None
        for state in states:
            over, lost, _ = state
            # What the state is short of the bound, its empty capacity included, if nothing is added.
            short = lost - over * price
            if least is not None and short >= least:
                continue
            least = short
            if over <= 0 and short <= gap:
                found, gap = state, short - 1
            if lost <= gap:
                kept.append(state)
        return kept, found, gap

    def _selection(self, found: _State | None, gap: int) -> tuple[list[int], int] | None:
        if found is None:
            return None
        chosen = list(self.best)
        links = found[2]
        while links is not None:
            item, version, links = links
            chosen[item] = version
        return chosen, (self.scaled_bound - gap - 1) // self.unit

    def _cells(self, gap: int) -> int:
        open_options = [len(options) for least, _, options in self.others if least <= gap]
        if max(open_options, default=0) >= _MAX_OPTIONS:
            return _MAX_CELLS + 1
        return sum(open_options) * (self.capacity + 1)

    def _by_table(self, gap: int) -> tuple[list[int], int] | None:
        """The best selection, if it is within the gap: a table of all versions that are not decided."""
        chosen, left = list(self.best), self.capacity - sum(self.sizes)
        groups: list[list[tuple[int, int]]] = []
        versions: list[tuple[int, list[int]]] = []
        for least, item, options in self.others:
            if least > gap:
                break
            size, best = self.sizes[item], self.best[item]
            allowed = sorted(
                [(size, -self._value(item, best), best)]
                + [(size + weight, -self._value(item, k), k) for loss, weight, k in options if loss <= gap]
            )
            base, worth, chosen[item] = allowed[0]
            left += size - base
            # Heavier versions must be worth more.
            growing: list[tuple[int, int, int]] = []
            for weight, negated, k in allowed:
                if negated < (growing[-1][1] if growing else worth):
                    growing.append((weight, negated, k))
            groups.append([(weight - base, worth - negated) for weight, negated, _ in growing])
            versions.append((item, [k for _, _, k in growing]))
        for (item, own), k in zip(versions, best_options(groups, left), strict=True):
            if k >= 0:
                chosen[item] = own[k]
        value = sum([self._value(item, k) for item, k in enumerate(chosen)])
        return (chosen, value) if value * self.unit >= self.scaled_bound - gap else None

    def _value(self, item: int, version: int) -> int:
        return self.values[item][version] if version >= 0 else 0


# With more items, the search may stop early.
EXACT_ITEMS = 200


class VersionChoice(NamedTuple):
    """The index of each item's version, or -1 for none; their total value; and an upper bound of all selections.

    The bound equals the value if the selection is proved to be the best.
    """

    versions: list[int]
    value: int
    bound: int


def choose_versions(
    weights: Sequence[Sequence[int]], values: Sequence[Sequence[int]], capacity: int, required: Collection[int] = ()
) -> VersionChoice:
    """Choose at most one version of each item.

    Up to 200 items the choice is the best one, unless a table for it would have more than 200 million cells and half a
    million states are not enough. Above, the search stops once it has 99.9 % of the bound, or after 3,000 states.

    `weights` and `values` are those of each item's versions, not negative. A version without value is only chosen of a
    `required` item, of which a version has to be chosen if one of them fits. Together, those may exceed the capacity:
    then the lightest of each is chosen, and nothing else.
    """
    many = len(weights) > EXACT_ITEMS
    # Looked up for every item, and a caller may have a list of as many.
    must = frozenset(required)
    corners = [
        hull(sizes, worths, capacity, is_required=item in must)
        for item, (sizes, worths) in enumerate(zip(weights, values, strict=True))
    ]
    greedy = take_steps(corners, capacity)
    chosen, value, bound = greedy.chosen, greedy.value, greedy.scaled_bound // greedy.unit
    if value < _enough(bound, many=many):
        core = Core(weights, values, capacity, must, greedy, greedy.near if many else range(len(weights)))
        chosen, value = core.search(value, _enough(bound, many=many), many=many) or (chosen, value)
        bound = value if core.is_complete else bound
    _lengthen(chosen, weights, values, capacity - sum([weights[i][k] for i, k in enumerate(chosen) if k >= 0]))
    return VersionChoice(chosen, value, bound)


def choose_in_order(
    weights: Sequence[Sequence[int]], order: Sequence[int], capacity: int, required: Collection[int] = ()
) -> list[int]:
    """Choose the heaviest version that still fits of each item, in the given order of all items.

    The required ones come before all others. Each leaves room for the lightest versions of the rest of them; if those
    do not fit together, none is chosen. Return for each item the index of its version, or -1 for none.
    """
    chosen = [-1] * len(weights)
    must = frozenset(required)
    left = capacity - sum([min(weights[i]) for i in must])
    for i in sorted(order, key=lambda i: i not in must):
        room = left + (min(weights[i]) if i in must else 0)
        fitting = [k for k, weight in enumerate(weights[i]) if weight <= room]
        if fitting:
            chosen[i] = max(fitting, key=weights[i].__getitem__)
            left = room - weights[i][chosen[i]]
    return chosen


def _enough(bound: int, *, many: bool) -> int:
    return -(-bound * 999 // 1000) if many else bound


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
