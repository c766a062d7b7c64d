"""`ByFormat`: JSON stays JSON, logs fold, tables keep their header, and other texts keep their key lines."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import accumulate, groupby
from string import ascii_letters, digits
from sys import maxsize
from typing import NamedTuple

from pycupel.model import ContextItem
from pycupel.model.item import make_version
from pycupel.protocols import ShortenContext
from pycupel.shorten._json import JsonParts, json_parts
from pycupel.shorten.extracts import TERMINAL, is_binary
from pycupel.shorten.key_lines import (
    SHARES,
    Piece,
    analyse,
    densest_first,
    join_pieces,
    lines_of,
    standing_out,
    table_rows,
    take,
    template_of,
)

# What the smallest version of JSON may keep of its record, in characters.
_RECORD = 800
# The mean length of lines from which on a text that has not been read keeps only its head and tail.
_LONG_LINES = 400
# What it shows at least of each of them: 40 tokens, in characters.
_END = 160
# Shorter runs of similar lines stay.
_LEAST_RUN = 4
# What may differ between similar lines, and the ends of lines; numbers and ends beyond ASCII, too.
_NO_SIGNS = f"#{digits}{ascii_letters}\n\r\v\f\x1c\x1d\x1e".encode() + bytes(range(128, 256))
# What a program that shows its progress overwrites: a share, so many of so many, or nothing but bars.
_PROGRESS = re.compile(r"\d ?%|\d/\d|\d of \d|^[^\w]*$")
_LETTERS = re.compile(r"[^\W\d_]+")


class _Form(NamedTuple):
    """A text in the form in which it gets shorter."""

    name: str
    pieces: Sequence[Piece]
    rewritten: Sequence[tuple[str, str]]  # Texts that differ from it only in form, longest first, each with a name.
    rank: Callable[[Sequence[float], str | None], list[int]]  # By units and a question: the order to keep pieces in.
    join: Callable[[Collection[int]], str]
    # What the smallest version may keep, if this piece is the first to keep.
    record_at: Callable[[int], Collection[int]] | None = None
    always: Sequence[int] = ()  # Pieces without which there is no version.
    hidden: Sequence[Piece] = ()  # What even the longest pieces do not show, such as lines that were folded.


@dataclass(frozen=True, slots=True)
class ByFormat:
    """Shortens a text by what it is.

    JSON stays JSON in every version. First it loses its indentation, and arrays of records with equal keys become
    columns and rows, if that saves a fifth. Then arrays keep fewer records: the first, the last, and those with rare
    values, errors, or words of the query; the smallest version has one. An element says how many are left out:
    `{"...": "4,380 more records"}`. Objects lose the middles of long strings, and deep branches. What is kept stays in
    order, and numbers and strings stay as they are written. JSON lines are shortened line by line. Text with duplicate
    keys, with NaN, or nested more than 64 levels deep is not JSON.

    Logs lose the escape sequences of terminals and what a progress bar overwrote. Runs of lines that differ only
    in numbers, times or ids become the first, the last, and a count: `[+57 such lines]`. Tables (Markdown, CSV) keep
    their header, the first and the last row, and rows with rare values. Logs, and all other texts, then keep their key
    lines, as with `KeyLines`. Binary content has no versions.
    """

    def shorten(self, item: ContextItem, context: ShortenContext, /) -> list[ContextItem]:
        """Make versions, longest first, each with fewer tokens than the one before."""
        return _versions(item, context, form_of)

    def units(self, item: ContextItem, context: ShortenContext, /) -> float:
        """Count the units of the whole item that no newer one has; 1 if there are none."""
        form, units = analyse(context, form_of, _pieces)[id(item)]
        return sum(units) if form.pieces else 1.0


class WithEnds:
    """Shortens like `ByFormat` what has not been read yet: all versions of a text but JSON have its head and its tail.

    If its lines are long, there are none: parts of a line say little without their neighbours.
    """

    def shorten(self, item: ContextItem, context: ShortenContext, /) -> list[ContextItem]:
        """Make versions, longest first."""
        is_long = len(item.content) > _LONG_LINES * (item.content.count("\n") + 1)
        return [] if is_long and not is_json(item, context) else _versions(item, context, unread_form_of)

    def units(self, item: ContextItem, context: ShortenContext, /) -> float:
        """Count the units of the whole item."""
        return ByFormat().units(item, context)


def _versions(item: ContextItem, context: ShortenContext, find: Callable[[str], _Form]) -> list[ContextItem]:
    form, units = analyse(context, find, _pieces)[id(item)]
    versions: list[ContextItem] = []
    for text, how in form.rewritten:
        # Nothing may be left of a text without its escape sequences, and most texts are in no other form.
        if text and text != item.content:
            _add(versions, _version(item, context, text, how, sum(units)), item.tokens)
    units = units[: len(form.pieces)]
    if form.hidden:
        text = form.join(range(len(form.pieces)))
        _add(versions, _version(item, context, text, "repeated lines folded", sum(units)), item.tokens)
    if len(form.pieces) > 1:
        ranked = form.rank(units, context.query)
        # A version without a record is none, and neither is one without the record that stands out most.
        always = form.always if form.record_at is None else ranked[:1]
        order = [*always, *ranked]
        shares = [*reversed(SHARES)]
        while form.record_at is not None and shares[-1] * len(item.content) > 2 * _RECORD:
            # Much JSON has more sizes: between a twentieth of it and one record is what fits into a small window.
            shares.append(shares[-1] / 2)
        for share in shares:
            chosen = take(form.pieces, order, int(share * len(item.content)))
            if chosen and chosen.issuperset(always) and len(chosen) < len(form.pieces):
                _add(versions, _chosen(item, context, form, chosen, units), item.tokens)
        if form.record_at is not None:
            record = form.record_at(order[0])
            chosen = take(form.pieces, order[:1], maxsize)
            chosen |= take(form.pieces, [i for i in order if i in record], _RECORD)
            least = _chosen(item, context, form, chosen, units)
            # Parts of several records may be shorter than most of one.
            while versions and versions[-1].tokens <= least.tokens < item.tokens:
                versions.pop()
            _add(versions, least, item.tokens)
    return versions


def _version(item: ContextItem, context: ShortenContext, text: str, how: str, held: float) -> ContextItem:
    return make_version(item, text, context.count(item, text), f"ByFormat, {how}", held)


def _chosen(
    item: ContextItem, context: ShortenContext, form: _Form, chosen: Collection[int], units: Sequence[float]
) -> ContextItem:
    how = f"{form.name}, {len(chosen)} of {len(form.pieces)} parts"
    return _version(item, context, form.join(chosen), how, sum([units[i] for i in chosen]))


def _add(versions: list[ContextItem], version: ContextItem, tokens: int) -> None:
    if version.tokens < (versions[-1].tokens if versions else tokens):
        versions.append(version)


def form_of(text: str, end: int = 0) -> _Form:
    """Find out what a text is. If it is not JSON, so many characters at both ends stay as they are."""
    if is_binary(text):
        return _Form("binary", (), (), partial(_rank_lines, ()), partial(join_pieces, ()))
    # Always a plain str, also for a subclass.
    stripped = str.strip(text)
    found = json_parts(stripped) if stripped.startswith(("{", "[", '"')) else None
    if found is not None:
        parts, rewritten = found
        return _Form("JSON", parts.pieces, rewritten, partial(_rank_json, parts), parts.write, parts.record_at)
    plain = _without_progress(TERMINAL.sub("", text)) if "\x1b" in text or "\r" in text else text
    pieces = lines_of(plain)
    head, tail = _ends(pieces, end) if end else (0, 0)
    rows = table_rows(pieces)
    rewritten = [(plain, "without escapes and progress")]
    hidden: list[Piece] = []
    rank: Callable[[Sequence[float], str | None], list[int]] = partial(_rank_rows, pieces, rows)
    if not rows:
        texts = [piece.text for piece in pieces]
        after = len(texts) - tail
        middle = "".join(texts[head:after])
        folded, left_out = _folded(middle)
        if left_out:
            hidden = [Piece(left_out)]
            pieces = lines_of("".join([*texts[:head], folded, *texts[after:]]))
        rank = partial(_rank_lines, pieces)
    always = [*range(head), *range(len(pieces) - tail, len(pieces))]
    name = "table" if rows else "lines"
    return _Form(name, pieces, rewritten, rank, partial(join_pieces, pieces), None, always, hidden)


def is_json(item: ContextItem, context: ShortenContext) -> bool:
    """Whether an item is JSON, or JSON lines."""
    form, _ = analyse(context, form_of, _pieces)[id(item)]
    return form.record_at is not None


def unread_form_of(text: str) -> _Form:
    """Find out what a text is that has not been read yet."""
    return form_of(text, _END)


def _ends(pieces: Sequence[Piece], end: int) -> tuple[int, int]:
    """Count the pieces at the beginning and at the end that have at least so many characters each."""
    sizes = list(accumulate([len(piece.text) for piece in pieces])) or [0]
    head, after = bisect_left(sizes, end) + 1, bisect_right(sizes, sizes[-1] - end)
    return (head, len(pieces) - after) if head < after else (len(pieces), 0)


def _pieces(form: _Form) -> Sequence[Piece]:
    return [*form.pieces, *form.hidden] if form.hidden else form.pieces


def _rank_lines(pieces: Sequence[Piece], units: Sequence[float], _query: str | None) -> list[int]:
    return densest_first(pieces, units)


def _rank_json(parts: JsonParts, units: Sequence[float], query: str | None) -> list[int]:
    return _ranked(parts.pieces, units, parts.bits(query), parts.ends())


def _rank_rows(
    pieces: Sequence[Piece], rows: Sequence[tuple[int, Sequence[str]]], units: Sequence[float], query: str | None
) -> list[int]:
    bits = [0.0] * len(pieces)
    cells = [[(str(k), cell) for k, cell in enumerate(each)] for _, each in rows]
    indices = [i for i, _ in rows]
    for i, own in zip(indices, standing_out(cells, [pieces[i].text for i in indices], query), strict=True):
        bits[i] = own.bits
    return _ranked(pieces, units, bits, [indices[0], indices[-1]])


def _ranked(pieces: Sequence[Piece], units: Sequence[float], bits: Sequence[float], ends: Sequence[int]) -> list[int]:
    """Sort pieces: what stands out most, the first and the last record, what else stands out, most units first."""
    by_units = densest_first(pieces, units)
    others = [i for i, worth in enumerate(units) if worth <= 0.0]
    outstanding = sorted([i for i in (*by_units, *others) if bits[i]], key=lambda i: -bits[i])
    return list(dict.fromkeys([*outstanding[:1], *ends, *outstanding, *by_units, *others]))


def _without_progress(text: str) -> str:
    """Leave out what a later text in the same line overwrote, if it looks like progress.

    A carriage return may also end a line, in files of old systems.
    """
    lines = str.split(text, "\n")
    for i, line in enumerate(lines):
        if "\r" in line[:-1]:
            end = "\r" if line.endswith("\r") else ""
            *overwritten, last = [part for part in line.split("\r") if part.strip()] or [""]
            same = _LETTERS.findall(last)
            kept = [each for each in overwritten if not _PROGRESS.search(each) and _LETTERS.findall(each) != same]
            lines[i] = "\r".join([*kept, last]) + end
    return "\n".join(lines)


def _folded(text: str) -> tuple[str, str]:
    """Replace the middle of each run of similar lines by a count. Returns also what was replaced."""
    lines = str.splitlines(text, keepends=True)
    # Lines that are alike have the same punctuation. That is much faster to find out, and most neighbours have not.
    signs = [line.encode(errors="ignore").translate(None, _NO_SIGNS) for line in lines]
    shown: list[str] = []
    left_out: list[str] = []
    start = 0
    for _, group in groupby(signs):
        end = start + len(list(group))
        if end - start < _LEAST_RUN:
            shown += lines[start:end]
        else:
            for _, same in groupby(str.splitlines(template_of("".join(lines[start:end])))):
                first, *middle = run = lines[start : start + len(list(same))]
                start += len(run)
                # The words of the note are so short that they have no units: it is not kept for its own sake.
                note = f"[+{len(run) - 2:,} such lines]\n"
                if len(run) >= _LEAST_RUN and sum(map(len, middle[:-1])) > len(note):
                    left_out += middle[:-1]
                    run = [first, note, middle[-1]]
                shown += run
        start = end
    return "".join(shown), "".join(left_out)
