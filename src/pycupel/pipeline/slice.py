"""Stage 5, Slice: select what fits into the effective budget."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import compress
from typing import TYPE_CHECKING, NamedTuple

from pycupel.diagnostics import CountRequirementShortfall, ExclusionReason
from pycupel.kernels.order import indices_by_identity, maker
from pycupel.model import ContextBudget, ContextItem
from pycupel.protocols import Slicer
from pycupel.slicers._base import NO_VERSIONS, slice_by_index
from pycupel.text import quantity

if TYPE_CHECKING:
    from pycupel.pipeline.record import Ranking


class Sliced(NamedTuple):
    """The result of the Slice stage. Items are indices in the sorted list."""

    effective: ContextBudget
    """The budget that the slicer was given."""

    # SL-01: the selection stays sorted, whatever the slicer does.
    selected: list[int]
    """The selected items, ascending."""

    is_selected: bytearray
    """A 1 for each selected item, and a 0 for every other one."""

    shortfalls: tuple[CountRequirementShortfall, ...]
    """The count requirements that could not be met."""

    cap_excluded: dict[int, ExclusionReason]
    """The items that a cap or a minimum score excluded, not the budget, with the reasons."""

    versions: Mapping[int, ContextItem] = NO_VERSIONS
    """The shorter versions that replace selected items."""

    notes: tuple[str, ...] = ()
    """Advisory notes of the slicer."""

    def __repr__(self) -> str:
        return f"<Sliced: {len(self.selected)} of {quantity(len(self.is_selected), 'item')}>"


_sliced = maker(Sliced)


def slice_items(ranking: Ranking, budget: ContextBudget, slicer: Slicer, *, deduplicated: bool) -> Sliced:
    """Let the slicer select within the budget that the pinned items leave."""
    items, effective = ranking.items, budget.effective(ranking.classified.pinned_tokens)
    outcome = slice_by_index(slicer, items, ranking.scores, effective)
    if not deduplicated and len(indices := indices_by_identity(items)) < len(items):
        # Move the selection of a repeated object to its first occurrences (SL-03): built-in slicers return indices,
        # and must give the same result as custom ones, which return objects.
        named = [*outcome.selected, *(i for i, _ in outcome.cap_excluded)]
        outcome = outcome.at({i: indices[id(items[i])].pop() for i in named})
    chosen, shortfalls, cap_excluded, versions, notes = outcome
    is_selected = bytearray(len(items))
    for i in chosen:
        is_selected[i] = 1
    selected = list(compress(range(len(items)), is_selected))
    return _sliced((effective, selected, is_selected, shortfalls, dict(cap_excluded), versions, notes))
