"""Lay out text in columns: numbers and names that fit, tables, and lines that are coloured afterwards.

A line is a sequence of spans; the code of a span is its ANSI style. Nothing here is about reports.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from decimal import Decimal
from itertools import accumulate, pairwise
from math import isfinite
from textwrap import wrap
from typing import NamedTuple, TypeAlias
from unicodedata import category, east_asian_width
from zlib import crc32

# ANSI's codes for bold, faint and red, and for bars that stand for no group.
HEADING, QUIET, ALARM, BAR = "1", "2", "31", "96"
# What the parts of one bar are made of.
SYMBOLS = "#=+*o%@x&$"

# The colours of well-known kinds, roles and tools, in the terminal and on pages: those on a line share one.
_COLORS = """
system tools systemprompt cached sent
user message query
assistant model rewritten
tool_calls
thinking memory
images files
read document read_file view cat
bash bashoutput tooloutput tool_results shell exec_command local_shell_call powershell
grep glob search ls webfetch websearch rag
edit write multiedit apply_patch notebookedit str_replace_based_edit_tool
task taskoutput taskcreate taskupdate todowrite agent other
"""
_COLOR_OF = {name: color for color, line in enumerate(_COLORS.strip().splitlines()) for name in line.split()}
# ANSI's codes for them: bright ones first; red is for what is wrong.
_ANSI = ("96", "92", "93", "95", "94", "36", "32", "33", "35", "34", "97")

_GAP = "  "
_ELLIPSIS = "..."
# A no-break space. Clipped texts contain none: their white space has become plain spaces.
_GLUE = "\xa0"
# With less room than this beside the other columns, a text gets its own line.
_MIN_TEXT = 16
# The categories of characters that are shown on top of the one before.
_COMBINING = ("Mn", "Me")
# Takes the second column of a wide character while lines are wrapped, because `wrap` counts characters.
_FILLER = "\uffff"
# Characters that a terminal might interpret, or not show in exactly one column.
_UNSAFE = re.compile("[^ -~]")


class Span(NamedTuple):
    """A text with one style, padded to a width: on the right, or on the left if it is aligned to the right (`>`)."""

    text: str
    code: str = ""
    width: int = 0
    side: str = "<"


Line: TypeAlias = Sequence[Span]


class Row(NamedTuple):
    """The cells of a table's columns, and a text for the rest of the line."""

    cells: Sequence[Span]
    text: str = ""


# --- colours


def color_of(name: str) -> int:
    """Return the number of a name's colour, from 0 to 10: the same wherever the name stands."""
    key = re.split(r"[ ,]", name.lower(), maxsplit=1)[0]
    # Not `hash`, which changes from process to process.
    return _COLOR_OF[key] if key in _COLOR_OF else crc32(name.encode("utf-8", "replace")) % len(_ANSI)


def ansi_of(name: str) -> str:
    """Return the ANSI code of a name's colour."""
    return _ANSI[color_of(name)]


# --- numbers and names


def count(value: int, room: int = 13) -> str:
    """Format an integer in at most `room` characters: exactly if it fits, else by its magnitude."""
    # Python does not format integers with thousands of digits.
    text = f"{value:,}" if value.bit_length() < 64 else ""
    return text if 0 < len(text) <= room else f"{Decimal(value):.1e}"


def plural(value: int, noun: str) -> str:
    return f"{count(value)} {noun}" if value == 1 else f"{count(value)} {noun}s"


def number(value: float) -> str:
    """Format a score with two decimals, or with two significant digits if it is very large or small."""
    size = abs(value)
    if size == 0:
        return "0.00"
    if 0.01 <= size < 1_000:
        return f"{value:.2f}"
    return f"{value:,.0f}" if 1_000 <= size < 1_000_000 else f"{value:.2g}"


def milliseconds(value: float) -> str:
    return f"{value:,.3f}" if isfinite(value) and abs(value) < 1_000_000 else f"{value:.2g}"


def share(part: int, whole: int) -> str:
    """Format a part in percent of the whole. Uses Decimal, because large token counts overflow floats."""
    if whole == 0:
        return "-"
    percent = Decimal(100 * part) / Decimal(whole)
    return f"{percent:.1f}%" if abs(percent) < 10_000 else f"{percent:.1e}%"


def clipped(text: str, room: int) -> str:
    """Return the first words on one line, ending in `...` if there are more."""
    # `room` words always fill `room` characters, so the rest of a long text need not be split.
    line = " ".join(text.split(None, room)) or "(blank)"
    if columns(line) <= room:
        return line
    return line[: _length_before_ellipsis(line[:room], room)] + _ELLIPSIS


def columns(text: str) -> int:
    """Count the columns of a text in a terminal: two for a wide character, none for a combining mark."""
    return len(text) if text.isascii() else sum(map(_columns, text))


def _room(text: str) -> int:
    """Return how many columns a text may take: a `?` in place of each character may take more than the text itself."""
    return max(len(text), columns(text))


def _length_before_ellipsis(text: str, room: int) -> int:
    """Return how many characters of a text leave room for an ellipsis after them."""
    return sum(end <= room - len(_ELLIPSIS) for end in accumulate(map(_columns, text)))


def _columns(character: str) -> int:
    return 0 if category(character) in _COMBINING else 1 + (east_asian_width(character) in "WF")


# --- lines


def paragraph(text: str, width: int, *, code: str = "", indent: str = "") -> list[Line]:
    """Wrap a text to the width."""
    filled = text if text.isascii() else "".join(each + _FILLER * (_columns(each) - 1) for each in text)
    lines = wrap(filled, width, initial_indent=indent, subsequent_indent=indent + _GAP, break_on_hyphens=False)
    return [[Span(line.replace(_GLUE, " ").replace(_FILLER, ""), code)] for line in lines]


def not_shown(rows: Sequence[object], limit: int | None) -> list[Line]:
    """Say `... and 7 more`, if rows are not shown."""
    hidden = 0 if limit is None else len(rows) - limit
    return [[Span(f"    ... and {count(hidden)} more", QUIET)]] if hidden > 0 else []


def listed(parts: Iterable[str]) -> str:
    """Join parts of a paragraph by commas, so that no part is broken across lines."""
    return ", ".join(part.replace(" ", _GLUE) for part in parts)


def bar(segments: Iterable[tuple[int, Span]], width: int) -> Line:
    """Draw segments in proportion to their sizes, each made of its span's character.

    The borders are rounded, not the sizes, so that the total is always right.
    """
    sizes, spans = zip(*segments, strict=True)
    whole = sum(sizes) or 1
    borders = [(2 * end * width + whole) // (2 * whole) for end in accumulate(sizes, initial=0)]
    filled = [
        Span(span.text * (end - start), span.code) for span, (start, end) in zip(spans, pairwise(borders), strict=True)
    ]
    return [Span(f"{_GAP}["), *filled, Span(" " * (width - borders[-1]) + "]")]


class Table:
    """Columns as wide as their widest cell. What does not fit on a row's line continues below it, its text last."""

    def __init__(self, columns: Sequence[str], rows: Sequence[Row], width: int, *, indent: str = "") -> None:
        """`columns` are the titles, each with its alignment in front: `<kind`, `>tokens`."""
        self._sides = [column[:1] for column in columns]
        self._titles = Row([Span(column[1:], QUIET) for column in columns])
        cells = [row.cells for row in (self._titles, *rows)]
        self._widths = [max(_room(cell.text) for cell in column) for column in zip(*cells, strict=True)]
        self._indent, self._below = indent, indent + _GAP * 2
        # The columns that begin a line, and how much of the last line is used.
        self._breaks, used = [0], len(indent)
        for i, wide in enumerate(self._widths):
            used += len(_GAP) + wide
            if used > width and i > self._breaks[-1]:
                self._breaks.append(i)
                used = len(self._below) + len(_GAP) + wide
        # The columns that are free beside the last one.
        self.room = width - used - len(_GAP)
        self._room_below = width - len(self._below) - len(_GAP)

    def titles(self, text: str = "") -> list[Line]:
        lines = self._columns(self._titles)
        if self.room >= _MIN_TEXT:
            lines[-1].append(Span(_GAP + text, QUIET))
        return [*lines]

    def lines(self, rows: Iterable[Row]) -> list[Line]:
        shown: list[Line] = []
        for row in rows:
            lines = self._columns(row)
            if row.text and self.room >= _MIN_TEXT:
                lines[-1].append(Span(_GAP + clipped(row.text, self.room)))
            elif row.text:
                lines.append([Span(self._below + _GAP + clipped(row.text, self._room_below))])
            shown += [line for line in lines if any(span.text.strip() for span in line)]
        return shown

    def _columns(self, row: Row) -> list[list[Span]]:
        columns = zip(row.cells, self._sides, self._widths, strict=True)
        cells = [Span(_GAP + cell.text, cell.code, len(_GAP) + wide, side) for cell, side, wide in columns]
        parts = pairwise([*self._breaks, len(cells)])
        return [[Span(self._below if start else self._indent), *cells[start:end]] for start, end in parts]


def finish(lines: Iterable[Line], width: int, *, color: bool, unicode: bool = True) -> str:
    """Join the lines: no line longer than the width, colours only if `color`, only ASCII unless `unicode`."""
    finished: list[str] = []
    for line in lines:
        shown: list[Span] = []
        for span in line:
            # Do this before padding and fitting: a combining mark takes no column, but the `?` for it takes one.
            text = span.text if unicode else _UNSAFE.sub("?", span.text)
            if not text.isprintable():
                text = "".join(each if each.isprintable() else "?" for each in text)
            padding = " " * (span.width - columns(text))
            shown.append(Span(padding + text if span.side == ">" else text + padding, span.code))
        whole = "".join(span.text for span in shown).rstrip()
        fitted = _cut(shown, len(whole))
        if columns(whole) > width:
            fitted = [*_cut(shown, _length_before_ellipsis(whole, width)), Span(_ELLIPSIS)]
        finished.append(
            "".join(
                f"\x1b[{span.code}m{span.text}\x1b[0m" if color and span.code and span.text else span.text
                for span in fitted
            )
        )
    return "\n".join(finished)


def _cut(line: Line, room: int) -> list[Span]:
    starts = accumulate((len(span.text) for span in line), initial=0)
    return [Span(span.text[: max(0, room - start)], span.code) for span, start in zip(line, starts, strict=False)]
