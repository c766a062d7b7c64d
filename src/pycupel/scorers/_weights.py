"""Checking the weights that scorers are configured with."""

from __future__ import annotations

import math
from typing import Any

from pycupel.errors import ScorerConfigError
from pycupel.model.checks import as_float, checked_mapping

__all__ = ["checked_weight", "weight_items"]


def weight_items(name: str, value: Any) -> list[tuple[Any, Any]]:
    return list(checked_mapping(name, "a mapping to weights", value).items())


def checked_weight(what: str, where: str, value: Any) -> float:
    """A weight of 0 or more. `what` starts the specification's sentence; `where` names the entry, in a note."""
    weight = as_float(where, value)
    if weight < 0.0:
        raise ScorerConfigError(
            f"{what} must be non-negative", argument=where, value=weight, hint=f"{where} is {weight}"
        )
    if not math.isfinite(weight):
        raise ScorerConfigError(f"{what} must be finite", argument=where, value=weight, hint=f"{where} is {weight}")
    return weight
