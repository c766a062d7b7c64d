"""Split a text into words, in the forms by which they are found.

A word is found by itself and, with half the weight each, as it is and by its stem, so that an exact match counts more
than another inflection. Identifiers are found by their parts, too. Scripts without spaces between words are
split into pairs of characters.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from itertools import chain, pairwise
from math import log
from sys import intern
from typing import Any, NamedTuple
from unicodedata import normalize

# English stop words, including the parts around an apostrophe.
STOP_WORDS = frozenset(
    """
    a an the this that these those
    i me my we our ours you your yours he him his she her hers it its they them their theirs
    myself yourself himself herself itself ourselves themselves
    am is are was were be been being have has had having do does did doing done
    can could will would shall should must
    and or but nor not no so if then else than as because while though although unless until
    of in on at by for from to into onto with without about over under between through during before after above below
    up down out off again further once here there now just only very too also
    what which who whom whose when where why how
    all any both each every either neither few more most much many other another some such same
    s t d m ll re ve don didn doesn isn wasn aren couldn wouldn shouldn please
    """.split()  # noqa: SIM905 - a list would be ten times as long
)

# Function words that hardly any other large language has ("has" is Spanish, too). A question with none of them is in
# another language, or only keywords.
_ENGLISH = frozenset(
    """
    the and with from that this these those what which who whose how where when why does did have you your they
    their them there its could should would not into about been any please
    """.split()  # noqa: SIM905 - as above
)
# Other languages have more endings than a stemmer for English knows, so a longer word is also found by its beginning.
# As a term, that ends in a character that no word has.
_PREFIX, _PREFIX_WEIGHT, _PREFIX_MARK = 5, 0.3, "*"

# Long runs of letters are data, not words. Combining marks belong to the letter before them.
_MARKS = "\u0300-\u036f\u0591-\u05c7\u064b-\u0670\u0900-\u0963\u0966-\u0dff\u0e00-\u0fff\u1000-\u109f\u1780-\u17ff"
_WORD = re.compile(rf"[\w{_MARKS}]{{1,64}}")
_ASCII_WORD = re.compile(r"\w{1,64}", re.ASCII)
# HTTPServer, get_user, utf8: capitals before a word, a word, a number.
_PART = re.compile(r"[A-Z]+(?![^\W\d_A-Z])|[A-Z]?[^\W\d_A-Z]+|\d+")
_WITHOUT_SPACES = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff"
    "\U00020000-\U0003ffff"
)
_UNSPACED = re.compile(f"[{_WITHOUT_SPACES}]")
_RUN = re.compile(f"[{_WITHOUT_SPACES}]+|[^{_WITHOUT_SPACES}]+")
_VOWEL = re.compile("[aeiouy]")
# The last letters of the endings that a stem drops: plurals, -ing, -ed, -e.
_ENDINGS = "sgde"


def words(text: str) -> list[str]:
    """Return the words of a text as they are spelled, in order."""
    return _ASCII_WORD.findall(text) if text.isascii() else _WORD.findall(normalize("NFKC", text))


def terms(word: str) -> tuple[str, ...]:
    """Return the forms under which a word is found: none for a stop word."""
    if word.isascii() and word.isalpha() and (word.islower() or word.istitle()):
        # Most words have no other forms than themselves and their stem.
        folded = intern(word.lower())
        if folded in STOP_WORDS:
            return ()
        stemmed = stem(folded) if folded[-1] in _ENDINGS else folded
        return (folded,) if stemmed is folded else (folded, intern(stemmed))
    return tuple(term_weights(word))


def query_terms(query: str) -> dict[str, float]:
    """Return the terms to look for, each with its weight."""
    weights: dict[str, float] = {}
    asked = words(query)
    is_english = not _ENGLISH.isdisjoint(map(str.casefold, asked))
    for word in asked:
        found = term_weights(word)
        # A longer word of a language has endings: not `getUser` or `utf8`, nor a word of a script without spaces.
        is_plain = word.isalpha() and (word[1:] == word[1:].lower() or word.isupper())
        if found and not is_english and is_plain and len(word) > _PREFIX and not _UNSPACED.search(word):
            found = {term: (1.0 - _PREFIX_WEIGHT) * weight for term, weight in found.items()}
            found[word.casefold()[:_PREFIX] + _PREFIX_MARK] = _PREFIX_WEIGHT
        for term, weight in found.items():
            weights[term] = weights.get(term, 0.0) + weight
    return weights


def term_weights(word: str) -> dict[str, float]:
    """Return the forms under which a word is found, each with its weight; empty for a stop word."""
    weights: dict[str, float] = {}
    if not word.isascii() and _UNSPACED.search(word):
        for run in _RUN.findall(word):
            if not _UNSPACED.match(run):
                _add_forms(weights, run, 0.5)
            else:
                for pair in map("".join, pairwise(run)) if len(run) > 1 else run:
                    _add(weights, pair, 1.0)
        return weights
    _add_forms(weights, word, 0.5)
    parts = _PART.findall(word)
    if parts != [word] and word.replace("_", "x").isalnum():
        for part in parts:
            _add_forms(weights, part, 0.25)
    return weights


def stem(word: str) -> str:
    """Strip plural and verb endings from a lower-case English word; any other word is returned as it is."""
    if len(word) < 4 or word[-1] not in _ENDINGS or not (word.isascii() and word.isalpha()):
        return word
    stemmed = _singular(word)
    if stemmed.endswith("ied") and len(stemmed) > 4:
        return stemmed[:-3] + "y"
    for ending, least in (("ing", 6), ("ed", 5)):
        if stemmed.endswith(ending) and len(stemmed) >= least and _VOWEL.search(stemmed, 0, len(stemmed) - len(ending)):
            stemmed = stemmed[: -len(ending)]
            # planned, planning: plan; but calling, passing, buzzing keep both.
            if len(stemmed) > 3 and stemmed[-1] == stemmed[-2] and stemmed[-1] not in "lsz":
                stemmed = stemmed[:-1]
            break
    return stemmed[:-1] if stemmed[-1] == "e" and len(stemmed) > 3 else stemmed


def _singular(word: str) -> str:
    if word[-1] != "s":
        return word
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    return word if word[-2] in "sui" else word[:-1]


def _add_forms(weights: dict[str, float], word: str, weight: float) -> None:
    folded = word.casefold()
    if folded not in STOP_WORDS:
        _add(weights, folded, weight)
        _add(weights, stem(folded), weight)


def _add(weights: dict[str, float], term: str, weight: float) -> None:
    weights[intern(term)] = weights.get(term, 0.0) + weight


# Dates: 2023-05-07, 7 May 2023, 07/May/2023 and a timestamp of that day are one term. It begins with a character that
# no word has.

_MONTHS = "jan feb mar apr may jun jul aug sep oct nov dec".split()  # noqa: SIM905 - as above
_MONTH = rf"({'|'.join(_MONTHS)})(?:uary|ruary|ch|il|e|y|ust|t|tember|ober|ember)?\b\.?"
_NTH = r"(\d\d?)(?:st|nd|rd|th|\.)?"
_DATE = re.compile(
    rf"\b(?:(\d{{4}})[-/.](\d\d?)[-/.](\d\d?)(?!\d)|(\d\d?)\.(\d\d?)\.(\d{{4}})(?!\d)"
    rf"|{_NTH}[\s/-](?:of\s)?{_MONTH}(?:,?[\s/-](\d{{4}}))?"
    rf"|{_MONTH}[\s/-]{{1,2}}{_NTH}\b(?:,?[\s/-](\d{{4}}))?)",
    re.ASCII | re.IGNORECASE,
)


def date_terms(text: str) -> list[str]:
    """Return a term for each date in a text: `@05-07 2023`, or `@05-07` for one without a year."""
    found: list[str] = []
    for year, month, day, day_2, month_2, year_2, day_3, name_3, year_3, name_4, day_4, year_4 in _DATE.findall(text):
        number = int(month or month_2 or _MONTHS.index((name_3 or name_4).lower()) + 1)
        last = int(day or day_2 or day_3 or day_4)
        found.append(f"@{number:02}-{last:02} {year or year_2 or year_3 or year_4}".rstrip())
    return found


def with_dates(text: Analysis, item: Any, wanted: Collection[str]) -> Analysis:
    """Count how often an item has each wanted date, in its content or timestamp. One without a year is of any year."""
    dates = date_terms(f"{item.timestamp}; {item.content}")
    counts = {term: sum(date.startswith(term) for date in dates) for term in wanted}
    found = {term: count for term, count in counts.items() if count}
    return text._replace(counts={**text.counts, **found}) if found else text


# BM25, and sharing scores with neighbours and groups.


class Analysis(NamedTuple):
    """A text: how often each term occurs, and how many words there are."""

    counts: Mapping[str, int]
    length: int


def analysis_of(text: str, terms_of: Callable[[str], Iterable[str]] = terms) -> Analysis:
    """Count the terms of a text. `terms_of` is `terms`, or a cache of its results: most words occur again and again."""
    found = words(text)
    return Analysis(Counter(chain.from_iterable(map(terms_of, found))), len(found))


class Corpus:
    """Statistics of all texts so far: their number, their words, and how many hold each term of a query."""

    __slots__ = ("_largest", "holders", "texts", "words")

    def __init__(self) -> None:
        self.texts = 0
        self.words = 0
        self.holders: dict[str, int] = {}
        self._largest: dict[str, float] = {}

    def scaled(self, step: str, scores: list[float]) -> list[float]:
        """Divide the scores by the largest one at this step; unchanged if none is above 0."""
        largest = max(scores, default=0.0)
        if largest < self._largest.get(step, 0.0):
            largest = self._largest[step]
        self._largest[step] = largest
        return [score / largest for score in scores] if largest > 0.0 else scores


def bm25(query: Mapping[str, float], texts: Sequence[Analysis], k1: float, b: float, corpus: Corpus) -> list[float]:
    """Score how well each text matches the query: rare terms count more, repetition and length less.

    The rarity of terms and the length of texts are measured on these texts and those already in the corpus.
    """
    n = corpus.texts = corpus.texts + len(texts)
    scores = [0.0] * len(texts)
    all_counts = [counts for counts, _ in texts]
    prefixes = {term[:_PREFIX] for term in query if term[-1] == _PREFIX_MARK}
    if prefixes:
        all_counts = [_with_prefixes(counts, prefixes) for counts in all_counts]
    lengths = [length for _, length in texts]
    corpus.words += sum(lengths)
    mean_length = corpus.words / n if n else 0.0
    for term, weight in query.items():
        holders = [i for i, counts in enumerate(all_counts) if term in counts]
        total = corpus.holders[term] = corpus.holders.get(term, 0) + len(holders)
        value = weight * log(1.0 + (n - total + 0.5) / (total + 0.5)) * (k1 + 1.0)
        for i in holders:
            count = all_counts[i][term]
            scores[i] += value * count / (count + k1 * (1.0 - b + b * lengths[i] / mean_length))
    return scores


def _with_prefixes(counts: Mapping[str, int], prefixes: Collection[str]) -> Mapping[str, int]:
    """Return the counts of a text's terms, and how many of its words begin with each of the prefixes."""
    found: dict[str, int] = {}
    for term, count in counts.items():
        prefix = term[:_PREFIX]
        # A word whose stem is another term with this prefix is already counted there.
        if prefix in prefixes and ((stemmed := stem(term)) == term or stemmed[:_PREFIX] != prefix):
            found[prefix + _PREFIX_MARK] = found.get(prefix + _PREFIX_MARK, 0) + count
    return {**counts, **found} if found else counts


def share_with_neighbours(scores: list[float], groups: Sequence[int | None], window: int, share: float) -> list[float]:
    """Add `share` times the best score within `window` positions in the same group. None means no group."""
    n = len(scores)
    best = [0.0] * n
    for distance in range(1, min(window, n - 1) + 1):
        for i in range(n - distance):
            j = i + distance
            group = groups[i]
            if group is not None and group == groups[j]:
                if scores[j] > best[i]:
                    best[i] = scores[j]
                if scores[i] > best[j]:
                    best[j] = scores[i]
    return [score + share * other for score, other in zip(scores, best, strict=True)]


def share_with_group(scores: list[float], groups: Sequence[int | None], share: float) -> list[float]:
    """Add `share` times the best score in the group. None means no group."""
    best: dict[int | None, float] = {}
    for score, group in zip(scores, groups, strict=True):
        if score > best.get(group, 0.0):
            best[group] = score
    best[None] = 0.0
    return [score + share * best.get(group, 0.0) for score, group in zip(scores, groups, strict=True)]
