"""Replay one logged session call by call, with a policy or a baseline."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import takewhile
from typing import Any, Final, Literal, NamedTuple

from pycupel.errors import UnitTooLargeError
from pycupel.messages import MessageSelection, lint_messages, select_messages
from pycupel.messages.providers._tables import item_type
from pycupel.model import ContextBudget
from pycupel.pipeline import Policy
from pycupel.replay.log import History
from pycupel.replay.needed import needed_of
from pycupel.replay.outcome import PolicyReplay
from pycupel.replay.parts import Prompts, parts_of
from pycupel.replay.shapes import as_name

__all__ = [
    "AS_LOGGED",
    "BASELINES",
    "BASELINES_HINT",
    "NEWEST_FIRST",
    "BaselineName",
    "Session",
    "call_indices",
    "prompt_start",
]

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
        """Return the identifiers in a message that is not from the history, such as a shortened one."""
        return needed_of(1, parts_of(self._provider.read([message]))).held[0]

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
