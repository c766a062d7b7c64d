"""The observable stages."""

from __future__ import annotations

from pycupel.model.names import NamedEnum

__all__ = ["PipelineStage"]


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
