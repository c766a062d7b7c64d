"""The functions for chat histories: trim, lint, and convert to items."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypedDict, Unpack, get_args, overload

from pycupel.diagnostics import ExclusionReason
from pycupel.diagnostics.collector import observe_messages
from pycupel.errors import InvalidArgumentError, UnitTooLargeError
from pycupel.fields import is_list, is_mapping
from pycupel.messages.conversations import Conversation, counting, recognise
from pycupel.messages.counting import checked_extras, count_extras, resolve_counter, view_extras
from pycupel.messages.cuts import Offer, replay
from pycupel.messages.detect import resolve_provider
from pycupel.messages.documents import Documents, choose, documents_of
from pycupel.messages.history import History, pinned_messages
from pycupel.messages.memory import START, Arguments, Memory, cut_arguments, is_point_of, read_on
from pycupel.messages.options import (
    UNSET,
    Options,
    Pin,
    ProviderName,
    Shorten,
    Summarize,
    Summarizer,
    TooLarge,
    UnitName,
    check_options,
    checked_list,
)
from pycupel.messages.overlay import Overlay, items_at
from pycupel.messages.parts import MessageView
from pycupel.messages.providers._base import Finding, Provider
from pycupel.messages.providers._shapes import plain_messages
from pycupel.messages.result import ExplainedSelection, M, MessageSelection, assemble
from pycupel.messages.room import FilledRoom, Room
from pycupel.model import ContextItem
from pycupel.model.checks import checked_name, suggestion, wrong_type
from pycupel.pipeline import Policy, PresetName
from pycupel.protocols import Shortener
from pycupel.tokens.counters import Counter, CounterLike
from pycupel.tokens.models import BudgetLike, allowance

LARGE = 100_000
"""With more new characters than this, `aselect_messages` computes in a thread."""

_PREVIOUS_IGNORED = (
    "previous was ignored: it was made with different arguments, or this history does not start with the same messages"
)

if TYPE_CHECKING:
    from pycupel.messages.summary import SummaryRequest

    class _Options(TypedDict, total=False):
        """The options of `select_messages`, except `explain`, which determines the return type."""

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
        shorten: Literal["results", "none"] | Shortener | Shorten | None
        summarize: Summarizer | Summarize | None
        too_large: TooLarge

    class _AllOptions(_Options, total=False):
        explain: bool

    class _ExplainedOptions(_Options):
        explain: Literal[True]


@overload
def select_messages(
    messages: Iterable[M], budget: BudgetLike, **options: Unpack[_ExplainedOptions]
) -> ExplainedSelection[M]: ...
@overload
def select_messages(
    messages: Iterable[M], budget: BudgetLike, **options: Unpack[_AllOptions]
) -> MessageSelection[M]: ...
def select_messages(
    messages: Iterable[M],
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
    shorten: Literal["results", "none"] | Shortener | Shorten | None = UNSET,
    summarize: Summarizer | Summarize | None = None,
    too_large: TooLarge = "results",
    explain: bool = False,
) -> MessageSelection[M]:
    """Select from a chat history what fits into a budget, so that the provider accepts it.

    A tool call, its results and its reasoning stay together, with the user message that they are about. The system
    prompt, the last user message, open exchanges and the newest one of the turn always stay. The order does not change.

    Nothing changes until the history exceeds `max_tokens - output_reserve`. Then old tool results are shortened, and
    messages are dropped, further than necessary, so that the following calls only append to it. The cuts depend only on
    the history and the arguments: they are replayed, as if the history had been selected before every call of the
    model.

    Args:
        messages: The history: dicts or the SDK's objects, which are only read.
        budget: The limits; or a number of tokens, where a history that exceeds it is cut to what must stay plus 65 % of
            the remaining tokens; or a share of what the model takes as input, such as "75%".
        provider: openai, responses, anthropic, gemini, mistral, converse or interactions; auto detects it.
        model: The model's name, as `pycupel.tokens.get_counter` takes it. It decides how tokens are counted, and whose
            rules apply if the messages fit several providers. If it is known, its limits apply beside the budget.
        policy: How to rank the history: a policy, a pipeline, or the name of a preset.
        query: What the documents should be relevant to; by default the last user message. It does not rank the
            history, because the cut would move with every question.
        unit: "auto" drops exchanges and messages one by one, "turn" whole turns.
        counter: Counts tokens: a function from str to int, or what `pycupel.tokens.get_counter` takes. With "auto",
            the model or else the provider decides: exact if possible, else an estimate with a margin.
        pin: More messages that must stay: their indices, or a function that returns True for messages to keep.
        previous: The selection from the last call with this history and these arguments. It only saves time.
        documents: Retrieved texts that share the budget; see `documents` of the result. If given, even as an empty
            list, their share of the budget stays reserved, unless `stable` is False.
        system: The system prompt that is sent beside the messages: a text, blocks, or Gemini's `system_instruction`.
        tools: The definitions of tools that are sent beside the messages, in the provider's shape or MCP's.
        stable: Whether the start of the prompt should stay the same from call to call. If not, the window is filled.
        shorten: "results" shortens tool results by what they are, then to stubs, before they are dropped; or pass a
            shortener, or `Shorten(...)`, which also says which results stay whole, and whether shortened ones can be
            recalled. None or "none" shortens nothing at a cut. By default, the policy's, or "results".
        summarize: Called with the dropped messages that are in no summary yet, and the last summary or None. Returns a
            text or a compaction block, which is sent after the system prompt; or None for "not yet", to be asked again
            at the next call. If it fails or the text is too long, a note says so, and it is asked again at the next
            cut. The last summary stays until there is another. 5 % of the window are reserved for it, or those of
            `Summarize(function, tokens=...)`.
        too_large: "results" shortens tool results that must stay but do not fit, and says so in a note; "shorten" also
            the longest text of the last user message. "drop" shortens nothing to make it fit. With all three, an old
            exchange or message that is larger than the budget is dropped; "error" raises instead.
        explain: Whether the result should have a report.

    Returns:
        The selection; its `messages` are what to send. With `explain=True`, its `report` is not None.

    Raises:
        TypeError: an argument has the wrong type.
        InvalidBudgetError: the budget is negative.
        UnitTooLargeError: what must stay does not fit; or something else does not, and `too_large` is "error".
        MessageShapeError: a message has a shape that the provider does not know.
        ProviderAmbiguousError: the provider is "auto" and cannot be determined.
        InvalidArgumentError: an option has an invalid value, or the provider would reject every message.
    """
    with observe_messages(model) as observed:
        prepared = _prepare(
            messages,
            budget,
            provider=provider,
            model=model,
            counter=counter,
            pin=pin,
            previous=previous,
            documents=documents,
            system=system,
            tools=tools,
            policy=policy,
            query=query,
            unit=unit,
            stable=stable,
            shorten=shorten,
            summarize=summarize,
            too_large=too_large,
            explain=explain,
        )
        selection, summary = _finish(prepared)
        return observed.done(selection if summary is None else summary.answer(selection))


@overload
async def aselect_messages(
    messages: Iterable[M], budget: BudgetLike, **options: Unpack[_ExplainedOptions]
) -> ExplainedSelection[M]: ...
@overload
async def aselect_messages(
    messages: Iterable[M], budget: BudgetLike, **options: Unpack[_AllOptions]
) -> MessageSelection[M]: ...
async def aselect_messages(messages: Iterable[M], budget: BudgetLike, **options: Any) -> MessageSelection[M]:
    """Like `select_messages`, but `summarize` may be a coroutine function.

    If there is much to read that this process has not seen before, more than 100,000 characters, it computes in a
    thread, so that other tasks need not wait.

    Args:
        messages: The history: dicts or the SDK's objects, which are only read.
        budget: The budget, as in `select_messages`.
        **options: The options of `select_messages`.

    Returns:
        The selection, as `select_messages` returns it.

    Raises:
        TypeError: an argument has the wrong type, or there is no such option.
        CupelError: what `select_messages` raises.
    """
    defaults = select_messages.__kwdefaults__ or {}
    for name in sorted(options.keys() - defaults.keys()):
        near = suggestion(name, defaults)
        raise TypeError(f"aselect_messages() got an unexpected keyword argument {name!r}{near}")
    with observe_messages(options.get("model")) as observed:
        prepared = _prepare(messages, budget, **{**defaults, **options})
        selection, summary = await _finish_aside(prepared) if prepared.is_large else _finish(prepared)
        return observed.done(selection if summary is None else await summary.answer_async(selection))


class _Prepared(NamedTuple):
    """A call whose arguments are checked, and what is remembered of its history, before the history is read."""

    source: tuple[Any, ...]
    plain: tuple[Any, ...]
    options: Options
    provider: Provider
    counter: Counter
    counted: Callable[[str], int]
    pin: Any
    previous: MessageSelection | None
    end: int
    documents: Documents
    room: Room
    arguments: Arguments
    conversation: Conversation
    notes: tuple[str, ...]

    @property
    def is_large(self) -> bool:
        """Whether there is so much to read that an event loop should not wait for it."""
        left = LARGE
        known = 0 if self.conversation.past is None else len(self.conversation.past.views)
        pending: list[Any] = [*self.plain[known:]]
        while pending and left >= 0:
            value = pending.pop()
            if isinstance(value, str):
                left -= len(value)
            elif is_mapping(value):
                pending += value.values()
            elif is_list(value):
                pending += value
            else:
                # An object of a library.
                pending += getattr(value, "__dict__", {}).values()
        return left < 0


async def _finish_aside(prepared: _Prepared) -> tuple[MessageSelection, SummaryRequest | None]:
    """Do `_finish` in a thread, if the event loop is asyncio's."""
    import asyncio  # noqa: PLC0415 - the caller has loaded it

    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return _finish(prepared)
    return await asyncio.to_thread(_finish, prepared)


def _prepare(
    messages: Iterable[Any],
    budget: BudgetLike,
    *,
    provider: Any,
    model: Any,
    counter: Any,
    pin: Any,
    previous: Any,
    documents: Any,
    system: Any,
    tools: Any,
    **rest: Any,
) -> _Prepared:
    """Check the arguments, and find what is remembered of the history."""
    options = check_options(**rest)
    if previous is not None and not isinstance(previous, MessageSelection):
        raise wrong_type("previous", "a MessageSelection", previous)
    source = tuple(checked_list("messages", messages))
    plain = plain_messages(source)
    allowed = allowance(budget, model, options.policy.models)
    known = resolve_provider(plain, provider, model)
    count = resolve_counter(counter, known, model)
    counted = counting(count)
    extras = count_extras(known, counted, system, tools)

    offered = documents_of(documents, options.policy.slicer, counted)
    room = (Room if options.stable else FilledRoom)(
        allowed.budget,
        count.margin_percent,
        extras,
        share=offered.share,
        documents=offered.tokens,
        held=offered.held,
        summary_tokens=0 if options.summarize is None else options.summarize.tokens,
    )
    arguments = cut_arguments(known, options, room, allowed.limits or ())

    end = len(source) if previous is None else min(previous.history_length, len(source))
    conversation = recognise(plain, known, count, arguments, None if previous is None else previous.memory, end)
    notes = (*allowed.notes, *offered.notes)
    return _Prepared(
        source, plain, options, known, count, counted, pin, previous, end, offered, room, arguments, conversation, notes
    )


def _finish(prepared: _Prepared) -> tuple[MessageSelection, SummaryRequest | None]:
    """Return the selection without its summary, and the request for the summary."""
    source, plain, options, known, count, counted, pin, previous, end, offered, room, arguments, conversation, _ = (
        prepared
    )
    fingerprint, past = conversation.fingerprint, conversation.past
    views = read_on(plain, known, counted, fingerprint, past)
    history = History(plain, known, views, options.unit, pinned_messages(source, pin))
    _refuse_broken(history)

    same: MessageSelection | None = None
    start = START
    reasons: Mapping[int, ExclusionReason] = {}
    if (
        previous is not None
        and previous.memory.continues(end, fingerprint, history, arguments)
        and is_point_of(
            history,
            point := previous.memory.last_point(history),
            whys := {each.index: each.reason for each in previous.dropped},
        )
    ):
        same, start, reasons = previous, point, whys
    elif conversation.key is not None and past is not None and past.has_same_counts(history):
        start, reasons = past.last_point(history), past.reasons
    if not room.leaves_room:
        start = START
    overlay = Overlay(history, source, counted, start.texts)
    try:
        replayed = replay(overlay, room, options, start, reasons)
    except UnitTooLargeError as error:
        if options.too_large in ("drop", "error") and any(views[n].results for n in error.indices):
            error.add_note('To shorten tool results that do not fit, pass too_large="results".')
        elif options.too_large == "results" and any(views[n].opens_turn for n in error.indices):
            error.add_note('To shorten the last user message, too, pass too_large="shorten".')
        room.explain(error)
        raise
    overlay.restore(replayed.gone)
    if options.too_large == "error":
        _refuse_too_large(overlay, room, replayed.offer)

    choice = choose(offered, overlay, room, options, replayed)
    why = {history.firsts[i]: reason for gone in (replayed.gone, replayed.dropped) for i, reason in gone.items()}
    digest = fingerprint.digests[len(source)]
    memory = Memory(
        None, replayed.points, digest, fingerprint.cached, views, history.pins, count, arguments, reasons=why
    )
    conversation.remember(memory)
    selection = assemble(
        overlay,
        room,
        replayed,
        offered,
        choice,
        memory=memory,
        previous=same,
        notes=prepared.notes,
    )
    if same is not previous:
        selection = replace(selection, notes=(*selection.notes, _PREVIOUS_IGNORED))
    if options.summarize is None:
        return selection, None
    from pycupel.messages.summary import request_of  # noqa: PLC0415 - few callers have summaries

    gone = {*replayed.gone, *replayed.dropped}
    return selection, request_of(options.summarize.function, room.summary, overlay, gone, selection, same)


def _refuse_broken(history: History) -> None:
    """Raise if every message is broken, because an empty list would be rejected without a reason."""
    if history.units and len(history.broken) == len(history.units):
        raise InvalidArgumentError(
            f"{history.provider.name} would reject every message. First problem: {history.broken[0]}",
            argument="messages",
            hint="lint_messages lists all problems.",
        )


def _refuse_too_large(overlay: Overlay, room: Room, offer: Offer) -> None:
    """Raise if a unit that need not stay is larger than what is left for it."""
    left = room.window - offer.pinned_tokens
    for i, (unit, tokens) in enumerate(zip(overlay.history.units, overlay.sizes, strict=True)):
        if tokens > left and i not in offer.pinned and unit.problem is None:
            raise UnitTooLargeError(unit.indices, tokens, left, hint='To drop it instead, pass too_large="drop".')


# The linter: finds what a provider would reject in a history, as far as the history shows it.
#
# The rules are rows of the providers, in `pycupel.messages.providers`; the documentation lists them all.


def lint_messages(
    messages: Iterable[Any],
    provider: ProviderName = "auto",
    *,
    model: str | None = None,
    system: Any = None,
    tools: Iterable[Any] | None = None,
) -> list[Finding]:
    """Find everything in a chat history that the provider would reject, in order of the messages.

    Args:
        messages: The history: dicts or the SDK's objects, which are not changed.
        provider: openai, responses, anthropic, gemini, mistral, converse or interactions; auto detects it.
        model: The model's name, which helps "auto" to tell apart providers whose messages look alike.
        system: The system prompt that is sent beside the messages: a text, blocks, or Gemini's `system_instruction`.
        tools: The definitions of tools that are sent beside the messages; an empty list if there are none.

    Returns:
        The findings. Those about the system prompt and the tools come first, with the index -1.

    Raises:
        TypeError: an argument has the wrong type.
        InvalidArgumentError: the provider is unknown.
        MessageShapeError: a message has a shape that the provider does not know.
        ProviderAmbiguousError: the provider is "auto" and cannot be determined.
    """
    history = checked_list("messages", messages)
    known = resolve_provider(history, provider, model)
    views = known.read(history)
    definitions = checked_extras(system, tools)
    return findings_in(known, views, system, None if tools is None else definitions)


def findings_in(
    provider: Provider, views: Sequence[MessageView], system: Any = None, tools: Sequence[Any] | None = None
) -> list[Finding]:
    """Find what `lint_messages` finds, in messages that have been read."""
    findings = provider.check(views, [view_extras(system, tools or ())])
    for rule in provider.beside_rules:
        findings += rule.findings(system, tools, views)
    return sorted(findings, key=lambda finding: finding.index)


# `to_items`: a chat history as items, for your own pipeline.


def to_items(
    messages: Iterable[Any],
    provider: ProviderName = "auto",
    *,
    model: str | None = None,
    unit: UnitName = "auto",
    counter: CounterLike = "auto",
    pin: Pin | None = None,
) -> list[ContextItem]:
    """Turn a chat history into items, in order: one for each message, or exchange of calls and results.

    `metadata["pycupel.unit"]` has the indices of the messages. What must stay is pinned; what the provider would reject
    is left out. A pipeline does not know which items belong together; `select_messages` does.

    Args:
        messages: The history: dicts or the SDK's objects, which are not changed.
        provider: openai, responses, anthropic, gemini, mistral, converse or interactions; auto detects it.
        model: The model's name, as `pycupel.tokens.get_counter` takes it. It decides how tokens are counted.
        unit: "auto" for an item per message or exchange, "turn" for an item per turn.
        counter: Counts tokens: a function from str to int, or a name for `pycupel.tokens.get_counter`.
        pin: More messages that must stay: their indices, or a function that returns True for messages to keep.

    Raises:
        TypeError: an argument has the wrong type.
        InvalidArgumentError: the provider, the unit or the counter is unknown, or an index in `pin` is out of range.
        MessageShapeError: a message has a shape that the provider does not know.
        ProviderAmbiguousError: the provider is "auto" and cannot be determined.
    """
    unit_name = checked_name("unit", unit, get_args(UnitName))
    source = checked_list("messages", messages)
    plain = plain_messages(source)
    known = resolve_provider(plain, provider, model)
    views = known.read(plain, resolve_counter(counter, known, model))
    history = History(plain, known, views, unit_name, pinned_messages(source, pin))
    must, _ = history.staying()
    return list(items_at(Overlay(history), history.whole, must, named={}).values())
