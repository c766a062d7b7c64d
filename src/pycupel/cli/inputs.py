"""Read items, chat histories and other values from files and stdin, with errors that name file, line and field."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import IO, Any, AnyStr, NamedTuple

from pycupel.cli.exits import InputError, notes_of
from pycupel.cli.output import Screen, visible
from pycupel.codecs.base import Context
from pycupel.codecs.json_values import Located, is_damaged, limited_lines, open_binary, read_values
from pycupel.errors import CupelError, DocumentError, MessageShapeError
from pycupel.fields import MESSAGE_KEYS
from pycupel.model import ContextItem
from pycupel.model.checks import suggestion
from pycupel.text import describe_value, escaped, number_text

# Say what a file seems to contain, and the verb that reads it.


HISTORY = "This looks like a chat history, which `pycupel trim` reads."
ITEMS = "These look like items, which `pycupel select` reads."
REPORT = "This looks like a stored report, which `pycupel explain` reads."
REQUESTS = "These look like requests with items, which `pycupel batch` reads."
TRANSCRIPT = "This looks like an agent's transcript, which `pycupel context` reads."


def hint_at(record: Any, *expected: str) -> str:
    """Return a second line for an error about a record; empty if the record is as expected or unrecognised."""
    found = _hint_for(record) if record.__class__ is dict else ""
    return f"\n  {found}" if found and found not in expected else ""


def hint_in(line: bytes, *expected: str) -> str:
    """Return a second line for an error about a file, by its first line."""
    try:
        record = next(read_values([line.decode()]), None)
    except (DocumentError, UnicodeDecodeError):
        return ""
    return hint_at(record.value, *expected) if record else ""


def is_report(record: Any) -> bool:
    """Whether a record looks like a stored report."""
    return record.__class__ is dict and all(isinstance(record.get(key), list) for key in ("included", "excluded"))


def _hint_for(record: dict[str, Any]) -> str:
    if is_report(record):
        return REPORT
    if isinstance(record.get("message"), dict) or isinstance(record.get("payload"), dict):
        return TRANSCRIPT
    if isinstance(record.get("items"), list):
        return REQUESTS
    if "role" in record or any(isinstance(record.get(key), list) for key in MESSAGE_KEYS):
        return HISTORY
    return ITEMS if isinstance(record.get("content"), str) and "type" not in record else ""


# Open files and stdin, and read the JSON values in them, with errors that name the file.


_STDIN = "-"


@contextmanager
def open_text(path: str, max_line: int, screen: Screen | None = None) -> Generator[Iterator[str]]:
    """Open the lines of a file, or of stdin for `-`; errors about them name the file, a screen shows the progress."""
    with _open(path, max_line) as file:
        text = io.TextIOWrapper(file, encoding="utf-8-sig")
        try:
            yield _watched(limited_lines(text, max_line), file, path, screen)
        finally:
            # Otherwise the wrapper would close stdin, which belongs to the caller of `main`.
            text.detach()


@contextmanager
def open_bytes(path: str, max_line: int, screen: Screen | None = None) -> Generator[Iterator[bytes]]:
    """Open the lines of a file as `open_text` does, but do not decode them."""
    with _open(path, max_line) as file:
        yield _watched(limited_lines(file, max_line), file, path, screen)


def _watched(lines: Iterator[AnyStr], file: IO[bytes], path: str, screen: Screen | None) -> Iterator[AnyStr]:
    """Show how much of a file has been read: bytes of a plain one, lines of stdin or a compressed one."""
    if screen is None:
        yield from lines
        return
    is_plain = path != _STDIN and isinstance(file, io.BufferedReader)
    size = os.stat(path).st_size if is_plain else 0  # noqa: PTH116 - `pathlib` takes too long to import
    with screen.progress_of(f"{'bytes' if size else 'lines'} of {name_of(path)} read:") as show:
        for number, line in enumerate(lines, 1):
            yield line
            show(file.tell() if size else number, size)


@contextmanager
def _open(path: str, max_line: int) -> Generator[IO[bytes]]:
    if max_line < 1:
        raise InputError(f"--max-line must be 1 or more, not {number_text(max_line)}")
    with errors_about(path):
        # It is None if it was closed before Python started.
        if path == _STDIN and (sys.stdin is None or sys.stdin.closed):  # pyright: ignore[reportUnnecessaryComparison]
            raise InputError("stdin: is closed")
        file = sys.stdin.buffer if path == _STDIN else open_binary(path)
        try:
            yield file
        finally:
            if path != _STDIN:
                file.close()


@contextmanager
def errors_about(path: str) -> Generator[None]:
    """Prefix errors about the content of a file with its name."""
    name = name_of(path)
    try:
        yield
    except UnicodeDecodeError as error:
        raise InputError(f"{name}: is not a UTF-8 text file: {error.reason}") from None
    except (DocumentError, MessageShapeError) as error:
        raise InputError(f"{name}: {error}{notes_of(error)}") from None
    except Exception as error:
        if is_damaged(error):
            raise InputError(f"{name}: cannot be decompressed: {error}") from None
        raise


def check_files(paths: Sequence[str]) -> None:
    """Reject stdin named twice: it can be read once."""
    if paths.count(_STDIN) > 1:
        raise InputError("stdin: has been read already; use `-` only once")


def name_of(path: str) -> str:
    """What messages call a file: in one line, whatever its name."""
    return "stdin" if path == _STDIN else escaped(path)


def values_in(lines: Iterable[str]) -> Iterator[Located]:
    """Read the JSON values in the lines of a file: at least one."""
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
            raise DocumentError("is not a text file: it contains NUL characters")
        yield line


def location_of(number: int, located: Located) -> str:
    """Say where a record is, by its number and line."""
    return f"record {number}, line {located.line}"


# Read items from a JSON array or JSON lines, with errors that name record, line and field.


_AUTO = "auto"
_MAX_WARNINGS = 5


def read_item_file(options: Any, screen: Screen) -> list[ContextItem]:
    """Read the items in `options.file`. Items without tokens are counted, and a note names the counter."""
    with open_text(options.file, options.max_line, screen) as lines:
        return items_in(lines, options, screen)


def shown_items(items: list[ContextItem], options: Any) -> list[ContextItem]:
    """Make control characters in the contents visible, unless for JSON or a page, which do that themselves."""
    if options.json or options.html is not None:
        return items
    return [
        item if item.content.isprintable() else replace(item, content=visible(item.content, laid_out=True))
        for item in items
    ]


def items_in(lines: Iterable[str], options: Any, screen: Screen) -> list[ContextItem]:
    """Read the items in the lines of a file."""
    return items_of(values_in(lines), options, screen)


def items_of(values: Iterable[Located], options: Any, screen: Screen) -> list[ContextItem]:
    """Read the items in the JSON values of a file, as `items_in` does."""
    reader = _ItemReader(options)
    items = [reader.read(number, located) for number, located in enumerate(values, 1)]
    reader.report(screen)
    return items


class _ItemReader:
    def __init__(self, options: Any) -> None:
        from pycupel.documents import as_item, is_document  # noqa: PLC0415 - not every verb reads items
        from pycupel.wire import ITEM  # noqa: PLC0415

        self._is_document, self._as_item = is_document, as_item
        self._item = ITEM
        self._context = Context()
        self._strict = options.strict
        self._names = [field.name for field in ITEM.fields]
        self._known = {name for field in ITEM.fields for name in field.spellings}
        # The default is loaded when an item needs it, but a name is checked even if none does.
        self._counter: Any = None
        if options.counter != _AUTO:
            from pycupel.tokens.counters import get_counter  # noqa: PLC0415 - most items have their tokens

            self._counter = get_counter(options.counter)
        self._model = options.model
        self._counted = 0
        # The first record with each unknown key.
        self._unknown: dict[str, int] = {}

    def read(self, number: int, located: Located) -> ContextItem:
        row = located.value
        # A list is a pair of a document and a score at best, and what reads documents says what to do about it.
        if row.__class__ in (str, list) or (row.__class__ is dict and self._is_document(row)):
            return self._read_document(row, location_of(number, located))
        try:
            if row.__class__ is dict:
                self._note_unknown(number, row)
                if row.get("tokens") is None and isinstance(row.get("content"), str):
                    row = {**row, "tokens": self._count(row["content"])}
            item: ContextItem = self._item.read(row, self._context)
        except DocumentError as error:
            raise DocumentError(f"{location_of(number, located)}: {error}{hint_at(row, ITEMS)}") from None
        return item

    def _read_document(self, document: str | list[Any] | dict[str, Any], where: str) -> ContextItem:
        try:
            return self._as_item(document, where, self._count)
        except (CupelError, TypeError) as error:
            problem = str(error)
            raise DocumentError(problem if where in problem else f"{where}: {problem}") from None

    def _count(self, content: str) -> int:
        if self._counter is None:
            from pycupel.tokens.families import counter_for  # noqa: PLC0415 - as below

            self._counter = counter_for(self._model, None)
        self._counted += 1
        tokens: int = self._counter(content)
        return tokens

    def _note_unknown(self, number: int, row: dict[str, Any]) -> None:
        for key in row.keys() - self._known:
            if self._strict:
                raise DocumentError(f"unknown key{suggestion(key, self._names)}", path=repr(key))
            self._unknown.setdefault(key, number)

    def report(self, screen: Screen) -> None:
        for key, number in [*self._unknown.items()][:_MAX_WARNINGS]:
            near = suggestion(key, self._names) or (f"\n  {HISTORY}" if key == "role" else "")
            screen.warn(f"unknown key {key!r}, first in record {number}{near}")
        if len(self._unknown) > _MAX_WARNINGS:
            screen.warn(f"{len(self._unknown) - _MAX_WARNINGS} more unknown keys")
        if self._counted:
            items = "item" if self._counted == 1 else "items"
            screen.note(f"counted the tokens of {self._counted:,} {items} without a token count, with {self._counter}")


# Read chat histories: messages, a request, or a request on each line.


_REPLY_LIMITS = ("max_tokens", "max_completion_tokens", "max_output_tokens", "maxOutputTokens", "maxTokens")
# Where requests of Gemini and Bedrock have them.
_OPTIONS = ("generationConfig", "generation_config", "config", "inferenceConfig")


class Conversation(NamedTuple):
    """The messages of a request, at its `key`, or a history without one."""

    messages: list[Any]
    request: dict[str, Any] | None = None
    key: str = ""
    is_lines: bool = False  # Whether the file has a message on each line.
    number: int = 1  # Which record of the file it is, from 1.

    @property
    def beside(self) -> dict[str, Any]:
        """The system prompt, tools and model of the request, as arguments of `select_messages` and `count_messages`."""
        from pycupel.replay.log import system_and_tools  # noqa: PLC0415 - items do not need it

        system, tools = system_and_tools(self.request or {})
        if not isinstance(system, str | list | dict | None):
            problem = f"the system prompt must be a string, blocks or a message, not {describe_value(system)}"
            raise DocumentError(f"record {self.number}: {problem}")
        request = self.request or {}
        model = request.get("model") or request.get("modelId")
        return {"system": system, "tools": tools or None, "model": model if isinstance(model, str) else None}

    @property
    def reply_tokens(self) -> int:
        """The most tokens of a reply that the request asks for; 0 if it does not say."""
        from pycupel.replay.log import as_dict  # noqa: PLC0415 - items do not need it

        request = self.request or {}
        places = [request, *(as_dict(request.get(name)) for name in _OPTIONS)]
        limits = [place.get(name) for place in places for name in _REPLY_LIMITS]
        return max([limit for limit in limits if type(limit) is int], default=0)

    def documents(self, messages: list[Any]) -> list[Any]:
        """Write other messages in the form of the file, one document per line."""
        if self.request is not None:
            return [{**self.request, self.key: messages}]
        return messages if self.is_lines else [messages]


def read_conversations(path: str, max_line: int) -> list[Conversation]:
    """Read the chat histories in a file."""
    with open_text(path, max_line) as lines:
        return conversations_in(lines)


def conversations_in(lines: Iterable[str]) -> list[Conversation]:
    """Read the chat histories in the lines of a file."""
    values = list(values_in(lines))
    for number, located in enumerate(values, 1):
        if located.value.__class__ is not dict:
            raise DocumentError(f"{location_of(number, located)}: a message or a request must be an object")
    requests = [_request(each.value, number) for number, each in enumerate(values, 1)]
    found = [each for each in requests if each is not None]
    if not found:
        if hint := hint_at(values[0].value, HISTORY):
            raise DocumentError(f"is not a chat history{hint}")
        return [Conversation([each.value for each in values], is_lines=not values[0].is_element and len(values) > 1)]
    if len(found) < len(values):
        number = requests.index(None) + 1
        raise DocumentError(f"{location_of(number, values[number - 1])}: has no messages, but other records do")
    return found


def _request(value: dict[str, Any], number: int) -> Conversation | None:
    # A message of the Responses API may also have an `input`, but it has a type.
    if "role" in value or "type" in value:
        return None
    for key in MESSAGE_KEYS:
        messages = value.get(key)
        if messages is None:
            continue
        if isinstance(messages, str):
            from pycupel.messages.providers._tables import USER_MESSAGES  # noqa: PLC0415 - few requests have a text

            messages = [USER_MESSAGES["gemini" if key == "contents" else "responses"](messages)]
        if not isinstance(messages, list):
            raise DocumentError(f"record {number}: {key} must be a list of messages, not {describe_value(messages)}")
        return Conversation(messages, value, key, number=number)
    return None
