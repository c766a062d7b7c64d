"""How many rows share a label with each row."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import TypeVar

__all__ = ["overlap_counts"]

_Label = TypeVar("_Label", bound=Hashable)


def overlap_counts(rows: Sequence[tuple[_Label, ...]], canonical: Callable[[_Label], _Label]) -> list[int]:
    """For each row, the number of rows that have a label in common with it, itself included; 0 without labels.

    Labels are the same if their canonical form is. A common label is a bit mask over all rows, so that masks are united
    by one bit operation for a pair of rows: at most rows^2/64 words, once for rows with equal labels. A label on few
    rows is a list instead, since masks for many rare labels would take far more memory than the rows.
    """
    rows_of: defaultdict[_Label, list[int]] = defaultdict(list)
    for row, labels in enumerate(rows):
        for label in labels:
            rows_of[label].append(row)
    name_of = {label: canonical(label) for label in rows_of}
    named: dict[_Label, list[int]] = {}
    for label, members in rows_of.items():
        name = name_of[label]
        named[name] = named[name] + members if name in named else members
    few = len(rows) // 64 + 1
    masks = {name: _mask(members, len(rows)) for name, members in named.items() if len(members) > few}
    if len(masks) < len(named):
        return _counts_with_rare_labels(rows, name_of, named, masks)
    mask_of = {label: masks[name] for label, name in name_of.items()}
    count_of: dict[tuple[_Label, ...], int] = {}
    counts: list[int] = []
    for labels in rows:
        count = count_of.get(labels)
        if count is None:
            united = 0
            for label in labels:
                united |= mask_of[label]
            count = count_of[labels] = united.bit_count()
        counts.append(count)
    return counts


def _counts_with_rare_labels(
    rows: Sequence[tuple[_Label, ...]],
    name_of: Mapping[_Label, _Label],
    rows_of: Mapping[_Label, Sequence[int]],
    masks: Mapping[_Label, int],
) -> list[int]:
    names = {labels: {name_of[label] for label in labels} for labels in rows}
    common = {labels: each & masks.keys() for labels, each in names.items()}
    count_of: dict[tuple[_Label, ...], int] = {}
    for labels, each in names.items():
        shared = common[labels]
        united = 0
        for name in shared:
            united |= masks[name]
        rare = {row for name in each - shared for row in rows_of[name]}
        # A row found by a rare label counts unless a common label has found it already.
        count_of[labels] = united.bit_count() + sum(shared.isdisjoint(common[rows[row]]) for row in rare)
    return [count_of[labels] for labels in rows]


def _mask(members: Sequence[int], rows: int) -> int:
    digits = bytearray(b"0") * rows
    one = ord("1")
    for row in members:
        digits[row] = one
    return int(digits, 2)
