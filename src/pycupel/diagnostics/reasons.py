"""Why an item is in the selection, or not. One record for each reason; the class name is the name on the wire.

The specification defines eight exclusion reasons. Four of them are reserved, for custom stages and later versions:
the built-in stages never give them (ER-01). Two more are about counts (ER-02). What another implementation gave, and
this one does not know, is an `UnknownReason` (WF-03).
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import Any, NamedTuple, Self

from pycupel.errors import InvalidArgumentError
from pycupel.model.checks import checked_mapping, checked_str

__all__ = [
    "EXCLUSION_REASONS",
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
    "UnknownReason",
    "reason_name",
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
    """A record's fields, or the attributes of a custom reason that is no record."""
    values: Any = reason
    return tuple(values) if isinstance(reason, tuple) else tuple(sorted(vars(reason).items()))


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


class UnknownReason(ExclusionReason, NamedTuple("_", [("name", str), ("fields", Mapping[str, Any])])):
    """A reason read from elsewhere, as it came: its name on the wire, and the fields beside it.

    Raises:
        TypeError: the name is no string, or the fields are no mapping.
        InvalidArgumentError: the name is that of a known reason, or a field is called `reason`, as the name is on the
            wire. Neither would come back as it went.
    """

    __slots__ = ()

    def __new__(cls, name: str, fields: Mapping[str, Any] = MappingProxyType({})) -> Self:
        if checked_str("name", name) in EXCLUSION_REASONS:
            raise InvalidArgumentError(f"{name} is a known reason; use that record", argument="name", value=name)
        own = dict(checked_mapping("fields", "a mapping", fields))
        if "reason" in own:
            raise InvalidArgumentError("fields must not contain 'reason', which is the name", argument="fields")
        return super().__new__(cls, name, MappingProxyType(own))

    def __hash__(self) -> int:
        # Values from a document can be lists and objects, which have no hash.
        return hash((type(self).__name__, self.name, frozenset(self.fields)))

    def __repr__(self) -> str:
        return f"UnknownReason(name={self.name!r}, fields={dict(self.fields)!r})"

    def __reduce__(self) -> tuple[Any, ...]:
        return UnknownReason, (self.name, dict(self.fields))


# What the specification and the counts define, by name on the wire.
EXCLUSION_REASONS: Mapping[str, type[ExclusionReason]] = MappingProxyType(
    {
        reason.__name__: reason
        for reason in (
            BudgetExceeded,
            ScoredTooLow,
            Deduplicated,
            QuotaCapExceeded,
            QuotaRequireDisplaced,
            NegativeTokens,
            PinnedOverride,
            Filtered,
            CountCapExceeded,
            CountRequireCandidatesExhausted,
        )
    }
)


def reason_name(reason: ExclusionReason) -> str:
    """The name on the wire: that of the class, or whatever another implementation called it."""
    return reason.name if isinstance(reason, UnknownReason) else type(reason).__name__
