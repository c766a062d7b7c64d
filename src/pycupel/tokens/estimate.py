"""How many tokens a text probably has, from the kinds of its characters alone.

A tokenizer first cuts a text into pieces (words, groups of three digits, runs of marks, gaps) and then splits those
that its vocabulary does not hold as a whole. Where a piece starts follows from a character and the one before it, so
pieces are counted. How many of them are split is estimated: long words, capitals, clusters of consonants, long runs of
marks.

All of it is translating and counting bytes, in linear time whatever the text is. The costs are those of `o200k_base`,
fitted by `tools/fit_estimator.py`.
"""

from __future__ import annotations

from collections.abc import Iterator
from operator import mul

from pycupel.model.checks import checked_str

__all__ = ["COSTS", "count_features", "estimate_tokens"]

# What each feature of a text costs, in thousandths of a token, in the order in which `count_features` finds them.
COSTS = {
    "data": 740,
    "piece": 1090,
    "number after a blank": 1090,
    "capital after another": 190,
    "line end after another": 70,
    "blank after another": 10,
    "gap": 1090,
    "tab": 680,
    "long word after a mark": 990,
    "very long word": 1480,
    "cluster of consonants": 1050,
    "word joined by a mark": -930,
    "word after another mark": -610,
    "four marks": 890,
    # Only in text that is not ASCII, for each character.
    "accented letter": 1480,
    "Greek to Arabic": 190,
    "Indic to Khmer": 250,
    "Chinese to Korean": 950,
    "symbol": 510,
    "emoji": 3820,
}
_COSTS = tuple(COSTS.values())

_LOWER = b"abcdefghijklmnopqrstuvwxyz"
_UPPER = _LOWER.upper()
_DIGITS = b"0123456789"
_LINE_ENDS = b"\n\r"
_MARKS = bytes(sorted(set(range(0x80)) - set(_LOWER + _UPPER + _DIGITS + _LINE_ENDS + b" \t")))
# Marks that often are one token with the word after them: `.name`, `_name`, `(name`.
_JOINING_MARKS = b"._(#'\\%<"

# In UTF-8, the first byte of a character tells its script, near enough, and the others can go.
_OTHER_BYTES = bytes(range(0x80, 0xC0))
_ACCENTED = bytes(range(0xC3, 0xCC))
_GREEK_TO_ARABIC = bytes(range(0xCC, 0xE0))
_INDIC_TO_KHMER = b"\xe0\xe1"
_CHINESE_TO_KOREAN = bytes(range(0xE3, 0xEF))
_SYMBOLS = b"\xc2\xe2\xef"
_EMOJI = bytes(range(0xF0, 0x100))
_SMALL = _LOWER + _ACCENTED + _GREEK_TO_ARABIC + _INDIC_TO_KHMER


def _table(other: str, kinds: dict[str, bytes]) -> bytes:
    """A table for `bytes.translate` that replaces every character by its kind."""
    table = bytearray(other.encode() * 256)
    for kind, characters in kinds.items():
        for character in characters:
            table[character] = ord(kind)
    return bytes(table)


# Digits are alike, and each group of up to three becomes one character: 0 or 1.
_DIGITS_ALIKE = bytes.maketrans(_DIGITS, b"0" * 10)

# The first kind is what comes before a text, as it were.
_LINE_END, _BLANK, _MARK, _LETTER, _CAPITAL, _NUMBER, _OTHER = _KINDS = [chr(kind) for kind in range(7)]
_KIND = _table(
    _OTHER,
    {
        _LINE_END: _LINE_ENDS,
        _BLANK: b" ",
        _MARK: _MARKS + _SYMBOLS,
        _LETTER: _SMALL,
        _CAPITAL: _UPPER,
        _NUMBER: b"01",
    },
)
# After which kinds a piece goes on instead of starting. `camelCase` is two pieces; a line's end belongs to a mark
# before it. A blank belongs to the word after it, but not to a number, and only one does: more are a gap.
_GOES_ON_AFTER = {
    _LINE_END: (_LINE_END, _MARK),
    _MARK: (_MARK,),
    _LETTER: (_LETTER, _CAPITAL),
    _CAPITAL: (_CAPITAL,),
    _NUMBER: (),
}


def _pair(before: str, kind: str) -> int:
    """Two neighbours' kinds in one byte."""
    return ord(before) << 4 | ord(kind)


def _piece_starts() -> Iterator[int]:
    for kind, continued in _GOES_ON_AFTER.items():
        yield from (_pair(before, kind) for before in _KINDS if before not in continued)


_NO_PIECE_STARTS = bytes(sorted(set(range(256)) - set(_piece_starts())))
_NUMBER_AFTER_BLANK, _TWO_CAPITALS = _pair(_BLANK, _NUMBER), _pair(_CAPITAL, _CAPITAL)
_TWO_LINE_ENDS, _TWO_BLANKS = _pair(_LINE_END, _LINE_END), _pair(_BLANK, _BLANK)
_GAPS = _table("x", {"1": bytes(_pair(before, _BLANK) for before in _KINDS), "2": bytes([_TWO_BLANKS])})

_PATTERNS: tuple[tuple[bytes, tuple[bytes, ...]], ...] = (
    (_table(".", {"a": _SMALL, "A": _UPPER, " ": b" "}), (b".aaaaaaa", b"aaaaaaaaaaaaa")),
    (_table(" ", {"b": b"bcdfghjklmnpqrstvwxz"}), (b"bbbb",)),
    (_table(" ", {"a": _SMALL + _UPPER, ",": _MARKS, ".": _JOINING_MARKS}), (b"a.a", b"a,a")),
    (_table(" ", {".": _MARKS}), (b"....",)),
)
_SCRIPTS = {
    "l": _ACCENTED,
    "g": _GREEK_TO_ARABIC,
    "i": _INDIC_TO_KHMER,
    "c": _CHINESE_TO_KOREAN,
    "s": _SYMBOLS,
    "e": _EMOJI,
}
_MORE_PATTERNS = (*_PATTERNS, (_table(" ", _SCRIPTS), tuple(map(str.encode, _SCRIPTS))))

# A long run of letters and digits that changes between them all the time is data: base64, keys, signatures.
_RUNS = _table(" ", {"x": _LOWER + _UPPER + _DIGITS + b"+/=_-"})
_LONG_RUN = b"x" * 24
_RUN_KINDS = _table(".", {"a": _LOWER, "A": _UPPER, "0": _DIGITS})
_CHANGES = (b"aA", b"Aa", b"a0", b"0a", b"A0", b"0A")


def estimate_tokens(text: str) -> int:
    """About how many tokens a text has; 0 for none.

    Tuned to be a little too high rather than too low. Leave 5 % of a budget free all the same: `docs/tokens.md` says
    how far off the estimate is for which kind of text.
    """
    if text.__class__ is not str:
        checked_str("text", text)
    if not text:
        return 0
    thousandths: int = sum(map(mul, count_features(text), _COSTS))
    return max(1, (thousandths + 500) // 1000)


def count_features(text: str) -> list[int]:
    """How often a text has each feature, in the order of the costs. The last ones are missing if the text is ASCII."""
    data = text.encode("utf-8", "surrogatepass")
    patterns = _PATTERNS
    if not text.isascii():
        data = data.translate(None, _OTHER_BYTES)
        patterns = _MORE_PATTERNS
    words = _without_data(data)
    counts = [len(data) - len(words)]
    words = words.translate(_DIGITS_ALIKE).replace(b"000", b"1").replace(b"00", b"1")
    # Read as a number, all the kinds move to their neighbours at once.
    kinds = int.from_bytes(words.translate(_KIND), "big")
    pairs = (kinds | kinds >> 8 << 4).to_bytes(len(words), "big")
    counts.append(len(pairs.translate(None, _NO_PIECE_STARTS)))
    counts += map(pairs.count, (_NUMBER_AFTER_BLANK, _TWO_CAPITALS, _TWO_LINE_ENDS, _TWO_BLANKS))
    counts += pairs.translate(_GAPS).count(b"12"), words.count(b"\t")
    for table, needles in patterns:
        counts += map(words.translate(table).count, needles)
    return counts


def _without_data(text: bytes) -> bytes:
    runs = text.translate(_RUNS)
    start = runs.find(_LONG_RUN)
    if start < 0:
        return text
    runs += b" "
    parts: list[bytes] = []
    done = 0
    while start >= 0:
        end = runs.index(b" ", start)
        if _is_data(text[start:end]):
            parts.append(text[done:start])
            done = end
        start = runs.find(_LONG_RUN, end)
    return b"".join(parts) + text[done:]


def _is_data(run: bytes) -> bool:
    kinds = run.translate(_RUN_KINDS)
    has_all = b"a" in kinds and b"A" in kinds and b"0" in kinds
    return has_all and 5 * sum(map(kinds.count, _CHANGES)) >= 2 * len(kinds)
