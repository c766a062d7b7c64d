"""Bounds on processor time, so generous that only another order of growth exceeds them."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")

# What `_reference` takes on the machine for which the bounds were chosen.
_REFERENCE_SECONDS = 0.15


def within(seconds: float, work: Callable[[], T]) -> T:
    """Do some work, and check that it took at most so much processor time.

    The bound is larger on a slower machine, by as much as a fixed amount of other work takes longer there.
    """
    result, taken = _timed(work)
    if taken >= seconds:
        slowness = max(_timed(_reference)[1] for _ in range(3)) / _REFERENCE_SECONDS
        assert taken < seconds * max(1.0, slowness), f"took {taken:.1f} s on a machine with slowness {slowness:.1f}"
    return result


def _timed(work: Callable[[], T]) -> tuple[T, float]:
    start = time.process_time()
    result = work()
    return result, time.process_time() - start


def _reference() -> int:
    return len({str(i) for i in range(300_000)})
