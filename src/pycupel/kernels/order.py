"""Stable orders of indices, with NaN below every number (SC-03)."""

from __future__ import annotations

from collections.abc import Sequence
from math import isnan

__all__ = ["descending", "u_shaped"]


def descending(values: Sequence[float], among: Sequence[int] | None = None) -> list[int]:
    """The indices of `values`, or those in `among`, by value descending; equal values keep the order they come in."""
    indices = range(len(values)) if among is None else among
    # A sum is the fastest way to find out that there is no NaN: it would be NaN, too.
    if isnan(sum(values)):
        # A pair keeps NaN out of every comparison.
        pairs = [(False, 0.0) if isnan(value) else (True, value) for value in values]
        return sorted(indices, key=pairs.__getitem__, reverse=True)
    return sorted(indices, key=values.__getitem__, reverse=True)


def u_shaped(ranked: Sequence[int]) -> list[int]:
    """Even ranks from the left edge inwards, odd ranks from the right edge inwards."""
    return [*ranked[0::2], *ranked[1::2][::-1]]
