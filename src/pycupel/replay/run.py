"""`replay`: what policies would have sent at each model call of logged sessions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile
from typing import Any, NamedTuple, TypeAlias, cast

from pycupel.errors import InvalidArgumentError, UnitTooLargeError
from pycupel.messages import MessageSelection, lint_messages, select_messages
from pycupel.messages.counting import resolve_counter
from pycupel.messages.providers import PROVIDERS
from pycupel.model import ContextBudget
from pycupel.model.checks import checked_iterable, wrong_type
from pycupel.model.frozen import sealed
from pycupel.pipeline import Policy, PresetName
from pycupel.pipeline.policy import as_policy
from pycupel.replay.log import History, Log
from pycupel.replay.needed import Needed, needed_of
from pycupel.replay.parts import Splitter
from pycupel.replay.shapes import as_name
from pycupel.tokens.counters import Counter, CounterLike

__all__ = ["AS_LOGGED", "NEWEST_FIRST", "CacheRates", "PolicyReplay", "call_indices", "counter_for", "replay"]

NEWEST_FIRST = "newest-first"
"""The name of the usual way, to compare with: the system prompt, and the newest whole messages that fit."""
AS_LOGGED = "as-logged"
"""The name of what was sent, to compare with: everything, since the last compaction behind its summary."""

Policies: TypeAlias = Mapping[str, Policy | PresetName] | Iterable[Policy | PresetName | str]
"""Policies by label, or policies and names alone."""


class CacheRates(NamedTuple):
    """What tokens of a prompt cost, in multiples of the usual price of a token.

    Attributes:
        read: A token that the provider's cache has.
        write: A token that it has not, and keeps.
    """

    read: float = 0.1
    write: float = 1.25


_RATES = CacheRates()


@sealed
@dataclass(frozen=True, slots=True)
class PolicyReplay:
    """What one policy would have sent.

    Attributes:
        policy: Its label.
        calls: How many calls were replayed.
        cuts: At how many of them something was dropped that the call before had sent.
        tokens: The tokens that it would have sent, in all calls.
        reused_tokens: How many of them began the prompt just as in the call before.
        largest: The tokens of its largest prompt.
        invalid: At how many calls the provider would have refused what was sent.
        too_large: At how many calls what must stay was larger than the budget, and nothing could be sent.
        needed: What was needed later, summed up over the calls at which the history did not fit.
        kept: How much of it was still there.
        rates: What tokens cost.
    """

    policy: str
    calls: int = 0
    cuts: int = 0
    tokens: int = 0
    reused_tokens: int = 0
    largest: int = 0
    invalid: int = 0
    too_large: int = 0
    needed: int = 0
    kept: int = 0
    rates: CacheRates = _RATES

    @property
    def reused_share(self) -> float:
        """The share of the tokens that began the prompt just as in the call before."""
        return self.reused_tokens / self.tokens if self.tokens else 0.0

    @property
    def kept_share(self) -> float:
        """The share of what was needed later that was still there; 1.0 if nothing was."""
        return self.kept / self.needed if self.needed else 1.0

    @property
    def cost(self) -> float:
        """What the prompts cost, in tokens at the usual price."""
        fresh = self.tokens - self.reused_tokens
        return self.reused_tokens * self.rates.read + fresh * self.rates.write

    def __add__(self, other: PolicyReplay) -> PolicyReplay:
        """Both together, as if in one session."""
        numbers = ("calls", "cuts", "tokens", "reused_tokens", "invalid", "too_large", "needed", "kept")
        sums = {name: getattr(self, name) + getattr(other, name) for name in numbers}
        return replace(self, largest=max(self.largest, other.largest), **sums)


class _Sent(NamedTuple):
    """What a policy sends at one call."""

    messages: Sequence[Any]
    tokens: int
    reused: int
    is_cut: bool


def replay(
    log: Log | History,
    budget: ContextBudget | int,
    policies: Policies = (NEWEST_FIRST, "chat"),
    *,
    counter: CounterLike = "auto",
    rates: CacheRates = _RATES,
    progress: Callable[[int, int], object] | None = None,
) -> tuple[PolicyReplay, ...]:
    """What policies would have sent at every point where a model was called.

    Compactions by the agent are ignored: a policy is given all the messages before a call.

    Args:
        log: What `read_log` returns, or one history of it.
        budget: The limits for the messages of a prompt, or just a number of tokens.
        policies: By label, or alone: a policy, the name of a preset, "newest-first" for the usual way, or "as-logged"
            for what was sent.
        counter: Counts tokens: a function from str to int, or what `get_counter` takes.
        rates: What tokens cost.
        progress: Is called with the number of calls done and of all calls.

    Returns:
        One result for each policy, over all histories.

    Raises:
        TypeError: an argument has the wrong type.
        InvalidArgumentError: there is no such preset, or there are no policies.
    """
    histories = _histories(log)
    labelled = _labelled(policies)
    ContextBudget.of(budget)
    total = len(labelled) * sum(len(call_indices(history)) for history in histories)
    results = {label: PolicyReplay(label, rates=rates) for label in labelled}
    done = 0
    for history in histories:
        session = _Session(history, budget, counter_for(history, counter))
        for label, policy in labelled.items():
            for result in session.run(label, policy):
                results[label] += result
                done += 1
                if progress is not None:
                    progress(done, total)
    return tuple(results.values())


def counter_for(history: History, like: CounterLike) -> Counter:
    """What counts a history, each text only once: at every call, it is almost what it was before."""
    counter = resolve_counter(like, PROVIDERS[history.provider], history.model)
    known: dict[str, int] = {}

    def count(text: str) -> int:
        tokens = known.get(text)
        if tokens is None:
            tokens = known[text] = counter(text)
        return tokens

    return replace(counter, function=count, batch=None)


def call_indices(history: History) -> list[int]:
    """Where a model was called: as logged, or else before each of its replies and behind what has none yet."""
    if history.calls:
        return [call.index for call in history.calls if call.index]
    replies = [*map(_is_reply, history.messages), True]
    return [index for index in range(1, len(replies)) if replies[index] and not replies[index - 1]]


def _is_reply(message: Mapping[str, Any]) -> bool:
    kind = str(message.get("type"))
    return as_name(message.get("role")) in {"assistant", "model"} or kind == "reasoning" or kind.endswith("_call")


def _histories(log: Any) -> tuple[History, ...]:
    if isinstance(log, History):
        return (log,)
    if not isinstance(log, Log):
        raise wrong_type("log", "a Log or a History", log)
    return log.histories


def _labelled(policies: Any) -> dict[str, Policy | str]:
    """The policies by label, and the names of what is none."""
    listed = checked_iterable("policies", "a mapping or an iterable of policies", policies)
    named: list[tuple[str, Any]] = [(_label(each), each) for each in listed]
    if isinstance(policies, Mapping):
        named = list(cast("Mapping[str, Any]", policies).items())
    if not named:
        raise InvalidArgumentError("there must be at least one policy", argument="policies")
    return {label: each if each in _BASELINES else as_policy(each, "policies") for label, each in named}


def _label(policy: Any) -> str:
    return policy if isinstance(policy, str) else getattr(policy, "name", None) or "policy"


class _Session:
    """One history, ready to be replayed."""

    def __init__(self, history: History, budget: ContextBudget | int, count: Any) -> None:
        self._history, self._budget, self._count = history, budget, count
        splitter = Splitter(history.provider, count)
        parts = splitter.parts(history.messages)
        self._needed: Needed = needed_of(len(history.messages), parts)
        self._tokens = [0] * len(history.messages)
        for part in parts:
            self._tokens[part.message] += part.tokens
        self._limit = budget if isinstance(budget, int) else budget.available_tokens

    def run(self, label: str, policy: Policy | str) -> Iterator[PolicyReplay]:
        """What the policy does at each call."""
        send: Callable[[int], _Sent | None]
        send = self._selected(policy) if isinstance(policy, Policy) else self._baseline(_BASELINES[policy])
        for index in call_indices(self._history):
            sent = send(index)
            if sent is None:
                yield PolicyReplay(label, calls=1, too_large=1)
                continue
            findings = lint_messages(sent.messages, self._history.provider)
            needed = self._needed.at(index) if sum(self._tokens[:index]) > self._limit else set[str]()
            yield PolicyReplay(
                label,
                calls=1,
                cuts=int(sent.is_cut),
                tokens=sent.tokens,
                reused_tokens=sent.reused,
                largest=sent.tokens,
                invalid=int(any(finding.severity == "error" for finding in findings)),
                needed=len(needed),
                kept=len(needed) - len(self._lost(needed, sent.messages)),
            )

    def _lost(self, needed: set[str], messages: Sequence[Any]) -> set[str]:
        lost = needed
        by_identity = {id(message): n for n, message in enumerate(self._history.messages)}
        for message in messages:
            n = by_identity.get(id(message))
            lost = lost - (self._needed.held[n] if n is not None else self._held_by(message))
            if not lost:
                break
        return lost

    def _held_by(self, message: Any) -> frozenset[str]:
        """The identifiers in a message that is not the history's own, such as a shortened one."""
        return needed_of(1, Splitter(self._history.provider, len).split(0, message)).held[0]

    def _selected(self, policy: Policy) -> Callable[[int], _Sent | None]:
        previous: MessageSelection | None = None

        def send(index: int) -> _Sent | None:
            nonlocal previous
            messages, before = self._history.messages[:index], previous
            try:
                previous = select_messages(
                    messages,
                    self._budget,
                    provider=self._history.provider,
                    policy=policy,
                    counter=self._count,
                    previous=before,
                )
            except UnitTooLargeError:
                return None
            is_cut = before is not None and previous.kept[: len(before.kept)] != before.kept
            return _Sent(previous.messages, previous.total_tokens, previous.stable_prefix_tokens, is_cut)

        return send

    def _baseline(self, choose: Callable[[_Session, int], list[int]]) -> Callable[[int], _Sent]:
        """What is sent without a policy: messages by index; the summary of the n-th compaction is ~n."""
        before: list[int] = []

        def send(index: int) -> _Sent:
            nonlocal before
            kept = choose(self, index)
            same = [n for n, _ in takewhile(lambda pair: pair[0] == pair[1], zip(kept, before, strict=False))]
            is_cut = kept[: len(before)] != before
            before = kept
            return _Sent([self._message(n) for n in kept], self._size(kept), self._size(same), is_cut)

        return send

    def _size(self, indices: Iterable[int]) -> int:
        return sum(self._tokens[n] if n >= 0 else self._count(self._history.compactions[~n].summary) for n in indices)

    def _message(self, index: int) -> Any:
        if index >= 0:
            return self._history.messages[index]
        return {"role": "user", "content": self._history.compactions[~index].summary}

    def newest_first(self, index: int) -> list[int]:
        """The system prompts, and the newest messages that fit."""
        systems = [n for n in range(index) if as_name(self._history.messages[n].get("role")) in {"system", "developer"}]
        left = self._limit - self._size(systems)
        newest: list[int] = []
        for n in range(index - 1, -1, -1):
            if n in systems:
                continue
            left -= self._tokens[n]
            if left < 0:
                break
            newest.append(n)
        return [*systems, *reversed(newest)]

    def as_logged(self, index: int) -> list[int]:
        """All messages since the last compaction, behind its summary."""
        passed = [n for n, each in enumerate(self._history.compactions) if each.index <= index]
        if not passed:
            return [*range(index)]
        return [~passed[-1], *range(self._history.compactions[passed[-1]].index, index)]


_BASELINES = {NEWEST_FIRST: _Session.newest_first, AS_LOGGED: _Session.as_logged}
