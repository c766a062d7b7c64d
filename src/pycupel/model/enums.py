"""The closed enumerations of the data model."""

from __future__ import annotations

from typing import Literal, TypeAlias

from pycupel.model.names import NamedEnum


class OverflowStrategy(NamedEnum):
    """What to do when pinned and selected items together exceed the budget."""

    THROW = "throw"
    """Raise `BudgetOverflowError`."""

    TRUNCATE = "truncate"
    """Keep the pinned items and, in the order of the selection, whatever else still fits."""

    PROCEED = "proceed"
    """Keep everything, and call `on_overflow` with an `OverflowEvent`."""


class ScarcityBehavior(NamedEnum):
    """What a count slicer does when a kind has fewer candidates than its entry requires."""

    DEGRADE = "degrade"
    """Select what there is, and list the shortfall in the report."""

    THROW = "throw"
    """Raise `CountRequirementError`."""


ScarcityLike: TypeAlias = ScarcityBehavior | Literal["degrade", "throw"]
