"""Ranks as shares: how many known values are smaller, divided by how many others there are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

__all__ = ["rank_shares"]


def rank_shares(values: Sequence[Any]) -> list[float]:
    """For each value `smaller / (known - 1)`; 1.0 for a single known value, 0.0 for None.

    One sort instead of N comparisons for each of N values. The quotients are the literal algorithm's, so they are equal bit for bit.
    """
    shares = [0.0] * len(values)
    known = [i for i, value in enumerate(values) if value is not None]
    others = len(known) - 1
    if others <= 0:
        for i in known:
            shares[i] = 1.0
        return shares
    previous: Any = None
    share = 0.0
    for smaller, i in enumerate(sorted(known, key=values.__getitem__)):
        value = values[i]
        if value != previous:
            share = smaller / others
            previous = value
        shares[i] = share
    return shares
