"""Why every item is in or out, told from what the stages left behind. Nothing here runs unless somebody asks."""

from __future__ import annotations

from collections.abc import Sequence

from pycupel.diagnostics import (
    BudgetExceeded,
    Deduplicated,
    ExcludedItem,
    ExclusionReason,
    IncludedItem,
    InclusionReason,
    NegativeTokens,
    PinnedOverride,
)
from pycupel.model import ContextBudget, ContextItem
from pycupel.pipeline.classify import Classified
from pycupel.pipeline.place import Placement, truncate
from pycupel.pipeline.rank import Ranking
from pycupel.pipeline.slice import Sliced
from pycupel.protocols import Slicer
from pycupel.slicers._base import exclusion_notes

__all__ = [
    "excluded_by_classify",
    "excluded_by_deduplicate",
    "excluded_by_place",
    "excluded_by_slice",
    "included",
    "slice_notes",
    "slice_reasons",
]


def included(ranking: Ranking, placement: Placement) -> list[IncludedItem]:
    """In placed order. Pinned comes before everything else (ER-07)."""
    pinned = len(ranking.classified.pinned)
    items, scores = placement.items, placement.scores
    scored, zero = InclusionReason.SCORED, InclusionReason.ZERO_TOKEN
    return [
        IncludedItem(items[i], scores[i], InclusionReason.PINNED if i < pinned else scored if items[i].tokens else zero)
        for i in placement.order
    ]


def excluded_by_classify(classified: Classified) -> list[ExcludedItem]:
    """What was never scored has a score of 0.0 (SR-02)."""
    return [ExcludedItem(item, 0.0, NegativeTokens(item.tokens)) for item in classified.invalid]


def excluded_by_deduplicate(
    items: Sequence[ContextItem], scores: Sequence[float], dropped: Sequence[int]
) -> list[ExcludedItem]:
    """The survivor has the same content, byte for byte, so that is what the reason names (ER-06)."""
    return [ExcludedItem(items[i], scores[i], Deduplicated(items[i].content)) for i in dropped]


def excluded_by_slice(ranking: Ranking, sliced: Sliced, budget: ContextBudget) -> list[ExcludedItem]:
    """In sorted order."""
    items, scores = ranking.items, ranking.scores
    return [ExcludedItem(items[i], scores[i], reason) for i, reason in slice_reasons(ranking, sliced, budget).items()]


def slice_reasons(ranking: Ranking, sliced: Sliced, budget: ContextBudget) -> dict[int, ExclusionReason]:
    """By position. What a cap removed comes first, then what pinned items displaced (ER-03, PL-04)."""
    items, capped = ranking.items, sliced.cap_excluded
    target = sliced.effective.target_tokens
    available = target - sum([items[i].tokens for i in sliced.selected])
    pinned = ranking.classified.pinned
    # Without pinned tokens nothing is displaced by them, and no item is smaller than the smallest that was.
    unpinned_target = budget.effective().target_tokens if ranking.classified.pinned_tokens > 0 else target
    reasons: dict[int, ExclusionReason] = {}
    for i in unselected(ranking, sliced):
        tokens = items[i].tokens
        if i in capped:
            reasons[i] = capped[i]
        elif target < tokens <= unpinned_target:
            reasons[i] = PinnedOverride(pinned[0].content)
        else:
            reasons[i] = BudgetExceeded(tokens, available)
    return reasons


def excluded_by_place(ranking: Ranking, placement: Placement, budget: ContextBudget) -> list[ExcludedItem]:
    """What truncation removed, in merged order."""
    if len(placement.kept) == len(placement.items):
        return []
    kept = set(placement.kept)
    pinned = ranking.classified.pinned
    limit = budget.selection_limit
    tokens = [item.tokens for item in placement.items]
    available = limit - sum([tokens[i] for i in kept])
    # What would have been kept, had the pinned items cost nothing (PL-04).
    without_pins = set(truncate([0] * len(pinned) + tokens[len(pinned) :], len(pinned), limit))
    excluded: list[ExcludedItem] = []
    for i, item in enumerate(placement.items):
        if i not in kept:
            displaced = ranking.classified.pinned_tokens > 0 and i in without_pins
            reason = PinnedOverride(pinned[0].content) if displaced else BudgetExceeded(item.tokens, available)
            excluded.append(ExcludedItem(item, placement.scores[i], reason))
    return excluded


def slice_notes(ranking: Ranking, sliced: Sliced, slicer: Slicer) -> list[str]:
    """For each item that Slice excluded, the true cause where the reason alone would mislead (ER-05), or nothing."""
    available = sliced.effective.target_tokens - sum([ranking.items[i].tokens for i in sliced.selected])
    out = unselected(ranking, sliced)
    fitting = [i for i in out if ranking.items[i].tokens <= available and i not in sliced.cap_excluded]
    if not fitting:
        return [""] * len(out)
    notes = exclusion_notes(slicer, ranking.items, ranking.scores, sliced.effective)
    surprising = set(fitting)
    return [notes.get(i, "") if i in surprising else "" for i in out]


def unselected(ranking: Ranking, sliced: Sliced) -> list[int]:
    selected = set(sliced.selected)
    return [i for i in range(len(ranking.items)) if i not in selected]
