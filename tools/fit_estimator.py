"""`python -m tools.fit_estimator [NAME...]`: fit the tables in `tokens/data/costs` to vocabularies, or some of them.

The texts are those of `benchmarks.token_corpus` and the gettext catalogues of this machine. Of these, only those with
an even SHA-256 of their file name are read; `benchmarks.tokens` measures with the others. Every language is there a
second time, with the letters of its words shuffled, so that rare words and names are not too cheap. A script that no
text has costs what random words of its letters cost: a token a byte if the vocabulary does not know them.

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
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from benchmarks.token_catalogues import LOCALES, languages
from benchmarks.token_corpus import Source, fitting
from pycupel.tokens import estimate, families
from pycupel.tokens.estimate import BLOCK_ROWS, COSTS_PER_TOKEN, KINDS, ROW_GROUPS, find_features

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
# How many stretches of a language are there with shuffled words, and what they weigh.
SHUFFLED, SHUFFLED_WEIGHT, SHUFFLED_AIM = 300, 0.3, 1.0
WORDS = re.compile(r"[^\W\d_](?:[^\W\d_]|[\u0300-\u036f\u0900-\u109f\u17b4-\u17dd])+")
# A block or row with fewer characters in all texts is unseen.
FEWEST_CHARACTERS = 300
# The tables: the vocabulary's name in splintr-rs, and the cost of a pair of letters, in percent of a token, below which
# a text's average is English or code and gets a discount. Chosen between English and other languages.
TABLES = {
    "o200k": ("o200k_base", 17),
    "cl100k": ("cl100k_base", 20),
    "llama2": ("llama2", 20),
    "llama3": ("llama3", 20),
    "qwen": ("qwen", 20),
    "deepseek": ("deepseek_v3", 20),
    "gemma2": ("gemma2", 18),
    "gemma3": ("gemma3", 19),
    "mistral": ("mistral_v2", 20),
    "tekken": ("tekken", 20),
    "glm": ("glm4", 20),
    "kimi": ("kimi_k2", 20),
}
DATA_DIRECTORY = Path(estimate.__file__).parent / "data/costs"
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

# Where in the costs the pairs of letters are, all that depends on letters, and what depends on scripts; the first pair
# is none.
PAIR_COLUMNS, LETTER_COLUMNS, FIRST_SCRIPT = slice(258, 513), slice(257, 769), 769
# The largest costs of a pair of letters, and of anything else, which have to fit into a byte.
MOST_LETTER_COST, MOST_COST = 1.0, 255 / COSTS_PER_TOKEN

Vector = np.ndarray[Any, np.dtype[np.float64]]
Count = Callable[[str], int]
Find = Callable[[str], Vector]


CLASSES = {"prose", "markdown", "code", "json", "log", "csv", "shell", "diff", "trace", "hex", "base64"}
# The texts of several languages, and of names, are not shuffled either.
NO_LANGUAGES = {*CLASSES, "names", "cjk", "cyrillic", "latin", "other"}


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


def shuffled(text: str, draw: random.Random) -> str:
    """The text with the letters of each word in another order, each with its accents."""

    def mix(word: re.Match[str]) -> str:
        letters: list[str] = []
        for character in word[0]:
            if letters and unicodedata.category(character).startswith("M"):
                letters[-1] += character
            else:
                letters.append(character)
        draw.shuffle(letters)
        return "".join(letters)

    return WORDS.sub(mix, text)


def features(text: str, *, single_digits: bool) -> Vector:
    """How often a text has each cost, in the order of `first_costs`."""
    found = find_features(text, single_digits=single_digits)
    groups = np.searchsorted(ROW_GROUPS, np.frombuffer(found.rows, np.uint8), side="right") - 1
    tables = [np.frombuffer(table, np.uint8) for table in (found.kinds, found.letters, found.skips, found.blocks)]
    counts = [np.bincount(table, minlength=256) for table in tables]
    counts[3][list(FREE_BLOCKS)] = 0
    rows = np.bincount(groups, minlength=len(ROW_GROUPS))
    rows[[ROW_GROUPS.index(row) for row in FREE_ROWS]] = 0
    return np.concatenate([[found.data], *counts, rows, [found.rare]]).astype(float)


# ASCII has its costs from the pairs, and other rows than BLOCK_ROWS one cost each.
FREE_BLOCKS = (*range(8), *range(16 * len(BLOCK_ROWS), 256))
# These rows are priced by blocks.
FREE_ROWS = (0x00, 0x09, 0x10, 0xD8)


def first_costs(count: Count) -> tuple[Vector, Vector]:
    """What the costs are without any text, and how strongly each is held to it."""
    kinds = [first_kind_cost(before, kind) for before in KINDS for kind in KINDS]
    blocks = [script_cost(characters, count) for characters in block_characters()]
    rows = [script_cost(characters, count) for characters in row_characters()]
    costs = [DATA, *kinds, *[LETTER_PAIR] * 512, *blocks, *rows, 0.0]
    scripts = [SCRIPTS_HELD] * (len(blocks) + len(rows) + 1)
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
        elif start == CHEROKEE:
            yield assigned(0x13A0, 0x60)
        else:
            yield "" if start in (*FREE_ROWS, 0xDC) else assigned(start << 8, (end - start) << 8)


def assigned(start: int, size: int) -> str:
    characters = map(chr, range(start, start + size))
    return "".join(c for c in characters if unicodedata.category(c) not in {"Cn", "Cs", "Cc"})


# This row is half Ethiopic, which texts have, and half Cherokee, which none has: it costs what the dearer one does.
CHEROKEE = 0x13
# The characters of `Features.rare`, by where they start and how many they are at most.
RARE = ((0x1700, 0x80), (0x1D400, 0x400), (0x1E000, 0x1000))


def script_cost(characters: str, count: Count) -> float:
    """The tokens of a character in random words; none if there are no characters."""
    return min(MOST_COST, count(random_words(characters)) / 1200) if characters else 0.0


def random_words(characters: str) -> str:
    draw = random.Random(characters)  # noqa: S311 - not a secret
    return " ".join("".join(draw.choices(characters, k=6)) for _ in range(200))


def price_unseen(costs: Vector, seen: Vector, common: float, count: Count, find: Find) -> None:
    """Make random words of each script that no text has cost what they have in tokens."""

    def missing(column: int, characters: str) -> float:
        """What a character has to cost so that the estimate is right."""
        costs[column] = 0.0
        text = random_words(characters)
        found = find(text)
        return float((count(text) - ratios(found[None], costs, common)[0]) / found[column])

    for column, characters in enumerate([*block_characters(), *row_characters()], FIRST_SCRIPT):
        letters = sum(unicodedata.category(character)[0] in "LM" for character in characters)
        is_cherokee = column == FIRST_SCRIPT + 256 + ROW_GROUPS.index(CHEROKEE)
        if is_cherokee or (2 * letters > len(characters) and seen[column] < FEWEST_CHARACTERS):
            fitted = costs[column] if is_cherokee else 0.0
            costs[column] = min(MOST_COST, max(fitted, missing(column, characters)))
    rare = [missing(len(costs) - 1, assigned(start, size)) for start, size in RARE]
    costs[-1] = min(MOST_COST, max(0.0, *rare))


class Kind(NamedTuple):
    """A language or a class of text: its stretches and windows, and how often they have each cost."""

    name: str
    aim: float
    weight: float
    texts: Sequence[str]
    found: Vector
    matrix: Vector
    windows: Sequence[str]
    windows_found: Vector


def kinds_of(groups: dict[str, list[Source]], find: Find, count: Count) -> Iterator[Kind]:
    for name, sources in groups.items():
        texts = [text for source in sources for text in stretches(source, LENGTH, STRETCHES) if text]
        characters = LENGTH * WINDOW // max(1, round(sum(map(count, texts)) / len(texts)))
        windows = [text for source in sources for text in stretches(source, characters, WINDOWS)] or texts[:1]
        aim, weight = (PRECISE_AIM, PRECISE_WEIGHT) if is_precise(name) else (LANGUAGE_AIM, 1.0)
        yield kind_of(name, aim, weight, texts, windows, find)
        if name not in NO_LANGUAGES:
            draw = random.Random(name)  # noqa: S311 - not a secret
            mixed = [shuffled(text, draw) for text in texts[:SHUFFLED]]
            yield kind_of(f"{name} shuffled", SHUFFLED_AIM, SHUFFLED_WEIGHT, mixed, mixed[:1], find)


def kind_of(name: str, aim: float, weight: float, texts: list[str], windows: list[str], find: Find) -> Kind:
    found = np.array([find(text) for text in texts])
    return Kind(name, aim, weight, texts, found, found.T @ found, windows, np.array([find(text) for text in windows]))


def fit(kinds: Sequence[Kind], common: float, count: Count, find: Find) -> Vector:
    """Kinds with windows outside their limits weigh more from round to round."""
    first, held = first_costs(count)
    costs, weights = first, np.array([kind.weight for kind in kinds])
    tokens = [np.array([count(text) for text in kind.texts], float) for kind in kinds]
    scales = [1 / (len(each) * each.mean() ** 2) for each in tokens]
    vectors = [kind.aim * kind.found.T @ each for kind, each in zip(kinds, tokens, strict=True)]
    shares = [kind.windows_found / np.array([[count(text)] for text in kind.windows]) for kind in kinds]
    nothing = np.zeros(1)
    for _ in range(ROUNDS):
        scaled = weights * scales
        matrix = sum((weight * kind.matrix for weight, kind in zip(scaled, kinds, strict=True)), nothing)
        vector = sum((weight * each for weight, each in zip(scaled, vectors, strict=True)), nothing)
        costs = solve(matrix, vector, first, held, costs)
        for i, kind in enumerate(kinds):
            low, middle, high = np.quantile(ratios(shares[i], costs, common), [0.03, 0.5, 0.97])
            is_bad = low < LOWEST or high > HIGHEST or (is_precise(kind.name) and middle > PRECISE_MEDIAN)
            weights[i] *= RAISE if is_bad and len(kind.windows) >= FEWEST_WINDOWS else 1.0
    price_unseen(costs, sum((kind.found.sum(axis=0) for kind in kinds), nothing), common, count, find)
    return costs


def ratios(shares: Vector, costs: Vector, common: float) -> Vector:
    """The estimates over the truth: what `estimate` does with the costs."""
    splits = shares[:, LETTER_COLUMNS] @ costs[LETTER_COLUMNS]
    pairs = shares[:, PAIR_COLUMNS].sum(axis=1)
    less = common * pairs - splits
    cost: Vector = np.where(less > 0, np.maximum(0, splits - less), np.minimum(splits, pairs / 2))
    found: Vector = shares @ costs - splits + cost
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
    "digits": "How many digits are one token.",
    "common": "A text whose pairs of letters cost less on average gets the difference off once more.",
    "data": "A character of base64 or the like.",
    "kinds": "A pair of kinds: a row for each first kind, a column for each second.",
    "letters": "A pair of groups of letters, in the same way.",
    "skips": "A group of letters and the second one before it, in the same way.",
    "blocks": "A character: a row for each of BLOCK_ROWS, a column for each block of 16 characters in it.",
    "rows": "A character in another row: a number for each of ROW_GROUPS.",
    "rare": "A character of a rare script that shares a row with a common one, beside what the row costs.",
}


def lines(vocabulary: str, digits: int, common: int, costs: Sequence[int]) -> Iterator[str]:
    """The lines of a data file."""
    yield f"# What the estimator's features cost in {vocabulary}, in {COSTS_PER_TOKEN}ths of a token.\n"
    yield "# Written by `python -m tools.fit_estimator`; `pycupel.tokens.estimate` says what the numbers are about.\n"
    ends = [1, *range(257, 1026, 256), len(costs) - 1, len(costs)]
    tables = [[digits], [common], *(costs[start:end] for start, end in pairwise([0, *ends]))]
    for (name, comment), numbers in zip(COMMENTS.items(), tables, strict=True):
        yield f"# {comment}\n"
        for i in range(0, len(numbers), 16):
            yield f"{name:7}{''.join(f'{number:4}' for number in numbers[i : i + 16])}\n"


def main() -> None:
    groups = by_kind([*fitting(), *languages(LOCALES, even=True)])
    names = sys.argv[1:] or list(TABLES)
    for single_digits in (False, True):
        find = partial(features, single_digits=single_digits)
        kinds: list[Kind] = []
        for name in names:
            vocabulary, percent = TABLES[name]
            count = families.load_splintr(vocabulary)[0]
            if single_digits == (count("12345678") >= 8):
                # Finding the features takes longest, and is the same for all of these.
                kinds = kinds or list(kinds_of(groups, find, count))
                costs = fit(kinds, percent / 100, count, find)
                scaled = [min(255, round(COSTS_PER_TOKEN * float(cost))) for cost in (percent / 100, *costs)]
                text = lines(vocabulary, 1 if single_digits else 3, scaled[0], scaled[1:])
                (DATA_DIRECTORY / f"{name}.txt").write_text("".join(text), encoding="utf-8")
                sys.stdout.write(f"{name}\n")


if __name__ == "__main__":
    main()
