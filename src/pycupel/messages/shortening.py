"""Shorten a history: at a cut, old results become key lines, then stubs, before their exchange is dropped.

A cut decides about all units at once: each stays whole, gets shorter results, or is dropped, so that as much unique
information as possible stays. By that measure, an exchange with a short result is worth little beside a line of a long
one, so the newest exchanges, or all of them if they get small enough, are never dropped for it. A shortened result
stays as it is; a later cut may shorten it further.
"""

from __future__ import annotations

from collections.abc import Collection, Container, Iterable, Mapping, Sequence
from copy import copy
from dataclasses import replace
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

from pycupel.diagnostics import BudgetExceeded, ExclusionReason, IncludedItem, SelectionReport
from pycupel.diagnostics.report import considered_tokens, report_over
from pycupel.errors import InvalidArgumentError
from pycupel.kernels.order import descending
from pycupel.kernels.versions import choose
from pycupel.messages.cuts import Candidates, HistoryCutter
from pycupel.messages.history import items_at
from pycupel.messages.ladders import (
    Key,
    Ladder,
    Result,
    find_results,
    ladder_of,
    ladder_versions,
    stub_of,
    without_media,
)
from pycupel.messages.parts import results_in, with_texts
from pycupel.messages.result import ResultText, ShortenedMessage
from pycupel.messages.room import LEAST_TOKENS
from pycupel.messages.slicing import fill, never_dropped, without_lone_questions
from pycupel.model import ContextBudget, ContextItem
from pycupel.model.checks import find_name
from pycupel.protocols import ShortenContext, Shortener, Slicer, checked_shortener
from pycupel.shorten import HeadAndTail, KeyLines, make_version
from pycupel.shorten.key_lines import pieces_of, units_of
from pycupel.slicers._base import slice_by_index
from pycupel.slicers._versions import value_of
from pycupel.text import quoted

if TYPE_CHECKING:
    from pycupel.messages.run import Request


SHORTENED = "Shortened"
"""The reason in a report for units selected with shorter results."""


class Shortening(NamedTuple):
    """How to shorten."""

    shortener: Shortener
    """Makes the versions of results."""

    keep: int
    """How many of the newest results stay whole while they fit."""

    exclude: frozenset[str]
    """The names of tools whose results are never shortened."""

    at_cuts: bool
    """Whether results are shortened before their exchange is dropped."""

    to_fit: bool
    """Whether results that must stay are shortened if they do not fit."""

    @property
    def facts(self) -> tuple[object, ...]:
        """Everything that versions depend on."""
        return repr(self.shortener), self.keep, tuple(sorted(self.exclude)), self.at_cuts, self.to_fit


def shortening_of(shorten: Any, keep: int, exclude: frozenset[str], *, to_fit: bool) -> Shortening:
    """Read the shortening options of `select_messages`.

    Raises:
        TypeError: `shorten` has the wrong type.
        InvalidArgumentError: it is an unknown name.
    """
    if shorten is None:
        return Shortening(KeyLines(), keep, exclude, at_cuts=False, to_fit=to_fit)
    if isinstance(shorten, str):
        if find_name(shorten, ("results",)) is None:
            raise InvalidArgumentError(
                f"shorten must be 'results' or a shortener, not {quoted(shorten)}", argument="shorten", value=shorten
            )
        shorten = KeyLines()
    return Shortening(checked_shortener("shorten", shorten), keep, exclude, at_cuts=True, to_fit=to_fit)


class ShortenedHistory(HistoryCutter):
    """A history whose results are shortened. The tokens of its messages and units change with them."""

    def __init__(self, request: Request, options: Shortening, texts: Iterable[ResultText]) -> None:
        super().__init__(request)
        self._original = whole = request.history
        self.history = copy(whole)
        # These lists are changed here.
        self.history.tokens = whole.tokens.copy()
        self.history.sizes = whole.sizes.copy()
        self.history.views = whole.views.copy()
        self._count = request.count
        self._options = options
        self._texts: dict[int, dict[int, str]] = {}
        self._sizes: dict[Key, int] = {}
        self._apply({(n, number): text for n, number, text in texts})
        self.saved_tokens = 0

    @cached_property
    def _results(self) -> dict[int, list[Result]]:
        by_unit: dict[int, list[Result]] = {}
        for result in find_results(self._original):
            by_unit.setdefault(result.unit, []).append(result)
        return by_unit

    @cached_property
    def _owner(self) -> dict[int, int]:
        # Without looking for results: most calls cut nothing, and only need the units of a few messages.
        return {n: i for i, unit in enumerate(self.history.units) for n in unit.indices}

    def _text(self, result: Result) -> str:
        return self._texts.get(result.message, {}).get(result.number, result.part.said or "")

    def _tokens(self, result: Result) -> int:
        """Return the current tokens of a result, including its images and files."""
        if result.key not in self._sizes:
            text = self._text(result)
            is_whole = result.number not in self._texts.get(result.message, {})
            self._sizes[result.key] = (self._count(text) if text else 0) + (result.part.beside if is_whole else 0)
        return self._sizes[result.key]

    def _can_shorten(self, result: Result) -> bool:
        return result.call.name not in self._options.exclude and self._tokens(result) >= LEAST_TOKENS

    def _results_before(self, units: Iterable[int], end: int) -> list[Result]:
        """Return the results of these units before a message, in order."""
        found = [result for i in units for result in self._results.get(i, ()) if result.message < end]
        return sorted(found, key=lambda result: result.key)

    def _newest(self, results: Sequence[Result]) -> list[Result]:
        """Return the newest results, newest first."""
        return list(reversed(results))[: self._options.keep]

    def _first_texts(self, results: Iterable[Result], newest: Collection[Result], end: int) -> dict[Key, str]:
        """Return the texts of what is shortened first: outdated results and old images."""
        texts: dict[Key, str] = {}
        new = {result.key for result in newest}
        for result in results:
            if result.key in new or result.part.failed or not self._can_shorten(result):
                continue
            tokens = self._tokens(result)
            is_old = result.outdated_at is not None and result.outdated_at < end
            media = 0 if result.number in self._texts.get(result.message, {}) else result.part.beside
            if is_old or media:
                text = stub_of(result, tokens) if is_old else without_media(result, media)
                if self._count(text) < tokens:
                    texts[result.key] = text
        return texts

    def message(self, index: int) -> Any:
        """Return the message, or a copy with the current texts of its results."""
        texts = self._texts.get(index)
        return self._with_texts(index, texts) if texts else self._messages[index]

    def _with_texts(self, index: int, texts: Mapping[int, str]) -> Any:
        results = results_in(self._original.views[index].parts)
        return with_texts(self._messages[index], {results[number].path: text for number, text in texts.items()})

    def shortened(self, kept: Iterable[int], /) -> tuple[ShortenedMessage, ...]:
        """Return the messages with shortened results."""
        whole, now = self._original.tokens, self.history.tokens
        return tuple(ShortenedMessage(n, whole[n], now[n]) for n in kept if n in self._texts)

    def texts(self, gone: Container[int], /) -> tuple[ResultText, ...]:
        """Return the texts of all shortened results, except in dropped units."""
        there = sorted(n for n in self._texts if self._owner[n] not in gone)
        return tuple(ResultText(n, number, text) for n in there for number, text in sorted(self._texts[n].items()))

    def restore(self, units: Iterable[int], /) -> None:
        """Reset dropped units to the tokens of the caller's messages."""
        for i in units:
            for n in self.history.units[i].indices:
                if self._texts.pop(n, None) is not None:
                    self.history.tokens[n] = self._original.tokens[n]
                    self.history.sizes[i] = self._original.sizes[i]

    def in_report(
        self, report: SelectionReport | None, shortened: Sequence[ShortenedMessage], /
    ) -> SelectionReport | None:
        """Mark the units with shorter results in the report, as versions of the original units."""
        if report is None or not shortened:
            return report
        saved = {each.index: each.original_tokens - each.tokens for each in shortened}
        included: list[IncludedItem] = []
        for each in report.included:
            indices: Sequence[int] = each.item.metadata.get("pycupel.unit", ())
            less = sum([saved.get(n, 0) for n in indices])
            if less:
                whole = replace(each.item, tokens=each.item.tokens + less)
                text = "\n".join([self.history.views[n].text for n in indices])
                version = make_version(whole, text, each.item.tokens, "shorter results")
                included.append(IncludedItem(version, each.score, SHORTENED))
            else:
                included.append(each)
        considered = considered_tokens([*included, *report.excluded])
        return report_over(report, included=tuple(included), total_tokens_considered=considered)

    def _size_with(self, unit: int, texts: Mapping[Key, str]) -> int:
        """Count the tokens of a unit with these texts."""
        history = self.history
        size = history.sizes[unit]
        for n in {n for n, _ in texts}:
            own = {**self._texts.get(n, {}), **{number: text for (m, number), text in texts.items() if m == n}}
            view = history.provider.read([self._with_texts(n, own)], self._count)[0]
            size += view.tokens - history.tokens[n]
        return size

    def _apply(self, texts: Mapping[Key, str]) -> None:
        if texts:
            for (n, number), text in texts.items():
                self._texts.setdefault(n, {})[number] = text
                self._sizes.pop((n, number), None)
            self._read_again({n for n, _ in texts})

    def _read_again(self, indices: Iterable[int]) -> None:
        """Count changed messages again."""
        history = self.history
        for n in indices:
            view = history.provider.read([self.message(n)], self._count)[0]
            saved = history.tokens[n] - view.tokens
            # Keep the ids: for providers without ids, they depend on earlier messages.
            ids = {part.path: part.id for part in history.views[n].parts}
            parts = tuple([part._replace(id=ids.get(part.path)) for part in view.parts])
            history.views[n] = history.views[n]._replace(text=view.text, tokens=view.tokens, parts=parts)
            history.tokens[n] = view.tokens
            self._items.pop(self._owner[n], None)
            history.sizes[self._owner[n]] -= saved
            self.saved[n] = self.saved.get(n, 0) + saved
            self.saved_tokens += saved


# About the results and the lines of a window of a million tokens.
_REMEMBERED_TEXTS = 2**10
_REMEMBERED_LINES = 2**16


class _Choice(NamedTuple):
    """The chosen version of each unit: its tokens, the texts of its results, and its value."""

    sizes: Mapping[int, int]
    texts: Mapping[int, Mapping[Key, str]]
    values: Mapping[int, int]


class ShorteningCutter(ShortenedHistory):
    """Cuts a history like `HistoryCutter`, and shortens results first."""

    @cached_property
    def _memo(self) -> dict[Any, Any]:
        """Functions that remember the pieces of a text and the units of a line; most are there at several cuts."""
        return {pieces_of: lru_cache(_REMEMBERED_TEXTS)(pieces_of), units_of: lru_cache(_REMEMBERED_LINES)(units_of)}

    def make_fit(self, must: Collection[int], end: int, /) -> None:
        """Shorten the results that must stay until they fit and leave room to grow."""
        history, plan = self.history, self._plan
        room = plan.window - plan.held
        if not self._options.to_fit or history.tokens_of(must, end) <= room:
            return
        units = sorted(must)
        results = self._results_before(units, end)
        newest = self._newest(results)
        self._apply(self._first_texts(results, newest, end))
        if history.tokens_of(must, end) <= room:
            return
        free = [result for result in results if self._can_shorten(result)]
        heads = [HeadAndTail(each) for each in (room, room // 2, room // 4) if each > 0]
        ladders = self._ladders(units, free, (), end, heads)
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
        self._stub_until_it_fits(free, must, end, room)

    def _stub_until_it_fits(self, results: Iterable[Result], must: Collection[int], end: int, room: int) -> None:
        """Replace the oldest results by stubs; a shorter text may have saved too little, as its message is JSON."""
        for result in results:
            if self.history.tokens_of(must, end) <= room:
                return
            stub = stub_of(result, self._tokens(result))
            if self._count(stub) < self._tokens(result):
                self._apply({result.key: stub})

    def __call__(self, candidates: Candidates) -> dict[int, ExclusionReason]:
        """Return the units to drop, with reasons, and shorten the others."""
        if not self._options.at_cuts:
            return super().__call__(candidates)
        history, end = self.history, candidates.end
        room, reserve = self._plan.goal(candidates.pinned_tokens, candidates.must_tokens)
        limit = max(0, room - reserve)
        units = [i for i in candidates.units if i not in candidates.pinned]
        results = self._results_before(candidates.units, end)
        newest = self._newest(results)
        kept = self._newest_whole(newest, candidates.pinned, limit)
        free = [each for each in results if each.unit not in candidates.pinned and each.key not in kept]
        self._apply(self._first_texts(free, newest, end))
        items = list(items_at(history, units).values())
        scores = dict(zip(units, self._scores(items), strict=True))
        free = [result for result in free if self._can_shorten(result)]
        staying = [i for i in candidates.units if i in candidates.pinned]
        ladders = self._ladders(units, free, staying, end)
        required = self._required(ladders, {result.unit for result in newest if result.key in kept}, limit)
        # Results that report errors stay whole if it is enough to shorten the others.
        errors_whole = {i: ladder.without(ladder.errors) for i, ladder in ladders.items()}
        if sum([ladder.least for ladder in errors_whole.values()]) <= limit:
            ladders = errors_whole
        choice = self._choose(ladders, scores, limit, required)
        excess = sum(choice.sizes.values()) - limit
        if excess > 0:
            # Shorter texts may have saved too little, as their messages are JSON.
            choice = self._choose(ladders, scores, max(0, limit - excess), required)
        order = self._order(choice, required, units)
        capped: dict[int, ExclusionReason] = {}
        if self._inner is not None:
            order, capped = self._within_policy(self._inner, order, choice, scores, room)
        sizes = [choice.sizes.get(i, size) for i, size in enumerate(history.sizes)]
        taken = fill(order, sizes, history.ties, limit, in_one_piece=False)
        taken = without_lone_questions(taken, history.ties, self._answers, candidates.begun)
        for i in taken:
            self._apply(choice.texts.get(i, {}))
        left = max(0, limit - history.tokens_of(taken))
        return {i: capped.get(i) or BudgetExceeded(history.sizes[i], left) for i in units if i not in taken}

    def _newest_whole(self, newest: Sequence[Result], pinned: Collection[int], limit: int) -> set[Key]:
        """Return the newest results that fit together with the rest of their units."""
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
                needed -= sum([self._tokens(each) for each in self._results[i] if self._can_shorten(each)])
            if needed <= left:
                kept.add(result.key)
                left -= needed
                seen.add(i)
        return kept

    def _required(self, ladders: dict[int, Ladder], whole: Collection[int], limit: int) -> list[int]:
        """Return the units that must not be dropped: those with results that stay whole, and others that get small."""
        sizes = self.history.sizes.copy()
        for i, ladder in ladders.items():
            sizes[i] = ladder.least
        left = limit - sum([sizes[i] for i in whole])
        others = [i for i in reversed(ladders) if i not in whole]
        return sorted({*whole, *never_dropped(others, sizes, self.history.ties, limit, left)})

    def _ladders(
        self,
        units: Sequence[int],
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
        messages_to_shorten = {result.message for result in free}

        def text_of(unit: int) -> str:
            indices = history.units[unit].indices
            return "\n".join([history.views[n].text for n in indices if n < end and n not in messages_to_shorten])

        said = {i: text_of(i) for i in units}
        spoken = {i: ContextItem(text, 1) for i, text in said.items() if text}
        items: list[ContextItem] = []
        for i in units:
            items += [spoken[i]] if i in spoken else []
            items += [item for _, item in own.get(i, ())]
        context = ShortenContext(items, [text_of(i) for i in staying], self._count)
        context.memo |= self._memo
        shortener = self._options.shortener
        sizes = {i: history.tokens_of([i], end) for i in units}
        return {i: ladder_of(sizes[i], own.get(i, ()), spoken.get(i), shortener, context, more) for i in units}

    def _choose(
        self, ladders: dict[int, Ladder], scores: Mapping[int, float], limit: int, required: Sequence[int]
    ) -> _Choice:
        # Newest first: they are the first to be lengthened again if there is room.
        units = list(reversed(ladders))
        rungs = [ladder_versions(ladders[i]) for i in units]
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
        """Return the order in which to take units: the newest results, then the most value per token.

        Units that were not chosen come last, newest first: others may depend on them, and there may be room.
        """
        chosen = [i for i in choice.sizes if i not in required]
        density = [choice.values[i] / max(1, choice.sizes[i]) for i in chosen]
        left = [i for i in reversed(units) if i not in choice.sizes and i not in required]
        return [*reversed(required), *(chosen[k] for k in descending(density)), *left]

    def _within_policy(
        self, inner: Slicer, order: Sequence[int], choice: _Choice, scores: Mapping[int, float], room: int
    ) -> tuple[list[int], dict[int, ExclusionReason]]:
        """Return the units that the policy's slicer accepts, and the reasons for the others."""
        ranked = [order[k] for k in descending([scores[i] for i in order])]
        items = [
            replace(item, tokens=choice.sizes.get(i, item.tokens)) for i, item in items_at(self.history, ranked).items()
        ]
        outcome = slice_by_index(inner, items, [scores[i] for i in ranked], ContextBudget(room))
        wanted = {ranked[k] for k in outcome.selected}
        return [i for i in order if i in wanted], {ranked[k]: reason for k, reason in outcome.cap_excluded}
