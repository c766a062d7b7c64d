"""Combine columns of scores."""

from __future__ import annotations

from collections.abc import Sequence


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
