"""Min-max normalisation."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite


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
