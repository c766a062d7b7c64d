"""The records that describe what happened during a run."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple

from pycupel.diagnostics.stages import PipelineStage
from pycupel.model import ContextBudget, ContextItem

if TYPE_CHECKING:
    from pycupel.diagnostics.report import ExcludedItem

__all__ = ["OverflowEvent", "StageTraceSnapshot", "TraceDetailLevel", "TraceEvent"]


class TraceDetailLevel(StrEnum):
    """How much a collector wants to hear. `ITEM` is more than `STAGE`, and includes it."""

    STAGE = "Stage"
    ITEM = "Item"

    @property
    def ordinal(self) -> int:
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

    The name of a stage that pycupel does not know, read from another implementation's report, is a plain string.
    """

    stage: PipelineStage | str
    duration_ms: float
    item_count: int
    message: str | None = None


class OverflowEvent(NamedTuple):
    """The selection exceeds the budget and is accepted all the same: OverflowStrategy.PROCEED, and only that."""

    tokens_over_budget: int
    overflowing_items: tuple[ContextItem, ...]
    budget: ContextBudget


class StageTraceSnapshot(NamedTuple):
    """What went into a stage, what came out, and what it excluded."""

    stage: PipelineStage
    item_count_in: int
    item_count_out: int
    duration_ms: float
    excluded: tuple[ExcludedItem, ...]
