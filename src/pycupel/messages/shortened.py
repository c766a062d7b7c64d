"""A history with shortened results: their texts, their tokens, and the messages to send."""

from __future__ import annotations

from collections.abc import Collection, Container, Iterable, Mapping, Sequence
from copy import copy
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from pycupel.diagnostics import IncludedItem, SelectionReport
from pycupel.diagnostics.report import considered_tokens, report_over
from pycupel.errors import InvalidArgumentError
from pycupel.messages.changes import ShortenedMessage
from pycupel.messages.cutter import HistoryCutter
from pycupel.messages.ladders import Key, Result, find_results, stub_of, without_media
from pycupel.messages.parts import results_in, with_texts
from pycupel.messages.plan import LEAST_TOKENS
from pycupel.messages.result import ResultText
from pycupel.model.checks import find_name
from pycupel.protocols import Shortener, checked_shortener
from pycupel.shorten import KeyLines, make_version
from pycupel.text import quoted

if TYPE_CHECKING:
    from pycupel.messages.request import Request

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
