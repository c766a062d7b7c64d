"""`KeyLines`: the lines with the most information that appears nowhere else."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from math import log2
from typing import NamedTuple, TypeAlias, TypeVar

from pycupel.errors import InvalidArgumentError
from pycupel.kernels.words import STOP_WORDS, stem, words
from pycupel.model import ContextItem
from pycupel.model.checks import checked_float, checked_iterable, inside
from pycupel.model.item import make_version
from pycupel.protocols import ShortenContext
from pycupel.shorten.extracts import DIRECTION, is_binary, safe_index
from pycupel.values import hold

# Longer lines are split into pieces of about this size.
_LONG = 1_200
_SIZE = 240
_BREAK = re.compile(r"[\s,;]+")

_TRACEBACK = re.compile(r"\s*Traceback \(most recent call last\)")
_FRAME = re.compile(r'\s+(?:File "|at )')
_HUNK = re.compile(r"@@ .* @@")
_NOTE = re.compile(r"^\[\+([0-9][0-9,]{0,11}) (?:such )?lines?\]$", re.MULTILINE)
_DELIMITERS = ",\t;"
# What is inside quotes is part of its cell, even a line break. Cells are compared, and never written.
_INSIDE_QUOTES = str.maketrans(dict.fromkeys(f"{_DELIMITERS}\r\n", " "))
_MOST_QUOTED_LINES = 50
# The characters of the line below the header of a table in Markdown.
_RULE = "|-: \t\r\n"
# The names of columns are short, and not numbers.
_NAME = re.compile(r'\s*"?[^\W\d].{0,39}$', re.DOTALL)
_TABLE_SHARE = 0.8


class Piece(NamedTuple):
    """A line with its end, or a part of a very long one. `needs` is the index of another piece to keep with it."""

    text: str
    needs: int | None = None


def pieces_of(text: str) -> list[Piece]:
    """Split a text into pieces; binary content has none. Joined, they are the text."""
    return [] if is_binary(text) else lines_of(text)


def lines_of(text: str) -> list[Piece]:
    """Split a text that is not binary into pieces."""
    # A subclass of str may split into anything.
    lines = str.splitlines(text, keepends=True)
    if '"' in text and any(map(lines[0].count, _DELIMITERS)):
        joined = _with_quoted_lines(lines)
        lines = joined if _columns(joined)[1] else lines
    texts = [part for line in lines for part in _parts(line)]
    return list(map(Piece, texts, _needs(texts)))


def _with_quoted_lines(lines: list[str]) -> list[str]:
    """Join the lines of each row whose quoted cells have line breaks."""
    rows: list[str] = []
    start = 0
    is_open = False
    for i, line in enumerate(lines):
        is_open ^= line.count('"') % 2 == 1
        if not is_open:
            rows.append("".join(lines[start : i + 1]))
            start = i + 1
        elif i - start > _MOST_QUOTED_LINES:
            return lines
    return rows + lines[start:]


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
    delimiter, columns = _columns([piece.text for piece in pieces[:3]])
    is_markdown = not columns and len(pieces) > 3 and _is_rule(pieces[1].text)
    rows: list[tuple[int, list[str]]] = []
    if columns:
        split = [_cells(piece.text, delimiter) for piece in pieces]
        rows = [(i, cells) for i, cells in enumerate(split) if i and len(cells) == columns]
    elif is_markdown:
        rows = [(i, piece.text.split("|")) for i, piece in enumerate(pieces) if i > 1 and piece.text.count("|") > 1]
    return rows if len(rows) >= _TABLE_SHARE * (len(pieces) - 1 - is_markdown) else []


def _columns(texts: Sequence[str]) -> tuple[str, int]:
    """Return what separates the cells of a table with a header, and how many each row has; 0 if it is none."""
    if len(texts) < 3:
        return "", 0
    delimiter = max(_DELIMITERS, key=texts[0].count)
    header, *rows = [_cells(text, delimiter) for text in texts[:3]]
    is_table = len(header) > 2 and all(map(_NAME.match, header)) and {*map(len, rows)} == {len(header)}
    return delimiter, len(header) if is_table else 0


def _cells(row: str, delimiter: str) -> list[str]:
    parts = row.split('"')
    parts[1::2] = [part.translate(_INSIDE_QUOTES) for part in parts[1::2]]
    return '"'.join(parts).split(delimiter)


def _is_rule(text: str) -> bool:
    return "-" in text and "|" in text and not text.strip(_RULE)


def _left_out(gap: str, *, starts_line: bool) -> str:
    # The text may have been shortened before. Most has not, and a search takes longer than all else here.
    notes = [int(number.replace(",", "")) for number in _NOTE.findall(gap)] if "[+" in gap else []
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
    delimiter, columns = _columns(texts)
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
            # Rows may have been folded.
            table = table if table is not None and _NOTE.match(text) else None
        elif table is None:
            table = i
        else:
            needs[i] = table
            # The header is one only with the line below it.
            table = i if table == i - 1 and _is_rule(text) else table
        if columns and i and len(_cells(text, delimiter)) == columns:
            needs[i] = 0
    _need_frames(texts, needs)
    return needs


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


# The information in a text, in units: identifiers, paths, named numbers, error messages, headings; words count less.
#
# An identifier counts 1. Among records, such as the elements of a JSON array or the rows of a table, those stand out
# that have rare values, errors, or words of the question. The time is proportional to the text.


# One pass finds words, identifiers and paths, and a number after a name.
_WORD = re.compile(r"([^\W\d][\w./:-]{5,})(?:[ \t]*=?[ \t]*(-?\d[\d.,]*))?")
# An identifier or a path has punctuation in it or after it, such as the colon of a key.
_IDENTIFIER = re.compile(r"[_/.\d:]|[a-z][A-Z]")
# Lines that a logger, compiler or test runner marks as errors, like `12:05 ERROR timeout` or `level=error msg=timeout`.
_MARKED = (
    r"(?-i:\b(?:ERROR|FATAL|CRITICAL|SEVERE|PANIC|FAILED|FAILURE)\b)|\berror\[\w+\]:"
    r'|\b(?:level|severity)"?[ \t]*[=:][ \t]*"?(?:error|fatal|critical|panic)\b'
)
_MENTIONED = (
    r"\b(?:error|fatal|panic|failed|failure|warning|exception)\b\s*[:!\]]|\b[A-Z]\w*(?:Error|Exception)\b:|Traceback"
)
_ERROR = re.compile(f"({_MARKED})|{_MENTIONED}", re.IGNORECASE)
# Every match contains one of these. Most lines do not, and asking for them is much cheaper than a search.
_SIGNS = ("err", "fatal", "panic", "fail", "warning", "exception", "critical", "severe", "traceback")
_HEADING = re.compile(r"\s*(?:#{1,6} |={3,}|[A-Z][A-Z \d]{5,}:?\s*$)")
_DIGITS = re.compile(r"\d+")
_EDGES = "./:-"

# What differs between lines that say the same: ids with digits among their letters, hexadecimal ones, and numbers.
_VARYING = re.compile(r"(?<![^\W_])(?=[a-zA-Z]*\d)(?:[0-9a-fA-F]{8,}|(?:[a-zA-Z]*\d){3}[a-zA-Z\d]{5,})(?![^\W_])|\d+")
_ERROR_VALUE = re.compile(r"\b(?:error|fail|fatal|panic|exception|critical|severe|traceback)", re.IGNORECASE)

# Longer words are data, not names.
_LONGEST = 200
# The units of an ordinary word, of a line that mentions an error or is a heading, and of a line marked as an error.
_ORDINARY = 1 / 32
_LINE = 1 / 2
_MARKED_LINE = 4.0


def units_of(text: str) -> dict[int, float]:
    """Count the units of a line, by the hash of each identifier, path, number or word: it may be remembered."""
    units: dict[int, float] = {}
    for word, number in _WORD.findall(text):
        name = word.strip(_EDGES)
        if len(name) > _LONGEST:
            continue
        # Most words are plain, and asking for that is cheaper than a search.
        if (word.isalpha() and word[1:].islower()) or not _IDENTIFIER.search(word):
            # The same word in a sentence is not the key or identifier.
            units[hash(f" {name}")] = _ORDINARY
        else:
            units[hash(name)] = 1.0
        if number:
            units[hash(f"{name} {number}")] = _ORDINARY
    folded = text.lower()
    error = _ERROR.search(text) if any(map(folded.__contains__, _SIGNS)) else None
    if error is not None and error[1]:
        # A log may repeat an error with other numbers; once is enough.
        units[hash(_DIGITS.sub("#", text.strip()))] = _MARKED_LINE
    elif error is not None or _HEADING.match(text):
        units[hash(text.strip())] = _LINE
    return units


def template_of(text: str) -> str:
    """Replace everything that differs between lines that say the same: numbers, times and ids."""
    return _VARYING.sub("#", text)


# A value that one record in four has does not stand out.
_LEAST_BITS = 2.0
# How much more errors and the words of a question say than other values of the same rarity.
_ADVANTAGE = 2.0
_MOST_WORDS = 64
_LONGEST_VALUE = 200


class Standing(NamedTuple):
    """How much a record stands out, in bits, and by what: a value, or a word of the question."""

    bits: float = 0.0
    by: str = ""


def standing_out(
    records: Sequence[Iterable[tuple[str, str]]], texts: Sequence[str], query: str | None
) -> list[Standing]:
    """Return how much each record stands out; 0 bits if it does not.

    Records stand out by a value that few others have under the same key, by a sign of an error, or by a word of the
    question. What most of them reach says nothing. The values of a key say the less, the more of them differ: those of
    ids and times say nothing. Texts that differ only in numbers count as the same, if all of them are different.
    """
    standing = [Standing()] * len(texts)
    for indices, each in (*_by_values(records, len(texts)), *_by_words(texts, query)):
        for i in indices:
            if each.bits > standing[i].bits:
                standing[i] = each
    bits = sorted(each.bits for each in standing)
    least = max([_LEAST_BITS, *(most / 2 for most in bits[-1:])])
    if 2 * sum([each >= least for each in bits]) > len(bits):
        least = bits[len(bits) // 2] + _LEAST_BITS
    return [each if each.bits >= least else Standing() for each in standing]


def _by_values(records: Sequence[Iterable[tuple[str, str]]], count: int) -> Iterator[tuple[Collection[int], Standing]]:
    """Find the records that stand out by each of their values, and by signs of errors."""
    columns: dict[str, dict[str, list[int]]] = {}
    for i, record in enumerate(records):
        for key, value in record:
            column = columns.get(key)
            if column is None:
                column = columns[key] = {}
            column.setdefault(value[:_LONGEST_VALUE], []).append(i)
    erroneous: dict[int, str] = {}
    for column in columns.values():
        # A key that few records have stands out as a rare value does.
        own = log2(count / len({i for indices in column.values() for i in indices}))
        rarities = _rarities({value: len(indices) for value, indices in column.items()})
        for value, indices in column.items():
            yield indices, Standing(own + rarities[value], value)
            if _ERROR_VALUE.search(value):
                erroneous |= dict.fromkeys(indices, value)
    if 0 < len(erroneous) <= count / 2:
        rarity = log2(count / len(erroneous)) + _ADVANTAGE
        yield from [([i], Standing(rarity, value)) for i, value in erroneous.items()]


def _by_words(texts: Sequence[str], query: str | None) -> Iterator[tuple[Collection[int], Standing]]:
    """Find the records that stand out by each word of the question."""
    asked = [word for word in map(str.lower, words(query or "")) if len(word) > 2 and word not in STOP_WORDS]
    folded = [text.lower() for text in texts] if asked else []
    for word in list(dict.fromkeys(map(stem, asked)))[:_MOST_WORDS]:
        found = [i for i, text in enumerate(folded) if word in text]
        if 0 < len(found) <= len(texts) / 2:
            yield found, Standing(log2(len(texts) / len(found)) + _ADVANTAGE, word)


def _rarities(counts: Mapping[str, int]) -> dict[str, float]:
    """Return how rare each value is among those of its key, in bits, less if most of them are different."""
    total = sum(counts.values())
    templates = {value: template_of(value) if 2 * len(counts) > total else value for value in counts}
    together: Counter[str] = Counter()
    for value, count in counts.items():
        together[templates[value]] += count
    weight = (1 - (len(together) - 1) / total) ** 3
    rarity = {value: weight * log2(total / count) for value, count in together.items()}
    return {value: rarity[template] for value, template in templates.items()}


SHARES = (0.05, 0.1, 0.2, 0.4, 0.7)
"""The largest shares of an item's tokens that versions have by default."""

# The cost of a line in addition to its characters: its part of the note about left-out lines.
_GAP = 8
_MAX_NEEDED = 16

_Form = TypeVar("_Form")
_FindUnits: TypeAlias = Callable[[str], Mapping[int, float]]


@dataclass(frozen=True, slots=True, init=False)
class KeyLines:
    """Keeps the lines with the most information that appears nowhere else in the context.

    Identifiers, paths, named numbers, error messages and headings count, and other words a little. Information in
    several items counts for the newest, so repeated lines are left out of older ones. Lines keep their order and their
    text, with the number of lines left out between them. A table keeps its header, a diff the header of a
    hunk, a stack trace its first and last frames, and JSON the keys around a line. Very long lines are split
    between words. Binary content and text that cannot be split have no versions.

    Items are newest first by timestamp; without one, a later item is newer.
    """

    shares: tuple[float, ...] = field(metadata=inside(low=0.0, high=1.0))
    """The largest share of the item's tokens that each version may have."""

    def __init__(self, shares: Iterable[float] = SHARES) -> None:
        given = [
            checked_float(f"shares[{i}]", share, InvalidArgumentError, low=0.0, high=1.0)
            for i, share in enumerate(checked_iterable("shares", "an iterable of numbers", shares))
        ]
        if not given:
            raise InvalidArgumentError("shares must not be empty", argument="shares", value=())
        hold(self, shares=tuple(sorted(set(given))))

    def shorten(self, item: ContextItem, context: ShortenContext, /) -> list[ContextItem]:
        """Make versions, longest first; fewer than `shares` if some would be equal or no shorter."""
        pieces, units = self._analysis(context)[id(item)]
        if len(pieces) <= 1:
            return []
        order = densest_first(pieces, units)
        versions: list[ContextItem] = []
        characters = sum([len(piece.text) for piece in pieces])
        for share in reversed(self.shares):
            chosen = take(pieces, order, int(share * characters))
            if not chosen or len(chosen) == len(pieces):
                continue
            text = join_pieces(pieces, chosen)
            tokens = context.count(item, text)
            if tokens < (versions[-1] if versions else item).tokens:
                held = sum([units[i] for i in chosen])
                made = f"KeyLines, {len(chosen)} of {len(pieces)} lines"
                versions.append(make_version(item, text, tokens, made, held))
        return versions

    def units(self, item: ContextItem, context: ShortenContext, /) -> float:
        """Count the units of the whole item that no newer one has; 1 if there are none."""
        pieces, units = self._analysis(context)[id(item)]
        return sum(units) if pieces else 1.0

    def _analysis(self, context: ShortenContext) -> dict[int, tuple[Sequence[Piece], Sequence[float]]]:
        return analyse(context, pieces_of, lambda pieces: pieces)


def analyse(
    context: ShortenContext, find: Callable[[str], _Form], pieces_in: Callable[[_Form], Sequence[Piece]]
) -> dict[int, tuple[_Form, Sequence[float]]]:
    """Return the form of each item, by its id, and the units of its pieces that no newer item has.

    Done once per context.

    Args:
        context: The items.
        find: Makes the form of a text. Memos use it as their key.
        pieces_in: Returns the pieces of a form.
    """
    made: dict[int, tuple[_Form, Sequence[float]]] | None = context.memo.get((analyse, find))
    if made is None:
        made = context.memo[analyse, find] = {}
        # A caller with one context after another may remember the results for texts that occur in several.
        find_form: Callable[[str], _Form] = context.memo.get(find, find)
        find_units: _FindUnits = context.memo.get(units_of, units_of)
        seen: set[int] = set()
        for text in context.kept_texts:
            seen.update(find_units(text))
        # Newest first; items without a timestamp count as older than those with one.
        items = context.items
        times = [float("-inf") if item.timestamp is None else item.timestamp.timestamp() for item in items]
        order = sorted(range(len(items)), key=lambda i: (times[i], i), reverse=True)
        newest_first = list({id(items[i]): items[i] for i in order}.values())
        forms = [find_form(item.content) for item in newest_first]
        pieces = list(map(pieces_in, forms))
        for item, form, own in zip(newest_first, forms, pieces, strict=True):
            made[id(item)] = form, _credited(own, seen, find_units)
    return made


def densest_first(pieces: Sequence[Piece], units: Sequence[float]) -> list[int]:
    """Sort the pieces that have units, those with the most units for their length first."""
    found = [i for i, worth in enumerate(units) if worth > 0.0]
    return sorted(found, key=lambda i: -units[i] / (len(pieces[i].text) + _GAP))


def _credited(pieces: Sequence[Piece], seen: set[int], find_units: _FindUnits) -> list[float]:
    """Count the units of each piece. A repeated unit counts for the piece with the most units for its length."""
    new_units = [
        {unit: worth for unit, worth in find_units(piece.text).items() if unit not in seen} for piece in pieces
    ]
    density = [sum(units.values()) / (len(piece.text) + _GAP) for units, piece in zip(new_units, pieces, strict=True)]
    credited = [0.0] * len(pieces)
    for i in sorted(range(len(pieces)), key=lambda i: -density[i]):
        credited[i] = sum([worth for unit, worth in new_units[i].items() if unit not in seen])
        seen.update(new_units[i])
    return credited


def take(pieces: Sequence[Piece], order: Iterable[int], budget: int) -> set[int]:
    """Take pieces in this order while they fit, each with the pieces that it needs."""
    chosen: set[int] = set()
    left = budget
    least = min([len(piece.text) for piece in pieces]) + _GAP
    for i in order:
        if left < least:
            break
        if i in chosen:
            continue
        wanted: list[int] = []
        needed: int | None = i
        while needed is not None and needed not in chosen and len(wanted) < _MAX_NEEDED:
            wanted.append(needed)
            needed = pieces[needed].needs
        cost = sum([len(pieces[each].text) + _GAP for each in wanted])
        if cost <= left:
            left -= cost
            chosen.update(wanted)
    return chosen
