"""Estimate how many tokens a text has, from its pairs of neighbouring characters.

A tokenizer first cuts a text into pieces (words, groups of three digits, punctuation, gaps) and then splits those
that its vocabulary does not contain as a whole. Where a piece starts follows from a character and the one before it:
every pair of kinds has a cost. Where a word is split follows roughly from its letters: every pair of letters has
a cost, low if it is common in English, high if it is rare. Letters outside ASCII cost what their script costs.

All of this is translating and adding bytes, in linear time for any text. Vocabularies differ in the costs, mostly
in those of scripts and languages; `tools/fit_estimator.py` fits a table to each. Some also make every digit a token
of its own.
"""

from __future__ import annotations

from bisect import bisect
from collections.abc import Iterable, Sequence
from functools import lru_cache
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
    0x00, 0x07, 0x08, 0x09, 0x0F, 0x10, 0x11, 0x12, 0x13, 0x14, 0x16, 0x17, 0x18, 0x19, 0x1C, 0x1D, 0x1E, 0x1F, 0x20,
    0x21, 0x25, 0x27, 0x2C, 0x2D, 0x2E, 0x30, 0x31, 0x4E, 0x50, 0x60, 0x70, 0x80, 0x90, 0xA0, 0xA5, 0xA6, 0xA7, 0xA8,
    0xA9, 0xAA, 0xAB, 0xAC, 0xD8, 0xD9, 0xDC, 0xE0, 0xF9,
)
# fmt: on
# Rare scripts that share a row with Khmer, or half an emoji, by the UTF-8 bytes that they start with: those of the
# Philippines; musical and mathematical symbols; Adlam and its neighbours.
_RARE = (b"\xe1\x9c", b"\xe1\x9d", b"\xf0\x9d", b"\xf0\x9e")


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


# Costs are bytes, in this share of a token: small enough to be precise, and large enough for a character of a script
# that no vocabulary has, which is three tokens, one for each byte.
COSTS_PER_TOKEN = 80


class _Table(NamedTuple):
    costs: bytes
    free: bytes

    @classmethod
    def of(cls, costs: Sequence[int]) -> _Table:
        return cls(bytes(costs), bytes(number for number, cost in enumerate(costs) if not cost))


class Costs(NamedTuple):
    """What the features of a text cost in a vocabulary."""

    single_digits: bool
    data: int
    rare: int
    common: int
    kinds: _Table
    letters: _Table
    skips: _Table
    blocks: _Table
    rows: _Table


@lru_cache(maxsize=16)
def read_costs(vocabulary: str) -> Costs:
    """Return the costs that were fitted to a vocabulary."""
    table = read_table(f"costs/{vocabulary}.txt")
    [digits], [data], [rare], [common] = table["digits"], table["data"], table["rare"], table["common"]
    rows = [table["rows"][bisect(ROW_GROUPS, row) - 1] for row in range(256)]
    bytewise = [_Table.of(costs) for costs in (table["kinds"], table["letters"], table["skips"], table["blocks"], rows)]
    return Costs(digits == 1, data, rare, common, *bytewise)


# Not even random letters cost more on average.
_MAX_PAIR_COST = COSTS_PER_TOKEN // 2

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

    rare: int
    """The number of characters in scripts that share a row with a more common one."""


def estimate_tokens(text: str) -> int:
    """Estimate how many tokens a text has for OpenAI's newer models (`o200k_base`); 0 for an empty one.

    Tuned to be a little too high rather than too low. Still, leave 5 % of a budget free: `docs/tokens.md` says
    how far off the estimate is, by language and kind of text.
    """
    if text.__class__ is not str:
        checked_str("text", text)
    return estimate(text, _O200K) if text else 0


MARGIN_PERCENT = 5.0
"""Estimates can be too low, so this much of a budget should stay free."""


class FamilyEstimate(NamedTuple):
    """The estimator for a family of models: `estimate(text)`."""

    costs: str
    """The name of the table of costs."""

    percent: int = 100
    """The factor of the estimate, in percent."""

    margin_percent: float = MARGIN_PERCENT
    """How much of a budget to leave free."""

    def __call__(self, text: str, /) -> int:
        """Estimate how many tokens the text has, rounded up."""
        if text.__class__ is not str:
            checked_str("text", text)
        tokens = estimate(text, read_costs(self.costs)) if text else 0
        return -(-tokens * self.percent // 100)


def estimate(text: str, costs: Costs) -> int:
    """Estimate how many tokens a text that is not empty has in the vocabulary that the costs are for."""
    single_digits, data_cost, rare_cost, common, kind_costs, letter_costs, skip_costs, block_costs, row_costs = costs
    data, kinds, letters, skips, blocks, rows, rare = find_features(text, single_digits)
    total = data_cost * data + _cost(kinds, kind_costs)
    if rows:
        total += _cost(blocks, block_costs) + _cost(rows, row_costs) + rare_cost * rare
    # The cost of splitting words is less than the sum if that is low, as in English text and code: what a text has
    # less than other languages have on average comes off once more.
    pairs = len(letters) - letters.count(0)
    splits = _cost(letters, letter_costs) + _cost(skips, skip_costs)
    less = common * pairs - splits
    total += max(0, splits - less) if less > 0 else min(splits, _MAX_PAIR_COST * pairs)
    # The costs are a little too high, so only a fraction well above zero is rounded up.
    return max(1, (total + COSTS_PER_TOKEN // 5) // COSTS_PER_TOKEN)


def _cost(numbers: bytes, table: _Table) -> int:
    """Sum the costs. Zeros are removed first, because adding takes longer than translating."""
    return sum(numbers.translate(table.costs, table.free))


def find_features(text: str, single_digits: bool = False) -> Features:  # noqa: FBT001, FBT002 - by position it is faster
    """Find the features of a text from which its tokens are estimated."""
    blocks = rows = b""
    rare = 0
    data = text.encode("utf-8", "surrogatepass")
    if not text.isascii():
        characters = text.encode("utf-16-le", "surrogatepass")
        rows = characters[1::2]
        if 0xD8 in rows or 0x17 in rows:
            rare = sum(map(data.count, _RARE))
        data = data.translate(None, _OTHER_BYTES)
        blocks = _merged(rows.translate(_ROW), characters[::2].translate(_BLOCK))
    words = _without_data(data)
    data_length = len(data) - len(words)
    words = words.replace(b"  ", _GAP).translate(_DIGITS_ALIKE)
    if not single_digits:
        words = words.replace(b"000", b"1").replace(b"00", b"1")
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
        rare,
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


_O200K = read_costs("o200k")
