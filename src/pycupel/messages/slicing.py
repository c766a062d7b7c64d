"""Dropping what goes: old units by score rather than by density, and never what a kept one needs."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from pycupel.kernels.order import descending
from pycupel.model import ContextBudget, ContextItem, QuotaConstraintMode
from pycupel.protocols import Slicer
from pycupel.slicers import CountQuotaSlice, GreedySlice, QuotaSlice, StreamSlice
from pycupel.slicers._base import IndexedSlicer, IndexSlice, exclusion_notes, slice_by_index
from pycupel.slicers.constraints import quota_constraints_of

__all__ = ["TiedSlice", "document_share", "inner_slicer"]

# What documents may take of the target before the history gets the rest, if the policy's quotas say nothing about it.
_DOCUMENT_PERCENT = 30.0

_CUT = "what it belongs to does not fit, or the cut is made where the messages around it end"


@dataclass(frozen=True, slots=True)
class TiedSlice(IndexedSlicer):
    """Walks what `inner` selects, or everything if there is none, from the best score down.

    An item is taken together with all it needs and has not got yet, or not at all. Filling by density, as
    `GreedySlice` does, would keep short old messages and lose long new ones; by score, what goes is the oldest, in
    one piece as far as the scores allow.

    Attributes:
        needs: Tells what an item needs. What is no candidate is there in any case.
        documents: The identities of the items beside the history.
        share: The part of the target that documents get before the history does. Later they get what it leaves.
        whole: Whether the history stays as a whole, so that only documents are selected.
    """

    inner: Slicer | None
    needs: Callable[[ContextItem], Sequence[ContextItem]]
    documents: frozenset[int] = frozenset()
    share: float = 0.0
    whole: bool = False

    def slice_indices(
        self, items: Sequence[ContextItem], scores: Sequence[float], budget: ContextBudget, /
    ) -> IndexSlice:
        order = descending(scores)
        outcome = IndexSlice(order)
        if self.inner is not None:
            outcome = slice_by_index(self.inner, items, scores, budget)
            chosen = set(outcome.selected)
            order = [i for i in order if i in chosen or (self.whole and id(items[i]) not in self.documents)]
        documents: list[int] = []
        history = order
        if self.documents:
            documents = [i for i in order if id(items[i]) in self.documents]
            history = [i for i in order if id(items[i]) not in self.documents]
        target = budget.target_tokens
        fill = _Fill(items, self.needs)
        fill.take(documents, int(target * self.share))
        fill.take(history, target, in_one_piece=self.inner is None)
        fill.take(documents, target)
        return outcome._replace(selected=sorted(fill.taken))

    def notes(self, items: Sequence[ContextItem], scores: Sequence[float], budget: ContextBudget) -> dict[int, str]:
        """What the inner slicer has to say, and else why small old messages are not kept one by one."""
        inner = {} if self.inner is None else exclusion_notes(self.inner, items, scores, budget)
        return {i: inner.get(i, _CUT) for i in range(len(items))}


class _Fill:
    """What has been taken so far."""

    __slots__ = ("_items", "_needs", "_places", "_used", "taken")

    def __init__(self, items: Sequence[ContextItem], needs: Callable[[ContextItem], Sequence[ContextItem]]) -> None:
        self._items = items
        self._needs = needs
        self._places = dict(zip(map(id, items), range(len(items)), strict=True))
        self._used = 0
        self.taken: set[int] = set()

    def take(self, order: Iterable[int], limit: int, *, in_one_piece: bool = False) -> None:
        """Whatever still fits under the limit for everything.

        In one piece, the first that does not fit is also the last that is tried: what is smaller and older would
        stay without all that was said around it. But a large one does not take everything before it along, as long
        as less than half is taken.
        """
        for i in order:
            if i not in self.taken:
                group = self._with_needs(i)
                cost = sum([self._items[each].tokens for each in group])
                if self._used + cost <= limit:
                    self.taken.update(group)
                    self._used += cost
                elif in_one_piece and 2 * self._used > limit:
                    return

    def _with_needs(self, i: int) -> list[int]:
        group = [i]
        # The list grows while it is walked, until nothing is missing.
        for member in group:
            for needed in self._needs(self._items[member]):
                place = self._places.get(id(needed))
                if place is not None and place not in self.taken and place not in group:
                    group.append(place)
        return group


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
