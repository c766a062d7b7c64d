"""The Slicers chapters, on occurrences: each candidate is an index, so that one object may occur twice (SL-03)."""

from __future__ import annotations

import math
import sys
from typing import TYPE_CHECKING, Any, NamedTuple

from pycupel import (
    CountConstrainedKnapsackSlice,
    CountQuotaSlice,
    GreedySlice,
    KnapsackSlice,
    QuotaSlice,
    ScarcityBehavior,
)
from pycupel.slicers import StreamSlice
from tests.oracle.stages import Candidate, CapExclusion, OracleError, Sliced, descending, reassociate

if TYPE_CHECKING:
    from collections.abc import Sequence


def kind_key(kind: object) -> str:
    """Enumerations: kinds are compared without regard to case; those of the tests are ASCII."""
    return str(kind).lower()


class Requirement(NamedTuple):
    """An entry that requires something, and what its slicer does if there is too little."""

    kind: str
    required: int
    throws: bool


def oracle_slice(
    slicer: Any, candidates: Sequence[Candidate], max_tokens: int, target_tokens: int, scope: str | None = None
) -> Sliced:
    """Slicers: Slice(scoredItems, budget) of any slicer; under a scope only entries of that kind count (CQ-03)."""
    if len(candidates) == 0 or target_tokens <= 0:
        wanted = [entry for entry in requirements(slicer) if scope is None or kind_key(entry.kind) == scope]
        return Sliced(shortfalls=[(entry.kind, entry.required, 0) for entry in wanted])  # CQ-09
    match slicer:
        case GreedySlice():
            sliced = Sliced(greedy(candidates, target_tokens))
        case KnapsackSlice():
            sliced = Sliced(knapsack(candidates, target_tokens, slicer))
        case StreamSlice():
            sliced = Sliced(stream(candidates, target_tokens, slicer))
        case QuotaSlice():
            sliced = quota(candidates, target_tokens, slicer, scope)
        case CountQuotaSlice() | CountConstrainedKnapsackSlice():
            sliced = count(candidates, max_tokens, target_tokens, slicer, scope)
        case _:
            raise TypeError(f"no chapter describes the slicer {slicer!r}")
    return reassociate(candidates, sliced)


def greedy(candidates: Sequence[Candidate], target_tokens: int) -> list[int]:
    """GreedySlice: GREEDY-SLICE."""
    densities = []
    for candidate in candidates:
        tokens = candidate.item.tokens
        densities.append(sys.float_info.max if tokens == 0 else candidate.score / tokens)
    remaining = target_tokens
    selected = []
    for position in descending(densities):
        tokens = candidates[position].item.tokens
        if tokens == 0:
            selected.append(candidates[position].index)
        elif tokens <= remaining:
            selected.append(candidates[position].index)
            remaining -= tokens
    return selected


def knapsack(candidates: Sequence[Candidate], target_tokens: int, config: KnapsackSlice) -> list[int]:
    """KnapsackSlice: Steps 1 and 6 of KNAPSACK-SLICE; and, with fill_free, what still fits by real tokens (KN-01)."""
    result = [candidate.index for candidate in candidates if candidate.item.tokens == 0]
    positive = [candidate for candidate in candidates if candidate.item.tokens > 0]
    capacity = target_tokens // config.bucket_size
    if positive and capacity > 0:
        cells = len(positive) * (capacity + 1)
        if config.max_cells is not None and cells > config.max_cells:  # KN-03
            raise OracleError("TableTooLarge", candidates=len(positive), capacity=capacity, cells=cells)
        weights = [-(-candidate.item.tokens // config.bucket_size) for candidate in positive]
        values = knapsack_values([candidate.score for candidate in positive])
        result += [positive[i].index for i in dynamic_program(weights, values, capacity)]
    if config.fill_free:
        left = target_tokens
        for candidate in positive:
            left -= candidate.item.tokens if candidate.index in result else 0
        for candidate in positive:
            if candidate.index not in result and candidate.item.tokens <= left:
                result.append(candidate.index)
                left -= candidate.item.tokens
    return result


def knapsack_values(scores: Sequence[float]) -> list[int]:
    """KnapsackSlice: Step 2's values; NaN and -inf are worth 0, +inf more than all finite ones together (SC-03)."""
    products = [score * 10000 for score in scores]
    finite = [max(0, math.floor(product)) for product in products if math.isfinite(product)]
    endless = 1 + sum(finite)
    values = []
    for product in products:
        if math.isfinite(product):
            values.append(max(0, math.floor(product)))
        else:
            values.append(endless if product == math.inf else 0)
    return values


def dynamic_program(weights: Sequence[int], values: Sequence[int], capacity: int) -> list[int]:
    """KnapsackSlice: Steps 4 and 5, the whole keep table, strict improvement, backwards reconstruction (KN-07)."""
    n = len(weights)
    dp = [0] * (capacity + 1)
    keep = [[False] * (capacity + 1) for _ in range(n)]
    for i in range(n):
        for w in range(capacity, weights[i] - 1, -1):
            with_item = dp[w - weights[i]] + values[i]
            if with_item > dp[w]:
                dp[w] = with_item
                keep[i][w] = True
    selected = []
    remaining_capacity = capacity
    for i in range(n - 1, -1, -1):
        if keep[i][remaining_capacity]:
            selected.append(i)
            remaining_capacity -= weights[i]
    return selected


def stream(candidates: Sequence[Candidate], target_tokens: int, config: StreamSlice) -> list[int]:
    """StreamSlice: full batches while tokens remain, then the last one; with replace, all of them."""
    selected: list[Candidate] = []
    batch: list[Candidate] = []
    remaining = target_tokens
    for candidate in candidates:
        batch.append(candidate)
        if len(batch) == config.batch_size:
            remaining = take_batch(selected, batch, remaining, config)
            batch = []
            if remaining <= 0 and not config.replace:
                break
    if remaining > 0 or config.replace:
        take_batch(selected, batch, remaining, config)
    return [candidate.index for candidate in selected]


def take_batch(selected: list[Candidate], batch: list[Candidate], remaining: int, config: StreamSlice) -> int:
    """StreamSlice: one batch by score; what remains after it."""
    contenders = batch
    if config.replace:
        remaining += sum(candidate.item.tokens for candidate in selected)
        contenders = selected + batch
        selected.clear()
    for position in descending([candidate.score for candidate in contenders]):
        tokens = contenders[position].item.tokens
        if tokens == 0:
            selected.append(contenders[position])
        elif tokens <= remaining:
            selected.append(contenders[position])
            remaining -= tokens
    return remaining


def quota(candidates: Sequence[Candidate], target_tokens: int, config: QuotaSlice, scope: str | None) -> Sliced:
    """QuotaSlice: QUOTA-SLICE, partitions in order of first appearance (QS-01); then what no partition could judge."""
    partitions = partition(candidates)
    kind_budgets = distribute_budget(partitions, target_tokens, config)
    parts: dict[str, Sliced] = {}
    for key, part in partitions.items():
        cap = cap_tokens(config, key, target_tokens)
        parts[key] = oracle_slice(config.inner, part, cap, kind_budgets[key], key)  # a budget of 0 selects nothing
    if config.redistribute:
        redistribute(partitions, kind_budgets, parts, target_tokens, config)
    result = Sliced()
    for part_sliced in parts.values():
        result.selected.extend(part_sliced.selected)
        result.shortfalls.extend(part_sliced.shortfalls)
        result.cap_excluded.extend(part_sliced.cap_excluded)
    for entry in requirements(config.inner):
        if kind_key(entry.kind) not in partitions and (scope is None or kind_key(entry.kind) == scope):
            fall_short(entry, 0, result.shortfalls)
    return result


def partition(candidates: Sequence[Candidate]) -> dict[str, list[Candidate]]:
    """QuotaSlice: Phase 1, and the same in the count slicers."""
    partitions: dict[str, list[Candidate]] = {}
    for candidate in candidates:
        partitions.setdefault(kind_key(candidate.item.kind), []).append(candidate)
    return partitions


def cap_tokens(config: QuotaSlice, key: str, target_tokens: int) -> int:
    """QuotaSlice: capTokens, evaluated exactly so (QS-07); 100 % for a kind without an entry."""
    for entry in config.entries:
        if kind_key(entry.kind) == key:
            return math.floor(entry.cap / 100.0 * target_tokens)
    return target_tokens


def distribute_budget(partitions: dict[str, list[Candidate]], target_tokens: int, config: QuotaSlice) -> dict[str, int]:
    """QuotaSlice: Phase 2 and DISTRIBUTE-BUDGET, with an integer division (QS-08)."""
    mass = {key: sum(candidate.item.tokens for candidate in part) for key, part in partitions.items()}
    require_tokens: dict[str, int] = {}
    for entry in config.entries:
        require_tokens[kind_key(entry.kind)] = math.floor(entry.require / 100.0 * target_tokens)
    unassigned_budget = max(0, target_tokens - sum(require_tokens.values()))
    total_mass = 0
    for key in partitions:
        if cap_tokens(config, key, target_tokens) > require_tokens.get(key, 0):
            total_mass += mass[key]
    kind_budgets: dict[str, int] = {}
    for key in partitions:
        require, cap = require_tokens.get(key, 0), cap_tokens(config, key, target_tokens)
        proportional = 0
        if total_mass > 0 and cap > require:
            proportional = unassigned_budget * mass[key] // total_mass
        kind_budgets[key] = min(require + proportional, cap)
    return kind_budgets


def redistribute(
    partitions: dict[str, list[Candidate]],
    kind_budgets: dict[str, int],
    parts: dict[str, Sliced],
    target_tokens: int,
    config: QuotaSlice,
) -> None:
    """QuotaSlice, an extension (QS-06): each kind is sliced again with what it used and what is left, up to its cap."""
    for key, part in partitions.items():
        used = {k: tokens_of(partitions[k], parts[k].selected) for k in partitions}
        left = target_tokens - sum(used.values())
        cap = cap_tokens(config, key, target_tokens)
        larger = min(cap, used[key] + left)
        if larger > kind_budgets[key]:
            parts[key] = oracle_slice(config.inner, part, cap, larger, key)


def tokens_of(candidates: Sequence[Candidate], selected: Sequence[int]) -> int:
    return sum(candidate.item.tokens for candidate in candidates if candidate.index in selected)


def requirements(slicer: Any) -> list[Requirement]:
    """CountQuotaSlice: every entry of a slicer, and then of what it wraps, whose requireCount is above 0."""
    match slicer:
        case CountQuotaSlice() | CountConstrainedKnapsackSlice():
            throws = slicer.scarcity == ScarcityBehavior.THROW
            own = [Requirement(str(e.kind), e.require_count, throws) for e in slicer.entries if e.require_count > 0]
            return own + (requirements(slicer.inner) if isinstance(slicer, CountQuotaSlice) else [])
        case QuotaSlice():
            return requirements(slicer.inner)
        case _:
            return []


def fall_short(entry: Requirement, satisfied: int, shortfalls: list[tuple[str, int, int]]) -> None:
    """CountQuotaSlice: ERROR or RECORD-SHORTFALL, as ScarcityBehavior says."""
    if entry.throws:
        raise OracleError("CountRequirement", context_kind=entry.kind, required=entry.required, satisfied=satisfied)
    shortfalls.append((entry.kind, entry.required, satisfied))


def count(
    candidates: Sequence[Candidate],
    max_tokens: int,
    target_tokens: int,
    config: CountQuotaSlice | CountConstrainedKnapsackSlice,
    scope: str | None,
) -> Sliced:
    """CountQuotaSlice and CountConstrainedKnapsackSlice: COUNT-QUOTA-SLICE and COUNT-KNAPSACK-CAP, three phases."""
    partitions = partition(candidates)
    result = Sliced()
    selected_count: dict[str, int] = {}
    pre_allocated_tokens = 0
    throws = config.scarcity == ScarcityBehavior.THROW
    for entry in config.entries:  # Phase 1, in the order of the entries (CQ-01)
        key = kind_key(entry.kind)
        if entry.require_count == 0 or (scope is not None and key != scope):
            continue
        pool = partitions.get(key, [])
        satisfied = 0
        for position in descending([candidate.score for candidate in pool]):
            if satisfied < entry.require_count:
                result.selected.append(pool[position].index)
                pre_allocated_tokens += pool[position].item.tokens
                satisfied += 1
        selected_count[key] = satisfied
        if satisfied < entry.require_count:
            fall_short(Requirement(str(entry.kind), entry.require_count, throws), satisfied, result.shortfalls)

    residual = [candidate for candidate in candidates if candidate.index not in result.selected]  # Phase 2
    residual_target = min(max(0, target_tokens - pre_allocated_tokens), max_tokens)
    inner = config.inner if isinstance(config, CountQuotaSlice) else config.knapsack
    inner_sliced = oracle_slice(inner, residual, max_tokens, residual_target, scope)
    result.shortfalls.extend(inner_sliced.shortfalls)
    by_index = {candidate.index: candidate for candidate in residual}
    walked = [by_index[index] for index in inner_sliced.selected]
    if isinstance(config, CountConstrainedKnapsackSlice) or config.cap_order == "score":  # D180, CK-02; CQ-07
        walked = [walked[position] for position in descending([candidate.score for candidate in walked])]

    for candidate in walked:  # Phase 3
        key = kind_key(candidate.item.kind)
        so_far = selected_count.get(key, 0)
        caps = [entry for entry in config.entries if kind_key(entry.kind) == key]
        if caps and so_far >= caps[0].cap_count:
            result.cap_excluded.append(CapExclusion(candidate.index, str(caps[0].kind), caps[0].cap_count, so_far))
        else:
            result.selected.append(candidate.index)
            selected_count[key] = so_far + 1
    # The outer slicer's come first: the specification is silent, and so the library lists them.
    result.cap_excluded.extend(inner_sliced.cap_excluded)
    return result
