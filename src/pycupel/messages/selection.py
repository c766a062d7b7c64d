"""`select_messages`: trim a chat history to what fits, so that the provider accepts it and its prompt cache holds."""

from __future__ import annotations

from collections.abc import Collection, Container, Iterable, Iterator, Sequence
from operator import itemgetter
from typing import TYPE_CHECKING, Any, Literal, TypedDict, Unpack, get_args, overload

from pycupel.diagnostics import ExclusionReason, SelectionReport
from pycupel.errors import InvalidArgumentError, UnitTooLargeError
from pycupel.messages.choice import HistoryCutter, choose
from pycupel.messages.counting import count_beside, resolve_counter
from pycupel.messages.cuts import START, Candidates, Replayed, replay, select_once
from pycupel.messages.detect import resolve_provider
from pycupel.messages.documents import newest_of_each, read_documents
from pycupel.messages.fingerprints import Fingerprints
from pycupel.messages.history import History, make_history
from pycupel.messages.options import (
    BudgetLike,
    Pin,
    ProviderName,
    TooLarge,
    UnitName,
    as_budget,
    checked_list,
    checked_name,
)
from pycupel.messages.plan import Plan, limits_of, make_plan
from pycupel.messages.reading import Reading, read_on
from pycupel.messages.record import Record
from pycupel.messages.result import Cut, Dropped, ExplainedSelection, MessageSelection, ShortenedMessage
from pycupel.messages.slicing import document_share
from pycupel.messages.summary import Summarize, SummaryRequest, request_of, summary_room
from pycupel.messages.usage import usage_of
from pycupel.model import ContextBudget
from pycupel.model.checks import checked_bool, checked_count, checked_iterable, checked_str, wrong_type
from pycupel.model.frozen import draft_of
from pycupel.pipeline import Policy, PresetName
from pycupel.pipeline.policy import as_policy
from pycupel.protocols import Shortener
from pycupel.tokens.counters import CounterLike

if TYPE_CHECKING:
    from pycupel.messages.shortening import Shortening, ShorteningCutter

__all__ = ["SelectOptions", "aselect_messages", "select_messages"]

_IGNORED = "previous was ignored: it was made with other arguments, or not from the start of this history"

_DroppedDraft: Any = draft_of(Dropped)


class _Options(TypedDict, total=False):
    """The options of `select_messages` except `explain`, which decides what it returns."""

    provider: ProviderName
    model: str | None
    policy: Policy | PresetName
    query: str | None
    unit: UnitName
    counter: CounterLike
    pin: Pin | None
    previous: MessageSelection | None
    documents: Iterable[Any] | None
    system: Any
    tools: Iterable[Any] | None
    stable: bool
    shorten: Literal["results"] | Shortener | None
    keep: int
    exclude: Collection[str]
    summarize: Summarize | None
    summary_tokens: int | None
    too_large: TooLarge | None


class SelectOptions(_Options, total=False):
    """The options of `select_messages`, which explains them."""

    explain: bool


class _ExplainedOptions(_Options):
    explain: Literal[True]


@overload
def select_messages(
    messages: Iterable[Any],
    budget: BudgetLike,
    *,
    provider: ProviderName = "auto",
    model: str | None = None,
    policy: Policy | PresetName = "chat",
    query: str | None = None,
    unit: UnitName = "auto",
    counter: CounterLike = "auto",
    pin: Pin | None = None,
    previous: MessageSelection | None = None,
    documents: Iterable[Any] | None = None,
    system: Any = None,
    tools: Iterable[Any] | None = None,
    stable: bool = True,
    shorten: Literal["results"] | Shortener | None = None,
    keep: int = 3,
    exclude: Collection[str] = (),
    summarize: Summarize | None = None,
    summary_tokens: int | None = None,
    too_large: TooLarge | None = None,
    explain: Literal[True],
) -> ExplainedSelection: ...
@overload
def select_messages(
    messages: Iterable[Any],
    budget: BudgetLike,
    *,
    provider: ProviderName = "auto",
    model: str | None = None,
    policy: Policy | PresetName = "chat",
    query: str | None = None,
    unit: UnitName = "auto",
    counter: CounterLike = "auto",
    pin: Pin | None = None,
    previous: MessageSelection | None = None,
    documents: Iterable[Any] | None = None,
    system: Any = None,
    tools: Iterable[Any] | None = None,
    stable: bool = True,
    shorten: Literal["results"] | Shortener | None = None,
    keep: int = 3,
    exclude: Collection[str] = (),
    summarize: Summarize | None = None,
    summary_tokens: int | None = None,
    too_large: TooLarge | None = None,
    explain: bool = False,
) -> MessageSelection: ...
def select_messages(
    messages: Iterable[Any],
    budget: BudgetLike,
    *,
    provider: ProviderName = "auto",
    model: str | None = None,
    policy: Policy | PresetName = "chat",
    query: str | None = None,
    unit: UnitName = "auto",
    counter: CounterLike = "auto",
    pin: Pin | None = None,
    previous: MessageSelection | None = None,
    documents: Iterable[Any] | None = None,
    system: Any = None,
    tools: Iterable[Any] | None = None,
    stable: bool = True,
    shorten: Literal["results"] | Shortener | None = None,
    keep: int = 3,
    exclude: Collection[str] = (),
    summarize: Summarize | None = None,
    summary_tokens: int | None = None,
    too_large: TooLarge | None = None,
    explain: bool = False,
) -> MessageSelection:
    """Select from a chat history what fits into a budget, so that the provider accepts it.

    A tool call, its results and its reasoning stay together, with the user message that they are about. The system
    prompt, the last user message and the exchange that is open or last always stay. The order does not change.

    Nothing is dropped until the history exceeds `max_tokens - output_reserve`. Then it is cut further than necessary,
    so that the following calls only append to it. The cuts depend only on the history and the arguments: they are
    replayed, as if the history had been selected before every call of the model.

    Args:
        messages: The history: dicts or the SDK's objects, which are only read.
        budget: The limits; or a number of tokens, where a history that exceeds it is cut to what must stay plus 65 % of
            the remaining tokens; or a share of the model's window, such as "75%".
        provider: openai, responses, anthropic, gemini or mistral; auto detects it.
        model: The model's name, as `pycupel.tokens.get_counter` takes it. It decides how tokens are counted, and whose
            rules apply if the messages fit several providers.
        policy: How to rank the history: a policy, a pipeline, or the name of a preset.
        query: What the documents should be relevant to; by default the last user message. It does not rank the
            history, because the cut would move with every question.
        unit: "auto" drops exchanges and messages one by one, "turn" whole turns.
        counter: Counts tokens: a function from str to int, or what `pycupel.tokens.get_counter` takes. With "auto",
            the model or else the provider decides: exact if possible, else an estimate with a margin.
        pin: More messages that must stay: their indices, or a function that is asked about each.
        previous: The selection from the last call with this history and these arguments. It only saves time.
        documents: Retrieved texts that share the budget; see `documents` of the result. Their share is kept free as
            long as this is not None.
        system: The system prompt that is sent beside the messages: a text, blocks, or Gemini's `system_instruction`.
        tools: The definitions of tools that are sent beside the messages, in the provider's shape or MCP's.
        stable: Whether the start of the prompt should stay the same from call to call. If not, the window is filled.
        shorten: "results" shortens tool results to key lines, then to stubs, before they are dropped; or pass your own
            shortener. None uses the policy's, if it has one.
        keep: How many of the newest results stay whole while they fit.
        exclude: The names of tools whose results are never shortened.
        summarize: Called with the messages that were dropped since the last summary, and that summary or None. Returns
            a text, which is sent after the system prompt. If it fails or the text is too long, a note says so.
        summary_tokens: The tokens reserved for the summary message; by default 5 % of the window with `summarize`.
        too_large: What to do with an old unit that is larger than the budget: "drop" or "error". With "shorten", it is
            dropped, and results that must stay but do not fit are shortened. None means "shorten" if results are
            shortened anyway, else "drop".
        explain: Whether the result should have a report.

    Returns:
        The selection; its `messages` are what to send. With `explain=True`, its `report` is not None.

    Raises:
        UnitTooLargeError: what must stay does not fit; or something else does not, and `too_large` is "error".
        MessageShapeError: a message has a shape that the provider does not know.
        ProviderAmbiguousError: the provider is "auto" and cannot be determined.
        InvalidArgumentError: an option has an invalid value, or the provider would reject every message.
    """
    selection, request = _select(
        messages,
        budget,
        provider=provider,
        model=model,
        policy=policy,
        query=query,
        unit=unit,
        counter=counter,
        pin=pin,
        previous=previous,
        documents=documents,
        system=system,
        tools=tools,
        stable=stable,
        shorten=shorten,
        keep=keep,
        exclude=exclude,
        summarize=summarize,
        summary_tokens=summary_tokens,
        too_large=too_large,
        explain=explain,
    )
    return selection if request is None else request.answer(selection)


@overload
async def aselect_messages(
    messages: Iterable[Any], budget: BudgetLike, **options: Unpack[_ExplainedOptions]
) -> ExplainedSelection: ...
@overload
async def aselect_messages(
    messages: Iterable[Any], budget: BudgetLike, **options: Unpack[SelectOptions]
) -> MessageSelection: ...
async def aselect_messages(
    messages: Iterable[Any], budget: BudgetLike, **options: Unpack[SelectOptions]
) -> MessageSelection:
    """Like `select_messages`, but `summarize` may be a coroutine function.

    Args:
        messages: The history: dicts or the SDK's objects, which are only read.
        budget: What `select_messages` takes.
        **options: The options of `select_messages`.

    Raises:
        CupelError: what `select_messages` raises.
    """
    defaults = select_messages.__kwdefaults__ or {}
    selection, request = _select(messages, budget, **{**defaults, **options})
    return selection if request is None else await request.answer_async(selection)


def _select(
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
) -> tuple[MessageSelection, SummaryRequest | None]:
    """The selection without its summary, and the request for the summary."""
    ranking_policy = as_policy(policy)
    maker = ranking_policy.shorten if shorten is None else shorten
    usual = "drop" if maker is None else "shorten"
    large = usual if too_large is None else checked_name("too_large", too_large, get_args(TooLarge))
    shortening = _shortening(maker, keep, exclude, to_fit=large == "shorten")
    if previous is not None and not isinstance(previous, MessageSelection):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise wrong_type("previous", "a MessageSelection", previous)
    unit_name = checked_name("unit", unit, get_args(UnitName))
    source = tuple(checked_list("messages", messages))
    limits = as_budget(budget, model)
    known_provider = resolve_provider(source, provider, model)
    count = resolve_counter(counter, known_provider, model)
    beside = count_beside(known_provider, count, system, tools)
    fingerprints = Fingerprints(source)
    views = read_on(source, known_provider, count, fingerprints, None if previous is None else previous.reading)
    history = make_history(source, known_provider, views, unit_name, pin)
    _refuse_broken(history)
    given = [] if documents is None else checked_list("documents", documents)
    hits, replaced = newest_of_each(read_documents(given, count))
    left = limits_of(limits, count.margin_percent, sum(beside))
    room = summary_room(summarize, summary_tokens, max(0, left.unreserved_capacity))
    plan = make_plan(
        left,
        hits,
        0.0 if documents is None else document_share(ranking_policy.slicer),
        has_target=isinstance(limits, ContextBudget),
        stable=checked_bool("stable", stable),
        summary_room=room,
    )
    facts = (*plan.facts, unit_name, repr(ranking_policy.scorer), repr(ranking_policy.slicer))
    if summarize is not None:
        # Where nothing was to be summarised, that there is no summary does not mean that it failed.
        facts = (*facts, "summarize")
    record = Record(history, fingerprints, facts if shortening is None else (*facts, *shortening.facts))
    known = previous if previous is not None and record.continues(previous) else None
    start = record.state_of(known) if plan.is_stable else START
    shortener: ShorteningCutter | None = None
    if shortening is not None:
        shortener = shortening.cutter(history, source, plan, ranking_policy, count, start.texts)
        history = shortener.history
    cutter = shortener or HistoryCutter(history, plan, ranking_policy)
    replayed = (
        replay(history, plan, cutter, start, shortener)
        if plan.is_stable
        else select_once(history, plan, cutter, shortener)
    )
    if shortener is not None:
        shortener.restore(replayed.gone)
    if large == "error":
        _refuse_too_large(history, plan, replayed.candidates)
    choice = choose(
        history,
        plan.window,
        replayed,
        hits,
        replaced,
        ranking_policy,
        query=query,
        explain=checked_bool("explain", explain),
    )
    kept = sorted([n for i in choice.units for n in history.units[i].indices])
    tokens_of = {hit.index: hit.item.tokens for hit in hits}
    document_tokens = sum([tokens_of[i] for i in choice.documents])
    usage = usage_of(limits, beside, map(history.views.__getitem__, kept), document_tokens)
    notes = (*choice.notes, *_system_notes(history, choice.reasons), *((_IGNORED,) if previous is not known else ()))
    shortened = () if shortener is None else shortener.shortened(kept)
    report = choice.report if shortener is None else shortener.in_report(choice.report, shortened)
    selection = _type_of(report)(
        messages=[source[n] for n in kept] if shortener is None else list(map(shortener.message, kept)),
        total_tokens=sum([history.tokens[n] for n in kept]) + document_tokens,
        dropped=_dropped((history.units[i].indices, reason) for i, reason in choice.reasons.items()),
        documents=[given[i] for i in choice.documents],
        dropped_documents=_dropped(((i,), reason) for i, reason in choice.document_reasons.items()),
        kept=tuple(kept),
        stable_prefix_tokens=_stable_prefix(history.tokens, kept, shortened, known),
        report=report,
        budget=plan.budget(replayed.candidates.must_tokens, is_cut=bool(replayed.dropped or replayed.saved)),
        counter=str(count),
        provider=history.provider.name,
        usage=usage,
        notes=notes,
        cut=_cut(history, replayed, kept),
        shortened=shortened,
        fingerprint=record.fingerprint,
        checkpoints=record.checkpoints(replayed) if plan.is_stable else (),
        source=source,
        reading=Reading(known_provider, count, fingerprints.of_first(len(source)), views),
    )
    if summarize is None:
        return selection, None
    cut = sorted(n for i in (*replayed.gone, *replayed.dropped) for n in history.units[i].indices)
    return selection, request_of(summarize, room, history, source, cut, kept, known, count)


def _shortening(maker: Any, keep: Any, exclude: Any, *, to_fit: bool) -> Shortening | None:
    newest = checked_count("keep", keep, InvalidArgumentError)
    names = frozenset(checked_str("exclude", each) for each in checked_iterable("exclude", "names of tools", exclude))
    if maker is None and not to_fit:
        return None
    from pycupel.messages.shortening import shortening_of  # noqa: PLC0415 - a quarter of what there is to import

    return shortening_of(maker, newest, names, to_fit=to_fit)


def _cut(history: History, replayed: Replayed, kept: Sequence[int]) -> Cut | None:
    dropped, saved = replayed.dropped, replayed.saved
    removed = history.tokens_of(dropped) + sum(saved.values())
    if not removed:
        return None
    # Dropped messages are gone, and shortened ones are new.
    first = min([*(history.units[i].indices[0] for i in dropped), *saved])
    return Cut(removed, sum([history.tokens[n] for n in kept if n >= first]))


def _system_notes(history: History, dropped: Container[int]) -> Iterator[str]:
    gone = [history.units[i].indices[0] for i in history.landmarks.reminders.units if i in dropped]
    if gone:
        yield (
            f"later system messages were dropped ({len(gone)}, last: messages[{gone[-1]}]); "
            "only the newest always stays, so pin any you need"
        )


def _type_of(report: SelectionReport | None) -> type[MessageSelection]:
    return MessageSelection if report is None else ExplainedSelection


def _refuse_broken(history: History) -> None:
    """Raise here: an empty list would be rejected without a reason."""
    if history.units and len(history.broken) == len(history.units):
        raise InvalidArgumentError(
            f"{history.provider.name} would refuse every message; {history.broken[0]}",
            argument="messages",
            hint="lint_messages lists all problems.",
        )


def _refuse_too_large(history: History, plan: Plan, candidates: Candidates) -> None:
    room = plan.window - candidates.pinned_tokens
    for i, (unit, tokens) in enumerate(zip(history.units, history.sizes, strict=True)):
        if tokens > room and i not in candidates.pinned and unit.problem is None:
            raise UnitTooLargeError(unit.indices, tokens, room, hint='To drop it instead, pass too_large="drop".')


def _dropped(reasons: Iterable[tuple[Sequence[int], ExclusionReason]]) -> tuple[Dropped, ...]:
    by_index = sorted([(n, reason) for indices, reason in reasons for n in indices], key=itemgetter(0))
    dropped: list[Dropped] = []
    # There may be thousands, and a draft takes a third of the time.
    for index, reason in by_index:
        draft = _DroppedDraft()
        draft.index = index
        draft.reason = reason
        draft.__class__ = Dropped
        dropped.append(draft)
    return tuple(dropped)


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
