"""Summarise dropped messages with the caller's function, and send what it returns as one message."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable
from dataclasses import replace
from inspect import isawaitable, iscoroutine
from typing import Any, NamedTuple

from pycupel.errors import MessageShapeError
from pycupel.fields import as_plain, field, is_mapping
from pycupel.messages.counting import SYSTEM, Usage, tokens_by_kind_in
from pycupel.messages.options import Summarizer
from pycupel.messages.overlay import Overlay
from pycupel.messages.parts import MessageView
from pycupel.messages.providers._base import COMPACTION, compaction_in, prompts_end
from pycupel.messages.providers._tables import COMPACTION_MESSAGES
from pycupel.messages.result import Cut, MessageSelection, Summary
from pycupel.text import LONGEST_NAME, describe, shortened
from pycupel.values import FrozenDict


class _Draft(NamedTuple):
    """A summary that can be sent."""

    summary: Summary
    message: Any
    view: MessageView


class SummaryRequest(NamedTuple):
    """What to summarise, and where to put the summary."""

    summarize: Summarizer
    """The caller's function."""

    room: int
    """The most tokens that the summary message may have."""

    overlay: Overlay
    """The history, and what its messages cost."""

    waiting: list[int]
    """The indices of the dropped messages that are in no summary yet."""

    is_asked: bool
    """Whether to ask the caller's function."""

    last: Summary | None
    """The last summary, which stays until there is another one; or None."""

    summarized: tuple[int, ...]
    """The indices of the messages that are in it."""

    lead: int
    """The number of selected messages before it."""

    previous: MessageSelection | None
    """The previous selection, if it is of this history."""

    def answer(self, selection: MessageSelection) -> MessageSelection:
        """Return the selection with its summary: a new one, or the last one if there is none that can be sent."""
        try:
            made = self._ask()
        except Exception as error:  # noqa: BLE001 - the messages can be sent anyway
            return self._finish(selection, None, _failed(error))
        if iscoroutine(made):
            made.close()
            return self._finish(selection, None, "summarize returned a coroutine; use aselect_messages")
        return self._finish(selection, made)

    async def answer_async(self, selection: MessageSelection) -> MessageSelection:
        """Do the same for a function that may be a coroutine function."""
        try:
            made = self._ask()
            if isawaitable(made):
                made = await made
        except Exception as error:  # noqa: BLE001 - the messages can be sent anyway
            return self._finish(selection, None, _failed(error))
        return self._finish(selection, made)

    def _ask(self) -> Any:
        if not self.is_asked:
            return None
        return self.summarize([self.overlay.messages[n] for n in self.waiting], self.last)

    def _finish(self, selection: MessageSelection, made: Any, problem: str = "") -> MessageSelection:
        """Return the selection with the summary that was made, or else with the last one.

        Args:
            selection: The selection without a summary.
            made: What the function returned; None for "not yet", or if it was not asked.
            problem: Why it returned nothing, if it failed.
        """
        draft = problem or (None if made is None else self._draft(made))
        notes, failed = selection.notes, isinstance(draft, str)
        summarized = tuple(sorted({*self.summarized, *self.waiting}))
        if failed:
            notes = (*notes, f"{'no summary' if self.last is None else 'the last summary stays'}: {draft}")
        elif not self.is_asked and self.previous is not None:
            failed = self.previous.summary_failed
        if not isinstance(draft, _Draft):
            draft, summarized = None if self.last is None else self._draft(self.last), self.summarized
        # The last one was sent before, so it can be sent.
        sent = draft if isinstance(draft, _Draft) else None
        selection = replace(
            selection,
            stable_prefix_tokens=self._stable_prefix(selection, sent),
            cut=self._cut(selection, sent),
            notes=notes,
            summary_failed=failed,
        )
        if sent is None:
            return selection
        rest = selection.messages[self.lead :]
        merge = self.overlay.history.provider.merge
        first = [sent.message, *rest[:1]] if merge is None or not rest else [merge(sent.message, rest[0])]
        return replace(
            selection,
            messages=[*selection.messages[: self.lead], *first, *rest[1:]],
            total_tokens=selection.total_tokens + sent.view.tokens,
            usage=_add_to_usage(selection.usage, sent.view),
            summary=sent.summary,
            summarized=summarized,
        )

    def _draft(self, made: Any) -> _Draft | str:
        """Make the message of a summary, or say why there can be none."""
        provider = self.overlay.history.provider
        summary: Summary
        if isinstance(made, str) and made.strip():
            # Every provider accepts a user message directly after the system prompt.
            summary, message = made, provider.user_message(made)
        elif field(made, "type") == COMPACTION:
            if provider.name not in COMPACTION_MESSAGES:
                return f"{provider.name} has no compaction blocks; return a text"
            if compaction_in(self.overlay.history.views) is not None:
                return "a second compaction block would stand for the one in the history; return a text"
            # An SDK's object becomes a dict, because summaries are stored.
            summary = block = dict(made) if is_mapping(made) else as_plain(made)
            message = COMPACTION_MESSAGES[provider.name](block)
        else:
            return f"summarize must return a non-empty str, a compaction block or None, not {describe(made)}"
        try:
            [view] = provider.read([message], self.overlay.count)
        except MessageShapeError as error:
            return f"summarize returned a compaction block that cannot be read: {error}"
        if not isinstance(made, str) and COMPACTION not in view.marks:
            return "summarize returned a compaction block without content"
        if view.tokens > self.room:
            return f"the summary needs {view.tokens} tokens, but there is room for {self.room}; see Summarize(tokens=)"
        return _Draft(summary, message, view)

    def _stable_prefix(self, selection: MessageSelection, sent: _Draft | None) -> int:
        start = sum([self.overlay.tokens[n] for n in selection.kept[: self.lead]])
        if self.previous is None or selection.stable_prefix_tokens < start:
            return selection.stable_prefix_tokens
        summary, tokens = (None, 0) if sent is None else (sent.summary, sent.view.tokens)
        return selection.stable_prefix_tokens + tokens if self.previous.summary == summary else start

    def _cut(self, selection: MessageSelection, sent: _Draft | None) -> Cut | None:
        """Return the cost of the cut: if the summary changes, it is the first change, even if nothing is removed."""
        before = None if self.previous is None else self.previous.summary
        summary, tokens = (None, 0) if sent is None else (sent.summary, sent.view.tokens)
        if summary == before or (self.previous is None and selection.cut is None):
            return selection.cut
        after = sum([self.overlay.tokens[n] for n in selection.kept[self.lead :]])
        return Cut(0 if selection.cut is None else selection.cut.removed, tokens + after)


def request_of(
    summarize: Summarizer,
    room: int,
    overlay: Overlay,
    gone: Iterable[int],
    selection: MessageSelection,
    previous: MessageSelection | None,
) -> SummaryRequest | None:
    """Return what to summarise; None if nothing has been dropped.

    Args:
        summarize: The caller's function.
        room: The most tokens that the summary message may have.
        overlay: The history, and what its messages cost.
        gone: The units that were dropped because they did not fit.
        selection: The selection without its summary.
        previous: The previous selection, if it is of this history.
    """
    kept, history = selection.kept, overlay.history
    units = history.units
    cut = [n for i in gone for n in units[i].indices]
    if not cut:
        return None
    # Behind the system prompts, before which the history may have something broken.
    lead = bisect_left(
        kept, prompts_end(view for view in history.views if history.unit_of[view[0]] not in history.broken)
    )
    block = compaction_in(history.views)
    if block is not None:
        # It follows the compaction, which would stand for it otherwise.
        lead = bisect_right(kept, units[history.unit_of[block]].indices[-1])
    last: Summary | None = None
    summarized: tuple[int, ...] = ()
    if previous is not None and previous.summary is not None and max(previous.summarized, default=-1) > (block or -1):
        # A newer compaction stands for the messages of the last summary, too.
        last, summarized = previous.summary, previous.summarized
    waiting = sorted({*cut}.difference(summarized))
    is_asked = bool(waiting)
    if previous is not None and previous.summary_failed:
        # One that failed is not retried before the next cut.
        is_asked = not {each.index for each in previous.dropped}.issuperset(waiting)
    return SummaryRequest(summarize, room, overlay, waiting, is_asked, last, summarized, lead, previous)


def _add_to_usage(usage: Usage, view: MessageView) -> Usage:
    added = tokens_by_kind_in([view])
    system = added.pop(SYSTEM, 0)
    history = {kind: usage.history.get(kind, 0) + added.get(kind, 0) for kind in {**usage.history, **added}}
    return replace(usage, system=usage.system + system, history=FrozenDict(history), free=usage.free - view.tokens)


def _failed(error: Exception) -> str:
    return f"summarize raised {shortened(error, LONGEST_NAME)}"
