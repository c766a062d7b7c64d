"""`python -m tools.fit_estimator [LOCALES]`: fit the costs in `tokens/data/costs.txt` to `o200k_base`.

LOCALES is a directory of gettext catalogues (/usr/share/locale). Only those with an even SHA-256 of their file name
are read; `benchmarks.tokens` measures with the others.

The costs are those that explain best how many tokens short stretches of text have. No cost is negative, and what the
texts hardly have stays near what a tokenizer's rules or its vocabulary say. The aim is not the true count but a little
more, because an estimate that is too low costs more than one that is too high. After each round, the languages and
classes that have windows of 1,000 tokens outside the limits weigh more.
"""

from __future__ import annotations

import random
import re
import sys
import unicodedata
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from benchmarks.token_catalogues import LOCALES, languages
from benchmarks.token_corpus import Source, fitting
from pycupel.tokens import splintr
from pycupel.tokens.estimate import BLOCK_ROWS, KINDS, ROW_GROUPS, find_features

LENGTH = 40
STRETCHES = 1_200
WINDOW, WINDOWS = 1_000, 60
SHORTEST = 500
SPACE = re.compile(r"\s")
SWEEPS, ROUNDS, RAISE = 150, 8, 1.5
PRECISE_WEIGHT = 4.0
# The estimate over the truth: the aims, the limits of all but a few windows, and that of the median.
LANGUAGE_AIM, PRECISE_AIM = 1.15, 1.05
LOWEST, HIGHEST, PRECISE_MEDIAN = 1.0, 1.34, 1.11
FEWEST_WINDOWS = 8
# A text whose pairs of letters cost less than this on average is English or code, and gets a discount: this share of
# the difference. Chosen between English, with 12 to 14 on average, and the other languages, with 17 to 34.
COMMON_PAIR_COST, COMMON_DISCOUNT_PERCENT = 17, 100
ENGLISH = ("en_", "en@quot", "en@boldquot")
# How strongly each table is held to its first values.
DATA_HELD, KINDS_HELD, LETTERS_HELD, SCRIPTS_HELD = 1e-9, 1e-3, 1e-3, 1e-4
# Chinese and the like cost what their rows cost; no pair of kinds does it as well.
FIXED = 1e3

# The first values. A pair of letters splits a word with this probability; data has this many tokens a character.
LETTER_PAIR, DATA = 0.05, 0.7
# The kinds after which a piece goes on instead of starting. A blank belongs to the word after it.
MARKS = ("dot", "dash", "quote", "opening", "closing", "separator", "symbol", "other mark")
GOES_ON_AFTER: dict[str, tuple[str, ...]] = {
    "line end": ("line end", *MARKS),
    "blank": tuple(KINDS),
    "gap": ("gap",),
    "tab": ("tab",),
    "letter": ("letter", "capital"),
    "capital": ("capital",),
    "number": (),
    **dict.fromkeys(MARKS, MARKS),
    "Chinese to emoji": tuple(KINDS),
}
# Marks that often are one token with the word after them.
JOINING, JOINED = ("dot", "quote", "opening"), 0.3

# Where in the costs the pairs of letters are, and all that depends on letters; the first pair is none.
PAIR_COLUMNS, LETTER_COLUMNS = slice(258, 513), slice(257, 769)
# The largest costs of a pair of letters, and of anything else.
MOST_LETTER_COST, MOST_COST = 1.0, 2.5

Vector = np.ndarray[Any, np.dtype[np.float64]]
Count = Callable[[str], int]


CLASSES = {"prose", "markdown", "code", "json", "log", "csv", "shell", "diff", "trace", "hex", "base64"}


def is_precise(kind: str) -> bool:
    """English and what agents read: all that is not another language."""
    return kind in CLASSES or kind.startswith(ENGLISH)


def stretches(source: Source, length: int, most: int) -> Iterator[str]:
    """Random stretches of the text, from white space to white space if there is any near."""
    draw = random.Random(source.name)  # noqa: S311 - not a secret
    for _ in range(min(most, len(source.text) // length)):
        start = draw.randrange(len(source.text) - length + 1)
        yield source.text[_space(source.text, start) : _space(source.text, start + length)]


def _space(text: str, start: int) -> int:
    """The index of the next white space; the start itself if there is none within a line."""
    found = SPACE.search(text, start, start + LENGTH - 1)
    return found.start() if found else start


def features(text: str) -> Vector:
    """How often a text has each cost, in the order of `first_costs`."""
    found = find_features(text)
    groups = np.searchsorted(ROW_GROUPS, np.frombuffer(found.rows, np.uint8), side="right") - 1
    tables = [np.frombuffer(table, np.uint8) for table in (found.kinds, found.letters, found.skips, found.blocks)]
    counts = [np.bincount(table, minlength=256) for table in tables]
    counts[3][list(FREE_BLOCKS)] = 0
    rows = np.bincount(groups, minlength=len(ROW_GROUPS))
    rows[[ROW_GROUPS.index(row) for row in FREE_ROWS]] = 0
    return np.concatenate([[found.data], *counts, rows]).astype(float)


# ASCII has its costs from the pairs, and other rows than BLOCK_ROWS one cost each.
FREE_BLOCKS = (*range(8), *range(16 * len(BLOCK_ROWS), 256))
# These rows are priced by blocks.
FREE_ROWS = (0x00, 0x09, 0x10, 0xD8)


def first_costs(count: Count) -> tuple[Vector, Vector]:
    """What the costs are without any text, and how strongly each is held to it."""
    kinds = [first_kind_cost(before, kind) for before in KINDS for kind in KINDS]
    blocks = [script_cost(characters, count) for characters in block_characters()]
    rows = [script_cost(characters, count) for characters in row_characters()]
    costs = [DATA, *kinds, *[LETTER_PAIR] * 512, *blocks, *rows]
    scripts = [SCRIPTS_HELD] * (len(blocks) + len(rows))
    fixed = [FIXED if kind == "Chinese to emoji" else KINDS_HELD for _ in KINDS for kind in KINDS]
    return np.array(costs), np.array([DATA_HELD, *fixed, *[LETTERS_HELD] * 512, *scripts])


def first_kind_cost(before: str, kind: str) -> float:
    if kind == "number" and before == "blank":
        return 2.0
    if kind == "letter" and before in JOINING:
        return JOINED
    return float(before not in GOES_ON_AFTER[kind])


ASCII = 128


def block_characters() -> Iterator[str]:
    for row in BLOCK_ROWS:
        for block in range(16):
            start, size = (row << 8) + (block << 4), 16
            if row == BLOCK_ROWS[7]:
                # Each of these 16 halves starts 1,024 characters beyond the first 65,536.
                start, size = 0x10000 + (block << 14), 1 << 14
            yield assigned(start, size) if start >= ASCII else ""
    yield from [""] * 16


def row_characters() -> Iterator[str]:
    for start, end in zip(ROW_GROUPS, (*ROW_GROUPS[1:], 256), strict=True):
        if start == 0xD9:
            yield assigned(0x50000, 1 << 16)
        else:
            yield "" if start in (*FREE_ROWS, 0xDC) else assigned(start << 8, (end - start) << 8)


def assigned(start: int, size: int) -> str:
    characters = map(chr, range(start, start + size))
    return "".join(c for c in characters if unicodedata.category(c) not in {"Cn", "Cs", "Cc"})


def script_cost(characters: str, count: Count) -> float:
    """The tokens of a character in random words; none if there are no characters."""
    if not characters:
        return 0.0
    draw = random.Random(characters)  # noqa: S311 - not a secret
    words = ["".join(draw.choices(characters, k=6)) for _ in range(200)]
    return min(MOST_COST, count(" ".join(words)) / 1200)


class Kind(NamedTuple):
    """A language or a class of text: its windows, and the sums over its stretches that decide the costs."""

    name: str
    aim: float
    shares: Vector
    matrix: Vector
    vector: Vector


def measured(name: str, sources: Sequence[Source], count: Count) -> Kind:
    texts = [text for source in sources for text in stretches(source, LENGTH, STRETCHES) if text]
    tokens = np.array([count(text) for text in texts], float)
    found = np.array([features(text) for text in texts])
    aim = PRECISE_AIM if is_precise(name) else LANGUAGE_AIM
    weight = 1 / (len(texts) * tokens.mean() ** 2)
    characters = LENGTH * WINDOW // max(1, round(tokens.mean()))
    windows = [text for source in sources for text in stretches(source, characters, WINDOWS)] or texts[:1]
    shares = np.array([features(text) / count(text) for text in windows])
    return Kind(name, aim, shares, weight * found.T @ found, weight * aim * found.T @ tokens)


def fit(kinds: Sequence[Kind], count: Count) -> Vector:
    """Kinds with windows outside their limits weigh more from round to round."""
    first, held = first_costs(count)
    costs, weights = first, np.array([PRECISE_WEIGHT if is_precise(kind.name) else 1.0 for kind in kinds])
    nothing = np.zeros(1)
    for _ in range(ROUNDS):
        matrix = sum((weight * kind.matrix for weight, kind in zip(weights, kinds, strict=True)), nothing)
        vector = sum((weight * kind.vector for weight, kind in zip(weights, kinds, strict=True)), nothing)
        costs = solve(matrix, vector, first, held, costs)
        for i, kind in enumerate(kinds):
            low, middle, high = np.quantile(ratios(kind.shares, costs), [0.03, 0.5, 0.97])
            is_bad = low < LOWEST or high > HIGHEST or (is_precise(kind.name) and middle > PRECISE_MEDIAN)
            weights[i] *= RAISE if is_bad and len(kind.shares) >= FEWEST_WINDOWS else 1.0
    return costs


def ratios(shares: Vector, costs: Vector) -> Vector:
    """The estimates over the truth: what `estimate_tokens` does with the costs."""
    splits = shares[:, LETTER_COLUMNS] @ costs[LETTER_COLUMNS]
    common = COMMON_PAIR_COST / 100 * shares[:, PAIR_COLUMNS].sum(axis=1) - splits
    discount = np.minimum(splits, np.maximum(0, common) * COMMON_DISCOUNT_PERCENT / 100)
    found: Vector = shares @ costs - discount
    return found


def by_kind(sources: Iterable[Source]) -> dict[str, list[Source]]:
    groups: dict[str, list[Source]] = defaultdict(list)
    for source in sources:
        if len(source.text) > SHORTEST:
            groups[source.kind].append(source)
    return groups


def solve(matrix: Vector, vector: Vector, first: Vector, held: Vector, start: Vector) -> Vector:
    """The best costs, by improving one after the other until little changes."""
    added = start - first
    most = np.full(len(first), MOST_COST)
    most[LETTER_COLUMNS] = MOST_LETTER_COST
    vector = vector - matrix @ first
    gradient = matrix @ added
    free = np.flatnonzero(np.diag(matrix))
    for _ in range(SWEEPS):
        largest = 0.0
        for i in free:
            better = added[i] + (vector[i] - gradient[i] - held[i] * added[i]) / (matrix[i, i] + held[i])
            change = min(max(-first[i], better), most[i] - first[i]) - added[i]
            gradient += matrix[i] * change
            added[i] += change
            largest = max(largest, abs(change))
        if largest < 1e-4:
            break
    return first + added


COMMENTS = {
    "data": "A character of base64 or the like.",
    "common": "A text whose pairs of letters cost less on average gets this share of the difference, in percent, off.",
    "kinds": "A pair of kinds: a row for each first kind, a column for each second.",
    "letters": "A pair of groups of letters, in the same way.",
    "skips": "A group of letters and the second one before it, in the same way.",
    "blocks": "A character: a row for each of BLOCK_ROWS, a column for each block of 16 characters in it.",
    "rows": "A character in another row: a number for each of ROW_GROUPS.",
}


def write(costs: Sequence[int]) -> Iterator[str]:
    """The lines of the data file."""
    yield "# What the estimator's features cost in o200k_base, in hundredths of a token.\n"
    yield "# Written by `python -m tools.fit_estimator`; `pycupel.tokens.estimate` says what the numbers are about.\n"
    ends = [1, *range(257, 1026, 256), len(costs)]
    tables = [costs[start:end] for start, end in pairwise([0, *ends])]
    tables.insert(1, (COMMON_PAIR_COST, COMMON_DISCOUNT_PERCENT))
    for (name, comment), numbers in zip(COMMENTS.items(), tables, strict=True):
        yield f"# {comment}\n"
        for i in range(0, len(numbers), 16):
            yield f"{name:7}{''.join(f'{number:4}' for number in numbers[i : i + 16])}\n"


def main() -> None:
    root = Path(sys.argv[1]) if len(sys.argv) > 1 else LOCALES
    count = splintr.load("o200k_base")[0]
    groups = by_kind([*fitting(), *languages(root, even=True)])
    costs = fit([measured(kind, sources, count) for kind, sources in groups.items()], count)
    sys.stdout.writelines(write([min(255, round(100 * cost)) for cost in costs]))


if __name__ == "__main__":
    main()
