"""Slice histories: keep units by score, not by density, and only together with what they need."""

from __future__ import annotations

import sys
from collections.abc import Container, Mapping, Sequence
from dataclasses import replace
from typing import Any

from pycupel import slicers
from pycupel.kernels.order import descending
from pycupel.messages.room import ALL_KEPT_DIVISOR, DOCUMENT_PERCENT, NEWEST_KEPT_DIVISOR, SKIP_DIVISOR
from pycupel.model import ContextBudget, ContextItem, ContextKind, QuotaConstraintMode
from pycupel.pipeline.notes import IGNORED_QUERY
from pycupel.protocols import Scorer, Slicer
from pycupel.scorers._base import score_all, score_one
from pycupel.scorers._traits import bind_query
from pycupel.slicers._base import IndexedSlicer, IndexSlice, exclusion_notes, quota_constraints_of, slice_by_index

_NO_DOCUMENTS = "the query was ignored: it ranks only documents, and none were passed"


class _DocumentsByQuery:
    """Scores the documents with one scorer and the history with another."""

    def __init__(self, history: Scorer, by_query: Scorer, documents: Sequence[ContextItem]) -> None:
        self.children = (history, by_query)
        self._document_ids = frozenset(map(id, documents))

    def score(self, item: ContextItem, all_items: Sequence[ContextItem], /) -> float:
        history, by_query = self.children
        return score_one(by_query if id(item) in self._document_ids else history, item, all_items)

    def score_all(self, items: Sequence[ContextItem], /) -> list[float]:
        history, by_query = (score_all(child, items) for child in self.children)
        return [
            relevant if id(item) in self._document_ids else score
            for item, score, relevant in zip(items, history, by_query, strict=True)
        ]


def scorer_for(
    scorer: Scorer, documents: Sequence[ContextItem], query: str | None, last_question: str
) -> tuple[Scorer, tuple[str, ...]]:
    """Return the policy's scorer for a history and documents, and notes about the query.

    Args:
        scorer: The scorer of the policy.
        documents: The documents.
        query: The caller's query, or None.
        last_question: The query for the documents if the caller passes none.
    """
    # Nothing answers an empty query, so scorers that need one have no effect on the history.
    history, count = bind_query(scorer, "")
    if not count:
        return scorer, () if query is None else (IGNORED_QUERY,)
    if not documents:
        return history, () if query is None else (_NO_DOCUMENTS,)
    asked, _ = bind_query(scorer, last_question if query is None else query)
    return _DocumentsByQuery(history, asked, documents), ()


_HISTORY_KINDS = frozenset({ContextKind.SYSTEM_PROMPT.key, ContextKind.MESSAGE.key, ContextKind.TOOL_OUTPUT.key})

_CUT_NOTE = "messages it depends on do not fit, or the messages around it were cut"


def fill(
    order: Sequence[int], sizes: Sequence[int], ties: Sequence[Sequence[int]], limit: int, *, in_one_piece: bool
) -> set[int]:
    """Take units in order, each together with everything it is tied to, or not at all.

    Filling by density, as `GreedySlice` does, would keep short old messages and drop long new ones; by score, the
    oldest are dropped. With `in_one_piece`, filling stops at the first unit that does not fit: an older one would stay
    without its context. But while less than half is taken, a unit that is too large is skipped.

    Args:
        order: The units, the best score first.
        sizes: The tokens of each unit.
        ties: For each unit, the units that it is tied to. Those not in `order` are pinned.
        limit: The maximum number of tokens for all of them.
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
        # The group grows while it is walked, until nothing is missing. `with_needs` would take twice as long.
        for member in group:
            for each in ties[member]:
                if each in free:
                    free.remove(each)
                    group.append(each)
        tokens = sum([sizes[i] for i in group])
        if used + tokens <= limit:
            taken.update(group)
            used += tokens
        elif in_one_piece and SKIP_DIVISOR * used > limit:
            break
        else:
            free.update(group)
    return taken


def never_dropped(
    order: Sequence[int], sizes: Sequence[int], ties: Sequence[Sequence[int]], limit: int, left: int
) -> set[int]:
    """Return the units that a cut may shorten, but not drop: all of them if they get small, or else the newest.

    Args:
        order: The units, newest first.
        sizes: The tokens of each unit at its shortest.
        ties: For each unit, the units that it is tied to.
        limit: The room of the cut.
        left: What is left of it for these units.
    """
    if sum([sizes[i] for i in order]) <= min(left, limit // ALL_KEPT_DIVISOR):
        return set(order)
    return fill(order, sizes, ties, min(left, limit // NEWEST_KEPT_DIVISOR), in_one_piece=True)


def without_lone_questions(
    taken: set[int], ties: Sequence[Sequence[int]], answers: Mapping[int, int], begun: int
) -> set[int]:
    """Remove questions whose answers have all been dropped.

    Args:
        taken: The units that are taken.
        ties: For each unit, those that it is tied to, such as an answer to its question.
        answers: For each question, the first unit that is an answer.
        begun: The number of units that have started; later ones are not answers yet.
    """
    alone = {i for i in taken if answers.get(i, begun) < begun}
    if not alone:
        return taken
    return taken - alone.difference(*[ties[i] for i in taken])


class BesideSlice(IndexedSlicer):
    """Selects the units of a history that stay, and fills the rest with documents, best score first.

    Attributes:
        inner: The slicer that selects documents first; None for all of them.
        units: The index of the unit of each item of the history, by the item's identity. Other items are documents.
        staying: The units that stay.
    """

    __slots__ = ("inner", "staying", "units")

    def __init__(self, inner: Slicer | None, units: Mapping[int, int], staying: Container[int]) -> None:
        self.inner = inner
        self.units = units
        self.staying = staying

    def _slice_indices(
        self, items: Sequence[ContextItem], scores: Sequence[float], budget: ContextBudget, /
    ) -> IndexSlice:
        """Return the units that stay, and the documents that fit beside them."""
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

    def _notes(self, items: Sequence[ContextItem], scores: Sequence[float], budget: ContextBudget) -> dict[int, str]:
        """Return the notes of the inner slicer, or else why small old messages are not kept one by one."""
        inner = {} if self.inner is None else exclusion_notes(self.inner, items, scores, budget)
        return {i: inner.get(i, _CUT_NOTE) for i in range(len(items))}


def inner_slicer(slicer: Slicer) -> Slicer | None:
    """Return a policy's slicer, or None for `GreedySlice`, which `fill` replaces."""
    return None if type(slicer) is slicers.GreedySlice else _by_score(slicer)


def _by_score(slicer: Any) -> Slicer:
    """Replace every `GreedySlice` in a slicer by a single batch that is filled by score."""
    if type(slicer) is slicers.GreedySlice:
        return slicers.StreamSlice(sys.maxsize)
    changed: Slicer = slicer
    if type(slicer) in (slicers.QuotaSlice, slicers.CountQuotaSlice):
        changed = replace(slicer, inner=_by_score(slicer.inner))
    return changed


def document_share(slicer: Slicer) -> float:
    """Return the share of the documents: what quotas require for their kinds, within the caps.

    It does not depend on the documents of a call, because the cut would move with them.
    """
    quotas = {
        each.kind.key: each
        for each in quota_constraints_of(slicer)
        if each.mode is QuotaConstraintMode.PERCENTAGE and each.kind.key not in _HISTORY_KINDS
    }
    require = sum([each.require for each in quotas.values()])
    cap = sum([each.cap for each in quotas.values()]) if ContextKind.DOCUMENT.key in quotas else 100.0
    return min(max(DOCUMENT_PERCENT, require), cap) / 100.0
