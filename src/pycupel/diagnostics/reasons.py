"""Why an item is in the selection, or not. One record for each reason; the class name is the name on the wire.

The specification defines eight exclusion reasons. Four of them are reserved, for custom stages and later versions: the built-in stages never
give them (ER-01). Two more are about counts (ER-02).
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

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


@dataclass(frozen=True, slots=True)
class BudgetExceeded(ExclusionReason):
    """The item did not fit: Slice, or Place with the Truncate strategy. `available_tokens` is what the final selection left over."""

    item_tokens: int
    available_tokens: int


@dataclass(frozen=True, slots=True)
class ScoredTooLow(ExclusionReason):
    """Reserved."""

    score: float
    threshold: float


@dataclass(frozen=True, slots=True)
class Deduplicated(ExclusionReason):
    """Another item with the same content was kept: Deduplicate."""

    deduplicated_against: str


@dataclass(frozen=True, slots=True)
class QuotaCapExceeded(ExclusionReason):
    """Reserved."""

    kind: str
    cap: int
    actual: int


@dataclass(frozen=True, slots=True)
class QuotaRequireDisplaced(ExclusionReason):
    """Reserved."""

    displaced_by_kind: str


@dataclass(frozen=True, slots=True)
class NegativeTokens(ExclusionReason):
    """The item has a negative token count: Classify."""

    tokens: int


@dataclass(frozen=True, slots=True)
class PinnedOverride(ExclusionReason):
    """The item would have fitted, had nothing been pinned: Slice, or Place with the Truncate strategy."""

    displaced_by: str


@dataclass(frozen=True, slots=True)
class Filtered(ExclusionReason):
    """Reserved."""

    filter_name: str


@dataclass(frozen=True, slots=True)
class CountCapExceeded(ExclusionReason):
    """The item was selected and then removed, because `count` items of its kind had already reached the `cap`: Slice."""

    kind: str
    cap: int
    count: int


@dataclass(frozen=True, slots=True)
class CountRequireCandidatesExhausted(ExclusionReason):
    """Defined for exchange with other implementations; never given, since what is missing is no item (see the report's shortfalls)."""

    kind: str
