"""`select_messages`: the part of a chat history that fits, that no provider refuses, and that begins like the last."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from operator import itemgetter
from typing import Any, NamedTuple

from pycupel.diagnostics import Deduplicated, ExcludedItem, ExclusionReason, Filtered, SelectionReport
from pycupel.errors import InvalidArgumentError, UnitTooLargeError
from pycupel.kernels.order import descending, u_shaped
from pycupel.messages.documents import DocumentItem, checked_documents, newest_of_each, read_documents
from pycupel.messages.history import History, read_history
from pycupel.messages.plan import Plan, limits_of, make_plan
from pycupel.messages.result import Dropped, MessageSelection
from pycupel.messages.shapes import checked_messages
from pycupel.messages.slicing import TiedSlice, document_share, inner_slicer
from pycupel.model import ContextBudget, ContextItem, ScoredItem
from pycupel.model.checks import checked_bool, wrong_type
from pycupel.pipeline import Pipeline, Policy
from pycupel.pipeline.explain import excluded_by_slice
from pycupel.scorers import scorer_notes
from pycupel.select import as_policy
from pycupel.tokens import get_counter, message_counter

__all__ = ["select_messages"]

_NOT_CONTINUED = "the history does not start with that of the previous selection, which therefore was not kept"


class _Choice(NamedTuple):
    """The items that a pipeline selected, with their scores, and those that it did not."""

    selected: list[ScoredItem]
    excluded: list[ExcludedItem]
    notes: tuple[str, ...] = ()
    report: SelectionReport | None = None


def select_messages(
    messages: Sequence[Any],
    budget: ContextBudget | int,
    *,
    provider: str = "auto",
    policy: Policy | str = "chat",
    unit: str = "auto",
    counter: Any = "auto",
    pin: Any = None,
    previous: MessageSelection | None = None,
    documents: Iterable[Any] | None = None,
    too_large: str = "drop",
    explain: bool = False,
) -> MessageSelection:
    """Select from a chat history what fits into a budget, so that the provider accepts it.

    A tool call, its results and its reasoning stay together, with the user message that they are about. The system
    prompt, the last user message and the exchange that is open or last stay in any case. The order does not change.

    Nothing is dropped until the history outgrows `max_tokens - output_reserve`. Then it is cut to `target_tokens`, so
    that the following calls only append to it: pass the last selection as `previous`, and it stays as it is until the
    next cut.

    Args:
        messages: Dicts or the SDK's objects; neither is changed.
        budget: The limits, or a number of tokens, of which 65 % are then the target.
        provider: openai, responses, anthropic, gemini or mistral; auto tells them apart by shape.
        policy: What ranks the history, or the name of a preset.
        unit: "auto" drops exchanges and messages one by one, "turn" whole turns.
        counter: Counts tokens: a function from str to int, or what `pycupel.tokens.get_counter` takes.
        pin: Messages that must stay: their indices, or a function that is asked about each.
        previous: The selection from the last call with this history.
        documents: Retrieved texts that share the budget; see `documents` of the result.
        too_large: What happens to an old unit that is larger than the budget: "drop" or "error".
        explain: Whether the result should have a report.

    Raises:
        UnitTooLargeError: what must stay does not fit; or something else does not, and `too_large` is "error".
        MessageShapeError: a message has a shape that the provider does not know.
        ProviderAmbiguousError: nobody can tell which provider the history is for.
    """
    if too_large not in ("drop", "error"):
        raise InvalidArgumentError(f"too_large must be 'drop' or 'error', not {too_large!r}", argument="too_large")
    if previous is not None and not isinstance(previous, MessageSelection):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise wrong_type("previous", "a MessageSelection", previous)
    rules = as_policy(policy)
    source = tuple(checked_messages(messages))
    counts = get_counter(counter)
    history = read_history(source, provider, unit, message_counter(counts), pin)
    given = [] if documents is None else checked_documents(documents)
    hits, replaced = newest_of_each(read_documents(given, counts))
    known = previous if previous is not None and previous.continues(source) else None
    share = document_share(rules.slicer, [hit.item for hit in hits])
    plan = make_plan(history, hits, limits_of(budget, counts.margin_percent), share, known)
    if too_large == "error":
        _refuse_too_large(history, plan)
    items = [
        replace(block.item, pinned=True) if place in plan.pinned else block.item
        for place, block in enumerate(history.blocks)
    ]
    choice = _choose(history, plan, items, hits, rules, explain=checked_bool("explain", explain))
    excluded = [*choice.excluded, *_set_aside(history, plan, items, replaced)]
    selected = {id(each.item) for each in choice.selected}
    kept = sorted(
        i for item, block in zip(items, history.blocks, strict=True) if id(item) in selected for i in block.indices
    )
    reasons = {id(each.item): each.reason for each in excluded}
    return MessageSelection(
        messages=[source[i] for i in kept],
        total_tokens=sum(each.item.tokens for each in choice.selected),
        dropped=_dropped(reasons, ((item, block.indices) for item, block in zip(items, history.blocks, strict=True))),
        documents=[given[place] for place in _in_u_shape(choice, hits)],
        dropped_documents=_dropped(
            reasons, ((hit.item, (hit.place,)) for hit in (*hits, *(old for old, _ in replaced)))
        ),
        kept=tuple(kept),
        stable_prefix_tokens=_stable_prefix(history.tokens, kept, known),
        report=None if choice.report is None else _completed(choice.report, excluded),
        budget=plan.budget,
        counter=f"{counts.name} ({counts.version})",
        provider=history.provider,
        notes=(*choice.notes, *((_NOT_CONTINUED,) if previous is not known else ())),
        source=source,
    )


def _choose(
    history: History,
    plan: Plan,
    items: Sequence[ContextItem],
    hits: Sequence[DocumentItem],
    rules: Policy,
    *,
    explain: bool,
) -> _Choice:
    """Repeated messages are repeated on purpose, so nothing is deduplicated here."""
    # At equal scores, what comes first stays: of the history that is the newest, of the documents the best hit.
    offered = [items[place] for place in reversed(plan.offered)] + [hit.item for hit in hits]
    has_choice = plan.is_cut or bool(hits)
    if not has_choice and not explain:
        return _Choice([ScoredItem(item, 1.0) for item in offered], [])
    slicer = TiedSlice(
        inner_slicer(rules.slicer) if has_choice else None,
        {id(items[place]): [items[need] for need in history.blocks[place].needs] for place in plan.offered},
        frozenset([id(hit.item) for hit in hits]),
        plan.share,
        whole=not plan.is_cut,
    )
    pipeline = Pipeline(rules.scorer, slicer, deduplication=False)
    if explain:
        report = pipeline.dry_run(offered, plan.budget)
        chosen = [ScoredItem(included.item, included.score) for included in report.included]
        return _Choice(chosen, list(report.excluded), report.notes, report)
    ranking = pipeline.rank(offered)
    selection = pipeline.select(ranking, plan.budget)
    placed = selection.placement
    chosen = [ScoredItem(placed.items[i], placed.scores[i]) for i in placed.kept]
    notes = scorer_notes(rules.scorer, ranking.classified.scoreable)
    return _Choice(chosen, excluded_by_slice(ranking, selection.sliced, plan.budget), notes)


def _refuse_too_large(history: History, plan: Plan) -> None:
    for place, block in enumerate(history.blocks):
        if place not in plan.pinned and block.problem is None and block.item.tokens > plan.room:
            raise UnitTooLargeError(
                block.indices, block.item.tokens, plan.room, hint='It could be dropped, with too_large="drop".'
            )


def _set_aside(
    history: History, plan: Plan, items: Sequence[ContextItem], replaced: Iterable[tuple[DocumentItem, DocumentItem]]
) -> list[ExcludedItem]:
    """What the pipeline never saw: what a provider would refuse, what an earlier selection dropped, older versions."""
    refused = [
        ExcludedItem(item, 0.0, Filtered(block.problem))
        for item, block in zip(items, history.blocks, strict=True)
        if block.problem is not None
    ]
    earlier = [ExcludedItem(items[place], 0.0, Filtered("the previous selection")) for place in sorted(plan.earlier)]
    older = [ExcludedItem(old.item, 0.0, Deduplicated(new.item.content)) for old, new in replaced]
    return refused + earlier + older


def _dropped(
    reasons: Mapping[int, ExclusionReason], places: Iterable[tuple[ContextItem, Sequence[int]]]
) -> tuple[Dropped, ...]:
    gone = [Dropped(i, reasons[id(item)]) for item, indices in places if id(item) in reasons for i in indices]
    return tuple(sorted(gone, key=itemgetter(0)))


def _in_u_shape(choice: _Choice, hits: Sequence[DocumentItem]) -> list[int]:
    """The places of the selected documents, the best ones at both edges."""
    scores = {id(each.item): each.score for each in choice.selected}
    selected = [hit for hit in hits if id(hit.item) in scores]
    order = u_shaped(descending([scores[id(hit.item)] for hit in selected]))
    return [selected[i].place for i in order]


def _stable_prefix(tokens: Sequence[int], kept: Sequence[int], previous: MessageSelection | None) -> int:
    stable = 0
    for now, then in zip(kept, () if previous is None else previous.kept, strict=False):
        if now != then:
            break
        stable += tokens[now]
    return stable


def _completed(report: SelectionReport, excluded: Sequence[ExcludedItem]) -> SelectionReport:
    """The report with what the pipeline never saw."""
    return replace(
        report,
        excluded=tuple(excluded[i] for i in descending([each.score for each in excluded])),
        total_candidates=len(report.included) + len(excluded),
        total_tokens_considered=report.included_tokens + sum(each.item.tokens for each in excluded),
    )
