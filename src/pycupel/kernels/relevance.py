"""BM25, and sharing scores with neighbours and groups."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import log
from typing import NamedTuple


class Analysis(NamedTuple):
    """A text: how often each term occurs, and how many words there are."""

    counts: Mapping[str, int]
    length: int


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
