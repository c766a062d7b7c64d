"""Write tables and bars as wide as the terminal, JSON, and notes on stderr."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from time import perf_counter
from typing import Any, TextIO

from pycupel.cli.exits import screen_width, write_message
from pycupel.values import sealed

_BLOCKS = " ▏▎▍▌▋▊▉█"
_COLUMNS = " ▁▂▃▄▅▆▇█"


@sealed
@dataclass(frozen=True, slots=True)
class Screen:
    """Where a verb writes: data to `out`, everything else to `err`."""

    out: TextIO
    err: TextIO
    width: int = 80  # The number of columns; 80 for a pipe, unless COLUMNS is set.
    color: bool = False
    unicode: bool = False  # Whether `out` can show more than ASCII.
    quiet: bool = False  # Whether notes are left out.

    @classmethod
    def of_process(cls, *, quiet: bool = False, color: str = "auto") -> Screen:
        """Return the screen of this process, from its streams and its environment, unless colours are asked for."""
        environment = os.environ.get
        if color != "auto" or environment("NO_COLOR"):
            is_colored = color == "always"
        else:
            is_terminal = sys.stdout.isatty() and environment("TERM") != "dumb"
            is_colored = is_terminal or environment("FORCE_COLOR", "0") not in {"", "0"}
        is_colored = is_colored and _is_encoded("\x1b[m")
        return cls(sys.stdout, sys.stderr, screen_width(), is_colored, _is_encoded(_BLOCKS + _COLUMNS), quiet)

    def warn(self, text: str) -> None:
        """Write a warning to stderr, even if quiet."""
        write_message(self.err, f"pycupel: warning: {visible(text)}\n")

    def note(self, text: str) -> None:
        """Write a note to stderr, unless quiet."""
        if not self.quiet:
            write_message(self.err, f"pycupel: {visible(text)}\n")

    def progress(self, line: str) -> None:
        """Write a line in place of the last one to stderr, if that is a terminal; an empty line clears it."""
        if self.err.isatty() and not self.quiet:
            room = self.width - 1
            self.err.write(f"\r{line[:room]:{room}}" if line else f"\r{'':{room}}\r")
            self.err.flush()

    @contextmanager
    def progress_of(self, what: str) -> Generator[Callable[[int, int], None]]:
        """Show the progress of something during the block, by calls with what is done and the total, or 0 if unknown.

        It begins after a second. In a log, it is a line a minute.
        """
        start = perf_counter()
        interval, is_terminal = (0.1, True) if self.err.isatty() else (60.0, False)
        first = due = start + max(1.0, interval)

        def show(done: int, total: int) -> None:
            nonlocal due
            now = perf_counter()
            if now < due:
                return
            due = now + interval
            line = f"{what} {done:,}"
            if total:
                left = (now - start) * (total - done) / max(1, done)
                room = min(30, self.width - len(what) - 50)
                drawn = f" {self.bar(done / total, room)}" if is_terminal else ""
                line = f"{what} {done:,} of {total:,}{drawn} {left:,.0f} s left"
            (self.progress if is_terminal else self.note)(line)

        try:
            yield show
        finally:
            if due > first:
                self.progress("")

    @contextmanager
    def busy(self, what: str) -> Generator[None]:
        """Say at a terminal what takes more than a second, if nobody can tell how far it is."""
        from threading import Timer  # noqa: PLC0415 - not every verb needs it

        start = perf_counter()
        timer = Timer(1.0, self.progress, [f"{what} ..."])
        timer.daemon = True
        timer.start()
        try:
            yield
        finally:
            timer.cancel()
            # It may be writing just now.
            timer.join()
            if perf_counter() - start >= 1.0:
                self.progress("")

    def text(self, text: str) -> None:
        """Write a text to stdout, as it is."""
        self.out.write(f"{text}\n")

    def lines(self, lines: Iterable[Any]) -> None:
        """Write lines of spans, as `pycupel.render` lays them out."""
        from pycupel.render._layout import finish  # noqa: PLC0415 - not every verb prints tables

        self.text(finish(lines, self.width, color=self.color, unicode=self.unicode))

    def table(self, columns: Sequence[str], rows: Sequence[Any], *, text: str = "") -> None:
        """Write a table: the columns' titles with their alignment in front, and rows of cells."""
        from pycupel.render._layout import Table  # noqa: PLC0415

        table = Table(columns, rows, self.width)
        self.lines([*table.titles(text), *table.lines(rows)])

    def with_bars(self, columns: Sequence[str], rows: Sequence[Any], bars: Iterable[tuple[float, str]]) -> list[Any]:
        """Add a bar to each row, for a fraction of 1 and in a colour; a whole one fills the columns that are free."""
        from pycupel.render._layout import Row, Span, Table  # noqa: PLC0415

        room = max(10, Table(columns, rows, self.width).room)
        drawn = [Span(self.bar(part, room), code) for part, code in bars]
        return [Row((*row.cells, bar), row.text) for row, bar in zip(rows, drawn, strict=True)]

    def heading(self, text: str) -> None:
        """Write a heading, cut to the width."""
        from pycupel.render._layout import HEADING, Span  # noqa: PLC0415

        self.lines([[Span(visible(text), HEADING)]])

    def terms(self, texts: Mapping[str, str]) -> None:
        """Write names, each with a text that is wrapped beside it."""
        from textwrap import wrap  # noqa: PLC0415

        room = max(map(len, texts)) + 2
        for name, text in texts.items():
            lines = wrap(text, self.width, initial_indent=f"{name:{room}}", subsequent_indent=" " * room)
            self.text("\n".join(lines))

    def json(self, document: Any, *, indent: int | None = 2) -> None:
        """Write a document as JSON. Characters that `out` cannot show, or might interpret, are escaped."""
        from pycupel.codecs.base import escape_json, format_json  # noqa: PLC0415

        self.text(escape_json(format_json(document, indent), ascii_only=not self.unicode))

    def json_lines(self, documents: Iterable[Any]) -> None:
        """Write documents, one on a line."""
        for document in documents:
            self.json(document, indent=None)

    def bar(self, part: float, room: int) -> str:
        """Draw a bar of at most `room` columns for a fraction of 1; with Unicode, in eighths of a column."""
        if not self.unicode:
            return "#" * round(part * room)
        eighths = round(part * room * 8)
        return "█" * (eighths // 8) + _BLOCKS[eighths % 8].strip()

    def column(self, height: float) -> str:
        """Return a character that is filled up to a height from 0 to 1."""
        eighths = min(8, max(0, round(height * 8)))
        return _COLUMNS[eighths] if self.unicode else " .:#"[(eighths + 2) // 3]


def _is_encoded(text: str) -> bool:
    """Whether stdout can show these characters."""
    try:
        text.encode(sys.stdout.encoding or "ascii")
    except (LookupError, UnicodeEncodeError):
        return False
    return True


def visible(text: str, *, laid_out: bool = False) -> str:
    """Show control characters, carriage returns, terminal escapes and bidirectional marks in a text as codes.

    Line breaks stay; and, in a text of which a table lays out the words, all white space.
    """
    if text.isprintable():
        return text
    return "".join(
        each
        if each.isprintable() or each == "\n" or (laid_out and each.isspace())
        else each.encode("unicode_escape").decode()
        for each in text
    )


def abridged(name: str) -> str:
    """A name for a column: both ends of a long one, because long names often begin alike."""
    shown = visible(name)
    return shown if len(shown) <= 24 else f"{shown[:8]}...{shown[-13:]}"


_STDOUT = "-"


def write_page(path: str, page: str, screen: Screen) -> None:
    """Write a page to a file, or to stdout for `-`."""
    if path == _STDOUT:
        screen.text(page)
        return
    with open(path, "w", encoding="utf-8", newline="\n") as file:  # noqa: PTH123 - pathlib is slow to import
        file.write(page)
    screen.note(f"wrote {path}")
