"""Read JSON values one at a time: the elements of an array, the lines of JSON lines, or one document.

A file of any size needs the memory of its largest line or element.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from json import JSONDecodeError, JSONDecoder
from typing import Any, NamedTuple

from pycupel.errors import DocumentError

__all__ = ["Located", "read_values"]

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

    Raises:
        DocumentError: the text is not JSON; the message names line and column.
    """
    text = _Text(iter(lines))
    if not text.skip(_SPACE):
        return
    if text.next == "[":
        yield from _elements(text)
        return
    line, ends = text.line, text.ends_of_lines
    yield Located(text.value(), line)
    # A value that took more than its line is a document.
    one_a_line = text.ends_of_lines == ends
    while text.skip(_SPACE):
        if not one_a_line:
            raise text.error("Extra data")
        line = text.line
        yield Located(text.value(within_line=True), line)


def _elements(text: _Text) -> Iterator[Located]:
    text.take()
    is_first = True
    while True:
        if not text.skip(_SPACE):
            raise text.error("Expecting ',' delimiter or ']'")
        if text.next == "]":
            text.take()
            break
        if not is_first:
            if text.take() != ",":
                raise text.error("Expecting ',' delimiter", back=1)
            if not text.skip(_SPACE):
                raise text.error("Expecting value")
        is_first = False
        yield Located(text.value(), text.start_line, is_element=True)
    if text.skip(_SPACE):
        raise text.error("Extra data")


class _Text:
    """A text that is read line by line, and a position in it."""

    def __init__(self, lines: Iterator[str]) -> None:
        self._lines = lines
        self._held = ""
        self._at = 0
        # Where the held text starts.
        self._line, self._column = 1, 1
        self.ends_of_lines = 0
        self.start_line = 1

    @property
    def next(self) -> str:
        return self._held[self._at]

    @property
    def line(self) -> int:
        return self._line + self._held.count("\n", 0, self._at)

    def take(self) -> str:
        self._at += 1
        return self._held[self._at - 1]

    def skip(self, characters: str) -> bool:
        """Skip these characters. Return False at the end."""
        while True:
            while self._at < len(self._held):
                if self.next not in characters:
                    return True
                self._at += 1
            if not self._read_on():
                return False

    def value(self, *, within_line: bool = False) -> Any:
        """Parse the value here. Lines are added until it is complete; each time, the text about doubles."""
        self.start_line = self.line
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
            return value

    def _read_on(self, size: int = 1) -> bool:
        """Discard what has been read, and read at least one more line. Return False if there is none."""
        passed = self._held[: self._at]
        self._line, breaks = self._line + passed.count("\n"), passed.rfind("\n")
        self._column = len(passed) - breaks if breaks >= 0 else self._column + len(passed)
        parts = [self._held[self._at :]]
        read = 0
        while read < size and (line := next(self._lines, None)) is not None:
            parts.append(line)
            read += max(1, len(line))
            self.ends_of_lines += 1
        self._held, self._at = "".join(parts), 0
        return read > 0

    def error(self, problem: str, back: int = 0) -> DocumentError:
        """Make the error for a problem here, or some characters before."""
        passed = self._held[: self._at - back]
        breaks = passed.rfind("\n")
        column = len(passed) - breaks if breaks >= 0 else self._column + len(passed)
        return DocumentError(f"invalid JSON: {problem} at line {self._line + passed.count(chr(10))}, column {column}")
