"""The observable stages."""

from __future__ import annotations

from enum import StrEnum

__all__ = ["PipelineStage"]


class PipelineStage(StrEnum):
    """The stages that events and snapshots are about. Sorting happens between two of them and has no name here.

    Attributes:
        CLASSIFY: Set aside pinned items and those with a negative token count.
        SCORE: Give every other item a score.
        DEDUPLICATE: Keep only the best of several items with the same content.
        SLICE: Choose what fits into the budget.
        PLACE: Put the selection into the order in which the model sees it.
    """

    # META-07: Sort is not observable.
    CLASSIFY = "Classify"
    SCORE = "Score"
    DEDUPLICATE = "Deduplicate"
    SLICE = "Slice"
    PLACE = "Place"
