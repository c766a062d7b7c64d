"""What a run has to tell, as records: why items were selected or left out, its stages and its events.

There is one class for each reason; its name is the name on the wire.
"""

# ER-01: the specification defines eight exclusion reasons. Four are reserved for custom stages and later versions; the
# built-in stages never use them. ER-02: two more are about counts. WF-03: a reason that only another implementation
# knows is an UnknownReason.

# Without `from __future__ import annotations`: named tuples compile annotations that are strings, which takes as long
# as the rest of this module.

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple, Self

from pycupel.errors import InvalidArgumentError
from pycupel.model import ContextBudget, ContextItem, ContextKind
from pycupel.model.checks import NamedEnum, checked_mapping, checked_str
from pycupel.values import FrozenDict, record_repr


class InclusionReason(NamedEnum):
    """Why an item was selected."""

    SCORED = "Scored"
    """It was selected by its score and size."""

    PINNED = "Pinned"
    """It is pinned."""

    ZERO_TOKEN = "ZeroToken"  # noqa: S105 - a reason, not a password
    """It has zero tokens."""


class ExclusionReason:
    """The base class of all exclusion reasons, custom ones included. Reasons of different classes are never equal."""

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and _fields(self) == _fields(other)

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return hash((type(self).__name__, _fields(self)))

    def __repr__(self) -> str:
        return record_repr(self) if isinstance(self, tuple) else object.__repr__(self)


def _fields(reason: object) -> tuple[Any, ...]:
    """Return a record's fields, or the attributes of a custom reason that is not a record."""
    values: Any = reason
    return tuple(values) if isinstance(reason, tuple) else tuple(sorted(vars(reason).items()))


class _BudgetExceeded(NamedTuple):
    item_tokens: int
    """The tokens of the item."""

    available_tokens: int
    """The tokens that the final selection left over.

    If the item has fewer, a quota or another rule of the slicer kept it out, and the item's event says which.
    """


class BudgetExceeded(ExclusionReason, _BudgetExceeded):
    """The item did not fit. Used by Slice, and by Place with the Truncate strategy."""

    __slots__ = ()


class _ScoredTooLow(NamedTuple):
    score: float
    """The item's score."""

    threshold: float
    """The lowest score that would have been enough."""


class ScoredTooLow(ExclusionReason, _ScoredTooLow):
    """The score is below the threshold of a `MinScoreSlice`."""

    __slots__ = ()


class _Deduplicated(NamedTuple):
    deduplicated_against: str
    """The content of the item that was kept."""


class Deduplicated(ExclusionReason, _Deduplicated):
    """Another item with the same content was kept. Used by Deduplicate."""

    __slots__ = ()


class _QuotaCapExceeded(NamedTuple):
    kind: str
    """The kind."""

    cap: int
    """The most tokens or items that it may have."""

    actual: int
    """How many it would have with this item."""


class QuotaCapExceeded(ExclusionReason, _QuotaCapExceeded):
    """The kind has used up its quota. Reserved: the built-in stages never use it."""

    __slots__ = ()


class _QuotaRequireDisplaced(NamedTuple):
    displaced_by_kind: str
    """The kind whose requirement took the room."""


class QuotaRequireDisplaced(ExclusionReason, _QuotaRequireDisplaced):
    """Another kind's requirement took the room. Reserved: the built-in stages never use it."""

    __slots__ = ()


class _NegativeTokens(NamedTuple):
    tokens: int
    """The item's token count."""


class NegativeTokens(ExclusionReason, _NegativeTokens):
    """The item has a negative token count. Used by Classify."""

    __slots__ = ()


class _PinnedOverride(NamedTuple):
    displaced_by: str
    """The content of the first pinned item."""


class PinnedOverride(ExclusionReason, _PinnedOverride):
    """The item would have fitted without the pinned items. Used by Slice, and by Place with the Truncate strategy."""

    __slots__ = ()


class _Filtered(NamedTuple):
    filter_name: str
    """The filter that removed the item; from `select_messages`, what is wrong with the message."""


class Filtered(ExclusionReason, _Filtered):
    """A filter removed the item. The built-in stages never use it; `select_messages` does."""

    __slots__ = ()


class _CountCapExceeded(NamedTuple):
    kind: str
    """The kind."""

    cap: int
    """How many items of this kind may be selected."""

    # The specification's name, which tuples use for a method.
    count: int  # type: ignore[assignment]  # pyright: ignore[reportIncompatibleMethodOverride]
    """How many items of this kind were selected."""

    by: str = "kind"
    """What `kind` is a value of: "kind", "source", "metadata:KEY", or the name of a function."""


class CountCapExceeded(ExclusionReason, _CountCapExceeded):
    """The item was selected and then removed, because its kind had reached its cap. Used by Slice."""

    __slots__ = ()

    def __repr__(self) -> str:
        return record_repr(self).replace(", by='kind')", ")")


class _CountRequireCandidatesExhausted(NamedTuple):
    kind: str
    """The kind."""


class CountRequireCandidatesExhausted(ExclusionReason, _CountRequireCandidatesExhausted):
    """A kind had too few candidates. Only other implementations report this; pycupel lists a shortfall instead."""

    __slots__ = ()


class _UnknownReason(NamedTuple):
    name: str
    """Its name on the wire."""

    fields: Mapping[str, Any]
    """The fields beside the name, read-only."""


class UnknownReason(ExclusionReason, _UnknownReason):
    """A reason that only another implementation defines, as it was read.

    Raises:
        InvalidArgumentError: the name is that of a built-in reason, or a field is called `reason`, which is the key of
            the name in JSON: neither could be written and read again.
    """

    __slots__ = ()

    def __new__(cls, name: str, fields: Mapping[str, Any] = FrozenDict()) -> Self:
        """Check the name and copy the fields."""
        if checked_str("name", name) in EXCLUSION_REASONS:
            message = f"{name} is a built-in reason; use pycupel.diagnostics.{name}"
            raise InvalidArgumentError(message, argument="name", value=name)
        own: FrozenDict[str, Any] = FrozenDict(checked_mapping("fields", "a mapping", fields))
        if "reason" in own:
            raise InvalidArgumentError("fields must not contain 'reason', which is the name", argument="fields")
        return super().__new__(cls, name, own)

    def __hash__(self) -> int:
        # Values from a document can be lists and objects, which have no hash.
        return hash((type(self).__name__, self.name, frozenset(self.fields)))


# The reasons that pycupel defines, by their names on the wire.
EXCLUSION_REASONS: Mapping[str, type[ExclusionReason]] = FrozenDict(
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
    """Return the name on the wire: the class name, or what another implementation called it."""
    return reason.name if isinstance(reason, UnknownReason) else type(reason).__name__


class IncludedItem(NamedTuple):
    """A selected item."""

    item: ContextItem
    """The caller's own object."""

    score: float
    """Its score; 1.0 for a pinned item."""

    reason: InclusionReason | str
    """Why it was selected.

    A reason that pycupel does not know, read from another implementation's report, is a plain string.
    """


class ExcludedItem(NamedTuple):
    """An item that was left out."""

    item: ContextItem
    """The caller's own object."""

    score: float
    """Its score; 0.0 if it was never scored."""

    reason: ExclusionReason
    """Why it was left out, as a record with the numbers that matter."""


class CountRequirementShortfall(NamedTuple):
    """A kind with fewer candidates than a count slicer requires."""

    kind: ContextKind
    """The kind, as the slicer's entry spells it."""

    required_count: int
    """How many items of the kind the entry requires."""

    satisfied_count: int
    """How many items of the kind were selected to meet it, fewer than required."""

    by: str = "kind"
    """What `kind` is a value of: "kind", "source", "metadata:KEY", or the name of a function."""

    def __repr__(self) -> str:
        return record_repr(self).replace(", by='kind')", ")")


def pinned_tokens(included: Iterable[IncludedItem]) -> int:
    """Return the tokens of the pinned items; another implementation's report may have negative ones."""
    return max(0, sum([each.item.tokens for each in included if each.reason == InclusionReason.PINNED]))


class PipelineStage(NamedEnum):
    """The stages that events and snapshots refer to. Sorting, between Deduplicate and Slice, is not one of them."""

    # META-07: Sort is not observable.

    CLASSIFY = "Classify"
    """Set aside pinned items and those with a negative token count."""

    SCORE = "Score"
    """Give every other item a score."""

    DEDUPLICATE = "Deduplicate"
    """Keep only the best of several items with the same content."""

    SLICE = "Slice"
    """Choose what fits into the budget."""

    PLACE = "Place"
    """Put the selection into the order in which the model sees it."""


class TraceDetailLevel(NamedEnum):
    """How much a collector records. `ITEM` includes `STAGE`, and compares as greater."""

    STAGE = "Stage"
    """One event for each stage."""

    ITEM = "Item"
    """Also one event for each decision about an item."""

    @property
    def ordinal(self) -> int:
        """0 for `STAGE`, 1 for `ITEM`."""
        return list(TraceDetailLevel).index(self)

    def __lt__(self, other: str) -> bool:
        return self.ordinal < TraceDetailLevel(other).ordinal

    def __le__(self, other: str) -> bool:
        return self.ordinal <= TraceDetailLevel(other).ordinal

    def __gt__(self, other: str) -> bool:
        return self.ordinal > TraceDetailLevel(other).ordinal

    def __ge__(self, other: str) -> bool:
        return self.ordinal >= TraceDetailLevel(other).ordinal


class TraceEvent(NamedTuple):
    """One observation: a completed stage with its duration, or a decision about one item with a message."""

    stage: PipelineStage | str
    """The stage. One that pycupel does not know, read from another implementation's report, is a plain string."""

    duration_ms: float
    """How long the stage took, in milliseconds; 0.0 for an item."""

    item_count: int
    """How many items came out of the stage; 1 for an item."""

    message: str | None = None
    """The decision about an item, in numbers and without its content; None for a stage."""

    def __repr__(self) -> str:
        return record_repr(self)


class OverflowEvent(NamedTuple):
    """The selection exceeds the budget, and the strategy is `OverflowStrategy.PROCEED`."""

    tokens_over_budget: int
    """By how many tokens."""

    overflowing_items: tuple[ContextItem, ...]
    """The whole selection, pinned items first."""

    budget: ContextBudget
    """The budget in force."""

    def __repr__(self) -> str:
        return record_repr(self)


class StageTraceSnapshot(NamedTuple):
    """What went into a stage, what came out, and what it excluded."""

    stage: PipelineStage
    """The stage."""

    item_count_in: int
    """How many items went in."""

    item_count_out: int
    """How many came out."""

    duration_ms: float
    """How long it took, in milliseconds."""

    excluded: tuple[ExcludedItem, ...]
    """The items that it excluded, in order of exclusion."""

    def __repr__(self) -> str:
        return record_repr(self)
