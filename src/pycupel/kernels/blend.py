"""Combining columns of scores."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import repeat
from operator import add, mul

__all__ = ["product", "weighted_sum"]


def weighted_sum(columns: Sequence[Iterable[float]], weights: Sequence[float]) -> list[float]:
    """For each row `0.0 + first * weight + second * weight + ...`, added strictly from left to right (PY-01)."""
    total: Iterable[float] = repeat(0.0)
    for column, weight in zip(columns, weights, strict=True):
        total = map(add, total, map(mul, column, repeat(weight)))
    return list(total)


def product(columns: Sequence[Iterable[float]]) -> list[float]:
    """For each row `first * second * ...`, multiplied from left to right."""
    result, *rest = columns
    for column in rest:
        result = map(mul, result, column)
    return list(result)
