"""A call of `select_messages` from its checked options to its result."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from operator import itemgetter
from typing import TYPE_CHECKING, Any, get_args

from pycupel.diagnostics import ExclusionReason
from pycupel.errors import InvalidArgumentError, UnitTooLargeError
from pycupel.messages.counting import Beside, resolve_counter, usage_of
from pycupel.messages.cuts import START, Candidates, HistoryCutter, Replayed, State, replay
from pycupel.messages.detect import resolve_provider
from pycupel.messages.documents import choose
from pycupel.messages.history import History
from pycupel.messages.memory import Fingerprints, Reading, owners_of, read_on, shape_of
from pycupel.messages.options import DEFAULT_KEEP, TooLarge, UnitName, checked_list
from pycupel.messages.parts import MessageView
from pycupel.messages.providers._base import Provider
from pycupel.messages.result import Checkpoint, ExplainedSelection, MessageSelection, ResultText
from pycupel.messages.room import Plan, limits_of, summary_room
from pycupel.messages.slicing import document_share
from pycupel.model import ContextBudget
from pycupel.model.checks import checked_bool, checked_count, checked_iterable, checked_name, checked_str, wrong_type
from pycupel.pipeline.policy import as_policy
from pycupel.text import number_text
from pycupel.tokens.limits import BudgetLike, allowance

if TYPE_CHECKING:
    from pycupel.documents import DocumentItem
    from pycupel.messages.result import Cut, Dropped, ShortenedMessage
    from pycupel.messages.shortening import Shortening
    from pycupel.messages.summary import SummaryRequest


# In the repr of an object whose class does not define one.
_ADDRESS = " at 0x"


class Record:
    """Recognises an earlier selection from the start of a history, with the same arguments."""

    def __init__(self, history: History, fingerprints: Fingerprints, facts: tuple[object, ...]) -> None:
        self._history = history
        self._facts = (history.provider.name, *facts)
        self._count = len(history.tokens)
        self._fingerprints = fingerprints
        self._owners = owners_of(history.units, self._count)

    @property
    def fingerprint(self) -> str:
        """Return the fingerprint of the whole history and the arguments."""
        return self._fingerprint(self._count)

    def _fingerprint(self, end: int) -> str:
        # Counters and pins may be functions, so compare their results for the messages.
        tokens, pins = self._history.tokens[:end], self._history.pins
        return self._fingerprints.of_first(end, tokens, pins[: bisect_left(pins, end)], self._facts)

    def continues(self, previous: MessageSelection) -> bool:
        """Whether the selection was made from the start of this history, with the same arguments."""
        if previous.reading is None and any(_ADDRESS in fact for fact in self._facts if isinstance(fact, str)):
            # The selection was stored, so another object may have got the address of its strategy.
            return False
        end = previous.history_length
        return end <= self._count and previous.fingerprint == self._fingerprint(end)

    def state_of(self, previous: MessageSelection | None) -> State:
        """Return where the replay may continue: the last checkpoint of `previous` that is also a point here."""
        if previous is None:
            return START
        history = self._history
        points = {*history.points, 0}
        reasons = {each.index: each.reason for each in previous.dropped}
        for checkpoint in reversed(previous.checkpoints):
            end = checkpoint.end
            if end in points and end < self._count and checkpoint.shape == shape_of(self._owners[:end]):
                gone = {bisect_left(history.firsts, n): reasons[n] for n in checkpoint.gone}
                return State(end, gone, checkpoint.texts)
        return START

    def checkpoints(self, replayed: Replayed) -> tuple[Checkpoint, ...]:
        """Return the last point before the end, and the end itself, which may become a point."""
        return self._checkpoint(replayed.before), self._checkpoint(replayed.now)

    def _checkpoint(self, state: State) -> Checkpoint:
        units = self._history.units
        return Checkpoint(
            state.end,
            tuple(sorted([units[i].indices[0] for i in state.gone])),
            shape_of(self._owners[: state.end]),
            state.texts,
        )


# Prepare a call of `select_messages`: check the arguments, read the history, plan the budget.


class Request:
    """A prepared call of `select_messages`, which documents the arguments.

    Attributes:
        source: The caller's messages.
        documents: The caller's documents.
        budget: The caller's budget in tokens, within the limits of the model.
        policy: The policy.
        query: The caller's query, or None.
        previous: The previous selection, or None.
        summarize: The caller's function, or None.
        explain: Whether to make a report.
        too_large: What to do with a unit that is larger than the budget.
        shortening: How to shorten results; None if they are not shortened.
        notes: Which options have no effect, and whether the model takes less than the budget.
        strategies: The scorer, the slicer and the shortener.
        count: Counts the tokens of a text.
        beside: What is sent beside the messages.
        fingerprints: The fingerprints of the messages.
        history: The history.
        hits: The documents, each in its newest version.
        replaced: The older versions, each with the document that replaces it.
        summary_room: The tokens reserved for a summary.
        plan: How many tokens the history may use.
        facts: Everything besides the messages that cuts depend on.
    """

    def __init__(
        self,
        messages: Iterable[Any],
        budget: BudgetLike,
        *,
        provider: Any,
        model: Any,
        policy: Any,
        query: Any,
        unit: Any,
        counter: Any,
        pin: Any,
        previous: Any,
        documents: Any,
        system: Any,
        tools: Any,
        stable: Any,
        shorten: Any,
        keep: Any,
        exclude: Any,
        summarize: Any,
        summary_tokens: Any,
        too_large: Any,
        explain: Any,
    ) -> None:
        self.policy = as_policy(policy)
        self.query = None if query is None else checked_str("query", query)
        shortener = self.policy.shorten if shorten is None else shorten
        usual = "drop" if shortener is None else "shorten"
        self.too_large = usual if too_large is None else checked_name("too_large", too_large, get_args(TooLarge))
        newest = checked_count("keep", keep, InvalidArgumentError)
        names = enumerate(checked_iterable("exclude", "names of tools", exclude))
        excluded = frozenset(checked_str(f"exclude[{i}]", each) for i, each in names)
        self.shortening = _shortening(shortener, newest, excluded, to_fit=self.too_large == "shorten")
        self.notes = tuple(_unused(newest, excluded)) if self.shortening is None else ()
        self.strategies = (self.policy.scorer, self.policy.slicer, shortener)
        if previous is not None and not isinstance(previous, MessageSelection):
            raise wrong_type("previous", "a MessageSelection", previous)
        self.previous = previous
        self.explain = checked_bool("explain", explain)
        unit_name = checked_name("unit", unit, get_args(UnitName))
        self.source = tuple(checked_list("messages", messages))
        allowed = allowance(budget, model, self.policy.models)
        self.budget = allowed.budget
        self.notes += allowed.notes

        known_provider = resolve_provider(self.source, provider, model)
        self.count = resolve_counter(counter, known_provider, model)
        self.beside = Beside(known_provider, self.count, system, tools)
        self.fingerprints = Fingerprints(self.source)
        past = None if previous is None else previous.reading
        views = read_on(self.source, known_provider, self.count, self.fingerprints, past)
        self.history = History(self.source, known_provider, views, unit_name, pin)
        _refuse_broken(self.history)
        self.documents = [] if documents is None else checked_list("documents", documents)
        self.hits, self.replaced, scale_notes = _read_documents(self.documents, self.count)
        self.notes += scale_notes

        limits = limits_of(self.budget, self.count.margin_percent, self.beside.tokens + self.beside.reply)
        self.summarize = summarize
        self.summary_room = summary_room(summarize, summary_tokens, max(0, limits.unreserved_capacity))
        self.plan = Plan(
            limits,
            self.hits,
            0.0 if documents is None else document_share(self.policy.slicer),
            has_target=isinstance(self.budget, ContextBudget),
            stable=checked_bool("stable", stable),
            summary_room=self.summary_room,
        )
        self.facts = (*self.plan.facts, unit_name, repr(self.policy.scorer), repr(self.policy.slicer))
        if allowed.limits is not None:
            self.facts += tuple(allowed.limits)
        if summarize is not None:
            # Without anything to summarise, a missing summary does not mean that it failed.
            self.facts += ("summarize",)
        if self.shortening is not None:
            self.facts += self.shortening.facts


def _shortening(shortener: Any, keep: int, exclude: frozenset[str], *, to_fit: bool) -> Shortening | None:
    if shortener is None and not to_fit:
        return None
    from pycupel.messages.shortening import shortening_of  # noqa: PLC0415 - a quarter of what there is to import

    return shortening_of(shortener, keep, exclude, to_fit=to_fit)


def _unused(keep: int, exclude: frozenset[str]) -> Iterator[str]:
    """Say which options are only for results that are shortened."""
    changed = {"keep": keep != DEFAULT_KEEP, "exclude": bool(exclude)}
    names = [name for name, is_changed in changed.items() if is_changed]
    if names:
        have = "has" if len(names) == 1 else "have"
        yield f'{" and ".join(names)} {have} no effect, because results are not shortened; pass shorten="results"'


def _refuse_broken(history: History) -> None:
    """Raise if every message is broken, because an empty list would be rejected without a reason."""
    if history.units and len(history.broken) == len(history.units):
        raise InvalidArgumentError(
            f"{history.provider.name} would reject every message. First problem: {history.broken[0]}",
            argument="messages",
            hint="lint_messages lists all problems.",
        )


def _read_documents(
    documents: Sequence[Any], count: Callable[[str], int]
) -> tuple[list[DocumentItem], list[tuple[DocumentItem, DocumentItem]], tuple[str, ...]]:
    """Return the newest version of each document, the older ones, each with its replacement, and notes on scores."""
    if not documents:
        return [], [], ()
    from pycupel.documents import newest_of_each, read_documents  # noqa: PLC0415 - few callers have any

    read, notes = read_documents(documents, count)
    return (*newest_of_each(read), notes)


# Run a request: continue the previous selection, replay the rest of the history, and assemble the result.


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
    from pycupel.messages.result import make_dropped  # noqa: PLC0415 - many calls drop nothing

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
    from pycupel.messages.result import Cut  # noqa: PLC0415 - many calls cut nothing

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
