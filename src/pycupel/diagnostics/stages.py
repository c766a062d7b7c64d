"""The observable stages. Sort is a step between two of them and has no name here (META-07)."""

from __future__ import annotations

from enum import StrEnum

__all__ = ["PipelineStage"]


class PipelineStage(StrEnum):
    CLASSIFY = "Classify"
    SCORE = "Score"
    DEDUPLICATE = "Deduplicate"
    SLICE = "Slice"
    PLACE = "Place"
