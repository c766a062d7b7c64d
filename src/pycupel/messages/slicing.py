"""The slicer of histories: old units go by score rather than by density, and never without what needs them."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from pycupel.kernels.order import descending
from pycupel.messages.ties import with_needs
from pycupel.model import ContextBudget, ContextItem, QuotaConstraintMode
from pycupel.model.frozen import sealed
from pycupel.protocols import Slicer
from pycupel.slicers import CountQuotaSlice, GreedySlice, QuotaSlice, StreamSlice
from pycupel.slicers._base import IndexedSlicer, IndexSlice, exclusion_notes, slice_by_index
from pycupel.slicers.constraints import quota_constraints_of

__all__ = ["TiedSlice", "document_share", "inner_slicer"]

# What documents may take of the target before the history gets the rest, if the policy's quotas say nothing about it.
_DOCUMENT_PERCENT = 30.0

_CUT = "what it belongs to does not fit, or the cut is made where the messages around it end"


@sealed
@dataclass(frozen=True, slots=True)
class TiedSlice(IndexedSlicer):
    """Takes what `inner` selects, or everything if there is none, from the best score down.

    An item is taken together with everything that it is tied to and that is not taken yet, or not at all. Filling by
    density, as `GreedySlice` does, would keep short old messages and lose long new ones; by score, what goes is the
    oldest, in one piece as far as the scores allow.

    Attributes:
        inner: The slicer whose choice is narrowed.
        units: The index of the unit of each item of the history, by the item's identity. Other items are documents.
        ties: For each unit, the indices of those that it is tied to. One that is not a candidate is pinned.
        share: The part of the target that documents get before the history does. Later they get what it leaves.
        whole: Whether the history stays as a whole, so that only documents are selected.
    """

    inner: Slicer | None
    units: Mapping[int, int]
    ties: Sequence[Sequence[int]]
    share: float = 0.0
    whole: bool = False

    def slice_indices(
        self, items: Sequence[ContextItem], scores: Sequence[float], budget: ContextBudget, /
    ) -> IndexSlice:
        """The documents' share first, then the history, then more documents."""
        units = [self.units.get(id(item)) for item in items]
        order = descending(scores)
        outcome = IndexSlice(order)
        if self.inner is not None:
            outcome = slice_by_index(self.inner, items, scores, budget)
            chosen = set(outcome.selected)
            order = [i for i in order if i in chosen or (self.whole and units[i] is not None)]
        documents: list[int] = []
        history = order
        if None in units:
            documents = [i for i in order if units[i] is None]
            history = [i for i in order if units[i] is not None]
        target = budget.target_tokens
        fill = _Fill(items, self._ties_between(units))
        fill.take(documents, int(target * self.share))
        fill.take(history, target, in_one_piece=self.inner is None)
        fill.take(documents, target)
        return outcome._replace(selected=sorted(fill.taken))

    def _ties_between(self, units: Sequence[int | None]) -> Callable[[int], list[int]]:
        """The ties by index in the list of candidates."""
        index_of = {unit: i for i, unit in enumerate(units)}

        def tied_to(i: int) -> list[int]:
            unit = units[i]
            return [] if unit is None else [index_of[need] for need in self.ties[unit] if need in index_of]

        return tied_to

    def notes(self, items: Sequence[ContextItem], scores: Sequence[float], budget: ContextBudget) -> dict[int, str]:
        """What the inner slicer has to say, or else why small old messages are not kept one by one."""
        inner = {} if self.inner is None else exclusion_notes(self.inner, items, scores, budget)
        return {i: inner.get(i, _CUT) for i in range(len(items))}


class _Fill:
    """What has been taken so far."""

    __slots__ = ("_items", "_tied_to", "_used", "taken")

    def __init__(self, items: Sequence[ContextItem], tied_to: Callable[[int], Iterable[int]]) -> None:
        self._items = items
        self._tied_to = tied_to
        self._used = 0
        self.taken: set[int] = set()

    def take(self, order: Iterable[int], limit: int, *, in_one_piece: bool = False) -> None:
        """Takes whatever still fits; the limit is for everything that is taken.

        In one piece, the first that does not fit is also the last that is tried: what is smaller and older would stay
        without what was said around it. But as long as less than half is taken, one that is too large is skipped.
        """
        for i in order:
            if i in self.taken:
                continue
            group = with_needs((i,), self._tied_to, self.taken)
            tokens = sum([self._items[each].tokens for each in group])
            if self._used + tokens <= limit:
                self.taken.update(group)
                self._used += tokens
            elif in_one_piece and 2 * self._used > limit:
                return


def inner_slicer(slicer: Slicer) -> Slicer | None:
    """A policy's slicer as the inner one of a `TiedSlice`, which does by score what `GreedySlice` does by density."""
    return None if type(slicer) is GreedySlice else _by_score(slicer)


def _by_score(slicer: Any) -> Slicer:
    """The same slicer, with every `GreedySlice` inside replaced by one batch that is filled by score."""
    if type(slicer) is GreedySlice:
        return StreamSlice(sys.maxsize)
    changed: Slicer = slicer
    if type(slicer) in (QuotaSlice, CountQuotaSlice):
        changed = replace(slicer, inner=_by_score(slicer.inner))
    return changed


def document_share(slicer: Slicer, documents: Iterable[ContextItem]) -> float:
    """The part that documents get before the history does: what quotas require for their kinds, within the caps."""
    quotas = {
        each.kind.key: each for each in quota_constraints_of(slicer) if each.mode is QuotaConstraintMode.PERCENTAGE
    }
    require = cap = 0.0
    for key in dict.fromkeys(item.kind.key for item in documents):
        require += quotas[key].require if key in quotas else 0.0
        cap += quotas[key].cap if key in quotas else 100.0
    return min(max(_DOCUMENT_PERCENT, require), cap) / 100.0
