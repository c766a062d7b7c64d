"""Read items and chat histories from JSON arrays, JSON lines or requests, with errors that say where."""

from __future__ import annotations

import io
import sys
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import IO, Any, NamedTuple

from pycupel.cli.exits import InputError
from pycupel.cli.hints import HISTORY, ITEMS, MESSAGE_KEYS, hint_at
from pycupel.cli.jsonstream import Located, read_values
from pycupel.cli.output import Screen, visible
from pycupel.codecs.base import Context, describe_value
from pycupel.compressed import is_damaged, open_binary
from pycupel.errors import DocumentError
from pycupel.model import ContextItem
from pycupel.model.names import suggestion

__all__ = [
    "Conversation",
    "check_files",
    "conversations_in",
    "items_in",
    "name_of",
    "one_conversation",
    "open_bytes",
    "open_text",
    "read_conversations",
    "read_items",
    "read_shown_items",
]

_STDIN, _AUTO = "-", "auto"
_MAX_WARNINGS = 5


@contextmanager
def open_text(path: str) -> Generator[Iterable[str]]:
    """Open the lines of a file, or of stdin for `-`; errors about them name the file."""
    with open_bytes(path) as file:
        text = io.TextIOWrapper(file, encoding="utf-8-sig")
        try:
            yield text
        finally:
            # Otherwise the wrapper would close stdin, which belongs to the caller of `main`.
            text.detach()


@contextmanager
def open_bytes(path: str) -> Generator[IO[bytes]]:
    """Open a file, or stdin for `-`; errors about its content name the file."""
    name = name_of(path)
    file = _stdin() if path == _STDIN else open_binary(path)
    try:
        yield file
    except UnicodeDecodeError as error:
        raise InputError(f"{name}: is not a text file in UTF-8: {error.reason}") from None
    except DocumentError as error:
        raise InputError(f"{name}: {error}") from None
    except Exception as error:
        if is_damaged(error):
            raise InputError(f"{name}: cannot be decompressed: {error}") from None
        raise
    finally:
        if path != _STDIN:
            file.close()


def check_files(paths: Sequence[str]) -> None:
    """Reject stdin named twice: it can be read once."""
    if paths.count(_STDIN) > 1:
        raise InputError("stdin: has been read already; name `-` only once")


def name_of(path: str) -> str:
    """What messages call a file."""
    return "stdin" if path == _STDIN else path


def _stdin() -> IO[bytes]:
    # It is None if it was closed before Python started.
    if sys.stdin is None or sys.stdin.closed:  # pyright: ignore[reportUnnecessaryComparison]
        raise InputError("stdin: is closed")
    return sys.stdin.buffer


def _values(lines: Iterable[str]) -> Iterator[Located]:
    is_empty = True
    for located in read_values(_without_nul(lines)):
        is_empty = False
        yield located
    if is_empty:
        raise DocumentError("is empty")


def _without_nul(lines: Iterable[str]) -> Iterator[str]:
    """Reject NUL characters: binary files are often valid UTF-8, but no text has them."""
    for line in lines:
        if "\0" in line:
            raise DocumentError("is not a text file: it has NUL characters")
        yield line


# --- items


def read_items(options: Any, screen: Screen) -> list[ContextItem]:
    """Read the items in `options.file`. Items without tokens are counted, and a note names the counter."""
    with open_text(options.file) as lines:
        return items_in(lines, options, screen)


def read_shown_items(options: Any, screen: Screen) -> list[ContextItem]:
    """As `read_items`, but with control characters in the contents made visible, unless for JSON or a page."""
    items = read_items(options, screen)
    if options.json or options.html is not None:
        return items
    return [item if item.content.isprintable() else replace(item, content=visible(item.content)) for item in items]


def items_in(lines: Iterable[str], options: Any, screen: Screen) -> list[ContextItem]:
    """Read the items in the lines of a file.

    Raises:
        DocumentError: there is something other than items.
    """
    reader = _ItemReader(options)
    items = [reader.read(number, located) for number, located in enumerate(_values(lines), 1)]
    reader.report(screen)
    return items


class _ItemReader:
    def __init__(self, options: Any) -> None:
        from pycupel.wire.items import ITEM  # noqa: PLC0415 - not every verb reads items

        self._item = ITEM
        self._context = Context()
        self._strict = options.strict
        self._names = [field.name for field in ITEM.fields]
        self._known = {name for field in ITEM.fields for name in field.spellings}
        # The default is loaded when an item needs it, but a name is checked even if none does.
        self._counter = None if options.counter == _AUTO else _counter(options.counter)
        self._counted = 0
        # The first record with each unknown key.
        self._unknown: dict[str, int] = {}

    def read(self, number: int, located: Located) -> ContextItem:
        row = located.value
        try:
            if row.__class__ is dict:
                self._note_unknown(number, row)
                if row.get("tokens") is None and isinstance(row.get("content"), str):
                    row = {**row, "tokens": self._count(row["content"])}
            item: ContextItem = self._item.read(row, self._context)
        except DocumentError as error:
            more = hint_at(row, ITEMS) or self._misspelt(row, error)
            raise DocumentError(f"{_location(number, located)}: {error}{more}") from None
        return item

    def _count(self, content: str) -> int:
        if self._counter is None:
            self._counter = _counter(_AUTO)
        self._counted += 1
        tokens: int = self._counter(content)
        return tokens

    def _note_unknown(self, number: int, row: dict[str, Any]) -> None:
        for key in row.keys() - self._known:
            if self._strict:
                raise DocumentError(f"unknown key{suggestion(key, self._names)}", path=repr(key))
            self._unknown.setdefault(key, number)

    def _misspelt(self, row: Any, error: DocumentError) -> str:
        """Return a hint for a missing field: the key that is probably a misspelling of it."""
        unknown = row.keys() - self._known if error.path in self._names else ()
        meant = [key for key in sorted(unknown) if suggestion(key, [error.path])]
        return f"; {meant[0]!r} is unknown: did you mean {error.path!r}?" if meant else ""

    def report(self, screen: Screen) -> None:
        for key, number in [*self._unknown.items()][:_MAX_WARNINGS]:
            near = suggestion(key, self._names) or (f"\n  {HISTORY}" if key == "role" else "")
            screen.warn(f"unknown key {key!r}, first in record {number}{near}")
        if len(self._unknown) > _MAX_WARNINGS:
            screen.warn(f"{len(self._unknown) - _MAX_WARNINGS} more unknown keys")
        if self._counted:
            screen.note(f"{self._counted:,} of the items had no tokens: counted by {self._counter}")


def _counter(name: str) -> Any:
    from pycupel.tokens.counters import get_counter  # noqa: PLC0415 - most items have their tokens

    return get_counter(name)


def _location(number: int, located: Located) -> str:
    return f"record {number}, line {located.line}"


# --- chat histories


class Conversation(NamedTuple):
    """The messages of a request, or a history without one."""

    messages: list[Any]
    """The messages, as they are in the file."""

    request: dict[str, Any] | None = None
    """The request that they are in, or None."""

    key: str = ""
    """Where in the request they are."""

    is_lines: bool = False
    """Whether the file has a message on each line."""

    number: int = 1
    """Which record of the file it is, from 1."""

    @property
    def beside(self) -> dict[str, Any]:
        """The system prompt and tools of the request, as arguments of `select_messages` and `count_messages`."""
        from pycupel.replay.requests import system_and_tools  # noqa: PLC0415 - items do not need it

        system, tools = system_and_tools(self.request or {})
        model = (self.request or {}).get("model")
        return {"system": system, "tools": tools or None, "model": model if isinstance(model, str) else None}

    def documents(self, messages: list[Any]) -> list[Any]:
        """Write other messages in the form of the file, one document per line."""
        if self.request is not None:
            return [{**self.request, self.key: messages}]
        return messages if self.is_lines else [messages]


def read_conversations(path: str) -> list[Conversation]:
    """Read the chat histories in a file: messages, a request, or a request on each line."""
    with open_text(path) as lines:
        return checked_conversations(conversations_in(lines))


def checked_conversations(found: list[Conversation]) -> list[Conversation]:
    """Return the conversations.

    Raises:
        DocumentError: the first looks like something else.
    """
    if found[0].request is None and (hint := hint_at(found[0].messages[0], HISTORY)):
        raise DocumentError(f"is not a chat history{hint}")
    return found


def conversations_in(lines: Iterable[str]) -> list[Conversation]:
    """Read the chat histories in the lines of a file.

    Raises:
        DocumentError: there is something other than messages or requests.
    """
    values = list(_values(lines))
    for number, located in enumerate(values, 1):
        if located.value.__class__ is not dict:
            raise DocumentError(f"{_location(number, located)}: a message or a request must be an object")
    requests = [_request(each.value, number) for number, each in enumerate(values, 1)]
    found = [each for each in requests if each is not None]
    if not found:
        return [Conversation([each.value for each in values], is_lines=not values[0].is_element and len(values) > 1)]
    if len(found) < len(values):
        number = requests.index(None) + 1
        raise DocumentError(f"{_location(number, values[number - 1])}: has no messages, unlike other records")
    return found


def _request(value: dict[str, Any], number: int) -> Conversation | None:
    for key in MESSAGE_KEYS:
        messages = value.get(key)
        # A message of the Responses API may also have an `input`, but it has a type.
        if messages is None or "role" in value or "type" in value:
            continue
        if isinstance(messages, str):
            # Responses and Gemini take a text instead of a message of the user.
            messages = [
                {"role": "user", "parts": [{"text": messages}]} if key == "contents" else _user_message(messages)
            ]
        if not isinstance(messages, list):
            raise DocumentError(f"record {number}: {key} must be a list of messages, not {describe_value(messages)}")
        return Conversation(messages, value, key, number=number)
    return None


def _user_message(text: str) -> dict[str, Any]:
    return {"role": "user", "content": text}


def one_conversation(path: str, verb: str) -> Conversation:
    """Read the only chat history in a file.

    Raises:
        InputError: there are several.
    """
    found = read_conversations(path)
    if len(found) > 1:
        raise InputError(f"{path}: has {len(found):,} requests, but {verb} takes one")
    return found[0]
