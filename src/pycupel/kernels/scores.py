"""The arithmetic of scores on plain lists: exact sums, blends, scales, ranks and overlaps."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from itertools import accumulate
from math import isfinite
from typing import Any, Generic, TypeVar, cast

# A block is halved when it has twice as many keys. Within a block and among blocks, everything happens in C.
_BLOCK = 128

_Key = TypeVar("_Key")


class SortedSums(Generic[_Key]):
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

    def __iter__(self) -> Iterator[_Key]:
        """Iterate over the keys, ascending."""
        for keys in self._keys:
            yield from keys

    def __reversed__(self) -> Iterator[_Key]:
        """Iterate over the keys, descending."""
        for keys in reversed(self._keys):
            yield from reversed(keys)

    def __getitem__(self, key: _Key) -> int:
        block = bisect_left(self._last, key)
        return self._numbers[block][bisect_left(self._keys[block], key)]

    def add(self, key: _Key, number: int) -> None:
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

    def remove(self, key: _Key) -> None:
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

    def before(self, key: _Key) -> int:
        """Return the sum of the numbers of lower keys."""
        block = bisect_left(self._last, key)
        if block == len(self._keys):
            return self.total
        position = bisect_left(self._keys[block], key)
        return sum(self._sums[:block]) + sum(self._numbers[block][:position])

    def first_above(self, limit: int) -> _Key:
        """Return the first key whose running sum, its own number included, exceeds the limit. There must be one."""
        totals = list(accumulate(self._sums))
        block = bisect_right(totals, limit)
        before = totals[block] - self._sums[block]
        key: _Key = self._keys[block][bisect_right(list(accumulate(self._numbers[block])), limit - before)]
        return key


# Combine columns of scores.


def weighted_sum(columns: Sequence[list[float]], weights: Sequence[float]) -> list[float]:
    """Compute `0.0 + first * weight + second * weight + ...` for each row, strictly from left to right (PY-01).

    A pass over a list costs more than an addition, so the first pass adds three columns, and each further one two.
    Zeros replace a missing column: adding 0.0 to a sum that began with 0.0 does not change a bit of it.
    """
    if len(columns) < 3 or len(columns) % 2 == 0:
        zeros = [0.0] * len(columns[0])
        columns, weights = [*columns, zeros, zeros], [*weights, 0.0, 0.0]
    a, b, c = columns[:3]
    u, v, w = weights[:3]
    total: list[float] = []
    # For a few rows, a loop takes half the time of a comprehension, and for many no more.
    for p, q, r in zip(a, b, c):  # noqa: B905 - and checking the lengths takes a quarter of it
        total.append(0.0 + p * u + q * v + r * w)
    for i in range(3, len(columns) - 1, 2):
        x, y = weights[i], weights[i + 1]
        total = [t + q * x + r * y for t, q, r in zip(total, columns[i], columns[i + 1], strict=True)]
    return total


def product(columns: Sequence[Sequence[float]]) -> list[float]:
    """Compute `first * second * ...` for each row, from left to right."""
    total = columns[0]
    for column in columns[1:]:
        total = [t * factor for t, factor in zip(total, column, strict=True)]
    return list(total)


# Min-max normalisation.


def min_max(values: Sequence[float]) -> list[float]:
    """Scale values to the range from 0 to 1; 0.5 if all are equal, and for values that are not finite (SS-01)."""
    smallest, largest = float("inf"), float("-inf")
    for value in values:
        # Both comparisons are false for NaN, so it is ignored (SS-02).
        if value < smallest:
            smallest = value
        if value > largest:
            largest = value
    if smallest == largest:
        return [0.5] * len(values)
    span = largest - smallest
    return [(value - smallest) / span if isfinite(value) else 0.5 for value in values]


# Ranks as shares: how many known values are smaller, divided by how many others there are.


_MANY = 200


def rank_shares(values: Sequence[Any]) -> list[float]:
    """Compute `smaller / (known - 1)` for each value; 1.0 for a single known value, 0.0 for None.

    This sorts once instead of comparing all pairs. The quotients are those of the literal algorithm, so they are equal
    bit for bit.
    """
    count = len(values)
    shares = [0.0] * count
    try:
        order = sorted(range(count), key=values.__getitem__)
    except TypeError:
        # None does not compare: some values are unknown.
        order = sorted((i for i, value in enumerate(values) if value is not None), key=values.__getitem__)
    others = len(order) - 1
    if others <= 0:
        for i in order:
            shares[i] = 0.0 if values[i] is None else 1.0
        return shares
    previous: Any = None
    share = 0.0
    for smaller, i in enumerate(order):
        value = values[i]
        if value != previous:
            share = smaller / others
            previous = value
        shares[i] = share
    return shares


def integer_rank_shares(values: Sequence[int | None]) -> list[float]:
    """Compute `rank_shares` of integers. If many are equal, counting them takes half the time of sorting."""
    if len(values) < _MANY or 4 * len(set(values)) > len(values):
        return rank_shares(values)
    counts = Counter(values)
    others = len(values) - counts.pop(None, 0) - 1
    shares: dict[int | None, float] = {None: 0.0}
    smaller = 0
    for value in sorted(counts):  # type: ignore[type-var]
        shares[value] = smaller / others if others else 1.0
        smaller += counts[value]
    return list(map(shares.__getitem__, values))


# Count the rows that share a label with each row.


_Label = TypeVar("_Label", bound=Hashable)

# Up to this many rows, masks alone are faster.
_FEW_ROWS = 256
# Beyond that, a label on at most this many rows is cheaper as a list than as a mask.
_RARE = 8
# All masks together have at most 2**29 bits: 64 MB.
_MASK_BITS_LOG2 = 29


def overlap_counts(rows: Sequence[tuple[_Label, ...]], canonical: Callable[[_Label], _Label]) -> list[int]:
    """Count the rows that have a label in common with each row, itself included; 0 without labels.

    Labels are the same if their canonical forms are equal. A label is a bit mask over all rows, so the rows of several
    labels are combined by a few operations on machine words. Among many rows, a rare label is a list instead:
    masks for many rare labels would take far more memory than the rows.
    """
    find = _masks if len(rows) <= _FEW_ROWS else _masks_or_lists
    rows_of: Mapping[_Label, list[int] | int] = find(rows)
    name_of = {label: canonical(label) for label in rows_of}
    if len(set(name_of.values())) < len(name_of):
        # Spellings of one name make rows with equal labels look different.
        rows = [tuple([name_of[label] for label in labels]) for labels in rows]
        rows_of = find(rows)
    if find is _masks_or_lists and not all(isinstance(members, int) for members in rows_of.values()):
        return _counts_with_rare_labels(rows, rows_of)
    masks = cast(Mapping[_Label, int], rows_of)
    count_of: dict[tuple[_Label, ...], int] = {}
    counts: list[int] = []
    for labels in rows:
        count = count_of.get(labels)
        if count is None:
            united = 0
            for label in labels:
                united |= masks[label]
            count = count_of[labels] = united.bit_count()
        counts.append(count)
    return counts


def _masks(rows: Sequence[tuple[_Label, ...]]) -> Mapping[_Label, int]:
    """Make an integer for each label, with a bit for each of its rows."""
    masks: dict[_Label, int] = {}
    so_far = masks.get
    bit = 1
    for labels in rows:
        for label in labels:
            masks[label] = so_far(label, 0) | bit
        bit += bit
    return masks


def _masks_or_lists(rows: Sequence[tuple[_Label, ...]]) -> Mapping[_Label, list[int] | int]:
    """Make a mask for each common label, and a list of rows for each rare one."""
    rows_of: defaultdict[_Label, list[int]] = defaultdict(list)
    for row, labels in enumerate(rows):
        for label in labels:
            rows_of[label].append(row)
    few = max(min(len(rows) // 64 + 1, _RARE), sum(map(len, rows_of.values())) * len(rows) >> _MASK_BITS_LOG2)
    size = len(rows) // 8 + 1
    return {label: _mask(members, size) if len(members) > few else members for label, members in rows_of.items()}


def _counts_with_rare_labels(
    rows: Sequence[tuple[_Label, ...]], rows_of: Mapping[_Label, list[int] | int]
) -> list[int]:
    """Count, where `rows_of` has a list for a rare label and a mask for a common one."""
    size = len(rows) // 8 + 1
    count_of: dict[tuple[_Label, ...], int] = {}
    for labels in rows:
        if labels in count_of:
            continue
        united = 0
        rare: list[list[int]] = []
        for label in labels:
            members = rows_of[label]
            if isinstance(members, int):
                united |= members
            else:
                rare.append(members)
        found = set[int]().union(*rare)
        count = len(found)
        if united:
            # A row found by a rare label counts unless a common label has found it already.
            bits = united.to_bytes(size, "big")
            count = united.bit_count() + sum([not bits[row >> 3] << (row & 7) & 128 for row in found])
        count_of[labels] = count
    return [count_of[labels] for labels in rows]


def _mask(members: Sequence[int], size: int) -> int:
    """Make an integer of `size` bytes, big-endian, with a bit for each row, the first row's on top."""
    if len(members) * 16 < size * 8:
        bits = bytearray(size)
        for row in members:
            bits[row >> 3] |= 128 >> (row & 7)
        return int.from_bytes(bits, "big")
    digits = bytearray(b"0") * (size * 8)
    one = ord("1")
    for row in members:
        digits[row] = one
    return int(digits, 2)
