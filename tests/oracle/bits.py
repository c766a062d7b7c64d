"""Comparing floats bit for bit."""

from __future__ import annotations

import math
from collections.abc import Sequence

__all__ = ["bits"]


def bits(scores: Sequence[float]) -> list[str]:
    """Equal bit for bit, and NaN equal to NaN."""
    assert {type(score) for score in scores} <= {float}
    return ["nan" if math.isnan(score) else score.hex() for score in scores]
