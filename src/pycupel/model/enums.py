"""The closed enumerations of the data model."""

from __future__ import annotations

from enum import StrEnum

__all__ = ["OverflowStrategy", "ScarcityBehavior"]


class OverflowStrategy(StrEnum):
    """What Place does when pinned and sliced items together exceed the budget."""

    THROW = "throw"
    TRUNCATE = "truncate"
    PROCEED = "proceed"


class ScarcityBehavior(StrEnum):
    """What a count slicer does when a kind has fewer candidates than it requires."""

    DEGRADE = "degrade"
    THROW = "throw"
