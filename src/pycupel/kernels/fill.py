"""Filling a budget greedily."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence

from pycupel.kernels.order import descending

__all__ = ["by_density", "fill"]

_MAX_FLOAT = sys.float_info.max


def fill(order: Iterable[int], tokens: Sequence[int], capacity: int) -> list[int]:
    """Walk `order` and take whatever still fits. After one that does not fit, smaller ones may still (GS-01)."""
    taken: list[int] = []
    remaining = capacity
    for i in order:
        cost = tokens[i]
        if cost <= remaining:
            taken.append(i)
            remaining -= cost
    return taken


def by_density(scores: Sequence[float], tokens: Sequence[int]) -> list[int]:
    """Indices by score per token, descending. Items without tokens come before all finite densities."""
    try:
        densities = [score / cost if cost else _MAX_FLOAT for score, cost in zip(scores, tokens, strict=True)]
    except OverflowError:
        # A count beyond the range of floats counts as infinite.
        densities = [_density(score, cost) for score, cost in zip(scores, tokens, strict=True)]
    return descending(densities)


def _density(score: float, cost: int) -> float:
    if not cost:
        return _MAX_FLOAT
    try:
        return score / cost
    except OverflowError:
        return score / float("inf")
