"""Ask any slicer for its quotas."""

from __future__ import annotations

from typing import Any, cast

from pycupel.errors import SlicerContractError
from pycupel.model import QuotaConstraint
from pycupel.protocols import Slicer
from pycupel.text import describe


def quota_constraints_of(slicer: Slicer) -> tuple[QuotaConstraint, ...]:
    """Return the quotas of a slicer and its inner slicers; empty if it has no method `quota_constraints()`.

    Raises:
        SlicerContractError: the method returned something other than a list or tuple of `QuotaConstraint`.
    """
    method = getattr(slicer, "quota_constraints", None)
    given: Any = method() if callable(method) else ()
    if not isinstance(given, (tuple, list)) or not all(isinstance(each, QuotaConstraint) for each in cast(Any, given)):
        raise SlicerContractError(
            f"{type(slicer).__name__}.quota_constraints must return a list or tuple of QuotaConstraint, "
            f"not {describe(cast(Any, given))}"
        )
    return tuple(cast(Any, given))
