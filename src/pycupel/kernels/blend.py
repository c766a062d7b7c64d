"""Combining columns of scores."""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["product", "weighted_sum"]


def weighted_sum(columns: Sequence[Sequence[float]], weights: Sequence[float]) -> list[float]:
    """For each row `0.0 + first * weight + second * weight + ...`, added strictly from left to right (PY-01).

    Up to five columns are added in one pass, because a pass over a list costs more than an addition.
    """
    total = [0.0] * len(columns[0])
    while len(columns) > 5:
        total = _add_5(total, columns[:5], weights[:5])
        columns, weights = columns[5:], weights[5:]
    return _ADD[len(columns) - 1](total, columns, weights)


_Columns = Sequence[Sequence[float]]


def _add_1(total: list[float], columns: _Columns, weights: Sequence[float]) -> list[float]:
    (a,), (v,) = columns, weights
    return [t + p * v for t, p in zip(total, a, strict=True)]


def _add_2(total: list[float], columns: _Columns, weights: Sequence[float]) -> list[float]:
    (a, b), (v, w) = columns, weights
    return [t + p * v + q * w for t, p, q in zip(total, a, b, strict=True)]


def _add_3(total: list[float], columns: _Columns, weights: Sequence[float]) -> list[float]:
    (a, b, c), (v, w, x) = columns, weights
    return [t + p * v + q * w + r * x for t, p, q, r in zip(total, a, b, c, strict=True)]


def _add_4(total: list[float], columns: _Columns, weights: Sequence[float]) -> list[float]:
    (a, b, c, d), (v, w, x, y) = columns, weights
    return [t + p * v + q * w + r * x + s * y for t, p, q, r, s in zip(total, a, b, c, d, strict=True)]


def _add_5(total: list[float], columns: _Columns, weights: Sequence[float]) -> list[float]:
    (a, b, c, d, e), (v, w, x, y, z) = columns, weights
    return [t + p * v + q * w + r * x + s * y + u * z for t, p, q, r, s, u in zip(total, a, b, c, d, e, strict=True)]


_ADD = (_add_1, _add_2, _add_3, _add_4, _add_5)


def product(columns: Sequence[Sequence[float]]) -> list[float]:
    """For each row `first * second * ...`, multiplied from left to right."""
    total = columns[0]
    for column in columns[1:]:
        total = [t * factor for t, factor in zip(total, column, strict=True)]
    return list(total)
