"""Why every item is in or out: the report of a run, told from what the stages left behind.

The stages know nothing of this. Nothing here runs unless somebody asks.
"""

from __future__ import annotations

from collections.abc import Iterator

from pycupel.diagnostics import (
    BudgetExceeded,
    Deduplicated,
    ExcludedItem,
    ExclusionReason,
    IncludedItem,
    InclusionReason,
    NegativeTokens,
    PinnedOverride,
    SelectionReport,
)
from pycupel.kernels.order import descending
from pycupel.model import ContextBudget, ContextItem
from pycupel.pipeline.place import Placement, overflow_limit, truncate
from pycupel.pipeline.rank import Ranking
from pycupel.pipeline.slice import Sliced, effective_budget

__all__ = ["explain"]


def explain(ranking: Ranking, sliced: Sliced, placement: Placement, budget: ContextBudget) -> SelectionReport:
    included = [_included(placement, i, len(ranking.classified.pinned)) for i in placement.order]
    excluded = [
        *_excluded_by_classify(ranking),
        *_excluded_by_deduplicate(ranking),
        *_excluded_by_slice(ranking, sliced, budget),
        *_excluded_by_place(ranking, placement, budget),
    ]
    # The highest score first; at equal scores, what was excluded earlier (SR-07).
    by_score = descending([each.score for each in excluded])
    tokens = sum([each.item.tokens for each in included]) + sum([each.item.tokens for each in excluded])
    return SelectionReport(
        events=(),
        included=included,
        excluded=[excluded[i] for i in by_score],
        total_candidates=len(included) + len(excluded),
        total_tokens_considered=tokens,
        count_requirement_shortfalls=sliced.shortfalls,
        budget=budget,
    )


def _included(placement: Placement, i: int, pinned: int) -> IncludedItem:
    item = placement.items[i]
    if i < pinned:
        reason = InclusionReason.PINNED
    elif item.tokens == 0:
        reason = InclusionReason.ZERO_TOKEN
    else:
        reason = InclusionReason.SCORED
    return IncludedItem(item, placement.scores[i], reason)


def _excluded_by_classify(ranking: Ranking) -> Iterator[ExcludedItem]:
    for item in ranking.classified.invalid:
        yield ExcludedItem(item, 0.0, NegativeTokens(item.tokens))


def _excluded_by_deduplicate(ranking: Ranking) -> Iterator[ExcludedItem]:
    for i in ranking.duplicates:
        item = ranking.classified.scoreable[i]
        # The survivor has the same content, byte for byte (ER-06).
        yield ExcludedItem(item, ranking.raw_scores[i], Deduplicated(item.content))


def _excluded_by_slice(ranking: Ranking, sliced: Sliced, budget: ContextBudget) -> Iterator[ExcludedItem]:
    selected = set(sliced.selected)
    target = sliced.effective.target_tokens
    available = target - sum(ranking.items[i].tokens for i in selected)
    unpinned_target = effective_budget(budget, 0).target_tokens
    for i, (item, score) in enumerate(zip(ranking.items, ranking.scores, strict=True)):
        if i in selected:
            continue
        # What a cap removed comes first, then what would have fitted without pinned items (ER-03, PL-04).
        reason: ExclusionReason | None = sliced.cap_excluded.get(i)
        if reason is None:
            if ranking.classified.pinned_tokens > 0 and target < item.tokens <= unpinned_target:
                reason = _displaced(ranking.classified.pinned)
            else:
                reason = BudgetExceeded(item.tokens, available)
        yield ExcludedItem(item, score, reason)


def _excluded_by_place(ranking: Ranking, placement: Placement, budget: ContextBudget) -> Iterator[ExcludedItem]:
    kept = set(placement.kept)
    if len(kept) == len(placement.items):
        return
    pinned = ranking.classified.pinned
    limit = overflow_limit(budget)
    tokens = [item.tokens for item in placement.items]
    available = limit - sum(tokens[i] for i in kept)
    # What would have been kept, had the pinned items cost nothing (PL-04).
    without_pins = set(truncate([0] * len(pinned) + tokens[len(pinned) :], len(pinned), limit))
    for i, item in enumerate(placement.items):
        if i not in kept:
            displaced = ranking.classified.pinned_tokens > 0 and i in without_pins
            reason = _displaced(pinned) if displaced else BudgetExceeded(item.tokens, available)
            yield ExcludedItem(item, placement.scores[i], reason)


def _displaced(pinned: list[ContextItem]) -> PinnedOverride:
    return PinnedOverride(pinned[0].content)
