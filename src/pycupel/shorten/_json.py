"""JSON that stays JSON: read a text in parts, leave some of them out, and write the others as they were.

The standard library does the reading and writing, because it is many times as fast as Python. So that it copies what
it would change, strings keep their escape sequences and numbers their digits behind control characters, which no valid
JSON text contains.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Collection, Iterable, Iterator, Sequence
from json import JSONDecoder, JSONEncoder
from typing import NamedTuple, TypeAlias, cast

from pycupel.codecs.base import MAX_DEPTH, reject_duplicate_keys
from pycupel.shorten.extracts import DIRECTION, safe_index
from pycupel.shorten.key_lines import Piece, join_pieces, standing_out

# In place of an escaped quote, an escaped backslash and any other backslash, and on both sides of a number.
_HIDDEN = {'\\"': "\x01", "\\\\": "\x02", "\\": "\x03"}
_SHOWN = str.maketrans({sign: text for text, sign in _HIDDEN.items()})
_NUMBER = "\x04"
_BACKSLASH = re.compile(r'\\["\\]?')
_WRITTEN = re.compile(r"\\u000([123])")
# The escape sequence of a character; that of one outside the basic plane is a pair.
_ESCAPED = re.compile(r"\x03(?:u[dD][89abAB]..\x03u....|u....|.)")
_LONGEST_ESCAPED = 12

# Arrays deeper than this do not become columns: trying takes time proportional to the depth.
_COLUMN_LEVELS = 8
# Values up to this size, in characters, are kept or left out as a whole.
_ATOM = 400
# Values of an array that are neither objects nor arrays are kept in runs of this size.
_RUN = 100
# Longer strings are kept in parts of about this size.
_LONG_STRING = 720
_STRING_PART = 240
# Members of an object that stay with it: short ones up to this size, if all of them together are not large.
_SHORT = 60
_SHORT_TOGETHER = 1_000
# An object with no more long members keeps all its keys.
_FEW_MEMBERS = 32
# Deeper values are kept or left out as a whole.
_OPEN_LEVELS = 12
# How deep the values of a record are compared with those of others, and how many of each list.
_COMPARED_LEVELS = 3
_COMPARED_ELEMENTS = 8

_LEFT_OUT = re.compile(r"([0-9][0-9,]{0,14}) more (?:record|value|key)s?")
_MARK = "..."

Node: TypeAlias = "dict[str, Node] | list[Node] | str | bool | None"
"""A str is a string with hidden escapes, or a number."""


def _number(digits: str) -> str:
    return f"{_NUMBER}{digits}{_NUMBER}"


def _constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


_STRICT = JSONDecoder(
    object_pairs_hook=reject_duplicate_keys, parse_int=_number, parse_float=_number, parse_constant=_constant
)
_WITH_SIGNS = JSONDecoder(parse_int=_number, parse_float=_number, strict=False)
_ENCODE = JSONEncoder(ensure_ascii=False, check_circular=False, separators=(",", ":")).encode


def read_json(text: str) -> Node:
    """Read a JSON text."""
    try:
        node: Node = _STRICT.decode(text)
    except RecursionError:
        raise ValueError("nested too deeply") from None
    level = [node]
    for _ in range(MAX_DEPTH):
        level = [part for each in level for part in _parts(each) if type(part) is dict or type(part) is list]
        if not level:
            break
    else:
        raise ValueError("nested too deeply")
    if "\\" in text:
        node = _WITH_SIGNS.decode(_BACKSLASH.sub(lambda match: _HIDDEN[match[0]], text))
    return node


def _parts(node: Node) -> Iterable[Node]:
    if type(node) is dict:
        return node.values()
    return node if type(node) is list else ()


def read_json_lines(text: str) -> list[Node]:
    """Read objects or arrays, one a line."""
    # Other line separators may be part of strings.
    lines = [line for line in text.split("\n") if line.strip()]
    if len(lines) < 2 or not all(line.lstrip().startswith(("{", "[")) for line in lines):
        raise ValueError("not JSON lines")
    return [read_json(line) for line in lines]


def write_json(node: Node) -> str:
    """Write JSON without spaces between values. Strings and numbers are as they were."""
    if type(node) is str:
        return node.strip(_NUMBER) if node[:1] == _NUMBER else f'"{node.translate(_SHOWN)}"'
    text = _ENCODE(node).replace('"\\u0004', "").replace('\\u0004"', "")
    # In one pass: what one replacement writes may look like the sign of another.
    return _WRITTEN.sub(lambda match: chr(int(match[1])).translate(_SHOWN), text) if "\\u000" in text else text


def with_columns(node: Node, levels: int = _COLUMN_LEVELS) -> Node:
    """Write arrays of records with equal keys as columns and rows where that saves a fifth.

    Returns the node itself if there are none.
    """
    if levels and type(node) is list:
        records = [each for each in node if type(each) is dict]
        keys: list[Node] = list(records[0]) if records else []
        if keys and 2 < len(node) == len(records) and all(list(each) == keys for each in records):
            rows: list[Node] = [list(each.values()) for each in records]
            made: Node = {"columns": keys, "rows": rows}
            saves = 5 * len(write_json(made)) <= 4 * len(write_json(node))
            # Inner rows that are one piece would stay or go together, and the rare one with them.
            if saves and (levels == _COLUMN_LEVELS or len(write_json(rows)) > _ATOM):
                return made
        elements = [with_columns(each, levels - 1) for each in node]
        return elements if any(new is not old for new, old in zip(elements, node, strict=True)) else node
    if levels and type(node) is dict:
        members = {key: with_columns(value, levels - 1) for key, value in node.items()}
        return members if any(members[key] is not value for key, value in node.items()) else node
    return node


class _Part(NamedTuple):
    """A value inside another: written as it is, or in parts, if its piece is chosen; else what stands in its place."""

    key: str
    text: str
    piece: int
    inside: _Container | _String | None = None
    mark: str = ""
    values: int = 1


class _Container(NamedTuple):
    """An object, an array, or lines. `before` values were left out earlier, and the mark has a name if in an object."""

    brackets: tuple[str, str, str]
    parts: Sequence[_Part]
    before: int
    noun: str
    mark: str

    def write(self, chosen: Collection[int]) -> str:
        shown: list[str] = []
        missing = self.before
        for part in self.parts:
            if part.piece in chosen:
                shown.append(part.key + (part.text if part.inside is None else part.inside.write(chosen)))
            elif part.mark:
                shown.append(part.key + part.mark)
            else:
                missing += part.values
        start, between, end = self.brackets
        if missing:
            note = _note(missing, self.noun, self.mark)
            shown.append(note[1:-1] if start == "{" else note)
        return f"{start}{between.join(shown)}{end}"


class _String(NamedTuple):
    """A long string. The first and the last part come with the first piece, the others have one each."""

    first: int
    texts: Sequence[Piece]

    def write(self, chosen: Collection[int]) -> str:
        last = len(self.texts) - 1
        shown = {0, last, *(i for i in range(1, last) if self.first + i in chosen)}
        return f'"{join_pieces(self.texts, shown)}"'


class _Array(NamedTuple):
    """The elements of an array, and where the pieces of each begin. An outer one is in no other array."""

    elements: Sequence[Node]
    texts: Sequence[str]
    starts: Sequence[int]
    is_outer: bool


class _Place(NamedTuple):
    """Where a value stands: the piece that it needs, the levels that may be opened, and what it is there."""

    need: int | None = None
    levels: int = _OPEN_LEVELS
    is_outer: bool = True
    role: str = ""

    def inside(self, need: int, *, role: str = "", is_outer: bool = False) -> _Place:
        return _Place(need, self.levels - 1, self.is_outer and is_outer, role)


class JsonParts:
    """A JSON text in pieces, each a value, the keys of an object, or a part of a string.

    Attributes:
        pieces: The pieces. Their texts are to be measured and searched, not to be joined.
    """

    def __init__(self, node: Node, *, lines: bool = False) -> None:
        self.pieces: list[Piece] = []
        self._arrays: list[_Array] = []
        self._root = self._part("", node, write_json(node), _Place(role="lines" if lines else ""))

    def write(self, chosen: Collection[int]) -> str:
        """Write the chosen pieces, which include those that they need, and how much was left out."""
        root = self._root
        return root.text if root.inside is None else root.inside.write(chosen)

    def ends(self) -> list[int]:
        """Return the first pieces of the first and the last element of each array that is in no other."""
        ends = [i for array in self._arrays if array.is_outer for i in (array.starts[0], array.starts[-2])]
        return list(dict.fromkeys(ends))

    def bits(self, query: str | None) -> list[float]:
        """Return how much each piece stands out, as part of an element of an array."""
        bits = [0.0] * len(self.pieces)
        for array in self._arrays:
            own = standing_out([list(_values(each, _COMPARED_LEVELS)) for each in array.elements], array.texts, query)
            for n, each in enumerate(own):
                if each.bits:
                    # The piece with the value comes before the others of its element, and brings what is around it.
                    pieces = range(array.starts[n], array.starts[n + 1])
                    sign = _readable(each.by.strip(_NUMBER).translate(_SHOWN)).lower()
                    for i in pieces:
                        holds = len(pieces) == 1 or sign in self.pieces[i].text.lower()
                        bits[i] = max(bits[i], each.bits if holds else each.bits / 2)
        return bits

    def record_at(self, piece: int) -> range:
        """Return the pieces of the innermost element that a piece belongs to."""
        # Inner arrays are listed before those around them.
        for array in self._arrays:
            n = bisect_right(array.starts, piece)
            if 0 < n < len(array.starts):
                return range(array.starts[n - 1], array.starts[n])
        return range(piece, piece + 1)

    def _part(self, key: str, node: Node, text: str, place: _Place, mark: str = "") -> _Part:
        piece = len(self.pieces)
        if len(text) > _ATOM and place.levels:
            if type(node) is dict:
                return _Part(key, "", piece, self._object(node, place), mark)
            if type(node) is list and place.role == "row":
                return _Part(key, "", piece, self._members([("", each) for each in node], place, ("[", ",", "]")), mark)
            if type(node) is list:
                return _Part(key, "", piece, self._array(node, place), mark)
            if type(node) is str and len(node) > _LONG_STRING and node[0] != _NUMBER and not DIRECTION.search(node):
                return _Part(key, "", piece, self._string(node, place), mark)
        self.pieces.append(Piece(_readable(key + text), place.need))
        return _Part(key, text, piece, None, mark)

    def _object(self, node: dict[str, Node], place: _Place) -> _Container:
        before, mark = 0, _MARK
        while mark in node:
            before = _number_in(node[mark])
            if before:
                # A note of an earlier version.
                node = {key: value for key, value in node.items() if key != mark}
            else:
                mark += "."
        members = [(f'"{key.translate(_SHOWN)}":', value) for key, value in node.items()]
        return self._members(members, place, ("{", ",", "}"), before, mark, is_table=_table_in(node) is not None)

    def _members(
        self,
        members: Sequence[tuple[str, Node]],
        place: _Place,
        brackets: tuple[str, str, str],
        before: int = 0,
        mark: str = _MARK,
        *,
        is_table: bool = False,
    ) -> _Container:
        """Open an object or a row: its short members and, if they are few, all keys are in its first piece."""
        first = len(self.pieces)
        self.pieces.append(Piece("", place.need))
        texts = [write_json(value) for _, value in members]
        short = [len(key) + len(text) for (key, _), text in zip(members, texts, strict=True) if len(text) <= _SHORT]
        limit = _SHORT if sum(short) <= _SHORT_TOGETHER else 0
        # A row must keep its columns.
        keeps_keys = place.role == "row" or len(members) - (len(short) if limit else 0) <= _FEW_MEMBERS
        parts: list[_Part] = []
        own: list[str] = []
        opened: list[tuple[Node, str, int]] = []
        for (key, value), text in zip(members, texts, strict=True):
            note = _summary(value) if keeps_keys else ""
            if len(text) <= max(limit, len(note)) or (is_table and not parts):
                parts.append(_Part(key, text, first))
                own.append(key + text)
            else:
                role = "rows" if is_table else ""
                inner = place.inside(first, role=role, is_outer=True)
                opened.append((value, text, len(self.pieces)))
                parts.append(self._part(key, value, text, inner, note))
                own += [key + note] if note else []
        self.pieces[first] = Piece(_readable(f"{{{','.join(own)}}}"), place.need)
        if len(opened) > 2 and {type(value) for value, _, _ in opened} <= {dict, list}:
            # Like an array whose elements have names.
            elements, written, starts = zip(*opened, strict=True)
            self._arrays.append(_Array(elements, written, [*starts, len(self.pieces)], is_outer=False))
        return _Container(brackets, parts, before, "keys", mark)

    def _array(self, node: list[Node], place: _Place) -> _Container:
        first = len(self.pieces)
        elements, before = _without_note(node)
        noun = _noun(elements)
        self.pieces.append(Piece(_note(len(elements), noun, _MARK), place.need))
        inner = place.inside(first, role="row" if place.role == "rows" else "")
        texts = [write_json(each) for each in elements]
        counts = [1] * len(elements)
        if noun == "values":
            elements, texts, counts = _runs(elements, texts)
        parts: list[_Part] = []
        starts: list[int] = []
        for each, text, count in zip(elements, texts, counts, strict=True):
            starts.append(len(self.pieces))
            parts.append(self._part("", each, text, inner)._replace(values=count))
        starts.append(len(self.pieces))
        self._arrays.append(_Array(elements, texts, starts, place.is_outer))
        brackets = ("", "\n", "") if place.role == "lines" else ("[", ",", "]")
        return _Container(brackets, parts, before, noun, _MARK)

    def _string(self, node: str, place: _Place) -> _String:
        texts: list[Piece] = []
        start = 0
        first = len(self.pieces)
        while start < len(node):
            end = _string_end(node, start)
            texts.append(Piece(node[start:end].translate(_SHOWN)))
            self.pieces.append(Piece(_readable(texts[-1].text), first))
            start = end
        # The last part comes with the first.
        self.pieces[first] = Piece(f"{self.pieces[first].text} {self.pieces.pop().text}", place.need)
        return _String(first, texts)


def json_parts(text: str) -> tuple[JsonParts, list[tuple[str, str]]] | None:
    """Read JSON or JSON lines; None if it is neither.

    Returns:
        Its parts, and the texts that say the same in another form, longest first, each with a name.
    """
    try:
        node = read_json(text)
    except ValueError:
        try:
            records = read_json_lines(text)
        except ValueError:
            return None
        compact = "\n".join(map(write_json, records))
        return JsonParts(records, lines=True), [(compact, "JSON lines without spaces")]
    forms = [(write_json(node), "JSON without spaces")]
    columns = with_columns(node)
    if columns is not node:
        forms.append((write_json(columns), "JSON in columns"))
    return JsonParts(columns), forms


def _string_end(node: str, start: int) -> int:
    """Find where a part of a string may end: after a line or a word if there is one, and not inside a character."""
    end = start + _STRING_PART
    if len(node) - end < _STRING_PART // 2:
        return len(node)
    middle = start + _STRING_PART // 2
    for sign in ("\x03n", " "):
        found = node.rfind(sign, middle, end)
        if found >= 0:
            return found + len(sign)
    end = safe_index(node, end)
    for match in _ESCAPED.finditer(node, max(start, end - _LONGEST_ESCAPED), end + _LONGEST_ESCAPED):
        if match.start() < end < match.end():
            return match.start()
    return end


def _runs(values: Sequence[Node], texts: Sequence[str]) -> tuple[list[Node], list[str], list[int]]:
    """Join neighbouring short values: they are kept or left out together."""
    runs: list[list[Node]] = []
    joined: list[list[str]] = []
    size = _RUN
    for value, text in zip(values, texts, strict=True):
        if size + len(text) > _RUN:
            runs.append([])
            joined.append([])
            size = 0
        runs[-1].append(value)
        joined[-1].append(text)
        size += len(text)
    nodes: list[Node] = [run[0] if len(run) == 1 else run for run in runs]
    return nodes, [",".join(run) for run in joined], [len(run) for run in runs]


def _number_in(note: Node) -> int:
    """Return the number in a note of an earlier version; 0 if it is none."""
    found = _LEFT_OUT.fullmatch(note) if type(note) is str else None
    return 0 if found is None else int(found[1].replace(",", ""))


def _without_note(node: list[Node]) -> tuple[list[Node], int]:
    """Return the elements of an array, and how many an earlier version left out."""
    last = node[-1] if node else None
    before = _number_in(last[_MARK]) if type(last) is dict and list(last) == [_MARK] else 0
    return (node[:-1] if before else node), before


def _note(count: int, noun: str, mark: str) -> str:
    return f'{{"{mark}": "{count:,} more {noun if count > 1 else noun[:-1]}"}}'


def _noun(elements: Sequence[Node]) -> str:
    return "records" if any(type(each) is dict or type(each) is list for each in elements) else "values"


def _summary(node: Node) -> str:
    """Write what stands in place of a value in an object that keeps its keys."""
    table = _table_in(node)
    if type(node) is list or table is not None:
        elements, before = _without_note(table or cast(list[Node], node))
        return f"[{_note(len(elements) + before, _noun(elements), _MARK)}]"
    if type(node) is dict:
        return _note(len(node), "keys", _MARK)
    return f'"[+{len(node):,} characters]"' if type(node) is str else write_json(node)


def _table_in(node: Node) -> list[Node] | None:
    """Return the rows of an array that is written in columns."""
    if type(node) is dict and list(node) == ["columns", "rows"]:
        columns, rows = node.values()
        if type(columns) is list and type(rows) is list and {*map(type, columns)} == {str}:
            return rows
    return None


def _readable(text: str) -> str:
    """Put spaces in place of escaped line breaks and tabs, whose letter would else be part of the next word."""
    return re.sub(r"\\[nrt]", " ", text) if "\\" in text else text


def _values(node: Node, levels: int, path: str = "") -> Iterator[tuple[str, str]]:
    """List the values of a record, each with its path. Records inside it have the same path, wherever they stand."""
    rows = _table_in(node)
    if rows is not None:
        # Other arrays of the same kind may not be in columns.
        columns = cast(dict[str, list[str]], node)["columns"]
        node = [dict(zip(columns, row, strict=False)) if type(row) is list else row for row in rows]
    parts: Iterable[tuple[str, Node]] = ()
    if type(node) is dict:
        parts = [(f"{path}.{key}", value) for key, value in node.items()]
    elif type(node) is list:
        # A row has a value for each column, however many there are.
        parts = [
            (f"{path}[]" if type(value) is dict or (path and type(value) is list) else f"{path}[{i}]", value)
            for i, value in enumerate(node[:_COMPARED_ELEMENTS] if path else node)
        ]
    else:
        yield path, str(node)
    for name, value in parts:
        # Most values are strings or numbers.
        if type(value) is str:
            yield name, value
        elif levels > 1 or type(value) is bool or value is None:
            yield from _values(value, levels - 1, name)
