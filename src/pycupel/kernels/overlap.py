"""How many rows share a label with each row."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import TypeVar

__all__ = ["overlap_counts"]

_Label = TypeVar("_Label", bound=Hashable)


def overlap_counts(
    groups: Mapping[tuple[_Label, ...], Sequence[int]], rows: int, canonical: Callable[[_Label], _Label]
) -> list[int]:
    """For each group, the number of rows that have a label in common with it, its own rows included.

    A group is a tuple of labels, not empty, with the rows that have just these; labels are the same if their
    canonical form is. A common label is a bit mask over all rows, so that groups are united by one bit operation for
    a pair of rows: at most rows^2/64 words, and much less where rows have equal labels. A label on few rows is a list
    instead, since masks for many rare labels would take far more memory than the rows.
    """
    rows_of: dict[_Label, list[int]] = {}
    for labels, members in groups.items():
        for label in labels:
            if label in rows_of:
                rows_of[label] += members
            else:
                rows_of[label] = [*members]
    name_of = {label: canonical(label) for label in rows_of}
    named: dict[_Label, list[int]] = {}
    for label, members in rows_of.items():
        name = name_of[label]
        named[name] = named[name] + members if name in named else members
    few = rows // 64 + 1
    masks = {name: _mask(members, rows) for name, members in named.items() if len(members) > few}
    if len(masks) < len(named):
        return _counts_with_rare_labels(groups, name_of, named, masks)
    mask_of = {label: masks[name] for label, name in name_of.items()}
    counts: list[int] = []
    for labels in groups:
        united = 0
        for label in labels:
            united |= mask_of[label]
        counts.append(united.bit_count())
    return counts


def _counts_with_rare_labels(
    groups: Mapping[tuple[_Label, ...], Sequence[int]],
    name_of: Mapping[_Label, _Label],
    rows_of: Mapping[_Label, Sequence[int]],
    masks: Mapping[_Label, int],
) -> list[int]:
    names = [{name_of[label] for label in labels} for labels in groups]
    common = [each & masks.keys() for each in names]
    common_of = {row: each for each, members in zip(common, groups.values(), strict=True) for row in members}
    counts: list[int] = []
    for each, shared in zip(names, common, strict=True):
        united = 0
        for name in shared:
            united |= masks[name]
        rare = {row for name in each - shared for row in rows_of[name]}
        # A row found by a rare label counts unless a common label has found it already.
        counts.append(united.bit_count() + sum(shared.isdisjoint(common_of[row]) for row in rare))
    return counts


def _mask(members: Sequence[int], rows: int) -> int:
    digits = bytearray(b"0") * rows
    one = ord("1")
    for row in members:
        digits[row] = one
    return int(digits, 2)
