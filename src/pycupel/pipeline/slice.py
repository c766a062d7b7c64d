"""Stage 5, Slice: what fits into the effective budget."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import compress
from math import floor
from typing import NamedTuple

from pycupel.diagnostics import CountCapExceeded, CountRequirementShortfall
from pycupel.model import ContextBudget, ContextItem
from pycupel.protocols import Slicer
from pycupel.slicers import slice_by_index

__all__ = ["Sliced", "effective_budget", "slice_items"]


class Sliced(NamedTuple):
    """Positions in the sorted list, ascending: the selection stays sorted, whatever the slicer does (SL-01)."""

    effective: ContextBudget
    selected: list[int]
    shortfalls: tuple[CountRequirementShortfall, ...]
    cap_excluded: dict[int, CountCapExceeded]


def effective_budget(budget: ContextBudget, pinned_tokens: int) -> ContextBudget:
    """COMPUTE-EFFECTIVE-BUDGET: what output, pinned items, reserved slots and the safety margin leave."""
    if not (pinned_tokens or budget.output_reserve or budget.reserved_slots or budget.estimation_safety_margin_percent):
        return budget
    reserved_tokens = sum(budget.reserved_slots.values())
    effective_max = max(0, budget.max_tokens - budget.output_reserve - pinned_tokens - reserved_tokens)
    effective_target = max(0, budget.target_tokens - pinned_tokens - reserved_tokens)
    effective_target = min(effective_target, effective_max)
    if budget.estimation_safety_margin_percent > 0:
        multiplier = 1.0 - budget.estimation_safety_margin_percent / 100.0
        effective_max = floor(effective_max * multiplier)
        effective_target = floor(effective_target * multiplier)
        effective_target = min(effective_target, effective_max)
    return ContextBudget(effective_max, effective_target)


def slice_items(
    items: Sequence[ContextItem], scores: Sequence[float], budget: ContextBudget, pinned_tokens: int, slicer: Slicer
) -> Sliced:
    effective = effective_budget(budget, pinned_tokens)
    outcome = slice_by_index(slicer, items, scores, effective)
    is_selected = bytearray(len(items))
    for i in outcome.selected:
        is_selected[i] = True
    selected = list(compress(range(len(items)), is_selected))
    return Sliced(effective, selected, outcome.shortfalls, dict(outcome.cap_excluded))
