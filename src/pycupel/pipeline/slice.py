"""Stage 5, Slice: what fits into the effective budget."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import compress
from typing import NamedTuple

from pycupel.diagnostics import CountRequirementShortfall, ExclusionReason
from pycupel.model import ContextBudget, ContextItem
from pycupel.protocols import Slicer
from pycupel.slicers import slice_by_index

__all__ = ["Sliced", "slice_items"]


class Sliced(NamedTuple):
    """Positions in the sorted list, ascending: the selection stays sorted, whatever the slicer does (SL-01)."""

    effective: ContextBudget
    selected: list[int]
    shortfalls: tuple[CountRequirementShortfall, ...]
    cap_excluded: dict[int, ExclusionReason]


def slice_items(
    items: Sequence[ContextItem], scores: Sequence[float], budget: ContextBudget, pinned_tokens: int, slicer: Slicer
) -> Sliced:
    effective = budget.effective(pinned_tokens)
    outcome = slice_by_index(slicer, items, scores, effective)
    is_selected = bytearray(len(items))
    for i in outcome.selected:
        is_selected[i] = True
    selected = list(compress(range(len(items)), is_selected))
    return Sliced(effective, selected, outcome.shortfalls, dict(outcome.cap_excluded))
