"""Estimate how many tokens a text has, from its pairs of neighbouring characters.

A tokenizer first cuts a text into pieces (words, groups of three digits, punctuation, gaps) and then splits those
that its vocabulary does not contain as a whole. Where a piece starts follows from a character and the one before it:
every pair of kinds has a cost. Where a word is split follows roughly from its letters: every pair of letters has
a cost, low if it is common in English, high if it is rare. Letters outside ASCII cost what their script costs.

All of this is translating and adding bytes, in linear time for any text. The costs are those of `o200k_base`,
fitted by `tools/fit_estimator.py`.
"""

from __future__ import annotations

from bisect import bisect
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from pycupel.model.checks import checked_str
from pycupel.tokens.models import read_table

_LOWER = b"abcdefghijklmnopqrstuvwxyz"
_UPPER = _LOWER.upper()
_DIGITS = b"0123456789"

# In UTF-8, the first byte of a character roughly determines its script; the others are dropped.
_OTHER_BYTES = bytes(range(0x80, 0xC0))
_ACCENTED = bytes(range(0xC3, 0xCC))
_GREEK_TO_KHMER = bytes(range(0xCC, 0xE2))
_CHINESE_TO_EMOJI = bytes([*range(0xE3, 0xEF), *range(0xF0, 0x100)])
_SYMBOLS = b"\xc2\xe2\xef"

# All digits are the same, each group of up to three becomes one character (0 or 1), and two blanks become a gap.
_DIGITS_ALIKE = bytes.maketrans(_DIGITS, b"0" * 10)
_GAP = b"\x1f"

# The first kind also stands for the start of a text.
KINDS = {
    "line end": b"\n\r",
    "blank": b" ",
    "gap": _GAP,
    "tab": b"\t",
    "letter": _LOWER + _ACCENTED + _GREEK_TO_KHMER,
    "capital": _UPPER,
    "number": b"01",
    "dot": b"._",
    "dash": b"/-",
    "quote": b"\"'`",
    "opening": b"([{<\\%#$@&",
    "closing": b")]}>",
    "separator": b",:;=",
    "symbol": _SYMBOLS,
    "Chinese to emoji": _CHINESE_TO_EMOJI,
    "other mark": b"",
}
# Letters whose pairs cost about the same, whatever their case. The first group is everything that is no letter.
LETTERS = ("", "a", "g", "brw", "cl", "oqx", "ky", "i", "n", "jpz", "ms", "ht", "e", "u", "v", "df")

# In UTF-16, the first byte is a row of 256 characters. In these rows, every block of 16 has a cost of its own:
# alphabets from Latin to Arabic, from Devanagari to Lao, Burmese and Georgian; 0xD8 starts an emoji.
BLOCK_ROWS = (*range(7), 0xD8, *range(0x09, 0x0F), 0x10)
# All the other rows have one cost each, shared by those up to the next number. 0xDC is the second half of an emoji.
# fmt: off
ROW_GROUPS = (
    0x00, 0x07, 0x09, 0x0F, 0x10, 0x11, 0x12, 0x14, 0x17, 0x18, 0x19, 0x1C, 0x1D, 0x1E, 0x1F, 0x20, 0x21, 0x25, 0x27,
    0x2C, 0x2E, 0x30, 0x31, 0x4E, 0x50, 0x60, 0x70, 0x80, 0x90, 0xA0, 0xA5, 0xAC, 0xD8, 0xD9, 0xDC, 0xE0, 0xF9,
)
# fmt: on


def _table(groups: Iterable[Iterable[int]], other: int) -> bytes:
    """Make a table for `bytes.translate` that replaces every byte by the number of its group."""
    table = bytearray([other] * 256)
    for number, group in enumerate(groups):
        for byte in group:
            table[byte] = number
    return bytes(table)


_KIND = _table(KINDS.values(), len(KINDS) - 1)
# Accented letters cost about as much as `v`, and those of other alphabets as `k`, beside what their script costs.
_LETTER = _table(
    (
        (group + group.upper()).encode() + _ACCENTED * ("v" in group) + _GREEK_TO_KHMER * ("k" in group)
        for group in LETTERS
    ),
    0,
)
_IS_LETTER = bytes(255 * bool(group) for group in _LETTER)
_ROW = bytes(number << 4 for number in _table(([row] for row in BLOCK_ROWS), len(BLOCK_ROWS)))
_BLOCK = bytes(byte >> 4 for byte in range(256))


class _Costs(NamedTuple):
    table: bytes
    free: bytes

    @classmethod
    def of(cls, costs: Sequence[int]) -> _Costs:
        return cls(bytes(costs), bytes(number for number, cost in enumerate(costs) if not cost))


_TABLE = read_table("costs.txt")
_KIND_COSTS, _BLOCK_COSTS = _Costs.of(_TABLE["kinds"]), _Costs.of(_TABLE["blocks"])
_LETTER_COSTS, _SKIP_COSTS = _Costs.of(_TABLE["letters"]), _Costs.of(_TABLE["skips"])
_ROW_COSTS = _Costs.of([_TABLE["rows"][bisect(ROW_GROUPS, row) - 1] for row in range(256)])
[_DATA_COST] = _TABLE["data"]
_COMMON_PAIR_COST, _COMMON_DISCOUNT_PERCENT = _TABLE["common"]

# Not even random letters cost more on average.
_MAX_PAIR_COST = 50

# A long run that keeps switching between letters and digits is data: base64, keys, signatures.
_RUNS = _table([b"", _LOWER + _UPPER + _DIGITS + b"+/=_-"], 0)
_NO_RUN, _LONG_RUN = b"\x00", b"\x01" * 24
_RUN_KINDS = bytes.maketrans(_LOWER + _UPPER + _DIGITS, b"a" * 26 + b"A" * 26 + b"0" * 10)
_CHANGES = (b"aA", b"Aa", b"a0", b"0a", b"A0", b"0A")


class Features(NamedTuple):
    """The features of a text that determine its cost."""

    data: int
    """The number of characters in runs of data."""

    kinds: bytes
    """The pairs of kinds, a byte each: 16 times the first kind's number plus the second's."""

    letters: bytes
    """The pairs of groups of letters, in the same way."""

    skips: bytes
    """The pairs of a group of letters and the second one before it, in the same way."""

    blocks: bytes
    """The block of each character: 16 times the number of its row in `BLOCK_ROWS` plus its block's in it.

    Empty if the text is ASCII, as is `rows`.
    """

    rows: bytes
    """The row of each character."""


def estimate_tokens(text: str) -> int:
    """Estimate how many tokens a text has; 0 for an empty one.

    Tuned to be a little too high rather than too low. Still, leave 5 % of a budget free: `docs/tokens.md` says
    how far off the estimate is, by language and kind of text.

    Raises:
        TypeError: text is not a str.
    """
    if text.__class__ is not str:
        checked_str("text", text)
    if not text:
        return 0
    data, kinds, letters, skips, blocks, rows = find_features(text)
    hundredths = _DATA_COST * data + _cost(kinds, _KIND_COSTS) + _splits(letters, skips)
    if rows:
        hundredths += _cost(blocks, _BLOCK_COSTS) + _cost(rows, _ROW_COSTS)
    # The costs are a little too high, so only a fraction well above zero is rounded up.
    return max(1, (hundredths + 20) // 100)


def _cost(numbers: bytes, costs: _Costs) -> int:
    """Sum the costs. Zeros are removed first, because adding takes longer than translating."""
    return sum(numbers.translate(costs.table, costs.free))


def _splits(letters: bytes, skips: bytes) -> int:
    """Return the cost of splitting words: less than the sum if that is low, as in English text and code."""
    pairs = len(letters) - letters.count(0)
    cost = _cost(letters, _LETTER_COSTS) + _cost(skips, _SKIP_COSTS)
    common = _COMMON_PAIR_COST * pairs - cost
    if common > 0:
        return max(0, cost - common * _COMMON_DISCOUNT_PERCENT // 100)
    return min(cost, _MAX_PAIR_COST * pairs)


def find_features(text: str) -> Features:
    """Find the features of a text from which its tokens are estimated."""
    blocks = rows = b""
    data = text.encode("utf-8", "surrogatepass")
    if not text.isascii():
        data = data.translate(None, _OTHER_BYTES)
        characters = text.encode("utf-16-le", "surrogatepass")
        rows = characters[1::2]
        blocks = _merged(rows.translate(_ROW), characters[::2].translate(_BLOCK))
    words = _without_data(data)
    data_length = len(data) - len(words)
    words = words.translate(_DIGITS_ALIKE).replace(b"000", b"1").replace(b"00", b"1").replace(b"  ", _GAP)
    # Read as one number each, all the kinds and all the letters move to their neighbours at once. A letter counts if
    # two others of its word stand before it: short words are one token.
    kinds = int.from_bytes(words.translate(_KIND), "big")
    letters = int.from_bytes(words.translate(_LETTER), "big")
    is_letter = int.from_bytes(words.translate(_IS_LETTER), "big")
    inside = is_letter & is_letter >> 8 & is_letter >> 16
    size = len(words)
    return Features(
        data_length,
        (kinds | kinds >> 8 << 4).to_bytes(size, "big"),
        ((letters | letters >> 8 << 4) & inside).to_bytes(size, "big"),
        ((letters | letters >> 16 << 4) & inside).to_bytes(size, "big"),
        blocks,
        rows,
    )


def _merged(first: bytes, second: bytes) -> bytes:
    """Combine the bits of both."""
    return (int.from_bytes(first, "big") | int.from_bytes(second, "big")).to_bytes(len(first), "big")


def _without_data(text: bytes) -> bytes:
    runs = text.translate(_RUNS)
    start = runs.find(_LONG_RUN)
    if start < 0:
        return text
    runs += _NO_RUN
    parts: list[bytes] = []
    done = 0
    while start >= 0:
        end = runs.index(_NO_RUN, start)
        if _is_data(text[start:end]):
            parts.append(text[done:start])
            done = end
        start = runs.find(_LONG_RUN, end)
    return b"".join(parts) + text[done:]


def _is_data(run: bytes) -> bool:
    kinds = run.translate(_RUN_KINDS)
    has_all = b"a" in kinds and b"A" in kinds and b"0" in kinds
    return has_all and 5 * sum(map(kinds.count, _CHANGES)) >= 2 * len(kinds)
