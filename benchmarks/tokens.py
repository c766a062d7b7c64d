"""`python -m benchmarks.tokens [LOCALES]`: how fast the estimator is, and how far off, on text it was not fitted to.

LOCALES is a directory of gettext catalogues (/usr/share/locale), of which those with an odd SHA-256 of their file name
are read. A machine without catalogues measures no languages.
"""

from __future__ import annotations

import random
import statistics
import sys
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

from benchmarks.floor import best_of
from benchmarks.token_catalogues import LOCALES, languages
from benchmarks.token_corpus import Source, held_out
from pycupel.errors import CupelError
from pycupel.tokens import estimate_tokens, families, tiktoken

ENCODING = "o200k_base"
WINDOW = 1_000
TEXT_LENGTH = 318
# The estimate over the truth: the median of each class. Other scripts may be overestimated by more.
MEDIANS = {"cjk": (0.95, 1.5), "cyrillic": (0.95, 1.5)}
MEDIAN = (0.95, 1.15)
# The truth over the estimate, over all windows: an estimate that is too low by more than the margin has to be rare.
MOST_P99, LEAST_P1 = 1.05, 0.6
# For each language; a language needs some windows to have percentiles.
LEAST_LANGUAGE_P1, FEWEST_WINDOWS, FEWEST_LANGUAGES = 0.7, 5, 60
MOST_WINDOWS, MOST_LANGUAGE_WINDOWS = 40, 400


class Window(NamedTuple):
    """A stretch of a text, with its true number of tokens."""

    kind: str
    text: str
    tokens: int


def windows(sources: Sequence[Source], count: Callable[[str], int], most: int = MOST_WINDOWS) -> list[Window]:
    """Stretches of about 1 000 tokens; not too many of a source, so that none prevails."""
    found: list[Window] = []
    for source in sources:
        stretches = list(_stretches(source.text, WINDOW * len(source.text) // max(WINDOW, count(source.text))))
        some = random.Random(source.name).sample(stretches, min(most, len(stretches)))
        found += [Window(source.kind, text, count(text)) for text in some]
    return found


def _stretches(text: str, length: int) -> Iterator[str]:
    whole = len(text) // length
    yield from (text[i * length : (i + 1) * length] for i in range(whole)) if whole else (text,)


def print_errors(found: Sequence[Window]) -> bool:
    """A line for each class, and whether all are within the limits."""
    print(f"windows of {WINDOW:,} tokens of text that the estimator was not fitted to, {ENCODING}")
    print(f"{'class':11}{'windows':>8}{'estimated/true':>18}{'true/estimated':>22}")
    print(f"{'':19}{'median':>18}{'p1':>11}{'p99':>11}")
    good = True
    for kind in sorted({window.kind for window in found}):
        ratios = [window.tokens / estimate_tokens(window.text) for window in found if window.kind == kind]
        median = statistics.median(1 / ratio for ratio in ratios)
        low, high = MEDIANS.get(kind, MEDIAN)
        fits = low <= median <= high
        good &= fits
        print(f"{kind:11}{len(ratios):>8}{median:18.3f}{_edges(ratios)}{'' if fits else f'  NOT {low} to {high}'}")
    ratios = [window.tokens / estimate_tokens(window.text) for window in found]
    print(f"{'all':11}{len(ratios):>8}{'':18}{_edges(ratios)}  limits {LEAST_P1} and {MOST_P99}")
    return good and quantile(ratios, 0.01) >= LEAST_P1 and quantile(ratios, 0.99) <= MOST_P99


def print_languages(found: Sequence[Window]) -> bool:
    """A line for each language, and whether enough of them are within the limits."""
    print(f"\nlanguages: gettext catalogues that the estimator was not fitted to, windows of {WINDOW:,} tokens")
    print(f"{'language':11}{'windows':>8}{'estimated/true':>18}{'true/estimated':>22}")
    print(f"{'':19}{'median':>18}{'p1':>11}{'p99':>11}")
    good = measured = 0
    for language in sorted({window.kind for window in found}):
        ratios = [window.tokens / estimate_tokens(window.text) for window in found if window.kind == language]
        if len(ratios) < FEWEST_WINDOWS:
            continue
        fits = quantile(ratios, 0.01) >= LEAST_LANGUAGE_P1 and quantile(ratios, 0.99) <= MOST_P99
        measured, good = measured + 1, good + fits
        median = statistics.median(1 / ratio for ratio in ratios)
        print(f"{language:11}{len(ratios):>8}{median:18.3f}{_edges(ratios)}{'' if fits else '  NOT WITHIN'}")
    print(f"{good} of {measured} languages between {LEAST_LANGUAGE_P1} and {MOST_P99}")
    return good >= FEWEST_LANGUAGES or measured < FEWEST_LANGUAGES


def _edges(ratios: Sequence[float]) -> str:
    return f"{quantile(ratios, 0.01):11.3f}{quantile(ratios, 0.99):11.3f}"


def quantile(values: Sequence[float], share: float) -> float:
    """The value below which this share of the values is."""
    ordered = sorted(values)
    return ordered[round(share * (len(ordered) - 1))]


def print_speed(sources: Sequence[Source]) -> bool:
    """What each counter needs for the same texts, and whether the estimator is at least as fast as tiktoken."""
    texts = [text for source in sources for text in list(_stretches(source.text, TEXT_LENGTH))[:60]]
    counters: dict[str, Callable[[str], int]] = {"estimator": estimate_tokens}
    for name, load in (("splintr", families.load_splintr), ("tiktoken", tiktoken.load_tiktoken)):
        try:
            counters[name] = load(ENCODING)[0]
        except CupelError as error:
            print(f"without {name}: {error}")
    best = best_of({name: partial(_count_all, count, texts) for name, count in counters.items()}, 3.0)
    print(f"\n{len(texts):,} texts of {TEXT_LENGTH} characters; splintr remembers what it has seen")
    for name, microseconds in best.items():
        print(f"{name:11}{len(texts) / microseconds * 1e6:12,.0f} texts/s")
    return best["estimator"] <= best.get("tiktoken", best["estimator"])


def _count_all(count: Callable[[str], int], texts: Sequence[str]) -> None:
    for text in texts:
        count(text)


def main() -> None:
    """Exit with 1 if a limit is exceeded."""
    sources = held_out()
    count = families.load_splintr(ENCODING)[0]
    is_close = print_errors(windows(sources, count))
    root = Path(sys.argv[1]) if len(sys.argv) > 1 else LOCALES
    is_close &= print_languages(windows(languages(root, even=False), count, MOST_LANGUAGE_WINDOWS))
    is_fast = print_speed(sources)
    if not is_fast:
        print("the estimator is slower than tiktoken")
    sys.exit(not (is_close and is_fast))


if __name__ == "__main__":
    main()
