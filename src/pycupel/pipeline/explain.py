"""Why every item is in or out, from the results of the stages. Runs only when a report is read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import compress
from typing import TYPE_CHECKING

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
from pycupel.kernels.records import maker
from pycupel.model import ContextBudget, ContextItem
from pycupel.pipeline.classify import Classified
from pycupel.pipeline.place import Placement, truncate
from pycupel.pipeline.slice import Sliced
from pycupel.protocols import Slicer
from pycupel.slicers._base import exclusion_notes, has_notes

if TYPE_CHECKING:
    from pycupel.pipeline.rank import Ranking

__all__ = [
    "available_tokens",
    "excluded_by_classify",
    "excluded_by_deduplicate",
    "excluded_by_place",
    "excluded_by_slice",
    "included",
    "slice_notes",
]

# Looking up an enum member takes longer than the rest of an included item.
_SCORED, _PINNED, _ZERO_TOKEN = InclusionReason.SCORED, InclusionReason.PINNED, InclusionReason.ZERO_TOKEN


_INVERT = bytes([1, 0]) + bytes(254)

_included_item = maker(IncludedItem)
_excluded_item = maker(ExcludedItem)
_exceeded = maker(BudgetExceeded)
_deduplicated = maker(Deduplicated)


def included(classified: Classified, placement: Placement) -> tuple[IncludedItem, ...]:
    """List the selected items in placed order. `PINNED` takes precedence over other reasons (ER-07)."""
    items, scores, tokens, _, order, _ = placement
    pinned = len(classified.pinned)
    if not pinned and 0 not in tokens:
        return tuple([_included_item((items[i], scores[i], _SCORED)) for i in order])
    reasons = [_PINNED if i < pinned else _SCORED if tokens[i] else _ZERO_TOKEN for i in range(len(tokens))]
    return tuple([_included_item((items[i], scores[i], reasons[i])) for i in order])


def excluded_by_classify(classified: Classified) -> list[ExcludedItem]:
    """List the invalid items. They were never scored, so their score is 0.0 (SR-02)."""
    return [ExcludedItem(item, 0.0, NegativeTokens(item.tokens)) for item in classified.invalid]


def excluded_by_deduplicate(
    items: Sequence[ContextItem], scores: Sequence[float], dropped: Sequence[int]
) -> list[ExcludedItem]:
    """List the duplicates. The item that was kept has the same content, so the reason names that (ER-06)."""
    return [_excluded_item((items[i], scores[i], _deduplicated((items[i].content,)))) for i in dropped]


def excluded_by_slice(ranking: Ranking, sliced: Sliced, budget: ContextBudget, available: int) -> list[ExcludedItem]:
    """List what the slicer left out, in sorted order. `available` is what the selection leaves of the target."""
    items, scores = ranking.items, ranking.scores
    pinned_tokens, capped = ranking.classified.pinned_tokens, sliced.cap_excluded
    excluded: list[ExcludedItem] = []
    if not (pinned_tokens or capped):
        for i in _excluded_indices(sliced):
            item = items[i]
            excluded.append(_excluded_item((item, scores[i], _exceeded((item.tokens, available)))))
        return excluded
    target = whole_target = sliced.effective.target_tokens
    displaced: ExclusionReason | None = None
    if pinned_tokens:
        whole_target = budget.effective().target_tokens
        displaced = PinnedOverride(ranking.classified.pinned[0].content)
    for i in _excluded_indices(sliced):
        tokens = items[i].tokens
        # A cap takes precedence (ER-03).
        reason = capped.get(i)
        if reason is None and target < tokens <= whole_target:
            # Items that would fit without the pinned ones were displaced by them (PL-04).
            reason = displaced
        if reason is None:
            reason = _exceeded((tokens, available))
        excluded.append(_excluded_item((items[i], scores[i], reason)))
    return excluded


def excluded_by_place(classified: Classified, placement: Placement, budget: ContextBudget) -> list[ExcludedItem]:
    """List the items that truncation removed, in merged order."""
    if len(placement.kept) == len(placement.items):
        return []
    kept = set(placement.kept)
    pinned = classified.pinned
    limit = budget.selection_limit
    tokens = [item.tokens for item in placement.items]
    available = limit - sum([tokens[i] for i in kept])
    # Items that would have been kept without the tokens of the pinned ones (PL-04).
    without_pins = set(truncate([0] * len(pinned) + tokens[len(pinned) :], len(pinned), limit))
    excluded: list[ExcludedItem] = []
    for i, item in enumerate(placement.items):
        if i not in kept:
            displaced = classified.pinned_tokens > 0 and i in without_pins
            reason = PinnedOverride(pinned[0].content) if displaced else BudgetExceeded(item.tokens, available)
            excluded.append(ExcludedItem(item, placement.scores[i], reason))
    return excluded


def slice_notes(ranking: Ranking, sliced: Sliced, slicer: Slicer) -> list[str]:
    """Return the true cause of each exclusion whose reason alone would mislead (ER-05), and empty strings otherwise."""
    out = list(_excluded_indices(sliced))
    if not has_notes(slicer):
        return [""] * len(out)
    available = available_tokens(ranking, sliced)
    fitting = {i for i in out if ranking.items[i].tokens <= available and i not in sliced.cap_excluded}
    if not fitting:
        return [""] * len(out)
    notes = exclusion_notes(slicer, ranking.items, ranking.scores, sliced.effective)
    return [notes.get(i, "") if i in fitting else "" for i in out]


def _excluded_indices(sliced: Sliced) -> Iterator[int]:
    """The indices of the items that Slice excluded, ascending."""
    return compress(range(len(sliced.is_selected)), sliced.is_selected.translate(_INVERT))


def available_tokens(ranking: Ranking, sliced: Sliced) -> int:
    """Return how many tokens of the target the selected items leave."""
    items, versions = ranking.items, sliced.versions
    return sliced.effective.target_tokens - sum([versions.get(i, items[i]).tokens for i in sliced.selected])
