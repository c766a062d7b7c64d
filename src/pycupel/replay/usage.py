"""Where the window of a session goes, how it grows from call to call, and where the prompt cache was lost."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import Any, NamedTuple

from pycupel.errors import InvalidArgumentError
from pycupel.messages import Finding, lint_messages
from pycupel.messages.counting import IMAGES, KINDS, TOOL_RESULTS
from pycupel.replay.log import Call, History, Log
from pycupel.replay.parts import Part, Prompts
from pycupel.replay.run import (
    DEFAULT_RATES,
    PolicyReplay,
    caching_counter,
    call_indices,
    compaction_before,
    histories_of,
    replay,
)
from pycupel.shorten import ToolCall
from pycupel.shorten.outdated import superseded_by
from pycupel.tokens.counters import Counter, CounterLike
from pycupel.tokens.models import Prices, normalized_model
from pycupel.values import sealed

NOT_IN_FILE = "not in the file"
"""The kind of what the provider counted and the log does not show."""


class WindowShare(NamedTuple):
    """A row of the window."""

    kind: str
    """"system", "tools", "user", "assistant", "thinking", "tool_calls", "tool_results", "images", "files", or
    "not in the file" for what the provider counted and the log does not show.
    """

    tool: str
    """For results, the name of the tool."""

    parts: int
    """How many parts there are."""

    tokens: int
    """Their tokens."""


class Redundant(NamedTuple):
    """Redundant parts of the window."""

    parts: int
    """How many there are."""

    tokens: int
    """Their tokens."""


class Growth(NamedTuple):
    """A call in the growth of the context."""

    tokens: int
    """The size of its prompt."""

    compacted: bool
    """Whether the context was compacted since the previous call."""


@sealed
@dataclass(frozen=True, slots=True)
class ContextUsage:
    """Where the window of a session goes, at its largest prompt."""

    history: History
    """The session."""

    call: int
    """Which of its calls had the largest prompt, from 1; 0 if no call was logged."""

    total: int
    """The tokens of that prompt."""

    rows: tuple[WindowShare, ...]
    """The tokens by kind; results by tool."""

    largest: tuple[Part, ...]
    """The ten largest parts."""

    superseded: Redundant
    """Results that a later call has outdated, as `pycupel.shorten.superseded` finds them."""

    repeated: Redundant
    """Other parts whose text is repeated later."""

    findings: tuple[Finding, ...]
    """What the provider would reject in the session as logged."""

    growth: tuple[Growth, ...]
    """The prompts from call to call."""

    counter: Counter
    """The counter of the parts."""

    counted_by: str | None
    """The model whose provider counted the prompts; None if the counter did."""

    @property
    def not_in_file(self) -> int:
        """The tokens that the provider counted and the log does not show."""
        return sum(row.tokens for row in self.rows if row.kind == NOT_IN_FILE)

    def __repr__(self) -> str:
        return f"<ContextUsage: {self.total} tokens at call {self.call} of {self.history!r}>"


# `context_usage`: show where the window of a logged session goes.


_LARGEST = 10
# Calls with less appended text are ignored; with fewer calls than this, the counter is not corrected.
_MIN_TOKENS, _MIN_PAIRS = 40, 5
# Texts shorter than this repeat by chance.
_MIN_REPEATED = 20


def context_usage(log: Log | History, *, counter: CounterLike = "auto") -> ContextUsage:
    """Show where the window of a logged session goes, at its largest prompt.

    If the log has the provider's counts, they are used for the size of each prompt, and to correct the counter by how
    much the prompts grew from call to call.

    Args:
        log: The result of `read_log`, whose largest history is used, or one of its histories.
        counter: Counts tokens: a function from str to int, or a name for `get_counter`.
    """
    histories = histories_of(log)
    if not histories:
        raise InvalidArgumentError("the log has no conversation", argument="log")
    # Characters are enough to compare: the first of the largest.
    logged = max(histories, key=lambda history: (not history.is_sidechain, len(str(history.messages))))
    history = logged.without_blocks
    count = calibrated_counter(history, counter)
    session = Prompts(history, count)
    prompts = _prompts(history, session)
    index, number, total, is_counted = _largest_prompt(history, prompts)
    window = _window(history, session, index)
    shown = sum(part.tokens for part in window)
    superseded, repeated = (Redundant(len(each), sum(each.values())) for each in _redundant(window))
    hidden = [WindowShare(NOT_IN_FILE, "", 0, total - shown)] if is_counted and total > shown else []
    return ContextUsage(
        history,
        number,
        total if is_counted else shown,
        (*_rows(window), *hidden),
        tuple(sorted(window, key=lambda part: -part.tokens)[:_LARGEST]),
        superseded,
        repeated,
        tuple(lint_messages(logged.messages, logged.provider)),
        tuple(
            Growth(tokens, _is_compacted(history, before, index))
            for (before, _), (index, tokens) in pairwise([(0, 0), *prompts])
        ),
        count,
        next((call.model or history.provider for call in history.calls if call.prompt_tokens), None),
    )


def calibrated_counter(history: History, like: CounterLike) -> Counter:
    """Correct a counter by comparing the text appended between calls with the growth of the prompts."""
    count = caching_counter(history, like)
    sizes = [view.tokens for view in history.resolved_provider.read(history.messages, count)]
    pairs: list[tuple[float, int, int]] = []
    for before, after in pairwise(history.calls):
        if before.prompt_tokens and after.prompt_tokens and not _is_compacted(history, before.index, after.index):
            counted, reported = sum(sizes[before.index : after.index]), after.prompt_tokens - before.prompt_tokens
            if counted >= _MIN_TOKENS and reported > 0:
                pairs.append((reported / counted, counted, reported))
    if len(pairs) < _MIN_PAIRS:
        return count
    _, counted, reported = _median(pairs)
    try:
        return caching_counter(history, count.calibrated(counted=counted, reported=reported))
    except InvalidArgumentError:
        # Too far apart to be about the same text.
        return count


def replay_as_counted(
    history: History, budget: int, policies: Mapping[str, Any], counter: CounterLike = "auto", **options: Any
) -> tuple[PolicyReplay, ...]:
    """Replay a session with the counter of `context_usage`, so that both have the same numbers."""
    corrected = calibrated_counter(history.without_blocks, counter)
    return replay(history, budget, policies, counter=corrected, **options)


def _median(pairs: Iterable[tuple[float, int, int]]) -> tuple[float, int, int]:
    """Return the median pair by ratio, weighted by size, because hidden tokens inflate small pairs most."""
    ordered = sorted(pairs)
    half = sum(counted for _, counted, _ in ordered) / 2
    sums = accumulate(counted for _, counted, _ in ordered)
    return next(pair for pair, passed in zip(ordered, sums, strict=True) if passed >= half)


def _is_compacted(history: History, before: int, after: int) -> bool:
    """Whether the history was compacted between two calls."""
    return any(before < each.index <= after for each in history.compactions)


def _prompts(history: History, session: Prompts) -> list[tuple[int, int]]:
    """Return the index of each call and the size of its prompt, counted by the provider or else by pycupel."""
    sizes = [view.tokens for view in session.views]
    sums = [*accumulate(sizes, initial=session.beside_tokens)]
    logged = {call.index: call.prompt_tokens for call in history.calls}
    prompts: list[tuple[int, int]] = []
    for index in call_indices(history):
        tokens, compaction = sums[index], compaction_before(history, index)
        if compaction is not None:
            tokens -= sums[compaction.index] - session.beside_tokens - sum(sizes[n] for n in compaction.kept)
            tokens += session.summary(compaction).tokens
        prompts.append((index, logged.get(index) or tokens))
    return prompts


def _largest_prompt(history: History, prompts: Sequence[tuple[int, int]]) -> tuple[int, int, int, bool]:
    """Return the index of the largest prompt, which call it was, its tokens, and whether the provider counted them."""
    if not prompts:
        return len(history.messages), 0, 0, False
    number = max(range(len(prompts)), key=lambda n: prompts[n][1])
    index, tokens = prompts[number]
    return index, number + 1, tokens, any(call.index == index and call.prompt_tokens for call in history.calls)


def _window(history: History, session: Prompts, index: int) -> list[Part]:
    """Return the parts of the prompt at an index."""
    compaction = compaction_before(history, index)
    parts = [part for part in session.parts if part.message < index]
    if compaction is None:
        return [*session.beside, *parts]
    return [*session.beside, session.summary(compaction), *(part for part in parts if compaction.sends(part.message))]


def _rows(window: Iterable[Part]) -> list[WindowShare]:
    """Sum the parts by kind, in the usual order, and results by tool, the largest first."""
    groups: dict[tuple[str, str], list[Part]] = {}
    for part in window:
        groups.setdefault((part.kind, part.tool if part.kind == TOOL_RESULTS else ""), []).append(part)
    rows = [
        WindowShare(kind, tool, len([part for part in parts if not part.is_bare]), sum([part.tokens for part in parts]))
        for (kind, tool), parts in groups.items()
    ]
    return sorted(rows, key=lambda row: (KINDS.index(row.kind), -row.tokens, row.tool))


def largest_prompt_of(usage: ContextUsage) -> list[tuple[Part, bool]]:
    """Return every part of the largest prompt, and whether it is redundant."""
    session, indices = Prompts(usage.history, usage.counter), call_indices(usage.history)
    window = _window(usage.history, session, indices[usage.call - 1] if usage.call else len(usage.history.messages))
    superseded, repeated = _redundant(window)
    return [(part, id(part) in superseded or id(part) in repeated) for part in window]


def _redundant(window: Sequence[Part]) -> tuple[dict[int, int], dict[int, int]]:
    """Find superseded results, and other repeated parts: their tokens, by id. The newest of each does not count."""
    results = [part for part in window if part.kind == TOOL_RESULTS]
    later = superseded_by([part.call or ToolCall("", {}) for part in results])
    outdated = {id(part) for part, by in zip(results, later, strict=True) if by is not None}
    superseded, repeated = dict[int, int](), dict[int, int]()
    texts = set[str]()
    for part in reversed(window):
        if id(part) in outdated:
            superseded[id(part)] = part.tokens
        elif part.tokens >= _MIN_REPEATED and part.text in texts:
            repeated[id(part)] = part.tokens
        if part.text:
            texts.add(part.text)
    return superseded, repeated


# What a session cost.


class Spent(NamedTuple):
    """An amount of money."""

    what: str  # What it was, or would have been, paid for.
    tokens: int  # How many tokens it was paid for.
    usd: float  # The amount, in US dollars.
    is_measured: bool  # Whether the provider counted the tokens; if not, it is an estimate.


class Money(NamedTuple):
    """What a session cost, and what its prompts would have cost with other policies."""

    model: str  # The model at whose prices policies are estimated.
    prices: Prices  # What its tokens cost.
    rows: tuple[Spent, ...]  # The amounts: by what was paid for, their sum, and one for each policy.
    others: tuple[str, ...] = ()  # Other models in the session, whose calls are paid at their own prices.


def money_of(usage: ContextUsage, results: Sequence[PolicyReplay], table: Mapping[str, Prices]) -> Money | None:
    """Return what a session cost; None if the price of a model in it is unknown.

    Args:
        usage: The session.
        results: What policies would have sent.
        table: Prices by the normalised name of a model.
    """
    history = usage.history
    calls: Sequence[Call] = history.calls
    is_measured = bool(calls) and all(call.prompt_tokens is not None for call in calls)
    if not is_measured:
        views = history.resolved_provider.read(history.messages, usage.counter)
        said = sum(view.tokens for view in views if view.role == "assistant")
        calls = [Call(0, None, sum(each.tokens for each in usage.growth), said)]
    sums = {what: [0, 0.0] for what in ("input", "cached", "cache write", "output")}
    for call in calls:
        prices = table.get(normalized_model(call.model or history.model or ""))
        if prices is None:
            return None
        cached, written = call.cache_read_tokens or 0, call.cache_write_tokens or 0
        # To compact a prompt, the provider reads it once more.
        fresh = max(0, (call.prompt_tokens or 0) - cached - written) + (call.compaction_tokens or 0)
        paid = (
            (fresh, prices.input),
            (cached, prices.cached),
            (written, prices.cache_write),
            (call.output_tokens or 0, prices.output),
        )
        for entry, (tokens, price) in zip(sums.values(), paid, strict=True):
            entry[0] += tokens
            entry[1] += tokens * price / 1e6
    model = history.model or next(call.model for call in calls if call.model)
    rows = [Spent(what, int(tokens), usd, is_measured) for what, (tokens, usd) in sums.items() if tokens]
    rows.append(Spent("together", sum(row.tokens for row in rows), sum(row.usd for row in rows), is_measured))
    prices = table[normalized_model(model)]
    for each in results:
        usd = each.reused_tokens * prices.cached + (each.tokens - each.reused_tokens) * prices.cache_write
        rows.append(Spent(f"prompts with {each.policy}", each.tokens, usd / 1e6, is_measured=False))
    others = dict.fromkeys(call.model for call in calls if call.model not in {None, model})
    return Money(model, prices, tuple(rows), tuple(name for name in others if name))


# Which calls lost the provider's prompt cache, why, and at what cost: from the log alone.


CAUSES = {
    "model_changed": "another model has a cache of its own",
    "system_changed": "the system prompt was another one",
    "tools_changed": "the definitions of tools were others",
    "tool_choice_changed": "the choice of tools was another one",
    "images_changed": "the first images came, or the last ones went",
    "messages_changed": "an earlier message was changed or dropped, such as by a compaction",
    "expired": "the last call was longer ago than the cache lasts",
    NOT_IN_FILE: "nothing in the file has changed",
}
"""Why a cache was lost: what changed, by the names of Anthropic's diagnostics, and two causes that those cannot see."""

# Less is no loss: providers cache whole blocks, and nothing shorter than this.
_LEAST_TOKENS, _LEAST_SHARE = 1_024, 0.05
_LIFETIME = 300


class CacheMiss(NamedTuple):
    """A call that lost the cache."""

    call: int  # Which call it was, from 1.
    cause: str  # Why: a name in `CAUSES`.
    tokens: int  # The tokens of the previous prompt that were not read from the cache.
    # Whether the log has the tokens that were read; if not, the loss is likely, and the tokens are all there were.
    is_measured: bool

    @property
    def cost(self) -> int:
        """What the loss cost, in tokens at the usual price: they were written to the cache instead of read from it."""
        return round(self.tokens * (DEFAULT_RATES.write - DEFAULT_RATES.read))


def cache_misses(usage: ContextUsage) -> list[CacheMiss]:
    """Find the calls of a session that lost the cache.

    If the log says how much a call read from the cache, that is compared with the previous prompt. If not, a call has
    likely lost it if something changed that the cache depends on.
    """
    history = usage.history
    calls = [call for call in history.calls if call.index]
    images = {part.message for part in Prompts(history, usage.counter).parts if part.kind == IMAGES}
    misses: list[CacheMiss] = []
    for number, ((before, after), sent) in enumerate(zip(pairwise(calls), usage.growth, strict=False), 2):
        cause = _cause(history, before, after, images)
        read = after.cache_read_tokens
        lost = sent.tokens - (read or 0)
        is_lost = cause != NOT_IN_FILE if read is None else lost > max(_LEAST_TOKENS, _LEAST_SHARE * sent.tokens)
        if is_lost:
            misses.append(CacheMiss(number, cause, lost, read is not None))
    return misses


def _cause(history: History, before: Call, after: Call, images: set[int]) -> str:
    """Find what changed between two calls: of several things, the one that stands first in a prompt."""
    if before.model != after.model:
        return "model_changed"
    if after.changed:
        return after.changed
    if _is_compacted(history, before.index, after.index):
        return "messages_changed"
    if before.time and after.time and (after.time - before.time).total_seconds() > (before.cache_seconds or _LIFETIME):
        return "expired"
    # With images in the messages for the first time, those before them are read anew, too.
    if any(before.index <= n < after.index for n in images) and not any(n < before.index for n in images):
        return "images_changed"
    return NOT_IN_FILE
