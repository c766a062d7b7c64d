"""Choose which documents fit beside the kept units of a history, and say why the others are dropped."""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping, Sequence
from typing import Any, NamedTuple

from pycupel.diagnostics import Deduplicated, ExcludedItem, ExclusionReason, Filtered, SelectionReport
from pycupel.diagnostics.report import SELECTED_BY, considered_tokens, report_over
from pycupel.documents import DocumentItem, newest_of_each, read_documents
from pycupel.kernels.order import descending, u_shaped
from pycupel.messages.cuts import Replay
from pycupel.messages.options import Options, checked_list
from pycupel.messages.overlay import Overlay, items_at
from pycupel.messages.room import DOCUMENT_PERCENT, Room
from pycupel.model import ContextBudget, ContextItem, ContextKind, QuotaConstraintMode
from pycupel.pipeline import Pipeline, Selection
from pycupel.pipeline.notes import IGNORED_QUERY, ranking_notes
from pycupel.protocols import Scorer, Slicer
from pycupel.scorers._base import bind_query, score_all, score_one
from pycupel.slicers._base import (
    IndexedSlicer,
    IndexSlice,
    SliceOffer,
    exclusion_notes,
    quota_constraints_of,
    slice_by_index,
)

_NO_DOCUMENTS = "the query was ignored: it ranks only documents, and none were passed"
# What items of a report have in their metadata, so that no pipeline is asked about other budgets.
_MARK = {SELECTED_BY: "select_messages"}
_CUT_NOTE = "messages it depends on do not fit, or the messages around it were cut"

_HISTORY_KINDS = frozenset({ContextKind.SYSTEM_PROMPT.key, ContextKind.MESSAGE.key, ContextKind.TOOL_OUTPUT.key})


class Documents(NamedTuple):
    """The documents of a call."""

    given: Sequence[Any]
    """The caller's documents."""

    newest: Sequence[DocumentItem]
    """Each in its newest version."""

    replaced: Sequence[tuple[DocumentItem, DocumentItem]]
    """The older versions, each with the document that replaces it."""

    share: float
    """The share of the room that they get before the history; 0 if none were passed, not even an empty list."""

    notes: tuple[str, ...]
    """What was noticed about their scores."""

    @property
    def held(self) -> int:
        """The tokens of pinned documents."""
        return sum([each.item.tokens for each in self.newest if each.item.pinned])

    @property
    def tokens(self) -> int:
        """The tokens of the others."""
        return sum([each.item.tokens for each in self.newest if not each.item.pinned])


def documents_of(documents: Any, slicer: Slicer, count: Callable[[str], int]) -> Documents:
    """Read the caller's documents, which share the room by the quotas of the policy's slicer."""
    if documents is None:
        return Documents((), (), (), 0.0, ())
    given = checked_list("documents", documents)
    read, notes = read_documents(given, count)
    newest, replaced = newest_of_each(read)
    return Documents(given, newest, replaced, document_share(slicer), notes)


def document_share(slicer: Slicer) -> float:
    """Return the share of the documents: what quotas require for their kinds, within the caps.

    It does not depend on the documents of a call, because the cut would move with them.
    """
    quotas = {
        each.kind.key: each
        for each in quota_constraints_of(slicer)
        if each.mode is QuotaConstraintMode.PERCENTAGE and each.by == "kind" and each.kind.key not in _HISTORY_KINDS
    }
    require = sum([each.require for each in quotas.values()])
    cap = sum([each.cap for each in quotas.values()]) if ContextKind.DOCUMENT.key in quotas else 100.0
    return min(max(DOCUMENT_PERCENT, require), cap) / 100.0


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


class DocumentsSlice(IndexedSlicer):
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

    def _slice_indices(self, offer: SliceOffer, /) -> IndexSlice:
        """Return the units that stay, and the documents that fit beside them."""
        items, scores, budget = offer
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

    def _notes(self, offer: SliceOffer) -> dict[int, str]:
        """Return the notes of the inner slicer, or else why small old messages are not kept one by one."""
        inner = {} if self.inner is None else exclusion_notes(self.inner, offer)
        return {i: inner.get(i, _CUT_NOTE) for i in range(len(offer.items))}


class Choice(NamedTuple):
    """The kept units and documents, by index, and why the others are dropped."""

    units: Sequence[int]
    """The indices of the kept units."""

    documents: Sequence[int]
    """The indices of the kept documents, in order."""

    reasons: Mapping[int, ExclusionReason]
    """Why each other unit is dropped."""

    document_reasons: Mapping[int, ExclusionReason]
    """Why each other document is dropped."""

    notes: tuple[str, ...] = ()
    """Advisory notes."""

    report: SelectionReport | None = None
    """The report, if it was asked for."""


def choose(documents: Documents, overlay: Overlay, room: Room, options: Options, replay: Replay) -> Choice:
    """Select documents beside the units that the replay kept, and collect the reasons.

    Args:
        documents: The documents.
        overlay: The history, and what its units cost.
        room: How many tokens there are for messages and documents.
        options: How to choose.
        replay: What the cuts have left.
    """
    history, newest = overlay.history, documents.newest
    offered, pinned = replay.offer.units, replay.offer.pinned
    kept = [i for i in offered if i not in replay.dropped]
    # Broken units, and those that earlier cuts dropped, are no candidates.
    unseen: dict[int, ExclusionReason] = {i: Filtered(problem) for i, problem in history.broken.items()}
    unseen |= sorted(replay.gone.items())
    reasons = {**unseen, **replay.dropped}
    older: dict[int, ExclusionReason] = {old.index: Deduplicated(new.item.content) for old, new in documents.replaced}
    is_ranked = newest or replay.dropped or options.explain
    if not is_ranked and options.query is None:
        return Choice(kept, (), reasons, older)
    asked = next((i for i in range(len(history.units) - 1, -1, -1) if history.units[i].role == "user"), None)
    last_question = "" if asked is None else history.text_of(asked)
    scorer, query_notes = scorer_for(
        options.policy.scorer, [each.item for each in newest], options.query, last_question
    )
    if not is_ranked:
        return Choice(kept, (), reasons, older, query_notes)
    items = items_at(overlay, reversed(offered), pinned, named=_MARK if options.explain else None)
    unit_of = dict(zip(map(id, items.values()), items, strict=True))
    slicer = DocumentsSlice(options.slicer if newest else None, unit_of, frozenset(kept))
    # Messages are repeated on purpose, so they are not deduplicated.
    pipeline = Pipeline(scorer, slicer, deduplication=False)
    ranking = pipeline.rank([*items.values(), *(each.item for each in newest)])
    # No notes on fields without units: documents alone keep the order of retrieval. The items are not in result order.
    notes = ranking_notes(ranking, fields=any(id(item) in unit_of for item in ranking.items))
    if not (newest or options.explain):
        return Choice(kept, (), reasons, older, (*notes, *query_notes))
    run = pipeline.select(ranking, ContextBudget(room.window))
    document_of = {id(each.item): each.index for each in newest}
    document_reasons = dict(older)
    for excluded in run.reasons:
        if id(excluded.item) in document_of:
            document_reasons[document_of[id(excluded.item)]] = excluded.reason
    report = None
    if options.explain:
        unseen_items = items_at(overlay, unseen, named=_MARK)
        left_out = [(unseen_items[i], reason) for i, reason in unseen.items()]
        left_out += [(old.item, older[old.index]) for old, _ in documents.replaced]
        seen = {key: reasons[unit] for key, unit in unit_of.items() if unit in replay.dropped}
        report = _completed(report_over(run.report, notes=notes), seen, left_out)
    return Choice(kept, _in_u_shape(newest, run), reasons, document_reasons, (*notes, *query_notes), report)


def _in_u_shape(documents: Sequence[DocumentItem], run: Selection) -> list[int]:
    """Order the selected documents, by index, with the best at both ends."""
    if not documents:
        return []
    scores = dict(zip(map(id, run.items), run.scores, strict=True))
    selected = [each for each in documents if id(each.item) in scores]
    order = u_shaped(descending([scores[id(each.item)] for each in selected]))
    return [selected[i].index for i in order]


def _completed(
    report: SelectionReport,
    reasons: Mapping[int, ExclusionReason],
    unseen: Sequence[tuple[ContextItem, ExclusionReason]],
) -> SelectionReport:
    """Add the reasons of the cut to the report, by item identity, and the items that the pipeline never saw."""
    if not (reasons or unseen):
        return report
    excluded = [
        ExcludedItem(each.item, each.score, reasons.get(id(each.item), each.reason)) for each in report.excluded
    ]
    excluded += [ExcludedItem(item, 0.0, reason) for item, reason in unseen]
    return report_over(
        report,
        excluded=tuple(excluded[i] for i in descending([each.score for each in excluded])),
        total_candidates=len(report.included) + len(excluded),
        total_tokens_considered=considered_tokens([*report.included, *excluded]),
    )
