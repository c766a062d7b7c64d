"""Why an item is in the selection, or not. One record for each reason; the class name is the name on the wire.

The specification defines eight exclusion reasons. Four of them are reserved, for custom stages and later versions:
the built-in stages never give them (ER-01). Two more are about counts (ER-02).
"""

from __future__ import annotations

from enum import StrEnum
from typing import Any, NamedTuple, cast

__all__ = [
    "BudgetExceeded",
    "CountCapExceeded",
    "CountRequireCandidatesExhausted",
    "Deduplicated",
    "ExclusionReason",
    "Filtered",
    "InclusionReason",
    "NegativeTokens",
    "PinnedOverride",
    "QuotaCapExceeded",
    "QuotaRequireDisplaced",
    "ScoredTooLow",
]


class InclusionReason(StrEnum):
    SCORED = "Scored"
    PINNED = "Pinned"
    ZERO_TOKEN = "ZeroToken"  # noqa: S105 - a reason, not a password


class ExclusionReason:
    """The base of all exclusion reasons. Two of different classes are never equal, whatever their fields hold."""

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and _fields(self) == _fields(other)

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return hash((type(self).__name__, _fields(self)))


def _fields(reason: object) -> tuple[Any, ...]:
    return (*cast(tuple[Any, ...], reason),)


class BudgetExceeded(ExclusionReason, NamedTuple("_", [("item_tokens", int), ("available_tokens", int)])):
    """The item did not fit: Slice, or Place with the Truncate strategy.

    `available_tokens` is what the final selection left over.
    """

    __slots__ = ()


class ScoredTooLow(ExclusionReason, NamedTuple("_", [("score", float), ("threshold", float)])):
    """Reserved."""

    __slots__ = ()


class Deduplicated(ExclusionReason, NamedTuple("_", [("deduplicated_against", str)])):
    """Another item with the same content was kept: Deduplicate."""

    __slots__ = ()


class QuotaCapExceeded(ExclusionReason, NamedTuple("_", [("kind", str), ("cap", int), ("actual", int)])):
    """Reserved."""

    __slots__ = ()


class QuotaRequireDisplaced(ExclusionReason, NamedTuple("_", [("displaced_by_kind", str)])):
    """Reserved."""

    __slots__ = ()


class NegativeTokens(ExclusionReason, NamedTuple("_", [("tokens", int)])):
    """The item has a negative token count: Classify."""

    __slots__ = ()


class PinnedOverride(ExclusionReason, NamedTuple("_", [("displaced_by", str)])):
    """The item would have fitted, had nothing been pinned: Slice, or Place with the Truncate strategy."""

    __slots__ = ()


class Filtered(ExclusionReason, NamedTuple("_", [("filter_name", str)])):
    """Reserved."""

    __slots__ = ()


class CountCapExceeded(ExclusionReason, NamedTuple("_", [("kind", str), ("cap", int), ("count", int)])):
    """The item was selected and then removed, because `count` items of its kind had reached the `cap`: Slice."""

    __slots__ = ()


class CountRequireCandidatesExhausted(ExclusionReason, NamedTuple("_", [("kind", str)])):
    """Defined for exchange with other implementations, and never given: what is missing is no item but a shortfall."""

    __slots__ = ()
