"""How many examples the tests try."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any, TypeVar

from hypothesis import HealthCheck, settings

__all__ = ["SHARE", "examples", "some_of"]

_Value = TypeVar("_Value")

SHARE = float(os.environ.get("EXAMPLES", "1"))
"""The share of the examples to try: `EXAMPLES=10` for a thorough run."""


def examples(count: int, **options: Any) -> settings:
    """Try about this many examples, however long each takes."""
    count = max(1, round(SHARE * count))
    return settings(max_examples=count, deadline=None, suppress_health_check=[HealthCheck.too_slow], **options)


def some_of(values: Iterable[_Value]) -> Iterator[_Value]:
    """Take about that share of the values, evenly spread."""
    return islice(values, 0, None, max(1, round(1 / SHARE)))
