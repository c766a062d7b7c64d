"""The 0/1 knapsack without its table, but with the same result, ties included.

The specification's dynamic program keeps an item only on strict improvement and reconstructs from the last item. So,
reading a set of items as an integer with bit i for item i, it returns the optimal set with the smallest integer. That
set is found here directly:

1. Items are sorted by value per weight and taken until one does not fit, the *break*. Its density is the price of a
   unit of weight. Taking an item after the break, or leaving out one before it, *loses* `|value * break_weight -
   weight * break_value|` against that price.
2. A greedy completion gives a lower bound of what can be gained. What loses more than the gap between the two is
   decided; equality stays open, because it may matter for a tie.
3. The rest, the *core*, is enumerated outward from the break. For each weight only the best state survives, and only
   while its own bound reaches the best gain known.
4. If almost everything stays open, as with values proportional to weights, there are as many states as a table has
   cells, and a state costs more. So the states are counted as they are made, and once the table of the core would
   have been cheaper, the table is built.

Items of equal weight and value are interchangeable: of k of them, the first k make the smallest integer. They are
enumerated as one.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from pycupel.kernels.order import fill
from pycupel.kernels.versions import best_options

_SWAP_WINDOW = 10
# The cost of making and judging a state, in table cells; and how many states are always cheaper, because a table has to
# be set up.
_CELLS_PER_STATE = 64
_FREE_STATES = 64
# By which factor the expected states must exceed the limit before the enumeration is given up.
_FORESIGHT = 4

# A state is (weight, -value, set), all relative to the greedy fill, so that tuples sort by weight first, then best
# first.
_State = tuple[int, int, int]


class StateLimitError(Exception):
    """The enumeration would need more states than allowed."""

    def __init__(self, states: int) -> None:
        super().__init__(states)
        self.states = states


class _Option(NamedTuple):
    """Equal items of the core on one side of the break, the nearest first. `loss` is what each of them loses."""

    weight: int
    value: int
    loss: int
    members: list[int]


def solve(
    weights: Sequence[int], values: Sequence[int], capacity: int, max_states: int, max_cells: int = 0
) -> list[int]:
    """Return the indices that the dynamic program selects, ascending. Weights are positive, values are not negative.

    If the open core has a table of at most `max_cells` cells, there is always a result. Otherwise the enumeration may
    make `max_states` states.
    """
    # The table never takes an item without value, because that is no strict improvement.
    usable = [i for i, value in enumerate(values) if value > 0 and weights[i] <= capacity]
    if sum([weights[i] for i in usable]) <= capacity:
        return usable
    order = _by_density(usable, weights, values)
    slack = capacity
    at = 0
    while (weight := weights[order[at]]) <= slack:
        slack -= weight
        at += 1
    before, after = order[:at], order[at:]
    unit, price = weights[after[0]], values[after[0]]
    # What fits of the rest gains something, and so may one of the last items before the break, exchanged for one of the
    # first after it.
    swaps = [
        values[into] - values[out]
        for out in before[-_SWAP_WINDOW:]
        for into in after[:_SWAP_WINDOW]
        if weights[into] <= slack + weights[out]
    ]
    gain = max([sum([values[i] for i in fill(after, weights, slack)]), *swaps])
    # Losses are multiplied by the break's weight, so that all of this stays in integers.
    room = slack * price - gain * unit
    removals = _options(reversed(before), weights, values, unit, price, room)
    additions = _options(after, weights, values, unit, price, room)
    # In the order of the items, so that the smallest integer is that of the specification's table.
    core = sorted(i for option in (*removals, *additions) for i in option.members)
    bits = {item: 1 << index for index, item in enumerate(core)}
    chosen = [i for i in before if i not in bits]
    left = capacity - sum([weights[i] for i in chosen])
    cells = len(core) * (left + 1)
    allowed = max(_FREE_STATES, cells // _CELLS_PER_STATE) if cells <= max_cells else max_states
    try:
        best = _Core(removals[::-1], additions[::-1], bits, slack, unit, price, allowed).best(gain)
    except StateLimitError:
        if cells > max_cells:
            raise
        # The specification's dynamic program: groups of one option each.
        taken = best_options([[(weights[i], values[i])] for i in core], left)
        chosen += [core[i] for i, option in enumerate(taken) if option == 0]
    else:
        best += sum(bits[i] for option in removals for i in option.members)
        chosen += [item for item in core if best & bits[item]]
    return sorted(chosen)


def _by_density(usable: Iterable[int], weights: Sequence[int], values: Sequence[int]) -> list[int]:
    """Sort by value per weight, descending, with equal items side by side.

    The shift makes the quotients of different densities different integers.
    """
    # Two different densities differ by at least 1 / (weight * weight).
    bits = max(weights).bit_length()
    shift = 2 * bits
    keys = [((value << shift) // weight << bits) + weight for weight, value in zip(weights, values, strict=True)]
    return sorted(usable, key=keys.__getitem__, reverse=True)


def _options(
    side: Iterable[int], weights: Sequence[int], values: Sequence[int], unit: int, price: int, room: int
) -> list[_Option]:
    options: list[_Option] = []
    for i in side:
        weight, value = weights[i], values[i]
        loss = abs(value * unit - weight * price)
        if options and options[-1].weight == weight and options[-1].value == value:
            options[-1].members.append(i)
        elif loss <= room:
            options.append(_Option(weight, value, loss, [i]))
    return options


@dataclass
class _Core:
    """The enumeration of the items that are not decided yet. The options nearest to the break come last."""

    removals: list[_Option]
    additions: list[_Option]
    bits: dict[int, int]
    slack: int
    unit: int
    price: int
    max_states: int
    states: int = 0

    def __post_init__(self) -> None:
        # The items that lose nothing, and have not been tried yet.
        self.free = sum(len(option.members) for option in (*self.removals, *self.additions) if not option.loss)

    def best(self, gain: int) -> int:
        """Return the set of the best state, relative to the greedy fill."""
        removals, additions = self.removals, self.additions
        states: list[_State] = [(0, 0, 0)]
        # Of the items that equal the break, some may be added or some removed, never both: the first ones stay the
        # first ones.
        grown = self._deviate(states, additions.pop(), 1, gain)
        if removals and (removals[-1].weight, removals[-1].value) == (self.unit, self.price):
            grown += self._deviate(states, removals.pop(), -1, gain)
        states, gain = self._prune(states + grown, gain)
        outward = 1
        while removals or additions:
            outward = -outward
            if (outward < 0 and removals) or not additions:
                grown = self._deviate(states, removals.pop(), -1, gain)
            else:
                grown = self._deviate(states, additions.pop(), 1, gain)
            states, gain = self._prune(states + grown, gain)
            # If only ties are left, every state is kept until the end, so their number is known.
            expected = self.states + len(states) * self.free
            if gain * self.unit == self.slack * self.price and expected > _FORESIGHT * self.max_states:
                raise StateLimitError(expected)
        return min((negated, chosen) for weight, negated, chosen in states if weight <= self.slack)[1]

    def _deviate(self, states: Sequence[_State], option: _Option, sign: int, gain: int) -> list[_State]:
        """Add states with one item of the option added or removed, with two, and so on, as long as the loss allows."""
        room = self.slack * self.price - gain * self.unit
        count = min(len(option.members), room // option.loss) if option.loss else len(option.members)
        grown: list[_State] = []
        if not option.loss:
            self.free -= count
        weight = value = change = 0
        for item in option.members[:count]:
            weight += sign * option.weight
            value += sign * option.value
            change += sign * self.bits[item]
            self.states += len(states)
            if self.states > self.max_states:
                raise StateLimitError(self.states)
            grown += [(w + weight, negated - value, chosen + change) for w, negated, chosen in states]
        return grown

    def _prune(self, states: list[_State], gain: int) -> tuple[list[_State], int]:
        """Drop states that a lighter one beats, and states that cannot reach the best gain any more."""
        slack = self.slack
        # Free capacity is worth at most what the next addition makes of it; excess costs at least what the next
        # removal takes for it.
        add_weight, add_value = (self.additions[-1].weight, self.additions[-1].value) if self.additions else (1, 0)
        out_weight, out_value = (self.removals[-1].weight, self.removals[-1].value) if self.removals else (0, 1)
        kept: list[_State] = []
        best: int | None = None
        smallest = 0
        states.sort()
        for state in states:
            weight, negated, chosen = state
            if best is not None and (negated > best or (negated == best and chosen >= smallest)):
                continue
            best, smallest = negated, chosen
            left = slack - weight
            if left >= 0:
                if -negated > gain:
                    gain = -negated
                if left * add_value < (gain + negated) * add_weight:
                    continue
            elif left * out_value < (gain + negated) * out_weight:
                continue
            kept.append(state)
        return kept, gain
