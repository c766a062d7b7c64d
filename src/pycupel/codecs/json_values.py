"""Read JSON or JSON lines, one value at a time, from files that may be compressed."""

from __future__ import annotations

import os
import sys
from collections.abc import Generator, Iterable, Iterator
from contextlib import contextmanager
from importlib import import_module
from json import JSONDecodeError, JSONDecoder
from typing import IO, Any, AnyStr, NamedTuple

from pycupel.errors import DocumentError, InvalidArgumentError

_DECODE = JSONDecoder().raw_decode
_SPACE = " \t\r\n"


class Located(NamedTuple):
    """A value of a JSON text."""

    value: Any
    """The value."""

    line: int
    """The line on which it starts, from 1."""

    is_element: bool = False
    """Whether it is an element of an array."""


def read_values(lines: Iterable[str]) -> Iterator[Located]:
    """Read the values in the lines of a text, each when it is needed.

    A text that starts with `[` is one array. Otherwise, if its first line is a value, every line has to be one; if not,
    the whole text has to be.
    """
    text = _Text(iter(lines))
    if not text.skip_space():
        return
    if text.next == "[":
        yield from _elements(text)
        return
    lines_read = text.lines_read
    yield Located(*text.value())
    # A value that took more than its line is a document.
    one_a_line = text.lines_read == lines_read
    while text.skip_space():
        if not one_a_line:
            raise text.error("Extra data")
        yield Located(*text.value(within_line=True))


def _elements(text: _Text) -> Iterator[Located]:
    text.advance()
    is_first = True
    while True:
        if not text.skip_space():
            raise text.error("Expecting ',' delimiter or ']'")
        if text.next == "]":
            break
        if not is_first:
            if text.next != ",":
                raise text.error("Expecting ',' delimiter")
            text.advance()
            if not text.skip_space():
                raise text.error("Expecting value")
        is_first = False
        yield Located(*text.value(), is_element=True)
    text.advance()
    if text.skip_space():
        raise text.error("Extra data")


class _Text:
    """A text that is read line by line, and a position in it."""

    def __init__(self, lines: Iterator[str]) -> None:
        self._lines = lines
        self._held = ""
        self._at = 0
        # The line of the character at `_counted`.
        self._line, self._counted = 1, 0
        # The characters before the held text, on the line on which it starts.
        self._before = 0
        self.lines_read = 0

    @property
    def next(self) -> str:
        return self._held[self._at]

    def advance(self) -> None:
        self._at += 1

    def skip_space(self) -> bool:
        """Skip white space. Return False at the end."""
        while True:
            while self._at < len(self._held):
                if self.next not in _SPACE:
                    return True
                self._at += 1
            if not self._read_on():
                return False

    def value(self, *, within_line: bool = False) -> tuple[Any, int]:
        """Parse the value here, and return it with its first line.

        Lines are added until it is complete; each time, the text about doubles.
        """
        line = self._current_line()
        while True:
            try:
                value, self._at = _DECODE(self._held, self._at)
            except JSONDecodeError as error:
                # An error at the very end may just mean that there is more to come.
                end = len(self._held.rstrip(_SPACE))
                if error.pos >= end and not within_line and self._read_on(len(self._held) - self._at):
                    continue
                self._at = min(error.pos, end)
                raise self.error(error.msg.removesuffix(" at")) from None
            except RecursionError:
                raise self.error("nested too deeply") from None
            except ValueError:
                # Python limits the digits of an integer, because reading them takes quadratic time.
                raise self.error("an integer with too many digits") from None
            return value, line

    def _read_on(self, size: int = 1) -> bool:
        """Discard what has been read, and add at least one more line. Return False if there is none."""
        added: list[str] = []
        length = 0
        while length < size and (line := next(self._lines, None)) is not None:
            added.append(line)
            length += max(1, len(line))
        if not added:
            return False
        self._line, self._before = self._current_line(), self._column() - 1
        self._held = self._held[self._at :] + "".join(added)
        self._at = self._counted = 0
        self.lines_read += len(added)
        return True

    def error(self, problem: str) -> DocumentError:
        """Make the error for a problem here."""
        return DocumentError(f"invalid JSON: {problem} at line {self._current_line()}, column {self._column()}")

    def _current_line(self) -> int:
        # From where the last count ended: many elements may be on one line.
        self._line += self._held.count("\n", self._counted, self._at)
        self._counted = self._at
        return self._line

    def _column(self) -> int:
        last_break = self._held.rfind("\n", 0, self._at)
        return self._at - last_break if last_break >= 0 else self._before + self._at + 1


# Files that may be compressed, according to their suffix.


MAX_LINE = 256 * 1024 * 1024
"""The longest line that is read, unless more is asked for: in bytes, or in characters of a text."""

# Imported when needed: most files are not compressed.
_OPENERS = {".xz": "lzma", ".gz": "gzip", ".bz2": "bz2"}


def open_binary(path: str | os.PathLike[str]) -> IO[bytes]:
    """Open a file for reading its bytes, decompressed if its name ends with .gz, .bz2 or .xz."""
    name = os.fspath(path)
    opener = _opener(name) or open
    opened: IO[bytes] = opener(name, "rb")
    return opened


def decompressed(file: IO[bytes], name: str) -> IO[bytes]:
    """The bytes of a file that is open, decompressed according to its name as by `open_binary`."""
    opener = _opener(name)
    opened: IO[bytes] = file if opener is None else opener(file)
    return opened


def _opener(name: str) -> Any:
    # Without pathlib, whose import takes as long as that of the whole model.
    suffix = os.path.splitext(name)[1].lower()  # noqa: PTH122
    if suffix == ".zst":
        raise InvalidArgumentError(f"{name}: decompress it first, with `zstd -d`", argument="path", value=name)
    return import_module(_OPENERS[suffix]).open if suffix in _OPENERS else None


def limited_lines(file: IO[AnyStr], limit: int = MAX_LINE, first: int = 1) -> Iterator[AnyStr]:
    """Read the lines of a file, of which the next one has the number `first`."""
    number, most = first, min(limit, sys.maxsize - 1)
    while line := file.readline(most + 1):
        if len(line) > most:
            message = f"line {number:,} is longer than {most:,}, the limit for a line"
            raise DocumentError(message, hint="Raise the limit with max_line= or --max-line if it has to be that long.")
        yield line
        number += 1


@contextmanager
def errors_naming(path: str) -> Generator[None]:
    """Make a DocumentError that names the file of what is wrong with its bytes: damage, or a line without an end."""
    try:
        yield
    except DocumentError as error:
        error.path = path
        raise
    except Exception as error:
        if is_damaged(error):
            raise DocumentError(f"cannot be decompressed: {error}", path=path) from None
        raise


def is_damaged(error: Exception) -> bool:
    """Whether an error means that a compressed file is corrupt, truncated, or not compressed at all."""
    # By name, because the modules that define them are imported only for compressed files. The error of bz2 is an
    # OSError, as others are, but not one of the system.
    cls = type(error)
    return (
        (cls in {EOFError, OSError} and getattr(error, "errno", None) is None)
        or cls.__name__ in {"LZMAError", "BadGzipFile"}
        or cls.__module__ == "zlib"
    )
