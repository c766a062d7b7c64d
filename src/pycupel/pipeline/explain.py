"""Why every item is in or out, from the results of the stages. Nothing here runs before it is read."""

from __future__ import annotations

from collections.abc import Sequence
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
    """In placed order. Pinned comes before everything else (ER-07)."""
    items, scores, tokens, pinned = placement.items, placement.scores, placement.tokens, len(classified.pinned)
    if not pinned and 0 not in tokens:
        return tuple([_included_item((items[i], scores[i], _SCORED)) for i in placement.order])
    reasons = [_PINNED if i < pinned else _SCORED if tokens[i] else _ZERO_TOKEN for i in range(len(tokens))]
    return tuple([_included_item((items[i], scores[i], reasons[i])) for i in placement.order])


def excluded_by_classify(classified: Classified) -> list[ExcludedItem]:
    """Items that were never scored have a score of 0.0 (SR-02)."""
    return [ExcludedItem(item, 0.0, NegativeTokens(item.tokens)) for item in classified.invalid]


def excluded_by_deduplicate(
    items: Sequence[ContextItem], scores: Sequence[float], dropped: Sequence[int]
) -> list[ExcludedItem]:
    """The survivor has the same content, byte for byte, so that is what the reason names (ER-06)."""
    return [_excluded_item((items[i], scores[i], _deduplicated((items[i].content,)))) for i in dropped]


def excluded_by_slice(ranking: Ranking, sliced: Sliced, budget: ContextBudget, available: int) -> list[ExcludedItem]:
    """In sorted order. `available` are the tokens of the target that the selected items leave."""
    is_out = _is_out(sliced)
    left_out = compress(zip(ranking.items, ranking.scores, strict=True), is_out)
    pinned_tokens, capped = ranking.classified.pinned_tokens, sliced.cap_excluded
    if not (pinned_tokens or capped):
        return [_excluded_item((item, score, _exceeded((item.tokens, available)))) for item, score in left_out]
    target = whole_target = sliced.effective.target_tokens
    displaced: ExclusionReason | None = None
    if pinned_tokens:
        whole_target = budget.effective().target_tokens
        displaced = PinnedOverride(ranking.classified.pinned[0].content)
    excluded: list[ExcludedItem] = []
    for i, (item, score) in zip(compress(range(len(is_out)), is_out), left_out, strict=True):
        # A cap comes before everything else (ER-03).
        reason = capped.get(i)
        if reason is None and target < item.tokens <= whole_target:
            # Items that would fit without the pinned ones were displaced by them (PL-04).
            reason = displaced
        if reason is None:
            reason = _exceeded((item.tokens, available))
        excluded.append(_excluded_item((item, score, reason)))
    return excluded


def excluded_by_place(classified: Classified, placement: Placement, budget: ContextBudget) -> list[ExcludedItem]:
    """The items that truncation removed, in merged order."""
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
    """For each item that Slice excluded, the actual cause if the reason alone misleads (ER-05), else an empty text."""
    is_out = _is_out(sliced)
    if not has_notes(slicer):
        return [""] * sum(is_out)
    out = list(compress(range(len(is_out)), is_out))
    available = available_tokens(ranking, sliced)
    fitting = {i for i in out if ranking.items[i].tokens <= available and i not in sliced.cap_excluded}
    if not fitting:
        return [""] * len(out)
    notes = exclusion_notes(slicer, ranking.items, ranking.scores, sliced.effective)
    return [notes.get(i, "") if i in fitting else "" for i in out]


def _is_out(sliced: Sliced) -> bytearray:
    """A 1 for each item that Slice excluded, in sorted order."""
    return sliced.is_selected.translate(_INVERT)


def available_tokens(ranking: Ranking, sliced: Sliced) -> int:
    """The tokens of the target that the selected items leave."""
    items, versions = ranking.items, sliced.versions
    return sliced.effective.target_tokens - sum([versions.get(i, items[i]).tokens for i in sliced.selected])
