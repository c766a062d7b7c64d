"""Shorter versions that are given, cut from both ends, or a stub in place of the text."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast
from unicodedata import combining

from pycupel.errors import InvalidArgumentError
from pycupel.model import ContextItem
from pycupel.model.checks import POSITIVE, checked_iterable, wrong_type
from pycupel.model.item import make_version
from pycupel.protocols import ShortenContext, Shortener
from pycupel.shorten.outdated import arguments_of
from pycupel.text import number_text
from pycupel.values import check_fields, hold

# Escape sequences of terminals, and of JSON and programs.
TERMINAL = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]?|\][^\x07\x1b]*\x07?|.)", re.DOTALL)
_ESCAPE = re.compile(rf"{TERMINAL.pattern}|\\(?:u[0-9a-fA-F]{{4}}|x[0-9a-fA-F]{{2}}|.)", re.DOTALL)
_LONGEST_ESCAPE = 64
# Characters that join with the one before: variation selectors, skin tones, tags, and the joiner of emoji.
_JOINING = re.compile("[\u200d\ufe00-\ufe0f\U0001f3fb-\U0001f3ff\U000e0020-\U000e007f\udc00-\udfff]")
_FLAG = re.compile("[\U0001f1e6-\U0001f1ff]")
# Bidirectional marks, which change the direction of the following text up to another mark.
DIRECTION = re.compile("[\u202a-\u202e\u2066-\u2069]")
_CONTROL = re.compile("[\x00-\x08\x0e-\x1a\x1c-\x1f\ufffd]")
_BINARY_SHARE = 0.05
_SAMPLE = 65_536
# Longer runs of joined characters are cut: no real text has them.
_MAX_JOINED = 64


def is_binary(text: str) -> bool:
    """Whether a text is binary: it has a NUL, or many control characters at its start."""
    sample = text[:_SAMPLE]
    return "\x00" in text or len(_CONTROL.findall(sample)) > _BINARY_SHARE * len(sample)


def head_end(text: str, limit: int) -> int:
    """Find the last index up to `limit` where a head may end: after a line or a word, if one ends in its last half.

    It is 0 if a text with bidirectional marks has no such line, because part of a line would read differently.
    """
    line = text.rfind("\n", limit // 2, limit) + 1
    if line or DIRECTION.search(text):
        return line
    word = text.rfind(" ", limit // 2, limit) + 1
    return safe_index(text, word or limit)


def tail_start(text: str, start: int) -> int:
    """Find the first index from `start` where a tail may start: at a line or word, if one starts in its first half.

    It is the end of a text with bidirectional marks that has no such line.
    """
    middle = start + (len(text) - start) // 2
    line = text.find("\n", start, middle) + 1
    if line:
        return line
    if DIRECTION.search(text):
        return len(text)
    word = text.find(" ", start, middle) + 1
    return safe_index(text, word or start)


def safe_index(text: str, index: int) -> int:
    """Find the nearest index at or before this one that is not inside a character or an escape sequence."""
    least = max(0, index - _MAX_JOINED)
    while least < index < len(text) and _joins(text, index):
        index -= 1
    start = max(0, index - _LONGEST_ESCAPE)
    for match in _ESCAPE.finditer(text, start, index + _LONGEST_ESCAPE):
        if match.start() < index < match.end():
            return match.start()
    return index


def _joins(text: str, index: int) -> bool:
    """Whether the character at an index belongs to the one before it."""
    here, before = text[index], text[index - 1]
    if combining(here) or _JOINING.match(here) or before == "\u200d" or (here, before) == ("\n", "\r"):
        return True
    if not _FLAG.match(here):
        return False
    # A flag is a pair of letters, and several may follow each other.
    start = index
    while start > 0 and _FLAG.match(text[start - 1]):
        start -= 1
    return (index - start) % 2 == 1


@dataclass(frozen=True, slots=True, init=False)
class Versions:
    """An item and shorter versions of it, for `select` to choose from: `select([Versions(item, [summary])], 8_000)`.

    Raises:
        InvalidArgumentError: a version does not have fewer tokens than the item.
    """

    item: ContextItem
    """The whole item. Its score counts for all versions."""

    shorter: tuple[ContextItem, ...]
    """The versions.

    One without `original_tokens` is copied, with them and a mark in its metadata; one that has them is used as it is.
    """

    def __init__(self, item: ContextItem, shorter: Iterable[ContextItem]) -> None:
        versions: list[ContextItem] = []
        if not isinstance(cast(Any, item), ContextItem):
            raise wrong_type("item", "a ContextItem", item)
        for i, version in enumerate(checked_iterable("shorter", "an iterable of ContextItem", shorter)):
            if not isinstance(version, ContextItem):
                raise wrong_type(f"shorter[{i}]", "a ContextItem", version)
            if not 0 <= version.tokens < item.tokens:
                raise InvalidArgumentError(
                    f"shorter[{i}] must have fewer tokens than the item, which has {number_text(item.tokens)}, "
                    f"but has {number_text(version.tokens)}",
                    argument="shorter",
                    value=version,
                )
            if version.original_tokens is None:
                version = make_version(item, version.content, version.tokens, "given")  # noqa: PLW2901 - the same one
            versions.append(version)
        hold(self, item=item, shorter=tuple(versions))


def unpacked(items: Sequence[Any], shortener: Shortener | None) -> tuple[list[Any], Shortener]:
    """Return the whole items, and a shortener that returns existing versions, or else those of `shortener`."""
    given = {id(each.item): each.shorter for each in items if isinstance(each, Versions)}
    return [each.item if isinstance(each, Versions) else each for each in items], _WithVersions(given, shortener)


class _WithVersions:
    """Returns existing versions, and uses a shortener for the other items."""

    def __init__(self, versions: Mapping[int, tuple[ContextItem, ...]], shortener: Any) -> None:
        self._versions = versions
        self._shortener = shortener
        self.shortener_name = type(shortener or self).__name__

    def shorten(self, item: ContextItem, context: ShortenContext, /) -> Sequence[ContextItem]:
        if id(item) in self._versions:
            return self._versions[id(item)]
        made: Sequence[ContextItem] = () if self._shortener is None else self._shortener.shorten(item, context)
        return made

    def units(self, item: ContextItem, context: ShortenContext, /) -> float:
        own: Callable[..., float] | None = getattr(self._shortener, "units", None)
        return 1.0 if own is None else own(item, context)


_TRIES = 8


@dataclass(frozen=True, slots=True)
class HeadAndTail:
    """Keeps the beginning and the end of a text, with a line between them that says how much was left out.

    Cuts are made at the end of a line or word if one is near, and never inside a character or an escape
    sequence. A text that cannot be cut, such as binary content, has no version.
    """

    tokens: int = field(metadata=POSITIVE)
    """The maximum number of tokens of the version."""

    def __post_init__(self) -> None:
        check_fields(self, InvalidArgumentError)

    def shorten(self, item: ContextItem, context: ShortenContext, /) -> list[ContextItem]:
        """Make one version; none if the item already fits or cannot be cut."""
        text = item.content
        if item.tokens <= self.tokens or is_binary(text):
            return []
        room = self.tokens - context.count(item, _missing(text, 0, len(text)))
        each_side = len(text) * room // item.tokens // 2
        for _ in range(_TRIES):
            head, tail = head_end(text, each_side), tail_start(text, len(text) - each_side)
            if each_side <= 0 or not 0 < head < tail < len(text):
                break
            shown = f"{text[:head]}{_missing(text, head, tail)}{text[tail:]}"
            tokens = context.count(item, shown)
            if tokens <= self.tokens:
                return [make_version(item, shown, tokens, f"HeadAndTail({self.tokens})")]
            each_side = each_side * 3 // 4
        return []


def _missing(text: str, head: int, tail: int) -> str:
    lines = text.count("\n", head, tail)
    what = f"{lines:,} lines" if lines > 1 else f"{tail - head:,} characters"
    before = "" if text[:head].endswith("\n") or not head else "\n"
    return f"{before}[... {what} left out ...]\n"


# Metadata keys that say how to get an item again; the first one present is used.
_KEYS = ("key", "path", "file_path", "url", "uri", "id", "title", "name")
_LONGEST = 120
# The longest other argument of a call that is shown, and the most characters of all of them together.
_SHORT = 20
_LONGEST_OTHERS = 60


@dataclass(frozen=True, slots=True)
class Stub:
    """Replaces an item by one line: what it was, how large it was, and where it came from.

    For the result of a call, that is the name of the call with its main argument, and with others if they are few and
    short. They are read from `call` in the item's metadata, with `name` and `arguments`. Without it, its `key`, `path`,
    `url`, `id`, `title` or `name` is shown, if there is one.
    """

    def shorten(self, item: ContextItem, context: ShortenContext, /) -> list[ContextItem]:
        """Make one version; none if it would be no shorter."""
        text = stub_text(item.kind.value, item.content, item.tokens, _origin(item))
        tokens = context.count(item, text)
        return [make_version(item, text, tokens, "Stub()")] if tokens < item.tokens else []


def stub_text(what: str, content: str, tokens: int, origin: str, handle: str = "") -> str:
    """Write the line: `[result left out: 120 lines, 3,400 tokens, Read src/app.py; recall_result("toolu_17")]`.

    It never asks to repeat the call: an agent that obeys would call, and fill its window, again and again.
    """
    lines = content.count("\n") + (not content.endswith("\n"))
    size = f"{lines:,} lines, {tokens:,} tokens" if lines > 1 else f"{tokens:,} tokens"
    return f"[{what} left out: {size}{f', {origin}' if origin else ''}{f'; {handle}' if handle else ''}]"


def call_origin(name: str, arguments: Any) -> str:
    """Say what a call was: its name, its main argument, and others if they are few and short."""
    main, others = arguments_of(arguments)
    shown = "".join([f", {_line(key)}={_line(value)}" for key, value in others.items() if len(value) <= _SHORT])
    return f"{_line(name)}{f' {_line(main)}' if main else ''}{shown if len(shown) <= _LONGEST_OTHERS else ''}"


def _origin(item: ContextItem) -> str:
    given: Any = item.metadata.get("call")
    call = cast(Mapping[str, Any], given if isinstance(given, Mapping) else {})
    if isinstance(call.get("name"), str):
        return call_origin(call["name"], call.get("arguments"))
    for key in _KEYS:
        value: Any = item.metadata.get(key)
        if isinstance(value, (str, int)) and not isinstance(value, bool) and value != "":
            return f"{key}: {_line(str(value))}"
    return ""


def _line(text: str) -> str:
    """Put a text into one line, and cut it if it is long."""
    shown = text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."
    # Most are, and asking the whole text is much faster.
    return shown if shown.isprintable() else "".join([each if each.isprintable() else " " for each in shown])
