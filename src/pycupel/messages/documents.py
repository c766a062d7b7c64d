"""Choose which documents fit beside the kept units of a history, and say why the others are dropped."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from pycupel.diagnostics import Deduplicated, ExcludedItem, ExclusionReason, Filtered, SelectionReport
from pycupel.diagnostics.report import considered_tokens, report_over
from pycupel.documents import DocumentItem
from pycupel.kernels.order import descending, u_shaped
from pycupel.messages.cuts import Replayed
from pycupel.messages.history import History, items_at
from pycupel.messages.slicing import BesideSlice, inner_slicer, scorer_for
from pycupel.model import ContextBudget, ContextItem
from pycupel.pipeline import Pipeline, Selection
from pycupel.pipeline.notes import ranking_notes

if TYPE_CHECKING:
    from pycupel.messages.run import Request


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


def choose(request: Request, history: History, replayed: Replayed) -> Choice:
    """Select documents beside the units that the replay kept, and collect the reasons.

    Args:
        request: The documents, and how to choose among them.
        history: The history with its current tokens.
        replayed: The result of the replay.
    """
    hits, query, policy = request.hits, request.query, request.policy
    offered, pinned = replayed.candidates.units, replayed.candidates.pinned
    kept = [i for i in offered if i not in replayed.dropped]
    # Broken units, and those that earlier cuts dropped, are no candidates.
    unseen: dict[int, ExclusionReason] = {i: Filtered(problem) for i, problem in history.broken.items()}
    unseen |= sorted(replayed.before.gone.items())
    reasons = {**unseen, **replayed.dropped}
    older: dict[int, ExclusionReason] = {old.index: Deduplicated(new.item.content) for old, new in request.replaced}
    is_ranked = hits or replayed.dropped or request.explain
    if not is_ranked and query is None:
        return Choice(kept, (), reasons, older)
    scorer, query_notes = scorer_for(policy.scorer, [hit.item for hit in hits], query, _last_question(history))
    if not is_ranked:
        return Choice(kept, (), reasons, older, query_notes)
    items = items_at(history, reversed(offered), pinned, named=request.explain)
    unit_of = dict(zip(map(id, items.values()), items, strict=True))
    document_of = {id(hit.item): hit.index for hit in hits}
    inner = inner_slicer(policy.slicer) if hits else None
    slicer = BesideSlice(inner, unit_of, frozenset(kept))
    # Messages are repeated on purpose, so they are not deduplicated.
    pipeline = Pipeline(scorer, slicer, deduplication=False)
    ranking = pipeline.rank([*items.values(), *(hit.item for hit in hits)])
    run = pipeline.select(ranking, ContextBudget(request.plan.window))
    document_reasons = dict(older)
    for excluded in run.reasons:
        if id(excluded.item) in document_of:
            document_reasons[document_of[id(excluded.item)]] = excluded.reason
    # No notes on fields without units: documents alone keep the order of retrieval. The items are not in result order.
    notes = ranking_notes(ranking, fields=any(id(item) in unit_of for item in ranking.items))
    report = None
    if request.explain:
        unseen_items = items_at(history, unseen, named=True)
        left_out = [(unseen_items[i], reason) for i, reason in unseen.items()]
        left_out += [(old.item, older[old.index]) for old, _ in request.replaced]
        seen = {key: reasons[unit] for key, unit in unit_of.items() if unit in replayed.dropped}
        report = _completed(report_over(run.report, notes=notes), seen, left_out)
    return Choice(kept, _in_u_shape(hits, run), reasons, document_reasons, (*notes, *query_notes), report)


def _last_question(history: History) -> str:
    asked = [i for i, unit in enumerate(history.units) if unit.role == "user"]
    return history.text_of(asked[-1]) if asked else ""


def _in_u_shape(hits: Sequence[DocumentItem], run: Selection) -> list[int]:
    """Order the selected documents, by index, with the best at both ends."""
    if not hits:
        return []
    scores = dict(zip(map(id, run.items), run.scores, strict=True))
    selected = [hit for hit in hits if id(hit.item) in scores]
    order = u_shaped(descending([scores[id(hit.item)] for hit in selected]))
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
