"""The Pipeline chapters, stage by stage, and the records that pass between them."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple

from pycupel import ContextItem, ScoredItem

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from pycupel import ContextBudget


class OracleError(Exception):
    """A run that must fail: what with, and the numbers of the failure."""

    def __init__(self, kind: str, **numbers: int | str) -> None:
        super().__init__(kind, numbers)
        self.kind = kind
        self.numbers = numbers


@dataclass(frozen=True)
class Candidate:
    """One occurrence of an item among those to slice."""

    index: int
    item: ContextItem
    score: float


@dataclass(frozen=True)
class CapExclusion:
    """An occurrence that Phase 3 dropped: the entry's kind and cap, and how many of the kind were selected already."""

    index: int
    kind: str
    cap: int
    count: int


@dataclass(frozen=True)
class Sliced:
    """The selected indices in the slicer's own order, shortfalls as (kind, required, satisfied), what caps dropped."""

    selected: list[int] = field(default_factory=list)
    shortfalls: list[tuple[str, int, int]] = field(default_factory=list)
    cap_excluded: list[CapExclusion] = field(default_factory=list)


def candidates_of(scored: Iterable[ScoredItem]) -> list[Candidate]:
    """Slicers: the sorted list, each position an index."""
    return [Candidate(index, pair.item, pair.score) for index, pair in enumerate(scored)]


def outranks(a: float, b: float) -> bool:
    """Stage 4, Sort: IEEE order, with NaN below every number (SC-03, SO-01)."""
    if math.isnan(a):
        return False
    return math.isnan(b) or a > b


def descending(scores: Sequence[float]) -> list[int]:
    """Stage 4, Sort: the indices by score descending, then by index ascending, as an insertion sort."""
    order: list[int] = []
    for index in range(len(scores)):
        position = len(order)
        while position > 0 and outranks(scores[index], scores[order[position - 1]]):
            position -= 1
        order.insert(position, index)
    return order


class Classified(NamedTuple):
    """What Classify makes of the input, each list in input order."""

    pinned: list[ContextItem]
    scoreable: list[ContextItem]
    negative: list[ContextItem]
    pinned_tokens: int


def classify(items: Iterable[ContextItem], budget: ContextBudget) -> Classified:
    """Stage 1, Classify: CLASSIFY; negative tokens come before pinned, and only the rest counts (EB-03, EB-06)."""
    pinned: list[ContextItem] = []
    scoreable: list[ContextItem] = []
    negative: list[ContextItem] = []
    for item in items:
        if item.tokens < 0:
            negative.append(item)
        elif item.pinned:
            pinned.append(item)
        else:
            scoreable.append(item)
    pinned_tokens = sum(item.tokens for item in pinned)
    available = budget.max_tokens - budget.output_reserve
    if pinned_tokens > available:
        raise OracleError("PinnedExceedsBudget", pinned_tokens=pinned_tokens, available=available)
    return Classified(pinned, scoreable, negative, pinned_tokens)


def score(scoreable: Sequence[ContextItem], scorer: Any) -> list[ScoredItem]:
    """Stage 2, Score: SCORE; every item against the whole scoreable list. `score` is the pseudocode itself."""
    return [ScoredItem(item, scorer.score(item, scoreable)) for item in scoreable]


def deduplicate(
    scored: Sequence[ScoredItem], *, enabled: bool, taken: Iterable[str] = ()
) -> tuple[list[ScoredItem], list[ScoredItem]]:
    """Stage 3, Deduplicate: DEDUPLICATE, and what it removed, both in input order; a number beats NaN (DD-02).

    Contents in `taken` have no survivor here at all: pinned items hold them (dedupe_against_pinned, DD-01).
    """
    if not enabled:
        return list(scored), []
    best_by_content: dict[str, int] = dict.fromkeys(taken, -1)
    for i, pair in enumerate(scored):
        existing = best_by_content.get(pair.item.content)
        if existing is None or (existing >= 0 and outranks(pair.score, scored[existing].score)):
            best_by_content[pair.item.content] = i
    deduped: list[ScoredItem] = []
    removed: list[ScoredItem] = []
    for i, pair in enumerate(scored):
        (deduped if best_by_content[pair.item.content] == i else removed).append(pair)
    return deduped, removed


def sort(deduped: Sequence[ScoredItem]) -> list[ScoredItem]:
    """Stage 4, Sort: SORT."""
    return [deduped[index] for index in descending([pair.score for pair in deduped])]


def effective_budget(budget: ContextBudget, pinned_tokens: int) -> tuple[int, int]:
    """Stage 5, Slice: COMPUTE-EFFECTIVE-BUDGET, as (effectiveMax, effectiveTarget) (EB-01)."""
    reserved_tokens = sum(budget.reserved_slots.values())
    effective_max = max(0, budget.max_tokens - budget.output_reserve - pinned_tokens - reserved_tokens)
    effective_target = max(0, budget.target_tokens - pinned_tokens - reserved_tokens)
    effective_target = min(effective_target, effective_max)
    if budget.estimation_safety_margin_percent > 0:
        multiplier = 1.0 - budget.estimation_safety_margin_percent / 100.0
        effective_max = math.floor(effective_max * multiplier)
        effective_target = math.floor(effective_target * multiplier)
        effective_target = min(effective_target, effective_max)
    return effective_max, effective_target


def reassociate(candidates: Sequence[Candidate], sliced: Sliced) -> Sliced:
    """Stage 5, Slice: a returned item consumes the first unconsumed occurrence of that very object (SL-02, SL-03)."""
    consumed: set[int] = set()
    by_index = {candidate.index: candidate for candidate in candidates}

    def consume(index: int) -> int:
        for candidate in candidates:
            if candidate.item is by_index[index].item and candidate.index not in consumed:
                consumed.add(candidate.index)
                return candidate.index
        raise AssertionError(f"occurrence {index} was selected twice")

    selected = [consume(index) for index in sliced.selected]
    dropped = [replace(cap, index=consume(cap.index)) for cap in sliced.cap_excluded]
    return Sliced(selected, sliced.shortfalls, dropped)


def merge(pinned: Sequence[ContextItem], sliced: Sequence[ScoredItem]) -> list[ScoredItem]:
    """Stage 6, Place: Step 1; pinned with score 1.0, then the sliced items in sorted order (SL-01)."""
    return [ScoredItem(item, 1.0) for item in pinned] + list(sliced)


def overflow_limit(budget: ContextBudget) -> int:
    """Stage 6, Place: the number that merged tokens are compared with (EB-05)."""
    return min(budget.target_tokens, budget.max_tokens - budget.output_reserve)


def truncate(merged: Sequence[ScoredItem], limit: int, *, pinned_are_free: bool = False) -> list[int]:
    """Stage 6, Place: the Truncate branch of HANDLE-OVERFLOW, as kept positions; PL-04 asks with pinned at 0 tokens."""
    kept: list[int] = []
    current_tokens = 0
    for i, pair in enumerate(merged):
        if pair.item.pinned:
            kept.append(i)
            current_tokens += 0 if pinned_are_free else pair.item.tokens
        elif current_tokens + pair.item.tokens <= limit:
            kept.append(i)
            current_tokens += pair.item.tokens
    return kept
