"""How many rows share a label with each row."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence

__all__ = ["overlap_counts"]


def overlap_counts(groups: Mapping[frozenset[Hashable], Sequence[int]], rows: int) -> dict[frozenset[Hashable], int]:
    """For each set of labels, the number of rows whose set has a label in common with it; a non-empty set overlaps itself.

    `groups` maps each distinct set to its rows. A common label is a bit mask over all rows, so that sets are united by one bit operation for a pair
    of rows: at most rows^2/64 words, and much less where sets repeat. A label on few rows is a list instead, since a mask for each of
    many rare labels would cost far more memory than there are rows.
    """
    rows_of: dict[Hashable, list[int]] = {}
    for labels, members in groups.items():
        for label in labels:
            rows_of.setdefault(label, []).extend(members)
    few = rows // 64 + 1
    masks = {label: _mask(members, rows) for label, members in rows_of.items() if len(members) > few}
    common = {row: labels & masks.keys() for labels, members in groups.items() for row in members} if len(masks) < len(rows_of) else {}
    return {labels: _count(labels, rows_of, masks, common) for labels in groups}


def _count(
    labels: frozenset[Hashable],
    rows_of: Mapping[Hashable, Sequence[int]],
    masks: Mapping[Hashable, int],
    common: Mapping[int, frozenset[Hashable]],
) -> int:
    united = 0
    rare: set[int] = set()
    for label in labels:
        mask = masks.get(label)
        if mask is None:
            rare.update(rows_of[label])
        else:
            united |= mask
    # A row found by a rare label counts unless a common label has found it already.
    return united.bit_count() + sum(common[row].isdisjoint(labels) for row in rare)


def _mask(members: Sequence[int], rows: int) -> int:
    digits = bytearray(b"0") * rows
    for row in members:
        digits[row] = ord("1")
    return int(digits, 2)
