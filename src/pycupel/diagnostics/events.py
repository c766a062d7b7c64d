"""The records that describe what happened during a run."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from pycupel.diagnostics.stages import PipelineStage
from pycupel.model import ContextBudget, ContextItem
from pycupel.model.brief import record_repr
from pycupel.model.names import NamedEnum

if TYPE_CHECKING:
    from pycupel.diagnostics.entries import ExcludedItem

__all__ = ["OverflowEvent", "StageTraceSnapshot", "TraceDetailLevel", "TraceEvent"]


class TraceDetailLevel(NamedEnum):
    """How much a collector records. `ITEM` is more than `STAGE`, and includes it."""

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
    """One observation: a completed stage with its duration, or a decision about one item with a message.

    Attributes:
        stage: The stage. One that pycupel does not know, read from another implementation's report, is a plain string.
        duration_ms: How long the stage took, in milliseconds; 0.0 for an item.
        item_count: How many items came out of the stage; 1 for an item.
        message: The decision about an item, in numbers and without its content; None for a stage.
    """

    stage: PipelineStage | str
    duration_ms: float
    item_count: int
    message: str | None = None

    def __repr__(self) -> str:
        return record_repr(self)


class OverflowEvent(NamedTuple):
    """The selection exceeds the budget and is accepted, because the strategy is `OverflowStrategy.PROCEED`.

    Attributes:
        tokens_over_budget: By how many tokens.
        overflowing_items: The whole selection, pinned items first.
        budget: The budget in force.
    """

    tokens_over_budget: int
    overflowing_items: tuple[ContextItem, ...]
    budget: ContextBudget

    def __repr__(self) -> str:
        return record_repr(self)


class StageTraceSnapshot(NamedTuple):
    """What went into a stage, what came out, and what it excluded.

    Attributes:
        stage: The stage.
        item_count_in: How many items went in.
        item_count_out: How many came out.
        duration_ms: How long it took, in milliseconds.
        excluded: The items that it excluded, in the order in which it did.
    """

    stage: PipelineStage
    item_count_in: int
    item_count_out: int
    duration_ms: float
    excluded: tuple[ExcludedItem, ...]

    def __repr__(self) -> str:
        return record_repr(self)
