"""Split a text into pieces (lines, or parts of very long ones), and find what each needs to be understood."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import NamedTuple

from pycupel.shorten._text import DIRECTION, is_binary, safe_index

# Longer lines are split into pieces of about this size.
_LONG = 1_200
_SIZE = 240
_BREAK = re.compile(r"[\s,;]+")

_TRACEBACK = re.compile(r"\s*Traceback \(most recent call last\)")
_FRAME = re.compile(r'\s+(?:File "|at )')
_HUNK = re.compile(r"@@ .* @@")
_NOTE = re.compile(r"^\[\+([0-9][0-9,]{0,11}) (?:such )?lines?\]$", re.MULTILINE)
_DELIMITED = re.compile(r"[,\t]")
# The characters of the line below the header of a table in Markdown.
_RULE = "|-: \t\r\n"
# The names of columns are short, and not numbers.
_NAME = re.compile(r"\s*[^\W\d].{0,39}$", re.DOTALL)
_TABLE_SHARE = 0.8


class Piece(NamedTuple):
    """A line with its end, or a part of a very long one. `needs` is the index of another piece to keep with it."""

    text: str
    needs: int | None = None


def pieces_of(text: str) -> list[Piece]:
    """Split a text into pieces; binary content has none. Joined, they are the text."""
    if is_binary(text):
        return []
    # A subclass of str may split into anything.
    texts = [part for line in str.splitlines(text, keepends=True) for part in _parts(line)]
    return list(map(Piece, texts, _needs(texts)))


def join_pieces(pieces: Sequence[Piece], chosen: Iterable[int]) -> str:
    """Join the chosen pieces in order, with a note for each gap. The result ends as the original does."""
    shown: list[str] = []
    after = 0
    for i in [*sorted(chosen), len(pieces)]:
        gap = "".join([piece.text for piece in pieces[after:i]])
        if gap:
            # A gap that is shorter than its note is kept, and so is one that is nothing but a note.
            note = _left_out(gap, starts_line=not shown or shown[-1].endswith(("\n", "\r")))
            shown.append(gap if len(gap) <= len(note) or _NOTE.fullmatch(gap[:-1]) else note)
        if i < len(pieces):
            shown.append(pieces[i].text)
        after = i + 1
    return "".join(shown)


def table_rows(pieces: Sequence[Piece]) -> list[tuple[int, list[str]]]:
    """Return the rows of a table with a header, and the cells of each, if most of a text is one."""
    delimiters = _delimiters([piece.text for piece in pieces[:3]])
    is_markdown = not delimiters and len(pieces) > 3 and _is_rule(pieces[1].text)
    rows: list[tuple[int, list[str]]] = []
    if delimiters and all(map(_NAME.match, _DELIMITED.split(pieces[0].text))):
        split = [_DELIMITED.split(piece.text) for piece in pieces]
        rows = [(i, cells) for i, cells in enumerate(split) if i and len(cells) == delimiters + 1]
    elif is_markdown:
        rows = [(i, piece.text.split("|")) for i, piece in enumerate(pieces) if i > 1 and piece.text.count("|") > 1]
    return rows if len(rows) >= _TABLE_SHARE * (len(pieces) - 1 - is_markdown) else []


def _is_rule(text: str) -> bool:
    return "-" in text and "|" in text and not text.strip(_RULE)


def _left_out(gap: str, *, starts_line: bool) -> str:
    # The text may have been shortened before.
    notes = [int(number.replace(",", "")) for number in _NOTE.findall(gap)]
    breaks = gap.count("\n") or gap.count("\r")
    is_open = bool(breaks) and not gap.endswith(("\n", "\r"))
    lines = breaks + is_open + sum(notes) - len(notes)
    if starts_line and lines:
        return f"[+{lines:,} line{'s' if lines > 1 else ''}]\n"
    return f" [+{len(gap):,} characters] " + ("\n" if gap.endswith(("\n", "\r")) else "")


def _parts(line: str) -> list[str]:
    """Split a very long line between words, unless it has bidirectional marks: its parts would read differently."""
    if len(line) <= _LONG or DIRECTION.search(line):
        return [line]
    parts: list[str] = []
    start = 0
    for match in _BREAK.finditer(line):
        end = match.end()
        if end - start >= _SIZE and end < len(line) and safe_index(line, end) == end:
            parts.append(line[start:end])
            start = end
    return [*parts, line[start:]]


def _needs(texts: Sequence[str]) -> list[int | None]:
    """Find for each piece the piece that it needs to be understood."""
    needs: list[int | None] = [None] * len(texts)
    if texts and texts[0].lstrip()[:1] in ("{", "["):
        _need_enclosing(texts, needs)
        return needs
    delimiters = _delimiters(texts)
    hunk: int | None = None
    table: int | None = None
    for i, text in enumerate(texts):
        if _HUNK.match(text):
            hunk = i
        elif hunk is not None and text[:1] in ("+", "-", " "):
            needs[i] = hunk
        else:
            hunk = None
        if text.count("|") < 2:
            table = None
        elif table is None:
            table = i
        else:
            needs[i] = table
            # The header is one only with the line below it.
            table = i if table == i - 1 and _is_rule(text) else table
        if delimiters and i and len(_DELIMITED.findall(text)) == delimiters:
            needs[i] = 0
    _need_frames(texts, needs)
    return needs


def _delimiters(texts: Sequence[str]) -> int:
    """Count the commas or tabs in each row of a table, if the text begins like one."""
    counts = [len(_DELIMITED.findall(text)) for text in texts[:3]]
    return counts[0] if len(counts) == 3 and counts[0] >= 2 and len(set(counts)) == 1 else 0


def _need_enclosing(texts: Sequence[str], needs: list[int | None]) -> None:
    """JSON: need the nearest earlier line with less indentation, which has the key."""
    open_lines: list[tuple[int, int]] = []
    for i, text in enumerate(texts):
        indent = len(text) - len(text.lstrip(" \t"))
        while open_lines and open_lines[-1][0] >= indent:
            open_lines.pop()
        if open_lines:
            needs[i] = open_lines[-1][1]
        open_lines.append((indent, i))


def _need_frames(texts: Sequence[str], needs: list[int | None]) -> None:
    """Stack trace: need the line that starts it, its first and last frames, and the line that ends it."""
    i = 0
    while i < len(texts):
        if not _FRAME.match(texts[i]):
            i += 1
            continue
        start = i
        frames = [i]
        # Python puts lines of code, with more indentation, between frames.
        while i < len(texts) and texts[i][:1] in (" ", "\t"):
            if _FRAME.match(texts[i]):
                frames.append(i)
            i += 1
        chain = [frames[-1], frames[0]]
        if start:
            chain.append(start - 1)
            if i < len(texts) and _TRACEBACK.match(texts[start - 1]):
                # Python prints the error last.
                chain.insert(0, i)
        chain = list(dict.fromkeys(chain))
        for first, second in pairwise(chain):
            needs[first] = second
        for each in range(start, i):
            if each not in chain:
                needs[each] = chain[0]
