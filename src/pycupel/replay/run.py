"""Replay logged sessions call by call, and measure what each policy would have sent."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, count, takewhile
from typing import Any, Final, Literal, NamedTuple, TypeAlias, cast, overload

from pycupel.diagnostics.observers import unobserved
from pycupel.errors import InvalidArgumentError, UnitTooLargeError
from pycupel.messages import MessageSelection, lint_messages, select_messages
from pycupel.messages.counting import resolve_counter
from pycupel.messages.providers._tables import item_type
from pycupel.model import ContextBudget
from pycupel.model.checks import checked_callable, checked_float, checked_iterable, find_name, wrong_type
from pycupel.pipeline import Policy, PresetName
from pycupel.pipeline.policy import as_policy
from pycupel.replay.log import History, Log, as_name
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
        numbers = ("calls", "cuts", "tokens", "reused_tokens", "invalid", "too_large", "needed", "kept")
        sums = {name: getattr(self, name) + getattr(other, name) for name in numbers}
        return replace(self, largest=max(self.largest, other.largest), **sums)


# Replay one logged session call by call, with a policy or a baseline.


BaselineName = Literal["newest-first", "as-logged"]
"""The baselines: the usual approach, and what was sent."""

NEWEST_FIRST: Final = "newest-first"
"""The name of the usual approach: the system prompt, and the newest whole messages that fit."""
AS_LOGGED: Final = "as-logged"
"""The name of what was sent: all messages since the last compaction, after its summary."""

BASELINES_HINT: Final = f"Besides presets, you can name the baselines {NEWEST_FIRST} and {AS_LOGGED}."
"""A note for the error about an unknown preset."""


def call_indices(history: History) -> list[int]:
    """Find where a model was called: as logged, or else before each reply and at the end if it has no reply yet."""
    if history.calls:
        return [call.index for call in history.calls if call.index]
    replies = [*map(_is_reply, history.messages), True]
    return [index for index in range(1, len(replies)) if replies[index] and not replies[index - 1]]


def prompt_start(history: History, index: int) -> tuple[int, str]:
    """Find where the prompt of a call started: at the last compaction before it, after its summary."""
    passed = [each for each in history.compactions if each.index <= index]
    return (passed[-1].index, passed[-1].summary) if passed else (0, "")


def _is_reply(message: Mapping[str, Any]) -> bool:
    item = item_type(str(message.get("type")))
    return as_name(message.get("role")) in {"assistant", "model"} or (item is not None and item.role == "assistant")


class _Sent(NamedTuple):
    """What a policy sends at one call."""

    messages: Sequence[Any]
    tokens: int
    reused: int
    is_cut: bool


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
        self._limit = ContextBudget.of(budget).available_tokens

    def run(self, label: str, policy: Policy | BaselineName) -> Iterator[PolicyReplay]:
        """Replay each call with the policy."""
        send: Callable[[int], _Sent | None]
        send = self._selected(policy) if isinstance(policy, Policy) else self._baseline(BASELINES[policy])
        for index in call_indices(self._history):
            whole = self._prompts.beside_tokens + sum(self._tokens[:index])
            needed = self._needed.at(index) if whole > self._limit else set[str]()
            sent = send(index)
            if sent is None:
                yield PolicyReplay(label, calls=1, too_large=1, needed=len(needed))
                continue
            findings = lint_messages(sent.messages, self._history.provider)
            is_invalid = any(finding.severity == "error" for finding in findings)
            received = () if is_invalid else sent.messages
            yield PolicyReplay(
                label,
                calls=1,
                cuts=int(sent.is_cut),
                tokens=sent.tokens,
                reused_tokens=sent.reused,
                largest=sent.tokens,
                invalid=int(is_invalid),
                needed=len(needed),
                kept=len(needed) - len(self._lost(needed, received)),
            )

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
            return _Sent(previous.messages, previous.usage.prompt, reused, is_cut)

        return send

    def _baseline(self, choose: Callable[[Session, int], list[int]]) -> Callable[[int], _Sent | None]:
        """Make the sender of a baseline, which chooses messages by index; the n-th compaction's summary is ~n."""
        before: list[int] = []

        def send(index: int) -> _Sent | None:
            nonlocal before
            kept = choose(self, index)
            if not kept:
                return None
            same = [n for n, _ in takewhile(lambda pair: pair[0] == pair[1], zip(kept, before, strict=False))]
            is_cut = len(same) < len(before)
            beside = self._prompts.beside_tokens
            reused = beside + self._size(same) if before else 0
            before = kept
            return _Sent([self._message(n) for n in kept], beside + self._size(kept), reused, is_cut)

        return send

    def _size(self, indices: Iterable[int]) -> int:
        summaries = self._history.compactions
        return sum(self._tokens[n] if n >= 0 else self._prompts.summary(summaries[~n].summary).tokens for n in indices)

    def _message(self, index: int) -> Any:
        if index >= 0:
            return self._history.messages[index]
        return self._provider.user_message(self._history.compactions[~index].summary)

    def newest_first(self, index: int) -> list[int]:
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

    def as_logged(self, index: int) -> list[int]:
        """Choose all messages since the last compaction, after its summary."""
        passed = [n for n, each in enumerate(self._history.compactions) if each.index <= index]
        if not passed:
            return [*range(index)]
        return [~passed[-1], *range(self._history.compactions[passed[-1]].index, index)]


BASELINES: Mapping[BaselineName, Callable[[Session, int], list[int]]] = {
    NEWEST_FIRST: Session.newest_first,
    AS_LOGGED: Session.as_logged,
}


# `replay`: find what policies would have sent at each model call of logged sessions.


_Choice: TypeAlias = Policy | PresetName | BaselineName


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

    Compactions by the agent are ignored: a policy gets all the messages before a call. A policy with a shortener
    shortens tool results before it drops them.

    Args:
        log: The result of `read_log`, or one of its histories.
        budget: The limits for a prompt, or just a number of tokens.
        policies: A mapping from labels to policies, or just the policies. Each is a policy, the name of a preset,
            "newest-first" for the usual approach, or "as-logged" for what was sent.
        counter: Counts tokens: a function from str to int, or a name for `get_counter`.
        rates: The price of tokens.
        progress: Called with the number of calls replayed so far, and the total.

    Returns:
        One result for each policy, over all histories.

    Raises:
        TypeError: an argument has the wrong type.
        InvalidBudgetError: the budget is negative.
        InvalidArgumentError: there is no such preset, there are no policies, or a rate is negative.
    """
    histories = histories_of(log)
    labelled = _labelled(policies)
    ContextBudget.of(budget)
    _check_rates(rates)
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


def _check_rates(rates: Any) -> None:
    if not isinstance(rates, CacheRates):
        raise wrong_type("rates", "CacheRates", rates)
    for name, rate in rates._asdict().items():
        checked_float(f"rates: {name}", rate, InvalidArgumentError, low=0.0)


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
            labelled[_unique_label(each, labelled)] = _known(each, f"policies[{i}]")
    if not labelled:
        raise InvalidArgumentError("there must be at least one policy", argument="policies")
    return labelled


def _known(policy: Any, name: str) -> Policy | BaselineName:
    baseline = find_name(policy, BASELINES)
    if baseline is not None:
        return baseline
    try:
        return as_policy(policy, name)
    except InvalidArgumentError as error:
        error.add_note(BASELINES_HINT)
        raise


def _unique_label(policy: Any, taken: Container[str]) -> str:
    """Return the name of a policy, with a number if another one has the same name."""
    name = policy if isinstance(policy, str) else getattr(policy, "name", None) or "policy"
    labels = chain([name], (f"{name} {number}" for number in count(2)))
    return next(label for label in labels if label not in taken)
