"""A history as it is now: what its results say since they were shortened, and what its messages cost with that.

    history   0  user  Why does it fail?   1  assistant  calls read("log")   2  tool  900 lines
    overlay   0  10 tokens                 1  20 tokens                      2  6,000 tokens, or 40 as key lines

The history itself stays as it was read, because later cuts start from it, and a unit that is dropped is whole again.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from functools import cached_property, lru_cache
from itertools import accumulate
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from pycupel.fields import changed, field, is_filled, is_list, is_mapping, text_of
from pycupel.messages.history import History
from pycupel.messages.parts import MessageView, Part, PartReader, Path, returned_text
from pycupel.messages.providers._tables import FUNCTION_RESPONSES, TEXT, Prices, item_type
from pycupel.model import ContextItem, ContextKind, ContextSource
from pycupel.model.item import trusted_item
from pycupel.values import FrozenDict

if TYPE_CHECKING:
    from pycupel.messages.tool_results import Result

# Messages have no timestamps, so they get some by order, from a fixed start, so that equal histories stay equal.
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

_NO_METADATA: FrozenDict[str, Any] = FrozenDict()

_KINDS = {
    "system": (ContextKind.SYSTEM_PROMPT, ContextSource.CHAT),
    "reminder": (ContextKind.MESSAGE, ContextSource.CHAT),
    "ended": (ContextKind.MESSAGE, ContextSource.CHAT),
    "user": (ContextKind.MESSAGE, ContextSource.CHAT),
    "assistant": (ContextKind.MESSAGE, ContextSource.CHAT),
    "exchange": (ContextKind.TOOL_OUTPUT, ContextSource.TOOL),
}

Key: TypeAlias = tuple[int, int]
"""The index of a message, and the number of a result in it, or `QUESTION`."""

QUESTION = -1
"""In place of the number of a result: the longest text of a user message."""


class ResultText(NamedTuple):
    """The shortened text of a result in a selection."""

    message: int
    """The index of its message."""

    number: int
    """Its number among the results of the message; -1 for the longest text of a user message."""

    text: str
    """The shorter text."""


def results_in(parts: Iterable[Part]) -> list[Part]:
    """Return the results that may be shortened, in order. Callers know them by their number in this list."""
    return [part for part in parts if part.said is not None]


def read_results(message: Any) -> list[Part]:
    """Return the results of a message that may be shortened, whatever they cost."""
    return results_in(PartReader(len, Prices())(message))


def with_result_texts(message: Any, texts: Mapping[int, str]) -> Any:
    """Copy a message with other texts for some results that may be shortened, by their number."""
    results = read_results(message)
    return with_texts(message, {results[number].path: text for number, text in texts.items()})


def longest_text(message: Any, parts: Iterable[Part]) -> tuple[Path, str] | None:
    """Return where the longest text of a message is, and the text; None if no text can be replaced."""
    found: list[tuple[Path, str]] = []
    for part in parts:
        if part.kind == TEXT:
            node: Any = message
            path = part.path
            for step in path:
                # The texts of a file are numbered, wherever in it they are.
                inside: Any = field(node, step) if isinstance(step, str) else node[step] if is_list(node) else None
                node = inside
            if not isinstance(node, str):
                # A part that is just a text.
                node, path = field(node, "text"), (*path, "text")
            if node == part.text:
                found.append((path, part.text))
    return max(found, key=lambda place: len(place[1]), default=None)


def with_texts(message: Any, texts: Mapping[Path, str]) -> Any:
    """Copy a message with other texts at these paths, of results or of texts. What does not change is not copied."""
    for path, text in texts.items():
        message = _replaced(message, path, text, path[-1:])
    return message


def _replaced(node: Any, path: Path, text: str, last: Path) -> Any:
    if not path:
        if isinstance(node, str):
            return text
        if last == ("toolResult",):
            # Converse takes nothing but blocks.
            return changed(node, content=[{"text": text}])
        return _with_text(node, text, is_response=last != () and last[0] in FUNCTION_RESPONSES)
    step, *rest = path
    if isinstance(step, int):
        items = list(node)
        items[step] = _replaced(items[step], tuple(rest), text, last)
        return items
    return changed(node, **{step: _replaced(field(node, step), tuple(rest), text, last)})


def _with_text(result: Any, text: str, *, is_response: bool) -> Any:
    if not is_response:
        item = item_type(text_of(result, "type"))
        return changed(result, **{"content" if item is None else item.said: text})
    value = field(result, "response")
    key, _ = returned_text(value)
    # It stays an object, and an error stays an error. Images that a function returned beside it are dropped.
    whole = "error" if is_mapping(value) and "error" in value else "output"
    changes: dict[str, Any] = {"response": {whole: text} if key is None else {**value, key: text}}
    if is_filled(field(result, "parts")):
        changes["parts"] = None
    return changed(result, **changes)


class Overlay:
    """What the results of a history say now, and what its messages and units cost.

    Args:
        history: The history.
        messages: The caller's messages.
        count: Counts the tokens of a text.
        texts: The texts of results that earlier cuts have shortened.

    Attributes:
        views: The messages as they are now.
        tokens: The tokens of each message.
        sizes: The tokens of each unit.
        texts: The shorter texts, by message and by number of the result.
        saved: The tokens saved by shortening, by message.
        memo: What a shortener needs again at the next cut.
    """

    def __init__(
        self,
        history: History,
        messages: Sequence[Any] = (),
        count: Callable[[str], int] = len,
        texts: Iterable[ResultText] = (),
    ) -> None:
        self.history = history
        self.messages = messages
        self.count = count
        self.views = history.views.copy()
        self.tokens = history.tokens.copy()
        self.sizes = history.sizes.copy()
        self.texts: dict[int, dict[int, str]] = {}
        self.saved: dict[int, int] = {}
        self.memo: dict[Any, Any] = {}
        # The results as they are now, and messages as they were last read with other texts, with the copies that were.
        self._now: dict[Key, Result] = {}
        self._copies: dict[int, tuple[Mapping[int, str], MessageView, Any]] = {}
        self._items: dict[int, ContextItem] = {}
        self._removed = 0
        self.say({(n, number): text for n, number, text in texts})
        sizes = self.tokens.copy()
        for i in history.broken:
            for n in history.units[i].indices:
                sizes[n] = 0
        self._sums = list(accumulate(sizes, initial=0))
        self._removed = 0

    @cached_property
    def results(self) -> dict[int, list[Result]]:
        """The results that may be shortened, by unit."""
        from pycupel.messages.tool_results import find_results  # noqa: PLC0415 - few callers shorten results

        by_unit: dict[int, list[Result]] = {}
        for result in find_results(self.history):
            by_unit.setdefault(result.unit, []).append(result)
        return by_unit

    def results_now(self, unit_indices: Iterable[int], end: int) -> list[Result]:
        """Return the results of these units before a message, in order, with what they say and cost now."""
        found = [result for i in unit_indices for result in self.results.get(i, ()) if result.key[0] < end]
        for result in found:
            n, number = result.key
            if result.key not in self._now:
                shorter = self.texts.get(n, {}).get(number)
                text = result.part.said or "" if shorter is None else shorter
                tokens = (self.count(text) if text else 0) + (result.part.beside if shorter is None else 0)
                self._now[n, number] = result._replace(text=text, tokens=tokens, is_whole=shorter is None)
        return [self._now[key] for key in sorted([result.key for result in found])]

    def remaining(self, end: int) -> int:
        """Return the tokens before a message, without what was dropped or saved since the start."""
        return self._sums[end] - self._removed

    def tokens_of(self, unit_indices: Iterable[int], end: int | None = None) -> int:
        """Count the tokens of these units; if `end` is given, only of the messages before it."""
        sizes = self.sizes
        if end is None:
            return sum([sizes[i] for i in unit_indices])
        units, tokens = self.history.units, self.tokens
        return sum(
            [
                sizes[i] if units[i].indices[-1] < end else sum([tokens[n] for n in units[i].indices if n < end])
                for i in unit_indices
            ]
        )

    def drop(self, unit_indices: Iterable[int]) -> None:
        """Count these units no longer. They are never needed again: later messages depend only on the newest unit."""
        self._removed += self.tokens_of(unit_indices)

    def say(self, texts: Mapping[Key, str]) -> None:
        """Replace the texts of results, and count their messages again."""
        views = self._views_with(texts)
        for (n, number), text in texts.items():
            self.texts.setdefault(n, {})[number] = text
            self._now.pop((n, number), None)
        for n, view in views.items():
            saved = self.tokens[n] - view.tokens
            # The view keeps its own calls and results: the ids of providers without any depend on earlier messages.
            self.views[n] = self.views[n]._replace(text=view.text, tokens=view.tokens, parts=view.parts)
            self.tokens[n] = view.tokens
            unit = self.history.unit_of[n]
            self._items.pop(unit, None)
            self.sizes[unit] -= saved
            self.saved[n] = self.saved.get(n, 0) + saved
            self._removed += saved

    def sizes_with(self, texts: Mapping[Key, str]) -> dict[int, int]:
        """Count the tokens that the units of these results would have with these texts."""
        sizes: dict[int, int] = {}
        for n, view in self._views_with(texts).items():
            unit = self.history.unit_of[n]
            sizes[unit] = sizes.get(unit, self.sizes[unit]) + view.tokens - self.tokens[n]
        return sizes

    def texts_of(self, groups: Iterable[Iterable[int]]) -> list[str]:
        """Return what each of these groups of messages says now."""
        now, whole, texts = self.views, self.history.whole_views, self.texts
        return ["\n".join([(now if n in texts else whole)[n].text for n in group]) for group in groups]

    def message(self, index: int) -> Any:
        """Return the caller's message, or a copy with the current texts of its results."""
        texts = self.texts.get(index)
        if not texts:
            return self.messages[index]
        # The current texts have been read.
        return self._copies[index][2] if self._copies[index][0] == texts else self._with_texts(index, texts)

    def texts_without(self, gone: Container[int]) -> tuple[ResultText, ...]:
        """Return the texts of all shortened results, except in dropped units."""
        there = sorted(n for n in self.texts if self.history.unit_of[n] not in gone)
        return tuple(ResultText(n, number, text) for n in there for number, text in sorted(self.texts[n].items()))

    def restore(self, unit_indices: Iterable[int]) -> None:
        """Make dropped units whole again: what they cost is what the caller's messages cost."""
        if self.texts:
            for i in unit_indices:
                for n in self.history.units[i].indices:
                    if self.texts.pop(n, None) is not None:
                        self.tokens[n] = self.history.tokens[n]
                        self.sizes[i] = self.history.sizes[i]

    def items(self, unit_indices: Sequence[int]) -> list[ContextItem]:
        """Return these units as items. Most are there at several cuts, so they are made once."""
        self._items |= items_at(self, [i for i in unit_indices if i not in self._items])
        return [self._items[i] for i in unit_indices]

    def _views_with(self, texts: Mapping[Key, str]) -> dict[int, MessageView]:
        """Read the messages of these results with these texts, beside those that they have already."""
        said: dict[int, dict[int, str]] = {}
        for (n, number), text in texts.items():
            said.setdefault(n, {**self.texts.get(n, {})})[number] = text
        # What is chosen has been read to choose it.
        new = [n for n, own in said.items() if n not in self._copies or self._copies[n][0] != own]
        if new:
            copies = [self._with_texts(n, said[n]) for n in new]
            views = self.history.provider.read(copies, self.count)
            self._copies |= {n: (said[n], view, made) for n, view, made in zip(new, views, copies, strict=True)}
        return {n: self._copies[n][1] for n in said}

    def _with_texts(self, index: int, texts: Mapping[int, str]) -> Any:
        paths = {n: part.path for n, part in enumerate(results_in(self.history.views[index].parts))}
        if QUESTION in texts:
            paths[QUESTION], _ = self.question(index) or ((), "")
        return with_texts(self.messages[index], {paths[number]: text for number, text in texts.items()})

    def question(self, index: int) -> tuple[Path, str] | None:
        """Return where the longest text of a message is, and the whole text; None if no text can be replaced."""
        return longest_text(self.messages[index], self.history.whole_views[index].parts)


def items_at(
    overlay: Overlay,
    unit_indices: Iterable[int],
    pinned: Container[int] = (),
    *,
    named: Mapping[str, Any] | None = None,
) -> dict[int, ContextItem]:
    """Make items for these units, by unit index, with their whole texts and their current tokens.

    If `named` is given, their metadata has it and the indices of the messages, which doubles the time.
    """
    history, sizes = overlay.history, overlay.sizes
    rows: dict[int, tuple[Any, ...]] = {}
    for i in unit_indices:
        indices, role, *_ = history.units[i]
        kind, source = _KINDS[role]
        metadata = _NO_METADATA if named is None else FrozenDict({"pycupel.unit": list(indices), **named})
        content = history.text_of(i) or f"({role} without text)"
        rows[i] = (content, sizes[i], kind, source, None, (), metadata, _stamp(indices[-1]), None, i in pinned, None)
    return {i: trusted_item(*row) for i, row in rows.items()}


@lru_cache(maxsize=4096)
def _stamp(index: int) -> datetime:
    return _EPOCH + timedelta(seconds=index)
