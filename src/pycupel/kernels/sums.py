"""A sorted mapping of numbers with fast prefix sums."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from itertools import accumulate
from typing import Any, Generic, TypeVar

# A block is halved when it has twice as many keys. Within a block and among blocks, everything happens in C.
_BLOCK = 128

K = TypeVar("K")


class SortedSums(Generic[K]):
    """Non-negative numbers by key, and the sums of those with lower keys. Keys are unique.

    The keys are in sorted blocks, so an operation looks at the numbers of one block and at the sums of the others.
    """

    def __init__(self) -> None:
        self.total = 0
        self._keys: list[list[Any]] = []
        self._numbers: list[list[int]] = []
        self._last: list[Any] = []
        self._sums: list[int] = []

    def __len__(self) -> int:
        return sum(map(len, self._keys))

    def __iter__(self) -> Iterator[K]:
        """Iterate over the keys, ascending."""
        for keys in self._keys:
            yield from keys

    def __reversed__(self) -> Iterator[K]:
        """Iterate over the keys, descending."""
        for keys in reversed(self._keys):
            yield from reversed(keys)

    def __getitem__(self, key: K) -> int:
        block = bisect_left(self._last, key)
        return self._numbers[block][bisect_left(self._keys[block], key)]

    def add(self, key: K, number: int) -> None:
        """Add a new key with its number."""
        self.total += number
        if not self._keys:
            self._keys, self._numbers, self._last, self._sums = [[key]], [[number]], [key], [number]
            return
        block = min(bisect_left(self._last, key), len(self._keys) - 1)
        keys, numbers = self._keys[block], self._numbers[block]
        position = bisect_left(keys, key)
        keys.insert(position, key)
        numbers.insert(position, number)
        self._last[block] = keys[-1]
        self._sums[block] += number
        if len(keys) > 2 * _BLOCK:
            halves = [numbers[:_BLOCK], numbers[_BLOCK:]]
            self._keys[block : block + 1] = [keys[:_BLOCK], keys[_BLOCK:]]
            self._numbers[block : block + 1] = halves
            self._last[block : block + 1] = [keys[_BLOCK - 1], keys[-1]]
            self._sums[block : block + 1] = map(sum, halves)

    def remove(self, key: K) -> None:
        """Remove a key and its number."""
        block = bisect_left(self._last, key)
        keys, numbers = self._keys[block], self._numbers[block]
        position = bisect_left(keys, key)
        del keys[position]
        number = numbers.pop(position)
        self.total -= number
        self._sums[block] -= number
        if keys:
            self._last[block] = keys[-1]
        else:
            del self._keys[block], self._numbers[block], self._last[block], self._sums[block]

    def before(self, key: K) -> int:
        """Return the sum of the numbers of lower keys."""
        block = bisect_left(self._last, key)
        if block == len(self._keys):
            return self.total
        position = bisect_left(self._keys[block], key)
        return sum(self._sums[:block]) + sum(self._numbers[block][:position])

    def first_above(self, limit: int) -> K:
        """Return the first key whose running sum, its own number included, exceeds the limit. There must be one."""
        totals = list(accumulate(self._sums))
        block = bisect_right(totals, limit)
        before = totals[block] - self._sums[block]
        key: K = self._keys[block][bisect_right(list(accumulate(self._numbers[block])), limit - before)]
        return key
