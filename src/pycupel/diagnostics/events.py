"""The records that describe what happened during a run."""

from __future__ import annotations

from typing import NamedTuple

from pycupel.diagnostics.stages import PipelineStage
from pycupel.model import ContextBudget, ContextItem

__all__ = ["OverflowEvent", "TraceEvent"]


class TraceEvent(NamedTuple):
    """One observation: a completed stage with its duration, or a decision about one item with a message."""

    stage: PipelineStage
    duration_ms: float
    item_count: int
    message: str | None = None


class OverflowEvent(NamedTuple):
    """The selection exceeds the budget and is accepted all the same: OverflowStrategy.PROCEED, and only that."""

    tokens_over_budget: int
    overflowing_items: tuple[ContextItem, ...]
    budget: ContextBudget
