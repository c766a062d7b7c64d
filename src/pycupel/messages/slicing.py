"""The slicer of histories: old units go by score rather than by density, and never without what needs them."""

from __future__ import annotations

import sys
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from pycupel.kernels.order import descending
from pycupel.model import ContextBudget, ContextItem, ContextKind, QuotaConstraintMode
from pycupel.model.frozen import sealed
from pycupel.protocols import Slicer
from pycupel.slicers import CountQuotaSlice, GreedySlice, QuotaSlice, StreamSlice
from pycupel.slicers._base import IndexedSlicer, IndexSlice, exclusion_notes, slice_by_index
from pycupel.slicers.constraints import quota_constraints_of

__all__ = ["BesideSlice", "document_share", "fill", "inner_slicer", "without_lone_questions"]

# What documents may take of the target before the history gets the rest, if the policy's quotas say nothing about it.
_DOCUMENT_PERCENT = 30.0

_HISTORY_KINDS = frozenset({ContextKind.SYSTEM_PROMPT.key, ContextKind.MESSAGE.key, ContextKind.TOOL_OUTPUT.key})

_CUT = "what it belongs to does not fit, or the cut is made where the messages around it end"


def fill(
    order: Sequence[int], sizes: Sequence[int], ties: Sequence[Sequence[int]], limit: int, *, in_one_piece: bool
) -> set[int]:
    """Takes units in order, each with everything that it is tied to and that is not taken yet, or not at all.

    Filling by density, as `GreedySlice` does, would keep short old messages and lose long new ones; by score, what goes
    is the oldest. In one piece, the first that does not fit is also the last that is tried: what is smaller and older
    would stay without what was said around it. But while less than half is taken, one that is too large is skipped.

    Args:
        order: The units, the best score first.
        sizes: What each unit costs.
        ties: For each unit, those that it is tied to. One that is not in `order` is pinned.
        limit: What they may take together.
        in_one_piece: Whether to stop at the first that does not fit.
    """
    free = set(order)
    taken: set[int] = set()
    used = 0
    for unit in order:
        if unit not in free:
            continue
        free.remove(unit)
        group = [unit]
        # The group grows while it is walked, until nothing is missing.
        for member in group:
            for each in ties[member]:
                if each in free:
                    free.remove(each)
                    group.append(each)
        tokens = sum([sizes[i] for i in group])
        if used + tokens <= limit:
            taken.update(group)
            used += tokens
        elif in_one_piece and 2 * used > limit:
            break
        else:
            free.update(group)
    return taken


def without_lone_questions(
    taken: set[int], ties: Sequence[Sequence[int]], answers: Mapping[int, int], begun: int
) -> set[int]:
    """What is taken, without the questions that had answers, of which none is left.

    Args:
        taken: The units that are taken.
        ties: For each unit, those that it is tied to, such as an answer to its question.
        answers: For each question, the first unit that is an answer.
        begun: The number of units that are there; a later one is no answer yet.
    """
    alone = {i for i in taken if answers.get(i, begun) < begun}
    if not alone:
        return taken
    return taken - alone.difference(*[ties[i] for i in taken])


@sealed
@dataclass(frozen=True, slots=True)
class BesideSlice(IndexedSlicer):
    """Selects the units of a history that stay, and fills what they leave with documents, the best score first.

    Attributes:
        inner: The slicer whose choice of documents is narrowed; None for all of them.
        units: The index of the unit of each item of the history, by the item's identity. Other items are documents.
        staying: The units that stay.
    """

    inner: Slicer | None
    units: Mapping[int, int]
    staying: Container[int]

    def slice_indices(
        self, items: Sequence[ContextItem], scores: Sequence[float], budget: ContextBudget, /
    ) -> IndexSlice:
        """What stays of the history, and the documents that fit beside it."""
        order = descending(scores)
        outcome = IndexSlice(order)
        if self.inner is not None:
            outcome = slice_by_index(self.inner, items, scores, budget)
            chosen = set(outcome.selected)
            order = [i for i in order if i in chosen]
        selected = [i for i, item in enumerate(items) if self.units.get(id(item), -1) in self.staying]
        room = budget.target_tokens - sum([items[i].tokens for i in selected])
        for i in order:
            if id(items[i]) not in self.units and items[i].tokens <= room:
                selected.append(i)
                room -= items[i].tokens
        return outcome._replace(selected=sorted(selected))

    def notes(self, items: Sequence[ContextItem], scores: Sequence[float], budget: ContextBudget) -> dict[int, str]:
        """What the inner slicer has to say, or else why small old messages are not kept one by one."""
        inner = {} if self.inner is None else exclusion_notes(self.inner, items, scores, budget)
        return {i: inner.get(i, _CUT) for i in range(len(items))}


def inner_slicer(slicer: Slicer) -> Slicer | None:
    """A policy's slicer, if it does more than `GreedySlice`, whose place `fill` takes: by score, not by density."""
    return None if type(slicer) is GreedySlice else _by_score(slicer)


def _by_score(slicer: Any) -> Slicer:
    """The same slicer, with every `GreedySlice` inside replaced by one batch that is filled by score."""
    if type(slicer) is GreedySlice:
        return StreamSlice(sys.maxsize)
    changed: Slicer = slicer
    if type(slicer) in (QuotaSlice, CountQuotaSlice):
        changed = replace(slicer, inner=_by_score(slicer.inner))
    return changed


def document_share(slicer: Slicer) -> float:
    """The part that documents get before the history does: what quotas require for their kinds, within the caps.

    It does not depend on the documents of one call, because the cut would move with them.
    """
    quotas = {
        each.kind.key: each
        for each in quota_constraints_of(slicer)
        if each.mode is QuotaConstraintMode.PERCENTAGE and each.kind.key not in _HISTORY_KINDS
    }
    require = sum([each.require for each in quotas.values()])
    cap = sum([each.cap for each in quotas.values()]) if ContextKind.DOCUMENT.key in quotas else 100.0
    return min(max(_DOCUMENT_PERCENT, require), cap) / 100.0
