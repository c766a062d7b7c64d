"""Run a request: continue the previous selection, replay the rest of the history, and assemble the result."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Sequence
from operator import itemgetter
from typing import TYPE_CHECKING

from pycupel.diagnostics import ExclusionReason
from pycupel.errors import UnitTooLargeError
from pycupel.messages.choice import choose
from pycupel.messages.counting import usage_of
from pycupel.messages.cuts import START, Replayed, replay
from pycupel.messages.cutter import Candidates, HistoryCutter
from pycupel.messages.history import History
from pycupel.messages.parts import MessageView
from pycupel.messages.plan import Plan, limits_of
from pycupel.messages.providers._base import Provider
from pycupel.messages.reading import Reading
from pycupel.messages.record import Record
from pycupel.messages.request import Request
from pycupel.messages.result import ExplainedSelection, MessageSelection, ResultText
from pycupel.model import ContextBudget
from pycupel.text import number_text

if TYPE_CHECKING:
    from pycupel.messages.changes import Cut, Dropped, ShortenedMessage
    from pycupel.messages.summary import SummaryRequest

_PREVIOUS_IGNORED = (
    "previous was ignored: it was made with different arguments, or this history does not start with the same messages"
)


def run(request: Request) -> tuple[MessageSelection, SummaryRequest | None]:
    """Return the selection without its summary, and the request for the summary."""
    plan = request.plan
    record = Record(request.history, request.fingerprints, request.facts)
    previous = request.previous
    if previous is not None and not record.continues(previous):
        previous = None
    start = record.state_of(previous) if plan.is_stable else START
    cutter = _cutter(request, start.texts)
    try:
        replayed = replay(cutter, plan, start)
    except UnitTooLargeError as error:
        _add_hints(error, request)
        raise
    cutter.restore(replayed.before.gone)
    if request.too_large == "error":
        _refuse_too_large(cutter.history, plan, replayed.candidates)
    selection = _selection(request, record, cutter, replayed, previous)
    return selection, _summary_request(request, cutter.history, replayed, selection.kept, previous)


def _add_hints(error: UnitTooLargeError, request: Request) -> None:
    """Add notes: how to shorten results, and what else has to fit, because the named message may be small."""
    if request.too_large != "shorten" and any(request.history.views[n].results for n in error.indices):
        error.add_note('To shorten tool results that do not fit, pass too_large="shorten".')
    budget = ContextBudget.of(request.budget)
    _blame_beside(error, request, budget.max_tokens)
    rest = {
        "for the system prompt": request.beside.system,
        "for tools": request.beside.tools,
        "for pinned documents": request.plan.held,
        "for a summary": request.summary_room,
        "of output reserve": budget.output_reserve,
        "of reserved slots": sum(budget.reserved_slots.values()),
    }
    named = [f"{number_text(tokens)} {what}" for what, tokens in rest.items() if tokens]
    if named:
        error.add_note(f"The budget of {number_text(budget.max_tokens)} tokens also has to hold {', '.join(named)}.")


def _blame_beside(error: UnitTooLargeError, request: Request, budget: int) -> None:
    """Name the system prompt and the tools instead of a message, if they leave no room for any."""
    beside = request.beside
    found = {"the system prompt": beside.system, "the tools": beside.tools}
    parts = [name for name, tokens in found.items() if tokens]
    room = limits_of(request.budget, request.count.margin_percent, beside.reply).available_tokens
    if parts and beside.tokens >= room:
        names, need = " and ".join(parts), "needs" if parts == ["the system prompt"] else "need"
        tokens = number_text(beside.system + beside.tools)
        error.cause = (
            f"{names} {need} {tokens} tokens, which leaves none of the budget of {number_text(budget)} for messages"
        )
        error.__notes__ = [f"Raise the budget, or shorten {names}."]


def _cutter(request: Request, texts: Iterable[ResultText]) -> HistoryCutter:
    """Return the cutter of the history, whose results have had these texts since the last cut."""
    if request.shortening is None:
        return HistoryCutter(request)
    from pycupel.messages.shortening import ShorteningCutter  # noqa: PLC0415 - few callers shorten results

    return ShorteningCutter(request, request.shortening, texts)


def _refuse_too_large(history: History, plan: Plan, candidates: Candidates) -> None:
    room = plan.window - candidates.pinned_tokens
    for i, (unit, tokens) in enumerate(zip(history.units, history.sizes, strict=True)):
        if tokens > room and i not in candidates.pinned and unit.problem is None:
            raise UnitTooLargeError(unit.indices, tokens, room, hint='To drop it instead, pass too_large="drop".')


def _selection(
    request: Request, record: Record, cutter: HistoryCutter, replayed: Replayed, previous: MessageSelection | None
) -> MessageSelection:
    history, plan, source, count = cutter.history, request.plan, request.source, request.count
    choice = choose(request, history, replayed)
    kept = sorted([n for i in choice.units for n in history.units[i].indices])
    tokens_of = {hit.index: hit.item.tokens for hit in request.hits}
    document_tokens = sum([tokens_of[i] for i in choice.documents])
    views = [history.views[n] for n in kept]
    notes = (
        *request.notes,
        *choice.notes,
        *_broken_notes(history),
        *_system_notes(history, choice.reasons),
        *_document_notes(request, len(replayed.now.gone)),
        *_request_notes(history.provider, [request.beside.view, *views]),
    )
    shortened = cutter.shortened(kept)
    report = cutter.in_report(choice.report, shortened)
    kind = MessageSelection if report is None else ExplainedSelection
    return kind(
        messages=list(map(cutter.message, kept)),
        total_tokens=sum([history.tokens[n] for n in kept]) + document_tokens,
        dropped=_dropped((history.units[i].indices, reason) for i, reason in choice.reasons.items()),
        documents=[request.documents[i] for i in choice.documents],
        dropped_documents=_dropped(((i,), reason) for i, reason in choice.document_reasons.items()),
        kept=tuple(kept),
        stable_prefix_tokens=_stable_prefix(history.tokens, kept, shortened, previous),
        report=report,
        budget=plan.budget(replayed.candidates.must_tokens, is_cut=bool(replayed.dropped or replayed.saved)),
        counter=str(count),
        provider=history.provider.name,
        usage=usage_of(request.budget, request.beside, views, document_tokens),
        notes=notes if previous is request.previous else (*notes, _PREVIOUS_IGNORED),
        cut=_cut(history, replayed, kept),
        shortened=shortened,
        fingerprint=record.fingerprint,
        checkpoints=record.checkpoints(replayed) if plan.is_stable else (),
        source=source,
        reading=Reading(
            history.provider,
            count,
            request.fingerprints.of_first(len(source)),
            request.fingerprints.cached,
            request.history.views,
            request.strategies,
        ),
    )


def _broken_notes(history: History) -> Iterator[str]:
    """Say what was left out although there is room for it, which a caller might not notice."""
    if history.broken:
        count = sum(len(history.units[i].indices) for i in history.broken)
        what, them = ("1 message was", "it") if count == 1 else (f"{count} messages were", "them")
        problem = history.broken[min(history.broken)]
        yield f"{what} left out because {history.provider.name} would reject {them}; {problem}"


def _system_notes(history: History, dropped: Container[int]) -> Iterator[str]:
    gone = [history.units[i].indices[0] for _, role, i in history.appearances if role == "reminder" and i in dropped]
    if gone:
        last = f"messages[{gone[-1]}]"
        what = (
            f"1 later system message was dropped, at {last}"
            if len(gone) == 1
            else f"{len(gone)} later system messages were dropped, the last at {last}"
        )
        yield f"{what}; only the newest is always kept, so pin any others you need"


def _document_notes(request: Request, dropped: int) -> Iterator[str]:
    """Say that a history was cut only to leave room for documents."""
    history, plan = request.history, request.plan
    if dropped and plan.share and history.tokens_of(history.whole) <= plan.window:
        yield (
            f"the history was cut to keep up to {plan.share:.0%} of the tokens free for documents; without documents=, "
            "all of it would fit"
        )


def _request_notes(provider: Provider, views: Sequence[MessageView]) -> Iterator[str]:
    """Say what the provider would reject in the request as a whole; nothing is dropped because of it."""
    for rule in provider.request_rules:
        finding = next(rule.findings(views), None)
        if finding is not None:
            yield f"{provider.name} would reject the request: {finding.message}. {finding.remedy}"


def _dropped(reasons: Iterable[tuple[Sequence[int], ExclusionReason]]) -> tuple[Dropped, ...]:
    by_index = sorted([(n, reason) for indices, reason in reasons for n in indices], key=itemgetter(0))
    if not by_index:
        return ()
    from pycupel.messages.changes import make_dropped  # noqa: PLC0415 - many calls drop nothing

    return make_dropped(by_index)


def _stable_prefix(
    tokens: Sequence[int], kept: Sequence[int], shortened: Sequence[ShortenedMessage], previous: MessageSelection | None
) -> int:
    if previous is None:
        return 0
    # A shortened message counts as changed.
    changed = {each.index for each in {*shortened}.symmetric_difference(previous.shortened)}
    stable = 0
    for now, then in zip(kept, previous.kept, strict=False):
        if now != then or now in changed:
            break
        stable += tokens[now]
    return stable


def _cut(history: History, replayed: Replayed, kept: Sequence[int]) -> Cut | None:
    dropped, saved = replayed.dropped, replayed.saved
    removed = history.tokens_of(dropped) + sum(saved.values())
    if not removed:
        return None
    from pycupel.messages.changes import Cut  # noqa: PLC0415 - many calls cut nothing

    # Dropped messages are gone, and shortened ones are new.
    first = min([*(history.units[i].indices[0] for i in dropped), *saved])
    return Cut(removed, sum([history.tokens[n] for n in kept if n >= first]))


def _summary_request(
    request: Request, history: History, replayed: Replayed, kept: Sequence[int], previous: MessageSelection | None
) -> SummaryRequest | None:
    if request.summarize is None:
        return None
    from pycupel.messages.summary import request_of  # noqa: PLC0415 - few callers have summaries

    cut = sorted(n for i in replayed.now.gone for n in history.units[i].indices)
    return request_of(request, history, cut, kept, previous)
