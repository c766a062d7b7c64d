"""How many tokens a text probably has, from the kinds of its characters alone.

A tokenizer first cuts a text into pieces (words, groups of three digits, runs of marks, gaps) and then splits those that
its vocabulary does not hold as a whole. Where a piece starts follows from a character and the one before it, so pieces
are counted. How many of them are split is estimated: long words, capitals, clusters of consonants, long runs of marks.

All of it is translating and counting bytes, in linear time whatever the text is. The costs are those of `o200k_base`,
fitted by `tools/fit_estimator.py`.
"""

from __future__ import annotations

import re
from operator import mul

from pycupel.model.checks import checked_str

__all__ = ["COSTS", "count_features", "estimate_tokens"]

_LOWER = b"abcdefghijklmnopqrstuvwxyz"
_UPPER = _LOWER.upper()
_DIGITS = b"0123456789"
_LINE_ENDS = b"\n\r"
_MARKS = bytes(sorted(set(range(0x80)) - set(_LOWER + _UPPER + _DIGITS + _LINE_ENDS + b" ")))
# Marks that often are one token with the word after them: `.name`, `_name`, `(name`.
_JOINING_MARKS = b"._(#'\\%<"

# In UTF-8, the first byte of a character tells its script, near enough, and the others can go.
_CONTINUATION = bytes(range(0x80, 0xC0))
_ACCENTED = bytes(range(0xC3, 0xCC))
_GREEK_TO_ARABIC = bytes(range(0xCC, 0xE0))
_INDIC_TO_KHMER = b"\xe0\xe1"
_CHINESE_TO_KOREAN = bytes(range(0xE3, 0xEF))
_SYMBOLS = b"\xc2\xe2\xef"
_EMOJI = bytes(range(0xF0, 0x100))
_SMALL_LETTERS = _LOWER + _ACCENTED + _GREEK_TO_ARABIC + _INDIC_TO_KHMER


def _table(other: str, kinds: dict[str, bytes]) -> bytes:
    """A table for `bytes.translate` that replaces every character by its kind."""
    table = bytearray(other.encode() * 256)
    for kind, characters in kinds.items():
        for character in characters:
            table[character] = ord(kind)
    return bytes(table)


# Digits are alike, and each group of up to three of them becomes one character, 0 or 1.
_DIGITS_ALIKE = bytes.maketrans(_DIGITS, b"0" * 10)

_KINDS = "other", "line end", "blank", "mark", "letter", "capital", "number"
_OTHER, _LINE_END, _BLANK, _MARK, _LETTER, _CAPITAL, _NUMBER = map(chr, range(7))
_KIND_OF = _table(
    _OTHER,
    {
        _LINE_END: _LINE_ENDS,
        _BLANK: b" ",
        _MARK: _MARKS + _SYMBOLS,
        _LETTER: _SMALL_LETTERS,
        _CAPITAL: _UPPER,
        _NUMBER: b"01",
    },
)


def _pair(before: str, kind: str) -> int:
    """Two neighbours in one byte."""
    return ord(before) << 4 | ord(kind)


def _piece_starts() -> bytes:
    """For each pair, whether a piece starts with the second of it.

    `camelCase` is two pieces. A line's end belongs to a mark before it, a blank to the word after it.
    """
    goes_on_after = {
        _LINE_END: (_LINE_END, _MARK),
        _MARK: (_MARK,),
        _LETTER: (_LETTER, _CAPITAL),
        _CAPITAL: (_CAPITAL,),
        _NUMBER: (),
    }
    table = bytearray(256)
    for kind, kinds_before in goes_on_after.items():
        for before in map(chr, range(7)):
            table[_pair(before, kind)] = before not in kinds_before
    return bytes(table)


_PIECE_STARTS = _piece_starts()
_NO_STARTS = bytes(i for i in range(256) if not _PIECE_STARTS[i])
_GAPS = bytearray(b"x" * 256)
for _i in range(7): _GAPS[_i << 4 | 2] = ord("s")
_GAPS[2 << 4 | 2] = ord("b")
_CAPITALS = _pair(_CAPITAL, _CAPITAL)
_BLANK_BEFORE_NUMBER = _pair(_BLANK, _NUMBER)

_RUN_LENGTH = 24
_RUN = re.compile(rb"[A-Za-z0-9+/=_-]{%d,}" % _RUN_LENGTH)
_LONG = b'x' * _RUN_LENGTH
_CHANGES = (b"aA", b"Aa", b"a0", b"0a", b"A0", b"0A")
_LONG_RUNS = _table(" ", {"x": _LOWER + _UPPER + _DIGITS + b"+/=_-"})
_RUN_CLASSES = _table(".", {"a": _LOWER, "A": _UPPER, "0": _DIGITS})

_PATTERNS = (
    (_table(".", {"a": _SMALL_LETTERS, "A": _UPPER, " ": b" "}), (b" aaaaaaaa", b".aaaaaaa", b"aaaaaaaaaaaaa")),
    (_table(" ", {"b": b"bcdfghjklmnpqrstvwxz"}), (b"bbbb",)),
    (
        _table(" ", {"a": _SMALL_LETTERS + _UPPER, ",": _MARKS, ".": _JOINING_MARKS}),
        (b"a.a", b"a,a"),
    ),
    (_table(" ", {".": _MARKS}), (b"....",)),
)
_SCRIPTS = (
    (
        _table(" ", {"l": _ACCENTED, "g": _GREEK_TO_ARABIC, "i": _INDIC_TO_KHMER, "c": _CHINESE_TO_KOREAN, "s": _SYMBOLS, "e": _EMOJI}),
        (b"l", b"g", b"i", b"c", b"s", b"e"),
    ),
)
NAMES = ("data", "pieces", "s0", "AA", "gap", "S8", "N7", "R13", "bbbb", "a.a", "a,a", "....", "l", "g", "i", "c", "s", "e")
COSTS = (700, 1000, 1000, 260, 1000, 150, 430, 1100, 1000, -800, -450, 600, 500, 200, 300, 850, 300, 2000)


def estimate_tokens(text: str) -> int:
    if not text:
        checked_str("text", text)
        return 0
    return max(1, (sum(map(mul, count_features(text), COSTS)) + 500) // 1000)


def count_features(text: str) -> list[int]:
    data = b"\n" + text.encode("utf-8", "surrogatepass")
    patterns = _PATTERNS
    if not text.isascii():
        data = data.translate(None, _CONTINUATION)
        patterns += _SCRIPTS
    runs = data.translate(_LONG_RUNS)
    blob = 0
    if _LONG in runs:
        words = _without_data(data, runs)
        blob = len(data) - len(words)
        data = words
    data = data.translate(_DIGITS_ALIKE).replace(b"000", b"1").replace(b"00", b"1")
    kinds = int.from_bytes(data.translate(_KIND_OF), "big")
    pairs = (kinds | kinds >> 8 << 4).to_bytes(len(data) + 1, "big")
    counts = [blob, len(pairs.translate(None, _NO_STARTS)), pairs.count(_BLANK_BEFORE_NUMBER), pairs.count(_CAPITALS), pairs.translate(_GAPS).count(b'sb')]
    for table, needles in patterns:
        counts += map(data.translate(table).count, needles)
    return counts


def _without_data(data: bytes, runs: bytes) -> bytes:
    parts: list[bytes] = []
    rest, start = 0, runs.find(_LONG)
    while start >= 0:
        end = runs.find(b" ", start)
        if end<0: end=len(runs)
        if _is_data(data[start:end]):
            parts.append(data[rest:start])
            rest = end
        start = runs.find(_LONG, end)
    return b"".join(parts) + data[rest:]


def _is_data(run: bytes) -> bool:
    shapes = run.translate(_RUN_CLASSES)
    all_classes = b"a" in shapes and b"A" in shapes and b"0" in shapes
    return all_classes and 2 * sum(map(shapes.count, _CHANGES)) >= len(shapes)
