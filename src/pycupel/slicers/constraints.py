"""The quotas of a slicer, whichever it is."""

from __future__ import annotations

from typing import Any, cast

from pycupel.errors import SlicerContractError
from pycupel.model import QuotaConstraint
from pycupel.model.checks import describe
from pycupel.protocols import Slicer

__all__ = ["quota_constraints_of"]


def quota_constraints_of(slicer: Slicer) -> tuple[QuotaConstraint, ...]:
    """What a slicer's `quota_constraints()` tells, those of inner slicers included. Without that method it has none.

    Raises:
        SlicerContractError: the method returns something else.
    """
    tell = getattr(slicer, "quota_constraints", None)
    told: Any = tell() if callable(tell) else ()
    if not isinstance(told, (tuple, list)) or not all(isinstance(each, QuotaConstraint) for each in cast(Any, told)):
        raise SlicerContractError(
            f"{type(slicer).__name__}.quota_constraints must return a list or tuple of QuotaConstraint, "
            f"not {describe(cast(Any, told))}"
        )
    return tuple(cast(Any, told))
