"""The dynamic program of a knapsack, row by row: at most one option of each group."""

from __future__ import annotations

from collections.abc import Sequence
from math import gcd


def best_options(groups: Sequence[Sequence[tuple[int, int]]], capacity: int) -> list[int]:
    """Return, for each group, the index of the option that the dynamic program takes, or -1.

    An option is taken only if it strictly improves on the groups and options before it, and the result is
    read from the last group.

    The cells of a row are the fields of one large integer. The top bit of a field is never part of a value, so that a
    subtraction compares all fields at once.

    Args:
        groups: The options of each group, at most 128, as `(weight, value)` with values above 0.
        capacity: The most that the options may weigh together.
    """
    values = [value for options in groups for _, value in options]
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
            row = marks if k == 0 else _overlaid(row, marks, k)
            best ^= (best ^ taken) & (better - (better >> (width - 1)))
        rows.append(row)
    selected = [-1] * len(groups)
    left = capacity
    for i in range(len(groups) - 1, -1, -1):
        mark = rows[i][left]
        if mark:
            selected[i] = mark & 127
            left -= groups[i][selected[i]][0]
    return selected


def _overlaid(row: bytes, marks: bytes, k: int) -> bytes:
    """Put option `k` into each marked cell: the top bit is set, and the other bits hold the option."""
    marked = int.from_bytes(marks, "little") >> 7
    kept = int.from_bytes(row, "little") & ~(marked * 255)
    return (kept | marked * (128 + k)).to_bytes(len(row), "little")
