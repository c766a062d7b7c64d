"""Order items, fill a budget in that order, and tell equal objects apart."""

from __future__ import annotations

import math
import operator
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import repeat
from math import isnan
from types import MethodType
from typing import Any, TypeVar, cast


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


# Find objects by identity, each occurrence once.


def indices_by_identity(objects: Sequence[object]) -> dict[int, list[int]]:
    """Map each object's id to its indices, last first, so that `pop()` gives the first remaining one (SL-03).

    An id is valid only while its object lives, so the caller must keep `objects`.
    """
    indices: dict[int, list[int]] = {}
    for i in range(len(objects) - 1, -1, -1):
        indices.setdefault(id(objects[i]), []).append(i)
    return indices


# Fill a budget greedily.


_MAX_FLOAT = sys.float_info.max
_divide: Callable[[float, float], float] = cast(Any, operator).truediv


def fill(order: Iterable[int], tokens: Sequence[int], capacity: int) -> list[int]:
    """Walk `order` and take whatever fits. After an item that does not fit, smaller ones still may (GS-01)."""
    taken: list[int] = []
    remaining = capacity
    for i in order:
        cost = tokens[i]
        if cost <= remaining:
            taken.append(i)
            remaining -= cost
    return taken


def capacities_for(cost: int, before: Sequence[int], ceiling: int) -> int:
    """Return the capacities up to `ceiling` with which `fill` takes an item, as the bits that are set in an integer.

    `before` are the tokens of the items that come before it.
    """
    everything = (2 << ceiling) - 1
    taking = everything >> cost << cost
    for tokens in reversed(before):
        if tokens <= ceiling:
            # With less room, this item is skipped and all of the room stays; with more, the item uses some of it.
            taking = (taking & ((1 << tokens) - 1)) | (taking << tokens & everything)
    return taking


def by_density(scores: Sequence[float], tokens: Sequence[int], exponent: float = 1.0) -> list[int]:
    """Sort indices by `score / tokens**exponent`, descending.

    Items without tokens come before all finite densities.
    """
    if len(scores) != len(tokens):
        raise ValueError(f"{len(scores)} scores for {len(tokens)} token counts")
    if exponent == 0.0:
        return descending([score if cost > 0 else _MAX_FLOAT for score, cost in zip(scores, tokens, strict=True)])
    # Without the power, the usual densities are those of the specification, bit for bit.
    costs = tokens if exponent == 1.0 else [_power(cost, exponent) for cost in tokens]
    try:
        densities = list(map(_divide, scores, costs))
    except (ZeroDivisionError, OverflowError):
        densities = list(map(_density, scores, costs))
    return descending(densities)


def best_fitting(scores: Sequence[float], tokens: Sequence[int], capacity: int, order: list[int]) -> list[int]:
    """Move the highest score that fits into `capacity` to the front of `order`; ties go to the earlier item."""
    fitting = [i for i, cost in enumerate(tokens) if cost <= capacity]
    if not fitting:
        return order
    best = descending(scores, fitting)[0]
    return order if order[0] == best else [best, *(i for i in order if i != best)]


def _power(cost: int, exponent: float) -> float:
    """Treat a negative count, which has no root, as 0."""
    try:
        return float(cost**exponent) if cost > 0 else 0.0
    except OverflowError:
        return float(math.inf**exponent)


def _density(score: float, cost: float) -> float:
    if not cost:
        return _MAX_FLOAT
    try:
        return score / cost
    except OverflowError:
        # A count beyond the range of floats counts as infinite.
        return score / math.inf


# Make named tuples in less than half the time that calling their class takes.
#
# A run makes a few, and a report several for every item.


_Record = TypeVar("_Record")

_new: Any = cast(Any, tuple).__new__


def maker(cls: type[_Record]) -> Callable[[tuple[Any, ...]], _Record]:
    """Return a function that makes a named tuple from a plain tuple of all its fields."""
    return MethodType(_new, cls)


def records(cls: type[_Record], rows: Iterable[tuple[Any, ...]]) -> Iterator[_Record]:
    """Make named tuples from plain ones."""
    return map(_new, repeat(cls), rows)
