"""Which units and documents stay: the choice of a pipeline, by index, and why the rest goes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from pycupel.diagnostics import Deduplicated, ExcludedItem, ExclusionReason, Filtered, SelectionReport
from pycupel.diagnostics.report import with_fields
from pycupel.kernels.order import descending, u_shaped
from pycupel.messages.documents import DocumentItem
from pycupel.messages.history import History, items_at
from pycupel.messages.plan import Plan
from pycupel.messages.scoring import scorer_for
from pycupel.messages.slicing import TiedSlice, inner_slicer
from pycupel.model import ContextItem
from pycupel.pipeline import Pipeline, Policy, Selection
from pycupel.pipeline.notes import ranking_notes

__all__ = ["Choice", "choose"]


class Choice(NamedTuple):
    """What stays, by index, the documents in their order; and why the rest goes.

    Attributes:
        units: The indices of the units that stay.
        documents: The indices of the documents that stay.
        reasons: Why each other unit goes.
        document_reasons: Why each other document goes.
        notes: Advisory notes.
        report: The report, if it was asked for.
    """

    units: Sequence[int]
    documents: Sequence[int]
    reasons: Mapping[int, ExclusionReason]
    document_reasons: Mapping[int, ExclusionReason]
    notes: tuple[str, ...] = ()
    report: SelectionReport | None = None


def choose(
    history: History,
    plan: Plan,
    hits: Sequence[DocumentItem],
    replaced: Sequence[tuple[DocumentItem, DocumentItem]],
    policy: Policy,
    *,
    query: str | None,
    explain: bool,
) -> Choice:
    """Runs the policy over what the plan offers.

    Args:
        history: The history.
        plan: What is offered, and under which budget.
        hits: The documents, each in its newest version.
        replaced: The older versions, each with the document that replaces it.
        policy: The scorer and the slicer.
        query: What the documents should be relevant to; the last user message, if None.
        explain: Whether to make a report.
    """
    aside = _set_aside(history, plan)
    older: dict[int, ExclusionReason] = {old.index: Deduplicated(new.item.content) for old, new in replaced}
    scorer, query_notes = scorer_for(policy.scorer, [hit.item for hit in hits], query, _last_question(history))
    has_choice = plan.is_cut or bool(hits)
    if not has_choice and not explain:
        return Choice(plan.offered, (), aside, older, query_notes)
    # At equal scores, what comes first stays: of the history that is the newest, of the documents the best hit.
    items = items_at(history, reversed(plan.offered), plan.pinned, named=explain)
    unit_of = dict(zip(map(id, items.values()), items, strict=True))
    document_of = {id(hit.item): hit.index for hit in hits}
    inner = inner_slicer(policy.slicer) if has_choice else None
    slicer = TiedSlice(inner, unit_of, history.ties, plan.share, whole=not plan.is_cut)
    # Repeated messages are repeated on purpose.
    pipeline = Pipeline(scorer, slicer, deduplication=False)
    run = pipeline.select(pipeline.rank([*items.values(), *(hit.item for hit in hits)]), plan.budget)
    reasons, document_reasons = dict(aside), dict(older)
    for excluded in run.reasons:
        key = id(excluded.item)
        if key in unit_of:
            reasons[unit_of[key]] = excluded.reason
        else:
            document_reasons[document_of[key]] = excluded.reason
    units = [i for i in plan.offered if i not in reasons]
    # Documents alone stay in the order in which they were found; and the order of the items is not that of the result.
    notes = ranking_notes(run.ranking, fields=any(id(item) in unit_of for item in run.ranking.items))
    report = None
    if explain:
        unseen = items_at(history, aside, named=True)
        left_out = [(unseen[i], reason) for i, reason in aside.items()]
        report = _completed(
            with_fields(run.report, notes=notes), [*left_out, *((old.item, older[old.index]) for old, _ in replaced)]
        )
    return Choice(units, _in_u_shape(hits, run), reasons, document_reasons, (*notes, *query_notes), report)


def _last_question(history: History) -> str:
    return next((unit.text for unit in reversed(history.units) if unit.role == "user"), "")


def _set_aside(history: History, plan: Plan) -> dict[int, ExclusionReason]:
    """What the pipeline never sees: what a provider would refuse, and what an earlier selection dropped."""
    refused: dict[int, ExclusionReason] = {
        i: Filtered(unit.problem) for i, unit in enumerate(history.units) if unit.problem is not None
    }
    return refused | dict.fromkeys(sorted(plan.earlier), Filtered("the previous selection"))


def _in_u_shape(hits: Sequence[DocumentItem], run: Selection) -> list[int]:
    """The indices of the selected documents, the best ones at both edges."""
    if not hits:
        return []
    scores = dict(zip(map(id, run.items), run.scores, strict=True))
    selected = [hit for hit in hits if id(hit.item) in scores]
    order = u_shaped(descending([scores[id(hit.item)] for hit in selected]))
    return [selected[i].index for i in order]


def _completed(report: SelectionReport, unseen: Sequence[tuple[ContextItem, ExclusionReason]]) -> SelectionReport:
    """The report with what the pipeline never saw."""
    if not unseen:
        return report
    excluded = [*report.excluded, *(ExcludedItem(item, 0.0, reason) for item, reason in unseen)]
    return with_fields(
        report,
        excluded=tuple(excluded[i] for i in descending([each.score for each in excluded])),
        total_candidates=len(report.included) + len(excluded),
        total_tokens_considered=report.included_tokens + sum(each.item.tokens for each in excluded),
    )
