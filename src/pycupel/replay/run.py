"""Replay logged sessions call by call, and measure what each policy would have sent."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from itertools import chain, count, takewhile
from typing import Any, Final, Literal, NamedTuple, TypeAlias, cast, overload

from pycupel.diagnostics.collector import unobserved
from pycupel.errors import InvalidArgumentError, UnitTooLargeError
from pycupel.messages import MessageSelection, select_messages
from pycupel.messages.api import findings_in
from pycupel.messages.counting import resolve_counter
from pycupel.messages.overlay import with_texts
from pycupel.messages.parts import MessageView
from pycupel.messages.providers._tables import RESULT, item_type
from pycupel.model import ContextBudget
from pycupel.model.checks import checked_callable, checked_float, checked_iterable, find_name, wrong_type
from pycupel.pipeline import Policy, PresetName
from pycupel.pipeline.policy import as_policy, history_policy
from pycupel.replay.log import Compaction, History, Log, as_name
from pycupel.replay.parts import Prompts, needed_of, prompt_parts
from pycupel.text import shortened
from pycupel.tokens.counters import Counter, CounterLike
from pycupel.values import sealed


class CacheRates(NamedTuple):
    """The price of prompt tokens, relative to the usual price."""

    read: float = 0.1
    """The price of a token that is read from the provider's cache."""

    write: float = 1.25
    """The price of a token that is written to the cache."""


DEFAULT_RATES = CacheRates()
"""The default rates."""


class SentCall(NamedTuple):
    """What a policy would have sent at one call."""

    tokens: int
    """The size of the prompt; 0 if it could not be sent."""

    reused: int
    """How many of its tokens are in the prefix shared with the previous call."""

    is_cut: bool
    """Whether it dropped something that the previous call had sent."""

    is_refused: bool
    """Whether the provider would have rejected it, or it could not be sent."""


@sealed
@dataclass(frozen=True, slots=True)
class PolicyReplay:
    """What one policy would have sent."""

    policy: str
    """Its label."""

    calls: int = 0
    """How many calls were replayed."""

    cuts: int = 0
    """How many of them dropped something that the previous call had sent."""

    tokens: int = 0
    """The tokens that it would have sent, in all calls."""

    reused_tokens: int = 0
    """How many of them are in the prefix shared with the previous call."""

    largest: int = 0
    """The tokens of its largest prompt."""

    invalid: int = 0
    """How many calls the provider would have rejected."""

    too_large: int = 0
    """How many calls could not be sent, because what must stay was larger than the budget."""

    needed: int = 0
    """How many values the arguments of later calls took from results, over all calls where the history did not fit.

    A value is a string of an argument, or a path or identifier inside one, that an earlier result has and no message of
    the user or the assistant between the two. It is the same for every policy.
    """

    kept: int = 0
    """How many of those the model got: none at a refused call."""

    sent: tuple[SentCall, ...] = field(default=(), compare=False, repr=False)
    """What was sent at each call, in order. It is not compared."""

    rates: CacheRates = DEFAULT_RATES
    """The price of tokens."""

    @property
    def reused_share(self) -> float:
        """The share of tokens in the prefix shared with the previous call."""
        return self.reused_tokens / self.tokens if self.tokens else 0.0

    @property
    def refused(self) -> int:
        """How many calls failed, because they were invalid or too large."""
        return self.invalid + self.too_large

    @property
    def kept_share(self) -> float:
        """The share of what was needed later that the model got; 1.0 if nothing was needed."""
        return self.kept / self.needed if self.needed else 1.0

    @property
    def cost(self) -> float:
        """What the prompts cost, in tokens at the usual price."""
        fresh = self.tokens - self.reused_tokens
        return self.reused_tokens * self.rates.read + fresh * self.rates.write

    def __add__(self, other: PolicyReplay) -> PolicyReplay:
        """Add the figures, as if both were one session."""
        numbers = ("calls", "cuts", "tokens", "reused_tokens", "invalid", "too_large", "needed", "kept", "sent")
        sums = {name: getattr(self, name) + getattr(other, name) for name in numbers}
        return replace(self, largest=max(self.largest, other.largest), **sums)


# Replay one logged session call by call, with a policy or a baseline.


BaselineName = Literal["newest-first", "as-logged", "clear-tool-uses", "truncation-auto"]
"""The baselines: the usual approach, what was sent, and what providers do on their side."""

NEWEST_FIRST: Final = "newest-first"
"""The name of the usual approach: the system prompt, and the newest whole messages that fit."""
AS_LOGGED: Final = "as-logged"
"""The name of what was sent: all messages since the last compaction, after its summary."""

# Anthropic's defaults: above how many tokens it clears, how many results it keeps, and those too short to clear.
_TRIGGER, _KEPT_RESULTS, _SHORTEST_RESULT = 100_000, 3, 46
PROVIDER_SIDE: Final[Mapping[str, str]] = {
    "clear-tool-uses": f"Anthropic's context editing (clear_tool_uses_20250919) with its defaults, emulated: in a "
    f"prompt of more than {_TRIGGER:,} tokens or the budget, all results but the newest {_KEPT_RESULTS} become a "
    "placeholder",
    "truncation-auto": 'OpenAI\'s truncation="auto", emulated: items go from the start after the instructions, a call '
    "with its output, until the rest fits",
}
"""The baselines that providers apply on their side, each with its rules."""

BASELINES_HINT: Final = f"Besides presets: {NEWEST_FIRST}, {AS_LOGGED}, {', '.join(PROVIDER_SIDE)}."
"""A note for the error about an unknown preset."""


def call_indices(history: History) -> list[int]:
    """Find where a model was called: as logged, or else before each reply and at the end if it has no reply yet."""
    if history.calls:
        return [call.index for call in history.calls if call.index]
    replies = [*map(_is_reply, history.messages), True]
    return [index for index in range(1, len(replies)) if replies[index] and not replies[index - 1]]


def compaction_before(history: History, index: int) -> Compaction | None:
    """Return the last compaction before a call, with whose summary its prompt started; None if there is none."""
    return next((each for each in reversed(history.compactions) if each.index <= index), None)


def _is_reply(message: Mapping[str, Any]) -> bool:
    item = item_type(str(message.get("type")))
    return as_name(message.get("role")) in {"assistant", "model"} or (item is not None and item.role == "assistant")


# A message by its index, the n-th compaction's summary as ~n; beside a message, how many of its results are cleared.
_Key: TypeAlias = int | tuple[int, int]
_CLEARED = "[result cleared]"


class _Sent(NamedTuple):
    """What a policy sends at one call."""

    messages: Sequence[Any]
    tokens: int
    reused: int
    is_cut: bool
    largest: int


class Session:
    """One history, ready to be replayed."""

    def __init__(self, history: History, budget: ContextBudget | int, count: Any) -> None:
        self._history, self._budget, self._count = history, budget, count
        self._provider = history.resolved_provider
        # The index of each message, by its identity.
        self._indices = {id(message): n for n, message in enumerate(history.messages)}
        self._prompts = Prompts(history, count)
        self._needed = needed_of(len(history.messages), self._prompts.parts)
        # A shortened message is sent again and again, as a new object each time.
        self._held_texts: dict[str, frozenset[str]] = {}
        self._tokens = [view.tokens for view in self._prompts.views]
        self._read: tuple[list[Any], list[MessageView]] = [], []
        self._made: dict[_Key, tuple[Any, int]] = {
            n: (message, tokens) for n, (message, tokens) in enumerate(zip(history.messages, self._tokens, strict=True))
        }
        self._limit = ContextBudget.of(budget).available_tokens
        self._compacting = {call.index: call.compaction_tokens or 0 for call in history.calls}

    def run(self, label: str, policy: Policy | BaselineName) -> Iterator[PolicyReplay]:
        """Replay each call with the policy."""
        send: Callable[[int], _Sent | None]
        send = self._selected(policy) if isinstance(policy, Policy) else self._baseline(BASELINES[policy])
        for index in call_indices(self._history):
            whole = self._prompts.beside_tokens + sum(self._tokens[:index])
            needed = self._needed.at(index) if whole > self._limit else set[str]()
            sent = send(index)
            if sent is None:
                unsent = SentCall(0, 0, is_cut=False, is_refused=True)
                yield PolicyReplay(label, calls=1, too_large=1, needed=len(needed), sent=(unsent,))
                continue
            # What a provider does on its side, it does not reject.
            is_on_its_side = isinstance(policy, str) and policy in PROVIDER_SIDE
            is_invalid = not is_on_its_side and self._is_invalid(sent.messages)
            received = () if is_invalid else sent.messages
            yield PolicyReplay(
                label,
                calls=1,
                cuts=int(sent.is_cut),
                tokens=sent.tokens,
                reused_tokens=sent.reused,
                largest=sent.largest,
                invalid=int(is_invalid),
                needed=len(needed),
                kept=len(needed) - len(self._lost(needed, received)),
                sent=(SentCall(sent.tokens, sent.reused, sent.is_cut, is_invalid),),
            )

    def _is_invalid(self, messages: Sequence[Any]) -> bool:
        """Whether the provider would reject these messages. What the call before has sent was read then."""
        known = len(self._read[0])
        before, views = self._read if [*messages[:known]] == self._read[0] else ([], [])
        views = [*views, *self._provider.read(messages, start=len(before))]
        views = self._provider.settled(views) if before else views
        self._read = [*messages], views
        return any(finding.severity == "error" for finding in findings_in(self._provider, views))

    def _lost(self, needed: set[str], messages: Sequence[Any]) -> set[str]:
        lost = needed
        for message in messages:
            n = self._indices.get(id(message))
            lost = lost - (self._needed.held[n] if n is not None else self._held_by(message))
            if not lost:
                break
        return lost

    def _held_by(self, message: Any) -> frozenset[str]:
        """Return the values in a message that is not from the history, such as a shortened one."""
        text = "\n".join(part.text for part in prompt_parts(self._provider.read([message])))
        known = self._held_texts.get(text)
        if known is None:
            known = self._held_texts[text] = self._needed.in_text(text)
        return known

    def _selected(self, policy: Policy) -> Callable[[int], _Sent | None]:
        previous: MessageSelection | None = None

        def send(index: int) -> _Sent | None:
            nonlocal previous
            messages, before = self._history.messages[:index], previous
            try:
                with unobserved():
                    previous = select_messages(
                        messages,
                        self._budget,
                        provider=self._history.provider,
                        model=self._history.model,
                        policy=policy,
                        counter=self._count,
                        previous=before,
                        system=self._history.system or None,
                        tools=self._history.tools or None,
                    )
            except UnitTooLargeError:
                return None
            is_cut = before is not None and (
                previous.kept[: len(before.kept)] != before.kept or previous.shortened != before.shortened
            )
            reused = 0 if before is None else self._prompts.beside_tokens + previous.stable_prefix_tokens
            return _Sent(previous.messages, previous.usage.prompt, reused, is_cut, previous.usage.prompt)

        return send

    def _baseline(self, choose: Callable[[Session, int], list[_Key]]) -> Callable[[int], _Sent | None]:
        """Make the sender of a baseline, which chooses messages by their keys."""
        before: list[_Key] = []

        def send(index: int) -> _Sent | None:
            nonlocal before
            kept = choose(self, index)
            if not kept:
                return None
            same = [n for n, _ in takewhile(lambda pair: pair[0] == pair[1], zip(kept, before, strict=False))]
            is_cut = len(same) < len(before)
            beside = self._prompts.beside_tokens
            reused = beside + self._size(same) if before else 0
            # To compact a prompt, the provider reads it once more, as it was, and what is cached of it.
            is_compacted = any(isinstance(key, int) and key < 0 for key in kept)
            read = self._compacting.get(index, 0) if is_compacted else 0
            reused += min(read, beside + self._size(before))
            before = kept
            tokens = beside + self._size(kept)
            return _Sent([self._message(n)[0] for n in kept], tokens + read, reused, is_cut, tokens)

        return send

    def _size(self, keys: Iterable[_Key]) -> int:
        return sum(self._message(key)[1] for key in keys)

    def _message(self, key: _Key) -> tuple[Any, int]:
        """Return a message that is sent, and its tokens."""
        if key not in self._made:
            if isinstance(key, int):
                message = self._prompts.summary_message(self._history.compactions[~key])
            else:
                cleared = dict.fromkeys(self._clearable(*key), _CLEARED)
                message = with_texts(self._history.messages[key[0]], cleared)
            self._made[key] = message, self._provider.read([message], self._count)[0].tokens
        return self._made[key]

    def _clearable(self, index: int, number: int) -> list[Any]:
        """Return the paths of those of a message's first results that are long enough to be cleared."""
        results = [part for part in self._prompts.views[index].parts if part.kind == RESULT][:number]
        return [part.path for part in results if len((part.said or "").encode()) > _SHORTEST_RESULT]

    def clear_tool_uses(self, index: int) -> list[_Key]:
        """Choose all messages, with most results cleared in a prompt that is too large; nothing if it still is."""
        keys: list[_Key] = [*range(index)]
        beside = self._prompts.beside_tokens
        if beside + self._size(keys) > min(_TRIGGER, self._limit):
            # The newest results stay, so that those of one message are cleared from its first on.
            results = [len(self._prompts.views[n].results) for n in range(index)]
            left = sum(results) - _KEPT_RESULTS
            for n, number in enumerate(results):
                cleared = max(0, min(number, left))
                keys[n] = (n, cleared) if self._clearable(n, cleared) else n
                left -= number
        return keys if beside + self._size(keys) <= self._limit else []

    def truncation_auto(self, index: int) -> list[_Key]:
        """Choose what is left when the oldest messages go, each with those that it belongs to, until the rest fits."""
        views = self._prompts.views
        too_many = self._prompts.beside_tokens + self._size(range(index)) - self._limit
        kept = dict.fromkeys(range(index))
        for group in self._groups:
            if too_many <= 0:
                break
            gone = [n for n in group if n in kept and views[n].role != "system"]
            too_many -= self._size(gone)
            for n in gone:
                del kept[n]
        return [*kept] if too_many <= 0 and any(views[n].role != "system" for n in kept) else []

    @cached_property
    def _groups(self) -> list[list[int]]:
        (groups, _), _ = self._provider.grouped(self._prompts.views)
        return sorted(groups)

    def newest_first(self, index: int) -> list[_Key]:
        """Choose the system prompts and the newest messages that fit; nothing at all if no message does."""
        systems = [n for n in range(index) if self._prompts.views[n].role == "system"]
        left = self._limit - self._prompts.beside_tokens - self._size(systems)
        newest: list[int] = []
        for n in range(index - 1, -1, -1):
            if n in systems:
                continue
            left -= self._tokens[n]
            if left < 0:
                break
            newest.append(n)
        return [*systems, *reversed(newest)] if newest else []

    def as_logged(self, index: int) -> list[_Key]:
        """Choose all messages since the last compaction, after its summary."""
        last = compaction_before(self._history, index)
        if last is None:
            return [*range(index)]
        return [*last.kept, ~self._history.compactions.index(last), *range(last.index, index)]


BASELINES: Mapping[BaselineName, Callable[[Session, int], list[_Key]]] = {
    NEWEST_FIRST: Session.newest_first,
    AS_LOGGED: Session.as_logged,
    "clear-tool-uses": Session.clear_tool_uses,
    "truncation-auto": Session.truncation_auto,
}


# `replay`: find what policies would have sent at each model call of logged sessions.


_Choice: TypeAlias = Policy | PresetName | BaselineName | Literal["chat+drop", "chat+shorten"]


# With a union instead of overloads, mypy infers str for the literals of a dict display.
@overload
def replay(
    log: Log | History,
    budget: ContextBudget | int,
    policies: Mapping[str, _Choice],
    *,
    counter: CounterLike = ...,
    rates: CacheRates = ...,
    progress: Callable[[int, int], object] | None = ...,
) -> tuple[PolicyReplay, ...]: ...


@overload
def replay(
    log: Log | History,
    budget: ContextBudget | int,
    policies: Iterable[_Choice] = ...,
    *,
    counter: CounterLike = ...,
    rates: CacheRates = ...,
    progress: Callable[[int, int], object] | None = ...,
) -> tuple[PolicyReplay, ...]: ...


def replay(
    log: Log | History,
    budget: ContextBudget | int,
    policies: Mapping[str, _Choice] | Iterable[_Choice] = (NEWEST_FIRST, "chat"),
    *,
    counter: CounterLike = "auto",
    rates: CacheRates = DEFAULT_RATES,
    progress: Callable[[int, int], object] | None = None,
) -> tuple[PolicyReplay, ...]:
    """Find what policies would have sent at every model call.

    Compactions by the agent or the provider are ignored: a policy gets all the messages before a call.

    Args:
        log: The result of `read_log`, or one of its histories.
        budget: The limits for a prompt, or just a number of tokens.
        policies: A mapping from labels to policies, or just the policies. Each is a policy, the name of a preset, such
            as "chat", or "chat+drop" to drop results instead of shortening them, "newest-first" for the usual approach,
            "as-logged" for what was sent, or, emulated, what providers do on their side: "clear-tool-uses" and
            "truncation-auto".
        counter: Counts tokens: a function from str to int, or a name for `get_counter`.
        rates: The price of tokens.
        progress: Called with the number of calls replayed so far, and the total.

    Returns:
        One result for each policy, over all histories.

    Raises:
        InvalidArgumentError: there is no such preset, there are no policies, or a rate is negative.
    """
    histories = [history.without_blocks for history in histories_of(log)]
    labelled = _labelled(policies)
    ContextBudget.of(budget)
    if not isinstance(cast(Any, rates), CacheRates):
        raise wrong_type("rates", "CacheRates", rates)
    for name, rate in rates._asdict().items():
        checked_float(f"rates: {name}", rate, InvalidArgumentError, low=0.0)
    if progress is not None:
        checked_callable("progress", "a function that takes two numbers", progress)
    total = len(labelled) * sum(len(call_indices(history)) for history in histories)
    results = {label: PolicyReplay(label, rates=rates) for label in labelled}
    done = 0
    for history in histories:
        session = Session(history, budget, caching_counter(history, counter))
        for label, policy in labelled.items():
            for result in session.run(label, policy):
                results[label] += result
                done += 1
                if progress is not None:
                    progress(done, total)
    return tuple(results.values())


def caching_counter(history: History, like: CounterLike) -> Counter:
    """Make a counter that caches each text, because a history hardly changes from call to call."""
    counter = resolve_counter(like, history.resolved_provider, history.model)
    known: dict[str, int] = {}

    def count(text: str) -> int:
        tokens = known.get(text)
        if tokens is None:
            tokens = known[text] = counter(text)
        return tokens

    return replace(counter, function=count, batch=None)


def histories_of(log: Any) -> tuple[History, ...]:
    """Return the histories of a log, or the one that was given."""
    if isinstance(log, History):
        return (log,)
    if not isinstance(log, Log):
        raise wrong_type("log", "a Log or a History", log)
    return log.histories


def _labelled(policies: Any) -> dict[str, Policy | BaselineName]:
    """Return the policies by label, and the names of the baselines."""
    listed = checked_iterable("policies", "a mapping or an iterable of policies", policies)
    labelled: dict[str, Policy | BaselineName] = {}
    if isinstance(policies, Mapping):
        labelled = {
            label: _known(each, f"policies[{shortened(label)}]")
            for label, each in cast("Mapping[str, Any]", policies).items()
        }
    else:
        for i, each in enumerate(listed):
            name = each if isinstance(each, str) else getattr(each, "name", None) or "policy"
            # With a number, if another one has the same name.
            labels = chain([name], (f"{name} {number}" for number in count(2)))
            labelled[next(label for label in labels if label not in labelled)] = _known(each, f"policies[{i}]")
    if not labelled:
        raise InvalidArgumentError("there must be at least one policy", argument="policies")
    return labelled


def _known(policy: Any, name: str) -> Policy | BaselineName:
    baseline = find_name(policy, BASELINES)
    if baseline is not None:
        return baseline
    try:
        if isinstance(policy, str):
            return history_policy(policy, partial(as_policy, name=name))
        return as_policy(policy, name)
    except InvalidArgumentError as error:
        error.add_note(BASELINES_HINT)
        raise
