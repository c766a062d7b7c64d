"""Shortening a history: at a cut, old results become key lines, then stubs, before their exchange is dropped.

A cut decides about everything at once: each unit is whole, has shorter results, or is dropped, so that what stays holds
most of what is said nowhere else. What a cut has shortened stays as it is; a later cut may shorten it further.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Container, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, NamedTuple

from pycupel.diagnostics import BudgetExceeded, ExclusionReason, IncludedItem, SelectionReport
from pycupel.diagnostics.report import with_fields
from pycupel.errors import InvalidArgumentError
from pycupel.kernels.order import descending
from pycupel.kernels.versions import choose
from pycupel.messages.choice import HistoryCutter
from pycupel.messages.cuts import Candidates
from pycupel.messages.history import History, items_at
from pycupel.messages.ladders import (
    LEAST_TOKENS,
    Key,
    Ladder,
    Result,
    climbed,
    find_results,
    ladder_of,
    stub_of,
    without_media,
)
from pycupel.messages.options import checked_name
from pycupel.messages.plan import Plan
from pycupel.messages.result import ResultText, ShortenedMessage
from pycupel.messages.results import with_result_texts
from pycupel.messages.slicing import fill, without_lone_questions
from pycupel.model import ContextBudget, ContextItem
from pycupel.model.checks import checked_count, checked_iterable, checked_str
from pycupel.pipeline import Policy
from pycupel.protocols import ShortenContext, Shortener, Slicer, checked_shortener
from pycupel.shorten import HeadAndTail, KeyLines, make_version
from pycupel.slicers._base import slice_by_index
from pycupel.slicers._versions import value_of

__all__ = ["SHORTENED", "Shortening", "ShorteningCutter", "shortening_of", "with_shortened"]

SHORTENED = "Shortened"
"""The reason in a report for what was selected with shorter results."""


class Shortening(NamedTuple):
    """How to shorten.

    Attributes:
        maker: Makes the versions of results.
        keep: How many of the newest results stay whole while they fit.
        exclude: The names of tools whose results are never shortened.
        at_cuts: Whether results become shorter before their exchange is dropped.
        to_fit: Whether the results of what must stay become shorter if they do not fit.
    """

    maker: Shortener
    keep: int
    exclude: frozenset[str]
    at_cuts: bool
    to_fit: bool

    @property
    def facts(self) -> tuple[object, ...]:
        """What decides about versions."""
        return repr(self.maker), self.keep, tuple(sorted(self.exclude)), self.at_cuts, self.to_fit


def shortening_of(shorten: Any, keep: Any, exclude: Any, *, to_fit: bool) -> Shortening | None:
    """What the options of `select_messages` say about shortening; None if nothing is to be shortened.

    Raises:
        TypeError: an option has the wrong type.
        InvalidArgumentError: an option has an invalid value.
    """
    newest = checked_count("keep", keep, InvalidArgumentError)
    names = frozenset(checked_str("exclude", each) for each in checked_iterable("exclude", "names of tools", exclude))
    if shorten is None:
        return Shortening(KeyLines(), newest, names, at_cuts=False, to_fit=True) if to_fit else None
    if isinstance(shorten, str):
        checked_name("shorten", shorten, ("results",))
        shorten = KeyLines()
    return Shortening(checked_shortener("shorten", shorten), newest, names, at_cuts=True, to_fit=to_fit)


class _Choice(NamedTuple):
    """What a choice among versions makes of units: what each costs then, and what its results say."""

    sizes: Mapping[int, int]
    texts: Mapping[int, Mapping[Key, str]]
    values: Mapping[int, int]


class ShorteningCutter:
    """Cuts a history like `HistoryCutter`, and shortens results first. It changes what the history costs.

    Attributes:
        saved: What has been saved, by message.
        saved_tokens: What has been saved since the replay began.
    """

    def __init__(
        self,
        history: History,
        messages: Sequence[Any],
        plan: Plan,
        policy: Policy,
        count: Callable[[str], int],
        options: Shortening,
        texts: Iterable[ResultText] = (),
    ) -> None:
        # The lists of a history are changed here, and are no longer the caller's.
        self.history = history._replace(
            tokens=history.tokens.copy(), sizes=history.sizes.copy(), views=history.views.copy()
        )
        self._messages = messages
        self._plan = plan
        self._policy = policy
        self._count = count
        self._options = options
        self._original = history
        self._texts: dict[int, dict[int, str]] = {}
        self._sizes: dict[Key, int] = {}
        self._cutter = HistoryCutter(self.history, plan, policy)
        self.saved: dict[int, int] = {}
        self.saved_tokens = 0
        self._apply({(n, number): text for n, number, text in texts})
        self.saved_tokens = 0

    # What there is

    @cached_property
    def _results(self) -> dict[int, list[Result]]:
        by_unit: dict[int, list[Result]] = {}
        for result in find_results(self._original, self._messages):
            by_unit.setdefault(result.unit, []).append(result)
        return by_unit

    @cached_property
    def _owner(self) -> dict[int, int]:
        return {result.message: i for i, results in self._results.items() for result in results}

    def _text(self, result: Result) -> str:
        return self._texts.get(result.message, {}).get(result.part.number, result.part.text)

    def _tokens(self, result: Result) -> int:
        """What a result costs now, with what is not text in it."""
        if result.key not in self._sizes:
            n, part = result.message, result.part
            tokens = self._count(self._text(result)) if self._text(result) else 0
            if part.has_media and part.number not in self._texts.get(n, {}):
                # The difference that a text in its place makes.
                without = with_result_texts(self._messages[n], {part.number: part.text or "-"})
                whole = self._original
                tokens += max(0, whole.tokens[n] - whole.provider.read([without], self._count)[0].tokens)
            self._sizes[result.key] = tokens
        return self._sizes[result.key]

    def _is_open(self, result: Result) -> bool:
        return result.call.name not in self._options.exclude and self._tokens(result) >= LEAST_TOKENS

    def _there(self, units: Iterable[int], end: int) -> list[Result]:
        """The results of these units before a message, in their order."""
        found = [result for i in units for result in self._results.get(i, ()) if result.message < end]
        return sorted(found, key=lambda result: result.key)

    def _newest(self, results: Sequence[Result]) -> list[Result]:
        """The newest results, the newest first."""
        return list(reversed(results))[: self._options.keep]

    # What becomes of it

    def message(self, index: int) -> Any:
        """The message, or a copy with what its results say now."""
        texts = self._texts.get(index)
        return with_result_texts(self._messages[index], texts) if texts else self._messages[index]

    def shortened(self, kept: Iterable[int]) -> tuple[ShortenedMessage, ...]:
        """Which of the messages have shorter results."""
        whole, now = self._original.tokens, self.history.tokens
        return tuple(ShortenedMessage(n, whole[n], now[n]) for n in kept if n in self._texts)

    def texts(self, gone: Container[int]) -> tuple[ResultText, ...]:
        """What the shortened results say of all units but those that are gone."""
        there = sorted(n for n in self._texts if self._owner[n] not in gone)
        return tuple(ResultText(n, number, text) for n in there for number, text in sorted(self._texts[n].items()))

    def restore(self, units: Iterable[int]) -> None:
        """What is gone was dropped as it was: its cost is that of the caller's messages again."""
        for i in units:
            for n in self.history.units[i].indices:
                if self._texts.pop(n, None) is not None:
                    self.history.tokens[n] = self._original.tokens[n]
                    self.history.sizes[i] = self._original.sizes[i]

    # How it becomes shorter

    def make_fit(self, must: Collection[int], end: int) -> None:
        """Shortens the results of what must stay, if it does not fit, so that it does and may grow."""
        history, plan = self.history, self._plan
        room = plan.window - plan.held
        if not self._options.to_fit or history.tokens_of(must, end) <= room:
            return
        units = sorted(must)
        there = self._there(units, end)
        newest = self._newest(there)
        self._apply(self._first_texts(there, newest, end))
        if history.tokens_of(must, end) <= room:
            return
        free = [result for result in there if self._is_open(result)]
        heads = [HeadAndTail(each) for each in (room, room // 2, room // 4) if each > 0]
        sizes = {i: history.tokens_of([i], end) for i in units}
        ladders = self._ladders(units, sizes, free, (), end, heads)
        least = sum([ladder.least for ladder in ladders.values()])
        goal = min(room, plan.target_for(least))
        spare = goal - least
        kept: list[Key] = []
        for result in newest:
            extra = ladders[result.unit].saves(result.key)
            if extra <= spare:
                spare -= extra
                kept.append(result.key)
        ladders = {i: ladder.without(kept) for i, ladder in ladders.items()}
        scores = {i: (n + 1) / len(units) for n, i in enumerate(units)}
        choice = self._choose(ladders, scores, goal, units)
        for texts in choice.texts.values():
            self._apply(texts)

    def __call__(self, candidates: Candidates) -> dict[int, ExclusionReason]:
        """What goes, and why; and shorten what stays."""
        if not self._options.at_cuts:
            return self._cutter(candidates)
        history, end = self.history, candidates.end
        room, reserve = self._plan.goal(candidates.pinned_tokens, candidates.must_tokens)
        limit = max(0, room - reserve)
        units = [i for i in candidates.units if i not in candidates.pinned]
        there = self._there(candidates.units, end)
        newest = self._newest(there)
        kept = self._newest_whole(newest, candidates.pinned, limit)
        free = [each for each in there if each.unit not in candidates.pinned and each.key not in kept]
        self._apply(self._first_texts(free, newest, end))
        items = list(items_at(history, units).values())
        scores = dict(zip(units, self._cutter.scores(items), strict=True))
        free = [result for result in free if self._is_open(result)]
        sizes = {i: history.sizes[i] for i in units}
        staying = [i for i in candidates.units if i in candidates.pinned]
        ladders = self._ladders(units, sizes, free, staying, end)
        with_errors = {i: ladder.without(ladder.errors) for i, ladder in ladders.items()}
        if sum([ladder.least for ladder in with_errors.values()]) <= limit:
            ladders = with_errors
        required = sorted({result.unit for result in newest if result.key in kept})
        choice = self._choose(ladders, scores, limit, required)
        order = self._order(choice, required, units)
        capped: dict[int, ExclusionReason] = {}
        if self._cutter.inner is not None:
            order, capped = self._within_policy(self._cutter.inner, order, choice, scores, room)
        sizes |= choice.sizes
        by_unit = [sizes.get(i, size) for i, size in enumerate(history.sizes)]
        taken = fill(order, by_unit, history.ties, limit, in_one_piece=False)
        taken = without_lone_questions(taken, history.ties, self._cutter.answers, candidates.begun)
        for i in taken:
            self._apply(choice.texts.get(i, {}))
        left = room - history.tokens_of(taken)
        return {i: capped.get(i) or BudgetExceeded(history.sizes[i], left) for i in units if i not in taken}

    def _newest_whole(self, newest: Sequence[Result], pinned: Collection[int], limit: int) -> set[Key]:
        """The newest results, while they fit with what else is in their units."""
        kept: set[Key] = set()
        seen: set[int] = set()
        left = limit
        for result in newest:
            i = result.unit
            if i in pinned:
                continue
            needed = self._tokens(result)
            if i not in seen:
                needed += self.history.sizes[i]
                needed -= sum([self._tokens(each) for each in self._results[i] if self._is_open(each)])
            if needed <= left:
                kept.add(result.key)
                left -= needed
                seen.add(i)
        return kept

    def _first_texts(self, results: Iterable[Result], newest: Collection[Result], end: int) -> dict[Key, str]:
        """What becomes shorter before anything else: what is out of date, and old pictures."""
        texts: dict[Key, str] = {}
        new = {result.key for result in newest}
        for result in results:
            if result.key in new or result.part.is_error or not self._is_open(result):
                continue
            tokens = self._tokens(result)
            is_old = result.outdated_at is not None and result.outdated_at < end
            has_media = result.part.has_media and result.part.number not in self._texts.get(result.message, {})
            if is_old or has_media:
                text = (
                    stub_of(result, tokens) if is_old else without_media(result, tokens - self._count(result.part.text))
                )
                if self._count(text) < tokens:
                    texts[result.key] = text
        return texts

    def _ladders(
        self,
        units: Sequence[int],
        sizes: Mapping[int, int],
        free: Sequence[Result],
        staying: Sequence[int],
        end: int,
        more: Sequence[Shortener] = (),
    ) -> dict[int, Ladder]:
        history = self.history
        own: dict[int, list[tuple[Result, ContextItem]]] = {}
        for result in free:
            item = ContextItem(self._text(result) or " ", self._tokens(result))
            own.setdefault(result.unit, []).append((result, item))
        open_messages = {result.message for result in free}

        def text_of(unit: int) -> str:
            indices = history.units[unit].indices
            return "\n".join([history.views[n].text for n in indices if n < end and n not in open_messages])

        said = {i: text_of(i) for i in units}
        spoken = {i: ContextItem(text, 1) for i, text in said.items() if text}
        items: list[ContextItem] = []
        for i in units:
            items += [spoken[i]] if i in spoken else []
            items += [item for _, item in own.get(i, ())]
        context = ShortenContext(items, [text_of(i) for i in staying], self._count)
        maker = self._options.maker
        return {i: ladder_of(sizes[i], own.get(i, ()), spoken.get(i), maker, context, self._count, more) for i in units}

    def _choose(
        self, ladders: Mapping[int, Ladder], scores: Mapping[int, float], limit: int, required: Sequence[int]
    ) -> _Choice:
        units = list(ladders)
        rungs = [climbed(ladder) for ladder in ladders.values()]
        weights = [sizes for sizes, _, _ in rungs]
        values = [[value_of(each, scores[i]) for each in own] for i, (_, own, _) in zip(units, rungs, strict=True)]
        needed = set(required)
        chosen = choose(weights, values, limit, [k for k, i in enumerate(units) if i in needed]).versions
        sizes: dict[int, int] = {}
        texts: dict[int, dict[Key, str]] = {}
        worth: dict[int, int] = {}
        for k, i in enumerate(units):
            version = chosen[k]
            if version < 0 and i in needed:
                version = len(weights[k]) - 1
            if version >= 0:
                texts[i] = {step.key: step.text for step in rungs[k][2][:version]}
                sizes[i] = self._size_with(i, texts[i]) if texts[i] else ladders[i].size
                worth[i] = values[k][version]
        return _Choice(sizes, texts, worth)

    def _order(self, choice: _Choice, required: Sequence[int], units: Sequence[int]) -> list[int]:
        """In which order to take what was chosen: the newest results, then what is worth most for its tokens.

        What was not chosen comes last, the newest first: others may be tied to it, and there may be room for it.
        """
        chosen = [i for i in choice.sizes if i not in required]
        density = [choice.values[i] / max(1, choice.sizes[i]) for i in chosen]
        left = [i for i in reversed(units) if i not in choice.sizes and i not in required]
        return [*reversed(required), *(chosen[k] for k in descending(density)), *left]

    def _within_policy(
        self, inner: Slicer, order: Sequence[int], choice: _Choice, scores: Mapping[int, float], room: int
    ) -> tuple[list[int], dict[int, ExclusionReason]]:
        """What the policy's slicer lets pass, and why it does not let the rest."""
        ranked = [order[k] for k in descending([scores[i] for i in order])]
        items = [
            replace(item, tokens=choice.sizes.get(i, item.tokens)) for i, item in items_at(self.history, ranked).items()
        ]
        outcome = slice_by_index(inner, items, [scores[i] for i in ranked], ContextBudget(room))
        wanted = {ranked[k] for k in outcome.selected}
        return [i for i in order if i in wanted], {ranked[k]: reason for k, reason in outcome.cap_excluded}

    def _size_with(self, unit: int, texts: Mapping[Key, str]) -> int:
        """What a unit would cost with these texts."""
        history = self.history
        size = history.sizes[unit]
        for n in {n for n, _ in texts}:
            own = {**self._texts.get(n, {}), **{number: text for (m, number), text in texts.items() if m == n}}
            view = history.provider.read([with_result_texts(self._messages[n], own)], self._count)[0]
            size += view.tokens - history.tokens[n]
        return size

    def _apply(self, texts: Mapping[Key, str]) -> None:
        if texts:
            for (n, number), text in texts.items():
                self._texts.setdefault(n, {})[number] = text
                self._sizes.pop((n, number), None)
            self._read_again({n for n, _ in texts})

    def _read_again(self, indices: Iterable[int]) -> None:
        """Counts messages again that have changed."""
        history = self.history
        for n in indices:
            view = history.provider.read([self.message(n)], self._count)[0]
            saved = history.tokens[n] - view.tokens
            # The ids stay: those of a provider without ids depend on the messages before.
            history.views[n] = history.views[n]._replace(text=view.text, tokens=view.tokens, shares=view.shares)
            history.tokens[n] = view.tokens
            self._cutter.forget(self._owner[n])
            history.sizes[self._owner[n]] -= saved
            self.saved[n] = self.saved.get(n, 0) + saved
            self.saved_tokens += saved


def with_shortened(report: SelectionReport, history: History, shortened: Sequence[ShortenedMessage]) -> SelectionReport:
    """The report with a reason of its own for the units that have shorter results, as versions of what they were."""
    saved = {each.index: each.original_tokens - each.tokens for each in shortened}
    included: list[IncludedItem] = []
    for each in report.included:
        indices: Sequence[int] = each.item.metadata.get("pycupel.unit", ())
        less = sum([saved.get(n, 0) for n in indices])
        if less:
            whole = replace(each.item, tokens=each.item.tokens + less)
            text = "\n".join([history.views[n].text for n in indices])
            version = make_version(whole, text, each.item.tokens, "shorter results")
            included.append(IncludedItem(version, each.score, SHORTENED))
        else:
            included.append(each)
    return with_fields(report, included=tuple(included))
