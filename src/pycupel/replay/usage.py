"""`context_usage`: show where the window of a logged session goes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import Any, NamedTuple

from pycupel.errors import InvalidArgumentError
from pycupel.messages import Finding, count_messages, lint_messages
from pycupel.model.checks import wrong_type
from pycupel.model.frozen import sealed
from pycupel.replay.log import Call, History, Log
from pycupel.replay.parts import ASSISTANT, IMAGES, RESULTS, SUMMARY, SYSTEM, THINKING, TOOLS, USER, Part, Splitter
from pycupel.replay.run import counter_for
from pycupel.replay.session import call_indices
from pycupel.tokens.counters import Counter, CounterLike

__all__ = ["ContextUsage", "Growth", "Waste", "WindowShare", "context_usage"]

NOT_IN_FILE = "not in the file"
_ORDER = (SYSTEM, TOOLS, SUMMARY, USER, ASSISTANT, THINKING, RESULTS, IMAGES)
_LARGEST = 10
# Calls with less appended text are ignored; with fewer calls than this, the counter is not corrected.
_MIN_TOKENS, _MIN_PAIRS = 40, 5
# Texts shorter than this repeat by chance.
_MIN_REPEATED = 20


class WindowShare(NamedTuple):
    """A row of the window."""

    kind: str
    """"system", "tools", "summary", "user", "assistant", "thinking", "tool results", "images", or "not in the file" for
    what the provider counted and the log does not show.
    """

    tool: str
    """For results, the name of the tool."""

    parts: int
    """How many parts there are."""

    tokens: int
    """Their tokens."""


class Waste(NamedTuple):
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

    superseded: Waste
    """Results of calls that were repeated later, with the same arguments."""

    repeated: Waste
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
    history = _history(log)
    count = _calibrated(history, counter_for(history, counter))
    splitter = Splitter(history.resolved_provider, count)
    parts = splitter.parts(history.messages)
    sizes = _sizes(history, parts)
    prompts = _prompts(history, sizes, count)
    index, number, total, is_counted = _largest_prompt(history, prompts)
    window = _window(history, parts, index, splitter, count)
    shown = sum(part.tokens for part in window)
    superseded, repeated = _wasted(window)
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


def _history(log: Any) -> History:
    if isinstance(log, History):
        return log
    if not isinstance(log, Log):
        raise wrong_type("log", "a Log or a History", log)
    if not log.histories:
        raise InvalidArgumentError("the log has no conversation", argument="log")
    # Characters are enough to compare: the first of the largest.
    return max(log.histories, key=lambda history: (not history.is_sidechain, len(str(history.messages))))


def _calibrated(history: History, count: Counter) -> Counter:
    """Correct the counter by comparing the text appended between calls with the growth of the prompts."""
    sizes = _sizes(history, Splitter(history.resolved_provider, count).parts(history.messages))
    pairs: list[tuple[float, int, int]] = []
    for before, after in pairwise(history.calls):
        if before.prompt_tokens and after.prompt_tokens and not _is_compacted(history, before, after):
            counted, reported = sum(sizes[before.index : after.index]), after.prompt_tokens - before.prompt_tokens
            if counted >= _MIN_TOKENS and reported > 0:
                pairs.append((reported / counted, counted, reported))
    if len(pairs) < _MIN_PAIRS:
        return count
    _, counted, reported = _median(pairs)
    try:
        return counter_for(history, count.calibrated(counted=counted, reported=reported))
    except InvalidArgumentError:
        # Too far apart to be about the same text.
        return count


def _median(pairs: Iterable[tuple[float, int, int]]) -> tuple[float, int, int]:
    """Return the median pair by ratio, weighted by size, because hidden tokens inflate small pairs most."""
    ordered = sorted(pairs)
    half = sum(counted for _, counted, _ in ordered) / 2
    sums = accumulate(counted for _, counted, _ in ordered)
    return next(pair for pair, passed in zip(ordered, sums, strict=True) if passed >= half)


def _is_compacted(history: History, before: Call, after: Call) -> bool:
    return any(before.index < each.index <= after.index for each in history.compactions)


def _sizes(history: History, parts: Iterable[Part]) -> list[int]:
    sizes = [0] * len(history.messages)
    for part in parts:
        sizes[part.message] += part.tokens
    return sizes


def _start(history: History, index: int) -> tuple[int, str]:
    """Return where the prompt of a call starts, at the last compaction, and the summary before it."""
    passed = [each for each in history.compactions if each.index <= index]
    return (passed[-1].index, passed[-1].summary) if passed else (0, "")


def _prompts(history: History, sizes: Sequence[int], count: Counter) -> list[tuple[int, int]]:
    """Return the index of each call and the size of its prompt, counted by the provider or else by pycupel."""
    sums = [0]
    for size in sizes:
        sums.append(sums[-1] + size)
    logged = {call.index: call.prompt_tokens for call in history.calls}
    prompts: list[tuple[int, int]] = []
    for index in call_indices(history):
        start, summary = _start(history, index)
        prompts.append((index, logged.get(index) or sums[index] - sums[start] + (count(summary) if summary else 0)))
    return prompts


def _largest_prompt(history: History, prompts: Sequence[tuple[int, int]]) -> tuple[int, int, int, bool]:
    """Return the index of the largest prompt, which call it was, its tokens, and whether the provider counted them."""
    if not prompts:
        return len(history.messages), 0, 0, False
    number = max(range(len(prompts)), key=lambda n: prompts[n][1])
    index, tokens = prompts[number]
    return index, number + 1, tokens, any(call.index == index and call.prompt_tokens for call in history.calls)


def _window(history: History, parts: Iterable[Part], index: int, splitter: Splitter, count: Counter) -> list[Part]:
    """Return the parts of the prompt at an index."""
    start, summary = _start(history, index)
    window = [part for part in parts if start <= part.message < index]
    if summary:
        window.insert(0, splitter.text(SUMMARY, summary))
    if history.tools:
        with_tools, without = (
            count_messages([], history.provider, count, model=history.model, tools=tools)
            for tools in (history.tools, None)
        )
        tokens = with_tools - without
        window.insert(0, Part(-1, TOOLS, "", "", tokens))
    if history.system:
        window.insert(0, splitter.text(SYSTEM, history.system))
    return window


def _rows(window: Iterable[Part]) -> list[WindowShare]:
    """Sum the parts by kind, in the usual order, and results by tool, the largest first."""
    groups: dict[tuple[str, str], list[int]] = {}
    for part in window:
        groups.setdefault((part.kind, part.tool if part.kind == RESULTS else ""), []).append(part.tokens)
    rows = [WindowShare(kind, tool, len(tokens), sum(tokens)) for (kind, tool), tokens in groups.items()]
    return sorted(rows, key=lambda row: (_ORDER.index(row.kind), -row.tokens, row.tool))


def _wasted(window: Iterable[Part]) -> tuple[Waste, Waste]:
    """Find superseded results, and other repeated parts. The newest of each does not count."""
    superseded, repeated = list[int](), list[int]()
    calls, texts = set[str](), set[str]()
    for part in reversed(list(window)):
        if part.kind == RESULTS and part.call in calls:
            superseded.append(part.tokens)
        elif part.tokens >= _MIN_REPEATED and part.text in texts:
            repeated.append(part.tokens)
        if part.kind == RESULTS and part.call:
            calls.add(part.call)
        if part.text:
            texts.add(part.text)
    return Waste(len(superseded), sum(superseded)), Waste(len(repeated), sum(repeated))


def _growth(history: History, prompts: Sequence[tuple[int, int]]) -> Iterable[Growth]:
    before = 0
    for index, tokens in prompts:
        yield Growth(tokens, any(before < each.index <= index for each in history.compactions))
        before = index
