"""Summarise dropped messages with the caller's function, and send its text as one message."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import replace
from inspect import isawaitable, iscoroutine
from typing import Any, NamedTuple

from pycupel.messages.counting import Usage
from pycupel.messages.options import Summarize
from pycupel.messages.overlay import Overlay
from pycupel.messages.providers._base import compaction_in
from pycupel.messages.result import Cut, MessageSelection
from pycupel.text import LONGEST_NAME, describe, shortened
from pycupel.values import FrozenDict


class SummaryRequest(NamedTuple):
    """What to summarise, and where to put the summary."""

    summarize: Summarize
    """The caller's function."""

    room: int
    """The most tokens that the summary message may have."""

    overlay: Overlay
    """The history, and what its messages cost."""

    dropped: list[Any]
    """The messages that are in no summary yet."""

    last: str | None
    """The last summary of earlier messages, or None."""

    lead: int
    """The number of selected messages before it."""

    previous: MessageSelection | None
    """The previous selection, if it is of this history."""

    def answer(self, selection: MessageSelection) -> MessageSelection:
        """Return the selection with its summary, or with a note if there is none that fits."""
        try:
            text = self._text()
        except Exception as error:  # noqa: BLE001 - the messages can be sent anyway
            return self._without_summary(selection, _failed(error))
        if iscoroutine(text):
            text.close()
            return self._without_summary(selection, "summarize returned a coroutine; use aselect_messages")
        return self._with_summary(selection, text)

    async def answer_async(self, selection: MessageSelection) -> MessageSelection:
        """Do the same for a function that may be a coroutine function."""
        try:
            text = self._text()
            if isawaitable(text):
                text = await text
        except Exception as error:  # noqa: BLE001 - the messages can be sent anyway
            return self._without_summary(selection, _failed(error))
        return self._with_summary(selection, text)

    def _text(self) -> object:
        """Return what the caller's function returns; the last summary if nothing new was dropped."""
        return self.summarize(self.dropped, self.last) if self.dropped else self.last

    def _with_summary(self, selection: MessageSelection, text: object) -> MessageSelection:
        if not isinstance(text, str) or not text.strip():
            return self._without_summary(selection, f"summarize must return a non-empty str, not {describe(text)}")
        # Every provider accepts a user message directly after the system prompt.
        provider = self.overlay.history.provider
        message = provider.user_message(text)
        [view] = provider.read([message], self.overlay.count)
        if view.tokens > self.room:
            return self._without_summary(
                selection, f"the summary needs {view.tokens} tokens, but summary_tokens allows {self.room}"
            )
        rest = selection.messages[self.lead :]
        sent = [message, *rest] if provider.merge is None or not rest else [provider.merge(message, rest[0]), *rest[1:]]
        return replace(
            selection,
            messages=[*selection.messages[: self.lead], *sent],
            total_tokens=selection.total_tokens + view.tokens,
            usage=_add_to_usage(selection.usage, view.tokens),
            stable_prefix_tokens=self._stable_prefix(selection, text, view.tokens),
            cut=self._cut(selection, text, view.tokens),
            summary=text,
        )

    def _without_summary(self, selection: MessageSelection, problem: str) -> MessageSelection:
        return replace(
            selection,
            stable_prefix_tokens=self._stable_prefix(selection, None, 0),
            cut=self._cut(selection, None, 0),
            notes=(*selection.notes, f"no summary: {problem}"),
        )

    def _stable_prefix(self, selection: MessageSelection, text: str | None, tokens: int) -> int:
        start = sum([self.overlay.tokens[n] for n in selection.kept[: self.lead]])
        if self.previous is None or selection.stable_prefix_tokens < start:
            return selection.stable_prefix_tokens
        return selection.stable_prefix_tokens + tokens if self.previous.summary == text else start

    def _cut(self, selection: MessageSelection, text: str | None, tokens: int) -> Cut | None:
        """Return the cost of the cut: if the summary changes, it is the first change."""
        before = None if self.previous is None else self.previous.summary
        if selection.cut is None or text == before:
            return selection.cut
        after = sum([self.overlay.tokens[n] for n in selection.kept[self.lead :]])
        return replace(selection.cut, rewritten=tokens + after)


def request_of(
    summarize: Summarize,
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
    kept, units = selection.kept, overlay.history.units
    cut = sorted(n for i in gone for n in units[i].indices)
    if not cut:
        return None
    lead = 0
    while lead < len(kept) and kept[lead] == lead and overlay.views[lead].role == "system":
        lead += 1
    block = compaction_in(overlay.history.views)
    if block is not None:
        # It follows the compaction, which would stand for it otherwise.
        lead = bisect_right(kept, units[overlay.history.unit_of[block]].indices[-1])
    last = None if previous is None else previous.summary
    if previous is not None:
        before = {each.index for each in previous.dropped}
        new = [n for n in cut if n not in before]
        if last is None and not new:
            # The summary failed, and is not retried before the next cut.
            return None
        cut = cut if last is None else new
    dropped = [overlay.messages[n] for n in cut]
    return SummaryRequest(summarize, room, overlay, dropped, last, lead, previous)


def _add_to_usage(usage: Usage, tokens: int) -> Usage:
    history = {**usage.history, "user": usage.history.get("user", 0) + tokens}
    return replace(usage, history=FrozenDict(history), free=usage.free - tokens)


def _failed(error: Exception) -> str:
    return f"summarize raised {shortened(error, LONGEST_NAME)}"
