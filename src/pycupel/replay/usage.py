"""Where the window of a session goes: parts, kinds, and their growth from call to call."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import NamedTuple

from pycupel.errors import InvalidArgumentError
from pycupel.messages import Finding, lint_messages
from pycupel.messages.counting import KINDS, TOOL_RESULTS
from pycupel.replay.log import History, Log
from pycupel.replay.parts import Part, Prompts
from pycupel.replay.run import caching_counter, call_indices, histories_of, prompt_start
from pycupel.shorten import ToolCall
from pycupel.shorten.superseded import superseded_by
from pycupel.tokens.counters import Counter, CounterLike
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

    Raises:
        TypeError: log is neither.
        InvalidArgumentError: the log has no history.
    """
    history = _largest_history(histories_of(log))
    count = calibrated_counter(history, counter)
    session = Prompts(history, count)
    prompts = _prompts(history, session)
    index, number, total, is_counted = _largest_prompt(history, prompts)
    window = _window(history, session, index)
    shown = sum(part.tokens for part in window)
    superseded, repeated = _redundant(window)
    hidden = [WindowShare(NOT_IN_FILE, "", 0, total - shown)] if is_counted and total > shown else []
    return ContextUsage(
        history,
        number,
        total if is_counted else shown,
        (*_rows(window), *hidden),
        tuple(sorted(window, key=lambda part: -part.tokens)[:_LARGEST]),
        superseded,
        repeated,
        tuple(lint_messages(history.messages, history.provider)),
        tuple(_growth(history, prompts)),
        count,
        next((call.model or history.provider for call in history.calls if call.prompt_tokens), None),
    )


def _largest_history(histories: Sequence[History]) -> History:
    if not histories:
        raise InvalidArgumentError("the log has no conversation", argument="log")
    # Characters are enough to compare: the first of the largest.
    return max(histories, key=lambda history: (not history.is_sidechain, len(str(history.messages))))


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
    sums = [*accumulate([view.tokens for view in session.views], initial=session.beside_tokens)]
    logged = {call.index: call.prompt_tokens for call in history.calls}
    prompts: list[tuple[int, int]] = []
    for index in call_indices(history):
        start, summary = prompt_start(history, index)
        replaced = sums[start] - session.beside_tokens
        prompts.append(
            (index, logged.get(index) or sums[index] - replaced + (session.summary(summary).tokens if summary else 0))
        )
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
    start, summary = prompt_start(history, index)
    first = [session.summary(summary)] if summary else []
    return [*session.beside, *first, *(part for part in session.parts if start <= part.message < index)]


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


def _redundant(window: Sequence[Part]) -> tuple[Redundant, Redundant]:
    """Find superseded results, and other repeated parts. The newest of each does not count."""
    results = [part for part in window if part.kind == TOOL_RESULTS]
    later = superseded_by([part.call or ToolCall("", {}) for part in results])
    outdated = {id(part) for part, by in zip(results, later, strict=True) if by is not None}
    superseded, repeated = list[int](), list[int]()
    texts = set[str]()
    for part in reversed(window):
        if id(part) in outdated:
            superseded.append(part.tokens)
        elif part.tokens >= _MIN_REPEATED and part.text in texts:
            repeated.append(part.tokens)
        if part.text:
            texts.add(part.text)
    return Redundant(len(superseded), sum(superseded)), Redundant(len(repeated), sum(repeated))


def _growth(history: History, prompts: Sequence[tuple[int, int]]) -> Iterable[Growth]:
    before = 0
    for index, tokens in prompts:
        yield Growth(tokens, _is_compacted(history, before, index))
        before = index
