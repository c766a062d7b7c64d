"""RelevanceScorer: how well contents answer a question, by their words; and a cache of analysed contents."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import KW_ONLY, dataclass, field, replace
from datetime import date
from functools import cache
from sys import getsizeof
from typing import TYPE_CHECKING, Any, Self

from pycupel.model import ContextItem
from pycupel.model.checks import BOOLEAN, COUNT, SHARE, STRING, checked_str, finite_number, or_none
from pycupel.scorers._base import CONVERSATION, CheckedScorer, bound_query, score_of
from pycupel.values import hold, record_repr, sealed

if TYPE_CHECKING:
    from pycupel.kernels.words import Analysis


@sealed
@dataclass(frozen=True, slots=True)
class RelevanceScorer(CheckedScorer):
    """Relevance of the content to a question: BM25, shared with neighbours and groups. The best item has 1.0.

    Words count in any script. Identifiers are also found by their parts (`getUserName`, `user_name`), inflected English
    words by their stems, and stop words are left out of the question. If it has no English function word, longer words
    are also found by their first five letters. A date in the question also finds its other spellings, and timestamps of
    that day; "yesterday" is the day before the newest timestamp. The scores are then divided by the largest;
    `share` times the best score among the neighbours is added, because the answer is often next to the words of the
    question; the scores are divided by the largest again; `group_share` times the best score in the group is added,
    and the scores are divided by the largest.

    A question belongs to a call: leave `query` out, and pass it to the call or use `for_query`.
    """

    query: str | None = field(default=None, metadata=or_none(STRING))
    """The question, or None if it is not known yet."""

    _: KW_ONLY
    k1: float = field(default=1.2, metadata=finite_number(low=0.0))
    """How fast repetitions of a word stop counting, 0 or more."""

    b: float = field(default=0.75, metadata=SHARE)
    """How strongly long contents are penalised, from 0 to 1."""

    window: int = field(default=2, metadata=COUNT)
    """How many positions away a neighbour may be, in input order and in the same group."""

    share: float = field(default=0.5, metadata=SHARE)
    """How much of the best neighbour's score is added, from 0 to 1."""

    group: str = field(default="session", metadata=STRING)
    """The metadata key that names an item's group, such as a session or a file.

    Where no item has it, messages and tool outputs are one group, and no other item has a group. Items without a group
    have no neighbours.
    """

    group_share: float = field(default=0.2, metadata=SHARE)
    """How much of the group's best score is added, from 0 to 1."""

    length_exponent: float = field(default=0.0, metadata=SHARE)
    """Finally, scores are divided by the number of words to this power, from 0 to 1."""

    optional: bool = field(default=False, metadata=BOOLEAN)
    """Whether every item scores 0 without a query, instead of raising an error."""

    _seen: Any = field(default=None, init=False, repr=False, compare=False)

    __repr__ = record_repr

    def for_query(self, query: str) -> Self:
        """Return the same scorer for this question."""
        return replace(self, query=checked_str("query", query))

    def _for_stream(self) -> Self:
        """Return the same scorer for items that arrive in batches. It serves one stream, in order.

        Each batch is scored by the words of all batches so far, and 1.0 is the best score so far.
        """
        from pycupel.kernels.words import Corpus  # noqa: PLC0415 - see below

        streaming = copy(self)
        hold(streaming, _seen=Corpus())
        return streaming

    def score(self, item: ContextItem, all_items: Sequence[ContextItem], /) -> float:
        """Score one item; if the object occurs several times, return its largest score."""
        # A copy, because one that serves a stream would take this for a batch.
        return score_of(item, all_items, RelevanceScorer.score_all(replace(self), all_items))

    def score_all(self, items: Sequence[ContextItem], /) -> list[float]:
        """Score all items, in time proportional to the words of contents not seen before."""
        if not self.query and (self.optional or self.query is not None):
            return [0.0] * len(items)
        query = bound_query(self)
        # Imported late: compiling the patterns takes longer than importing all scorers, and only questions need them.
        from pycupel.kernels import words  # noqa: PLC0415

        terms = words.query_terms(query)
        stamps = [item.timestamp for item in items if item.timestamp] if "yesterday" in query.casefold() else []
        yesterday = date.fromordinal(max(1, max(stamps).toordinal() - 1)) if stamps else ""
        dates = dict.fromkeys(words.date_terms(f"{yesterday}; {query}"), 1.0)
        if not terms and not dates:
            return [0.0] * len(items)
        texts = analyses().analyse([item.content for item in items])
        if dates:
            texts = [words.with_dates(*each, dates) for each in zip(texts, items, strict=True)]
        corpus = self._seen or words.Corpus()
        scores = corpus.scaled("words", words.bm25(terms | dates, texts, self.k1, self.b, corpus))
        groups = self._groups(items)
        if any(group is not None for group in groups):
            shared = words.share_with_neighbours(scores, groups, self.window, self.share)
            scores = corpus.scaled("neighbours", shared)
            scores = corpus.scaled("group", words.share_with_group(scores, groups, self.group_share))
        if self.length_exponent:
            # A text without words has no score of its own, but may have a share of its neighbours'.
            powers = [(length or 1) ** self.length_exponent for _, length in texts]
            shortened = [score and score / power for score, power in zip(scores, powers, strict=True)]
            scores = corpus.scaled("length", shortened)
        return _largest_of_each(items, scores)

    def _groups(self, items: Sequence[ContextItem]) -> list[int | None]:
        """Return the number of each item's group, or None."""
        key = self.group
        values = [item.metadata.get(key) for item in items]
        numbers: dict[Any, int] = {}
        groups = [None if value is None else _number(value, numbers) for value in values]
        if numbers:
            return groups
        return [0 if item.kind.key in CONVERSATION else None for item in items]


def _number(value: Any, numbers: dict[Any, int]) -> int | None:
    """Return the group's number; a value that cannot be hashed or compared, such as a list, is not a group."""
    try:
        return numbers.setdefault(value, len(numbers))
    except Exception:  # noqa: BLE001 - a user's object may raise anything
        return None


def _largest_of_each(items: Sequence[ContextItem], scores: list[float]) -> list[float]:
    """Give an object that occurs several times the largest of its scores everywhere."""
    if len(set(map(id, items))) == len(items):
        return scores
    largest: dict[int, float] = {}
    for item, score in zip(items, scores, strict=True):
        largest[id(item)] = max(score, largest.get(id(item), 0.0))
    return [largest[id(item)] for item in items]


# A second question about the same contents does not analyse them again.

MAX_BYTES = 64 * 1024 * 1024

# Memory per entry that getsizeof does not count: slots in dictionaries, headers, a tuple, small integers.
_OVERHEAD = 200


class _Vocabulary(dict[str, tuple[str, ...]]):
    """The terms of every word seen so far. Holds all strings that the analyses use, and counts their bytes."""

    def __init__(self, terms_of: Callable[[str], tuple[str, ...]]) -> None:
        self._terms_of = terms_of
        self.bytes = 0

    def __missing__(self, word: str) -> tuple[str, ...]:
        found = self[word] = self._terms_of(word)
        # A term is about as long as its word.
        self.bytes += _OVERHEAD + getsizeof(word) * (1 + len(found))
        return found


class Analyses:
    """Analyses by content, the oldest dropped first. Half of `max_bytes` is for the vocabulary.

    One serves all scorers, which are immutable. Its keys are the texts themselves, so it never affects a score. Bytes
    are counted from the sizes that Python reports for contents, dictionaries, words and terms, each term once, plus a
    flat amount for each entry.
    """

    def __init__(self, max_bytes: int) -> None:
        from threading import Lock  # noqa: PLC0415 - as above

        from pycupel.kernels.words import analysis_of, terms  # noqa: PLC0415 - as above

        self.max_bytes = max_bytes
        self._analysis_of, self._terms_of = analysis_of, terms
        self._lock = Lock()
        self._clear()

    def analyse(self, contents: Sequence[str]) -> list[Analysis]:
        """Analyse the contents, or take their analyses from the cache."""
        known = self.analyses.get
        found = [known(content) for content in contents]
        if None not in found:
            return found  # type: ignore[return-value]
        # Analyse repeated content once.
        missing = dict.fromkeys([content for content, each in zip(contents, found, strict=True) if each is None])
        fresh = {content: self._analysis_of(content, self.vocabulary.__getitem__) for content in missing}
        with self._lock:
            self._keep(fresh)
        return [each or fresh[content] for content, each in zip(contents, found, strict=True)]

    def _keep(self, fresh: dict[str, Analysis]) -> None:
        most = self.max_bytes // 2
        if self.vocabulary.bytes > most:
            # Analyses share their strings with the vocabulary, so both must be counted together.
            self._clear()
            return
        for content, analysis in fresh.items():
            # Another thread may have added it meanwhile.
            self.bytes += 0 if content in self.analyses else _size(content, analysis)
            self.analyses[content] = analysis
        if self.bytes > most:
            for content, analysis in list(self.analyses.items()):
                # More than necessary, so that not every call has to drop entries.
                if self.bytes <= most * 3 // 4:
                    break
                del self.analyses[content]
                self.bytes -= _size(content, analysis)

    def clear(self) -> None:
        """Free the memory. Scores stay the same."""
        with self._lock:
            self._clear()

    def _clear(self) -> None:
        self.analyses: dict[str, Analysis] = {}
        self.vocabulary = _Vocabulary(self._terms_of)
        self.bytes = 0


def _size(content: str, analysis: Analysis) -> int:
    return _OVERHEAD + getsizeof(content) + getsizeof(analysis.counts)


@cache
def analyses() -> Analyses:
    """Return the cache of this process."""
    return Analyses(MAX_BYTES)


def clear_caches() -> None:
    """Clear the cache of analysed contents."""
    analyses().clear()
