"""The records that describe what happened during a run."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from pycupel.diagnostics.stages import PipelineStage
from pycupel.model import ContextBudget, ContextItem
from pycupel.model.names import NamedEnum
from pycupel.values import record_repr

if TYPE_CHECKING:
    from pycupel.diagnostics.entries import ExcludedItem

__all__ = ["OverflowEvent", "StageTraceSnapshot", "TraceDetailLevel", "TraceEvent"]


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
