"""Sort indices stably, with NaN below every number (SC-03)."""

from __future__ import annotations

from collections.abc import Sequence
from math import isnan


def descending(values: Sequence[float], among: Sequence[int] | None = None) -> list[int]:
    """Sort the indices of `values`, or those in `among`, by value descending; equal values keep their order."""
    indices = range(len(values)) if among is None else among
    # The fastest check for NaN: a sum with NaN in it is NaN.
    if isnan(sum(values)):
        # In a pair, NaN is never compared.
        pairs = [(False, 0.0) if isnan(value) else (True, value) for value in values]
        return sorted(indices, key=pairs.__getitem__, reverse=True)
    return sorted(indices, key=values.__getitem__, reverse=True)


def u_shaped(ranked: Sequence[int]) -> list[int]:
    """Place even ranks from the left edge inwards, odd ranks from the right edge inwards."""
    return [*ranked[0::2], *ranked[1::2][::-1]]
