"""Replay a history: cut it where selections before every model call would have cut it.

This makes a selection a function of the history and the arguments, so that the start of the prompt is stable without
any state between calls. Between two cuts, a history only grows, so a running sum finds the next cut, and units are
chosen only there: however long the history is, each message is looked at just a few times.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Collection, Container, Iterable, Mapping, Sequence
from functools import cached_property
from itertools import accumulate
from typing import TYPE_CHECKING, Any, NamedTuple

from pycupel.diagnostics import BudgetExceeded, ExclusionReason, SelectionReport
from pycupel.errors import UnitTooLargeError
from pycupel.kernels.order import descending, records
from pycupel.messages.history import History, Staying, items_at
from pycupel.messages.result import ResultText
from pycupel.messages.room import Plan
from pycupel.messages.slicing import fill, inner_slicer, scorer_for, without_lone_questions
from pycupel.model import ContextBudget, ContextItem
from pycupel.protocols import Scorer, Slicer
from pycupel.scorers._base import score_all
from pycupel.slicers._base import slice_by_index

if TYPE_CHECKING:
    from pycupel.messages.result import ShortenedMessage
    from pycupel.messages.run import Request


class Candidates:
    """The units that a cut chooses from.

    Args:
        history: The history.
        plan: How many tokens it may use.
        units: The units not dropped so far, ascending.
        begun: The number of units that have started, dropped ones included.
        end: The number of messages.
        must: The units that must stay.
        should: The units that stay if there is room.

    Attributes:
        must_tokens: The tokens of the units that must stay.
        pinned: The units that stay.
        pinned_tokens: The tokens of the units that stay.
    """

    def __init__(
        self,
        history: History,
        plan: Plan,
        units: list[int],
        *,
        begun: int,
        end: int,
        must: frozenset[int],
        should: frozenset[int],
    ) -> None:
        self.units = units
        self.begun = begun
        self.end = end
        self.must_tokens = self.pinned_tokens = history.tokens_of(must, end)
        self.pinned = must
        tokens = self.must_tokens + history.tokens_of(should, end)
        if tokens + plan.held <= plan.window:
            self.pinned, self.pinned_tokens = must | should, tokens


class HistoryCutter:
    """Cuts a history by a policy. Call it with the candidates to get the units to drop, with reasons.

    It shortens nothing; the methods for that are implemented by `ShorteningCutter`.

    Attributes:
        history: The history with its current tokens.
        saved: The tokens saved by shortening, by message.
        saved_tokens: The tokens saved since the replay began.
    """

    def __init__(self, request: Request) -> None:
        self.history = request.history
        self.saved: dict[int, int] = {}
        self.saved_tokens = 0
        self._messages = request.source
        self._plan = request.plan
        self._policy = request.policy
        self._items: dict[int, ContextItem] = {}

    @cached_property
    def _scorer(self) -> Scorer:
        return scorer_for(self._policy.scorer, (), None, "")[0]

    @cached_property
    def _inner(self) -> Slicer | None:
        """Return the policy's slicer, if it does more than take what fits."""
        return inner_slicer(self._policy.slicer)

    @cached_property
    def _answers(self) -> dict[int, int]:
        """Map each unit that opens a turn to the next unit in that turn."""
        answers: dict[int, int] = {}
        for i, unit in enumerate(self.history.units):
            if unit.anchor is not None and unit.problem is None:
                answers.setdefault(unit.anchor, i)
        return answers

    def __call__(self, candidates: Candidates) -> dict[int, ExclusionReason]:
        """Return the units to drop, with reasons."""
        pinned, sizes, ties = candidates.pinned, self.history.sizes, self.history.ties
        room, reserve = self._plan.goal(candidates.pinned_tokens, candidates.must_tokens)
        # Newest first, because the first of equal scores wins.
        units = [i for i in reversed(candidates.units) if i not in pinned]
        self._items |= items_at(self.history, [i for i in units if i not in self._items])
        items = [self._items[i] for i in units]
        scores = self._scores(items)
        order = descending(scores)
        ranked = [units[n] for n in order]
        capped: dict[int, ExclusionReason] = {}
        wanted = ranked
        if self._inner is not None:
            ranked_items = [items[n] for n in order]
            outcome = slice_by_index(self._inner, ranked_items, [scores[n] for n in order], ContextBudget(room))
            wanted = [ranked[n] for n in sorted(outcome.selected)]
            capped = {ranked[n]: reason for n, reason in outcome.cap_excluded}
        # Without room to grow, fill the window, even with messages whose neighbours are dropped.
        in_one_piece = self._inner is None and self._plan.is_stable
        taken = fill(wanted, sizes, ties, room - reserve, in_one_piece=in_one_piece)
        taken = without_lone_questions(taken, ties, self._answers, candidates.begun)
        left = max(0, room - reserve - sum([sizes[i] for i in taken]))
        gone = [i for i in ranked if i not in taken]
        if capped:
            return {i: capped.get(i) or BudgetExceeded(sizes[i], left) for i in gone}
        older = _after_last(ranked, taken) if in_one_piece else ()
        # Nothing is left for what is older than the cut, even if it is small.
        needs = [(sizes[i], 0 if i in older and sizes[i] <= left else left) for i in gone]
        return dict(zip(gone, records(BudgetExceeded, needs), strict=True))

    def _scores(self, items: Sequence[ContextItem]) -> list[float]:
        """Score units as items."""
        return score_all(self._scorer, tuple(items))

    def make_fit(self, must: Collection[int], end: int, /) -> None:
        """Shorten the units that must stay, before the message `end`, until they fit."""

    def restore(self, units: Iterable[int], /) -> None:
        """Reset dropped units to the tokens of the caller's messages."""

    def message(self, index: int) -> Any:
        """Return the message, or a copy with the current texts of its results."""
        return self._messages[index]

    def texts(self, _gone: Container[int], /) -> tuple[ResultText, ...]:
        """Return the texts of all shortened results, except in dropped units."""
        return ()

    def shortened(self, _kept: Iterable[int], /) -> tuple[ShortenedMessage, ...]:
        """Return the messages with shortened results."""
        return ()

    def in_report(
        self, report: SelectionReport | None, _shortened: Sequence[ShortenedMessage], /
    ) -> SelectionReport | None:
        """Return the report, with marks on the units with shortened results."""
        return report


def _after_last(ranked: Sequence[int], taken: Container[int]) -> frozenset[int]:
    """Return the units after the last one that is taken."""
    last = max([n for n, unit in enumerate(ranked) if unit in taken], default=-1)
    return frozenset(ranked[last + 1 :])


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
