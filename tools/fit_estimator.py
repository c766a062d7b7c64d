"""`python -m tools.fit_estimator`: fit the costs of `pycupel.tokens.estimate` to what o200k_base really needs.

Pieces cost a token each. The other costs are those that explain best, over short stretches of all the fitting texts,
how many tokens there are beside the pieces. Every source weighs the same, and nothing that is fitted is negative. In
the end everything is raised, because an estimate that is too low costs more than one that is too high: pieces a
little, and what is less certain by more.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import splintr

from benchmarks.token_corpus import Source, fitting
from pycupel.tokens.estimate import COSTS, count_features

STRETCHES = 1_200
RIDGE = 1e-3
SWEEPS = 3_000
PIECES_RAISED_BY = 1.09
SPLITS_RAISED_BY = 1.7
SCRIPTS_RAISED_BY = 1.35
# Paths and options, of which agents read many, are better known to a vocabulary than what is joined in these texts.
JOINED_LOWERED_TO = 0.8

NAMES = list(COSTS)
# A piece is a token, and a mark between two words is no piece; a token may be 16 line ends or 128 blanks.
FACTS = {
    "piece": 1.0,
    "number after a blank": 1.0,
    "gap": 1.0,
    "line end after another": 1 / 16,
    "blank after another": 1 / 128,
}
NO_PIECES = ("word joined by a mark", "word after another mark")
SPLITS = (
    "capital after another",
    "long word after a mark",
    "very long word",
    "cluster of consonants",
    "four marks",
)
SCRIPTS = NAMES[NAMES.index("accented letter") :]
LANGUAGES = {"cjk", "cyrillic", "latin", "other"}

Observation = tuple[list[int], int]


def fit(sources: Sequence[Source], tokenizer: Any) -> dict[str, float]:
    """First what all texts have, then what only some scripts have."""
    seen = {source: list(observations(source, tokenizer)) for source in sources}
    data = [pairs for source, pairs in seen.items() if source.kind == "base64"]
    words = [ascii_only(pairs) for source, pairs in seen.items() if source.kind not in {"base64", *LANGUAGES}]
    languages = [pairs for source, pairs in seen.items() if source.kind in LANGUAGES]
    costs = dict.fromkeys(NAMES, 0.0) | FACTS | dict.fromkeys(NO_PIECES, -1.0)
    for names, groups in ((["data"], data), ([*SPLITS, *NO_PIECES, "tab"], words), (SCRIPTS, languages)):
        for name, cost in least_squares(groups, costs, names).items():
            costs[name] += cost
    return costs


def observations(source: Source, tokenizer: Any) -> Iterator[Observation]:
    """What short stretches of the source have of each feature, and their tokens."""
    some = list(stretches(source.text))
    random.Random(source.name).shuffle(some)  # noqa: S311 - not a secret
    for stretch in some[:STRETCHES]:
        counts = count_features(stretch)
        yield counts + [0] * (len(NAMES) - len(counts)), len(tokenizer.encode_ordinary(stretch))


def ascii_only(pairs: Iterable[Observation]) -> list[Observation]:
    """The observations without a feature of other scripts."""
    return [(counts, tokens) for counts, tokens in pairs if not any(counts[-len(SCRIPTS) :])]


def stretches(text: str) -> Iterator[str]:
    """Whole lines, of 60 characters or more together; longer ones in parts of 400."""
    stretch = ""
    for line in text.splitlines(keepends=True):
        stretch += line
        if len(stretch) >= 60:
            yield from (stretch[i : i + 400] for i in range(0, len(stretch), 400))
            stretch = ""


def least_squares(
    groups: Iterable[Sequence[Observation]], costs: dict[str, float], names: Sequence[str]
) -> dict[str, float]:
    """What to add to these costs, none of it negative, so that all of them together explain the tokens best."""
    free = [NAMES.index(name) for name in names]
    matrix = [[0.0] * len(free) for _ in free]
    vector = [0.0] * len(free)
    for pairs in filter(None, groups):
        weight = 1 / sum(tokens for _, tokens in pairs)
        for counts, tokens in pairs:
            rest = tokens - sum(cost * count for cost, count in zip(costs.values(), counts, strict=True))
            features = [counts[i] for i in free]
            for row, count in enumerate(features):
                vector[row] += weight * count * rest
                matrix[row] = [a + weight * count * other for a, other in zip(matrix[row], features, strict=True)]
    return dict(zip(names, solve(matrix, vector), strict=True))


def solve(matrix: Sequence[Sequence[float]], vector: Sequence[float]) -> list[float]:
    """Improves one number after the other, none below 0."""
    found = [0.0] * len(vector)
    for _ in range(SWEEPS):
        for i, row in enumerate(matrix):
            others = sum(a * x for j, (a, x) in enumerate(zip(row, found, strict=True)) if j != i)
            found[i] = max(0.0, (vector[i] - others) / (row[i] * (1 + RIDGE) or 1))
    return found


def raised(name: str, cost: float) -> float:
    """A cost with the surplus that makes estimates too high rather than too low."""
    if name in NO_PIECES:
        return (cost + 1) * JOINED_LOWERED_TO - PIECES_RAISED_BY
    if name in SCRIPTS:
        return cost * SCRIPTS_RAISED_BY
    return cost * (SPLITS_RAISED_BY if name in SPLITS else PIECES_RAISED_BY)


def main() -> None:
    """Print the costs, to be pasted into `pycupel/tokens/estimate.py`."""
    costs = fit(fitting(), splintr.Tokenizer.from_pretrained("o200k_base"))
    lines = [f'    "{name}": {round(raised(name, cost) * 100) * 10},\n' for name, cost in costs.items()]
    sys.stdout.writelines(["COSTS = {\n", *lines, "}\n"])


if __name__ == "__main__":
    main()
