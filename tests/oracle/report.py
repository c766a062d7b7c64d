"""The SelectionReport and Exclusion Reasons chapters: a whole run, and what it says of every candidate."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pycupel import OverflowStrategy
from tests.oracle.placers import oracle_place
from tests.oracle.slicers import oracle_slice
from tests.oracle.stages import (
    Classified,
    OracleError,
    Sliced,
    candidates_of,
    classify,
    deduplicate,
    descending,
    effective_budget,
    merge,
    overflow_limit,
    score,
    sort,
    truncate,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from pycupel import ContextBudget, ContextItem, Pipeline, ScoredItem

    Included = tuple[ContextItem, float, str]
    Excluded = tuple[ContextItem, float, str, dict[str, Any]]
    Overflow = tuple[int, list[ContextItem]]

__all__ = ["OracleError", "OracleReport", "oracle_report"]


@dataclass(frozen=True)
class OracleReport:
    """What a run must return and report: reasons by name, their fields as a dict, overflow as (tokens over, items)."""

    output: list[ContextItem]
    included: list[Included]
    excluded: list[Excluded]
    total_candidates: int
    total_tokens_considered: int
    shortfalls: list[tuple[str, int, int]]
    overflow: Overflow | None


def oracle_report(pipeline: Pipeline, items: Iterable[ContextItem], budget: ContextBudget) -> OracleReport:
    """Pipeline: the six stages in their order, and SelectionReport; a run that must fail raises OracleError."""
    items = list(items)
    classified = classify(items, budget)
    scored = score(classified.scoreable, pipeline.scorer)
    taken = [item.content for item in classified.pinned] if pipeline.dedupe_against_pinned else []
    deduped, duplicates = deduplicate(scored, enabled=bool(pipeline.deduplication), taken=taken)
    ordered = sort(deduped)
    effective_max, effective_target = effective_budget(budget, classified.pinned_tokens)
    sliced = oracle_slice(pipeline.slicer, candidates_of(ordered), effective_max, effective_target)
    chosen = [pair for index, pair in enumerate(ordered) if index in sliced.selected]
    merged = merge(classified.pinned, chosen)
    kept, truncated, overflow = handle_overflow(merged, classified, budget, pipeline.overflow_strategy)
    placed = [kept[position] for position in oracle_place(pipeline.placer, kept)]

    included: list[Included] = [(pair.item, pair.score, inclusion_reason(pair.item)) for pair in placed]
    insertion: list[Excluded] = [(item, 0.0, "NegativeTokens", {"tokens": item.tokens}) for item in classified.negative]
    insertion += [(*pair, "Deduplicated", {"deduplicated_against": pair.item.content}) for pair in duplicates]
    insertion += slice_exclusions(ordered, sliced, classified, budget)
    insertion += truncated
    excluded = [insertion[index] for index in descending([entry[1] for entry in insertion])]  # SR-07
    return OracleReport(
        output=[pair.item for pair in placed],
        included=included,
        excluded=excluded,
        total_candidates=len(included) + len(excluded),
        total_tokens_considered=sum(e[0].tokens for e in included) + sum(e[0].tokens for e in excluded),
        shortfalls=sliced.shortfalls,
        overflow=overflow,
    )


def inclusion_reason(item: ContextItem) -> str:
    """Exclusion Reasons: InclusionReason; pinned wins over zero tokens (ER-07)."""
    if item.pinned:
        return "Pinned"
    return "ZeroToken" if item.tokens == 0 else "Scored"


def slice_exclusions(
    ordered: Sequence[ScoredItem], sliced: Sliced, classified: Classified, budget: ContextBudget
) -> list[Excluded]:
    """Exclusion Reasons at Slice: CountCapExceeded, then PinnedOverride, then BudgetExceeded (ER-03, ER-04, PL-04)."""
    _, target = effective_budget(budget, classified.pinned_tokens)
    _, target_without_pinned = effective_budget(budget, 0)
    available = target - sum(ordered[index].item.tokens for index in sliced.selected)
    capped = {cap.index: cap for cap in sliced.cap_excluded}
    excluded: list[Excluded] = []
    for index, (item, item_score) in enumerate(ordered):
        if index in sliced.selected:
            continue
        if index in capped:
            cap = capped[index]
            fields = {"kind": cap.kind, "cap": cap.cap, "count": cap.count}
            excluded.append((item, item_score, "CountCapExceeded", fields))
        elif classified.pinned_tokens > 0 and target < item.tokens <= target_without_pinned:
            excluded.append((item, item_score, "PinnedOverride", {"displaced_by": classified.pinned[0].content}))
        else:
            fields = {"item_tokens": item.tokens, "available_tokens": available}
            excluded.append((item, item_score, "BudgetExceeded", fields))
    return excluded


def handle_overflow(
    merged: list[ScoredItem], classified: Classified, budget: ContextBudget, strategy: OverflowStrategy
) -> tuple[list[ScoredItem], list[Excluded], Overflow | None]:
    """Stage 6, Place: Step 2 and HANDLE-OVERFLOW: what goes to the placer, what was truncated, what to notify of."""
    merged_tokens = sum(pair.item.tokens for pair in merged)
    limit = overflow_limit(budget)
    if merged_tokens <= limit:
        return merged, [], None
    if strategy == OverflowStrategy.THROW:
        raise OracleError("Overflow", merged_tokens=merged_tokens, limit=limit)
    if strategy == OverflowStrategy.PROCEED:
        return merged, [], (merged_tokens - limit, [pair.item for pair in merged])
    kept = truncate(merged, limit)
    kept_without_pinned = truncate(merged, limit, pinned_are_free=True)
    available = limit - sum(merged[position].item.tokens for position in kept)
    truncated: list[Excluded] = []
    for position, (item, item_score) in enumerate(merged):
        if position in kept:
            continue
        if classified.pinned_tokens > 0 and position in kept_without_pinned:
            truncated.append((item, item_score, "PinnedOverride", {"displaced_by": classified.pinned[0].content}))
        else:
            fields = {"item_tokens": item.tokens, "available_tokens": available}
            truncated.append((item, item_score, "BudgetExceeded", fields))
    return [merged[position] for position in kept], truncated, None
