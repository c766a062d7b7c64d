"""Checking the weights that scorers are configured with."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, cast

from pycupel.errors import ScorerConfigError
from pycupel.model.checks import as_float, wrong_type

__all__ = ["checked_weight", "weight_items"]


def weight_items(name: str, value: Any) -> list[tuple[Any, Any]]:
    if not isinstance(value, Mapping):
        raise wrong_type(name, "a mapping to weights", value)
    return list(cast(Mapping[Any, Any], value).items())


def checked_weight(what: str, where: str, value: Any) -> float:
    """A weight of 0 or more. `what` starts the specification's sentence; `where` names the entry, in a note."""
    weight = as_float(where, value)
    if weight < 0.0:
        raise ScorerConfigError(f"{what} must be non-negative", argument=where, value=weight, hint=f"{where} is {weight}")
    if not math.isfinite(weight):
        raise ScorerConfigError(f"{what} must be finite", argument=where, value=weight, hint=f"{where} is {weight}")
    return weight
