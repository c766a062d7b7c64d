"""Count the rows that share a label with each row."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import TypeVar, cast

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
