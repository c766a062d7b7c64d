"""Replay a history: cut it where selections before every model call would have cut it.

This makes a selection a function of the history and the arguments, so that the start of the prompt is stable without
any state between calls. Between two cuts, a history only grows, so a running sum finds the next cut, and units are
chosen only there: however long the history is, each message is looked at just a few times.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Collection, Mapping
from itertools import accumulate
from typing import NamedTuple

from pycupel.diagnostics import ExclusionReason
from pycupel.errors import UnitTooLargeError
from pycupel.messages.cutter import Candidates, HistoryCutter
from pycupel.messages.history import History, Staying
from pycupel.messages.plan import Plan
from pycupel.messages.result import ResultText

Gone = Mapping[int, ExclusionReason]


class State(NamedTuple):
    """The state between cuts."""

    end: int
    """The number of messages seen so far."""

    gone: Gone
    """The units that have been dropped, each with its reason."""

    texts: tuple[ResultText, ...] = ()
    """The texts of shortened results."""


START = State(0, {})
"""The state at the start of a history."""


class Replayed(NamedTuple):
    """The result of a replay."""

    before: State
    """The state at the last point before the end."""

    now: State
    """The state at the end."""

    candidates: Candidates
    """The candidates at the end."""

    dropped: Gone
    """The units that a cut at the end dropped."""

    saved: Mapping[int, int]
    """The tokens that shortening saved at the end, by message."""


def replay(cutter: HistoryCutter, plan: Plan, start: State) -> Replayed:
    """Visit all points of a history, and cut where it exceeds the window.

    Args:
        cutter: The history, and what to drop and to shorten.
        plan: When and how far to cut.
        start: Where to begin.

    Raises:
        UnitTooLargeError: what must stay does not fit at the end. Earlier points where it does not fit are skipped.
    """
    history = cutter.history
    rest, staying = _Remaining(cutter, start), Staying(history)
    fits_always = plan.fits_always
    # Cuts that leave no room to grow would not last, so the whole history is cut once.
    points = history.points if plan.is_stable else []
    end = start.end
    for end in points[bisect_right(points, start.end) :]:
        if rest.tokens(end) <= fits_always:
            continue
        must, should = staying.at(end, rest.gone)
        cutter.make_fit(must, end)
        if history.tokens_of(must, end) + plan.held <= plan.window:
            candidates = rest.candidates(end, must, should, plan)
            if not plan.fits(rest.tokens(end), candidates.must_tokens):
                rest.drop(cutter(candidates))
    before = State(end, dict(rest.gone), cutter.texts(rest.gone))
    saved_before = dict(cutter.saved)
    end = len(history.tokens)
    must, should = staying.at(end, rest.gone)
    cutter.make_fit(must, end)
    _check(history, must, plan)
    candidates = rest.candidates(end, must, should, plan)
    dropped: Gone = {} if plan.fits(rest.tokens(end), candidates.must_tokens) else cutter(candidates)
    gone = {**rest.gone, **dropped}
    now = State(end, gone, cutter.texts(gone))
    return Replayed(before, now, candidates, dropped, _newly_saved(saved_before, cutter.saved))


def _newly_saved(before: Mapping[int, int], now: Mapping[int, int]) -> dict[int, int]:
    return {n: tokens - before.get(n, 0) for n, tokens in now.items() if tokens != before.get(n, 0)}


def _check(history: History, must: Collection[int], plan: Plan) -> None:
    window = plan.window
    needed = history.tokens_of(must) + plan.held
    if needed > window and must:
        largest = max(sorted(must), key=history.sizes.__getitem__)
        indices, tokens = history.units[largest].indices, history.sizes[largest]
        others = needed - tokens
        beside = (
            f", beside others that need {others}: {needed} tokens in all, but the budget leaves {window} for messages"
            if others
            else ""
        )
        it, which = ("They", "those messages") if len(indices) > 1 else ("It", "that message")
        raise UnitTooLargeError(
            indices,
            tokens,
            max(0, window - others),
            hint=f"{it} must stay{beside}. Raise the budget, pin less, or shorten {which}.",
        )


class _Remaining:
    """The remaining history at successive points."""

    def __init__(self, cutter: HistoryCutter, start: State) -> None:
        history = cutter.history
        self._cutter = cutter
        self._history = history
        self._firsts = history.firsts
        self._begun = bisect_left(self._firsts, start.end)
        self.gone = dict(start.gone)
        self._units = [i for i in self._whole(0, self._begun) if i not in self.gone]
        sizes = history.tokens.copy()
        for i in history.broken:
            for n in history.units[i].indices:
                sizes[n] = 0
        self._sums = list(accumulate(sizes, initial=0))
        self._gone_tokens = history.tokens_of(self.gone)

    def _whole(self, start: int, end: int) -> list[int]:
        return [i for i in range(start, end) if i not in self._history.broken]

    def tokens(self, end: int) -> int:
        """Return the remaining tokens before a message."""
        # Only messages before the end have been shortened.
        return self._sums[end] - self._gone_tokens - self._cutter.saved_tokens

    def candidates(self, end: int, must: frozenset[int], should: frozenset[int], plan: Plan) -> Candidates:
        begun = bisect_left(self._firsts, end)
        self._units += self._whole(self._begun, begun)
        self._begun = begun
        return Candidates(self._history, plan, self._units, begun=begun, end=end, must=must, should=should)

    def drop(self, dropped: Gone) -> None:
        # Dropped units are never needed again: later messages depend only on the newest unit, which is kept.
        self.gone |= dropped
        self._gone_tokens += self._history.tokens_of(dropped)
        self._units = [i for i in self._units if i not in dropped]
