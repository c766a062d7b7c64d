"""Check the weights of scorers."""

from __future__ import annotations

import math
from typing import Any

from pycupel.errors import ScorerConfigError
from pycupel.model.checks import argument_of, as_float, checked_mapping


def weight_items(name: str, value: Any) -> list[tuple[Any, Any]]:
    """Return the entries of a mapping to weights, not checked yet."""
    return list(checked_mapping(name, "a mapping from names to weights", value).items())


def checked_weight(what: str, where: str, value: Any) -> float:
    """Check for a weight of 0 or more. `what` begins the specification's sentence; a note names the entry, `where`."""
    weight = as_float(where, value)
    if weight < 0.0:
        raise bad_weight(f"{what} must be non-negative", where, weight)
    if not math.isfinite(weight):
        raise bad_weight(f"{what} must be finite", where, weight)
    return weight


def bad_weight(message: str, where: str, weight: float) -> ScorerConfigError:
    """Make the error for a weight that is out of range."""
    return ScorerConfigError(message, argument=argument_of(where), value=weight, hint=f"{where} is {weight}")
