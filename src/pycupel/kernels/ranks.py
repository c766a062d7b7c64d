"""Ranks as shares: how many known values are smaller, divided by how many others there are."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

_MANY = 200


def rank_shares(values: Sequence[Any]) -> list[float]:
    """Compute `smaller / (known - 1)` for each value; 1.0 for a single known value, 0.0 for None.

    This sorts once instead of comparing all pairs. The quotients are those of the literal algorithm, so they are equal
    bit for bit.
    """
    count = len(values)
    shares = [0.0] * count
    try:
        order = sorted(range(count), key=values.__getitem__)
    except TypeError:
        # None does not compare: some values are unknown.
        order = sorted((i for i, value in enumerate(values) if value is not None), key=values.__getitem__)
    others = len(order) - 1
    if others <= 0:
        for i in order:
            shares[i] = 0.0 if values[i] is None else 1.0
        return shares
    previous: Any = None
    share = 0.0
    for smaller, i in enumerate(order):
        value = values[i]
        if value != previous:
            share = smaller / others
            previous = value
        shares[i] = share
    return shares


def integer_rank_shares(values: Sequence[int | None]) -> list[float]:
    """Compute `rank_shares` of integers. If many are equal, counting them takes half the time of sorting."""
    if len(values) < _MANY or 4 * len(set(values)) > len(values):
        return rank_shares(values)
    counts = Counter(values)
    others = len(values) - counts.pop(None, 0) - 1
    shares: dict[int | None, float] = {None: 0.0}
    smaller = 0
    for value in sorted(counts):  # type: ignore[type-var]
        shares[value] = smaller / others if others else 1.0
        smaller += counts[value]
    return list(map(shares.__getitem__, values))
