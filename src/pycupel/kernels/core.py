"""The exact half of the multiple-choice knapsack: the search among the versions that are not decided by their price."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from pycupel.kernels.hull import Greedy
from pycupel.kernels.table import best_options

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
        # For each item its best version at this price, and that version's weight. Of several, the greedy
        # one, to begin close to the capacity.
        self.best = list(greedy.start)
        self.sizes = [0 if k < 0 else sizes[k] for k, sizes in zip(greedy.start, weights, strict=True)]
        # Twice the gap, because prices were sorted as floats.
        limit = 2 * (greedy.scaled_bound + unit - greedy.value * unit)
        self.scaled_bound = greedy.scaled_bound
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
            best = max(gains)
            if best[0] > gain:
                self.scaled_bound += best[0] - gain
                gain, weight, version = best
                self.best[item], self.sizes[item] = version, weight
            options = [
                (gain - other, size - weight, k) for other, size, k in gains if k != version and other >= gain - limit
            ]
            if options:
                loss, change, _ = min(options)
                (lighter if change < 0 else heavier).append((loss, item, options))
        # The smallest losses first, and of equal ones in turn an item that adds weight and one that removes some.
        ranked = [(other[0], i, other) for side in (heavier, lighter) for i, other in enumerate(sorted(side))]
        self.others = [other for _, _, other in sorted(ranked)]

    @property
    def bound(self) -> int:
        """An upper bound of all selections."""
        return self.scaled_bound // self.unit

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
        allowed = _STATES_OF_MANY if many else self._states_before_table(gap)
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
        states.sort(key=_by_weight_and_loss)
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

    def _states_before_table(self, gap: int) -> int:
        cells = self._cells(gap)
        return max(_FREE_STATES, cells // _CELLS_PER_STATE) if cells <= _MAX_CELLS else _STATES

    def _cells(self, gap: int) -> int:
        open_options = [len(options) for least, _, options in self.others if least <= gap]
        # The best versions fit together, unless their prices are equal as floats.
        if max(open_options, default=0) >= _MAX_OPTIONS or sum(self.sizes) > self.capacity:
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


def _by_weight_and_loss(state: _State) -> tuple[int, int]:
    return state[0], state[1]
