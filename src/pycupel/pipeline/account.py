"""An account of each stage: how many items went in and came out, which it excluded, and what its events say."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from pycupel.diagnostics import ExcludedItem, IncludedItem, PipelineStage
from pycupel.model import ContextBudget
from pycupel.pipeline import events, explain
from pycupel.pipeline.classify import Classified
from pycupel.pipeline.place import Placement
from pycupel.pipeline.rank import Ranking
from pycupel.pipeline.slice import Sliced

__all__ = ["StageAccount", "of_classify", "of_deduplicate", "of_place", "of_score", "of_slice"]


class StageAccount(NamedTuple):
    """Counts, and functions for what takes time to make: the excluded items, and messages about the decisions."""

    stage: PipelineStage
    count_in: int
    count_out: int
    excluded: Callable[[], Sequence[ExcludedItem]]
    messages: Callable[[Sequence[ExcludedItem]], list[str]] = events.exclusion_messages


def of_classify(classified: Classified) -> StageAccount:
    kept = len(classified.pinned) + len(classified.scoreable)
    return StageAccount(
        PipelineStage.CLASSIFY,
        kept + len(classified.invalid),
        kept,
        lambda: explain.excluded_by_classify(classified),
    )


def of_score(scores: Sequence[float]) -> StageAccount:
    count = len(scores)
    return StageAccount(PipelineStage.SCORE, count, count, list, lambda _: events.score_messages(scores))


def of_deduplicate(classified: Classified, scores: Sequence[float], dropped: Sequence[int]) -> StageAccount:
    return StageAccount(
        PipelineStage.DEDUPLICATE,
        len(scores),
        len(scores) - len(dropped),
        lambda: explain.excluded_by_deduplicate(classified.scoreable, scores, dropped),
    )


def of_slice(
    ranking: Ranking, sliced: Sliced, budget: ContextBudget, notes: Callable[[], Sequence[str]]
) -> StageAccount:
    return StageAccount(
        PipelineStage.SLICE,
        len(ranking.items),
        len(sliced.selected),
        lambda: explain.excluded_by_slice(ranking, sliced, budget),
        lambda excluded: events.slice_messages(excluded, notes(), sliced.shortfalls),
    )


def of_place(
    classified: Classified,
    placement: Placement,
    budget: ContextBudget,
    included: Callable[[], Sequence[IncludedItem]],
) -> StageAccount:
    return StageAccount(
        PipelineStage.PLACE,
        len(placement.items),
        len(placement.order),
        lambda: explain.excluded_by_place(classified, placement, budget),
        lambda excluded: events.place_messages(excluded, included()),
    )
