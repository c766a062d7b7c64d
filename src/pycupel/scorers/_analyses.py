"""A cache of analysed contents, so that a second question does not analyse them again.

One cache serves all scorers, which are immutable. Its keys are the texts themselves, so it never affects a score.
"""

from __future__ import annotations

from collections.abc import Sequence
from sys import getsizeof
from threading import Lock

from pycupel.kernels.words import Analysis, analysis_of, terms

MAX_BYTES = 64 * 1024 * 1024

# Memory per entry that getsizeof does not count: slots in dictionaries, headers, a tuple, small integers.
_OVERHEAD = 200


class _Vocabulary(dict[str, tuple[str, ...]]):
    """The terms of every word seen so far. Holds all strings that the analyses use, and counts their bytes."""

    bytes = 0

    def __missing__(self, word: str) -> tuple[str, ...]:
        found = self[word] = terms(word)
        # A term is about as long as its word.
        self.bytes += _OVERHEAD + getsizeof(word) * (1 + len(found))
        return found


class _Cache:
    """Analyses by content, the oldest dropped first. Half of `max_bytes` is for the vocabulary.

    Bytes are counted from the sizes that Python reports for contents, dictionaries, words and terms, each term once,
    plus a flat amount for each entry.
    """

    def __init__(self, max_bytes: int) -> None:
        self.max_bytes = max_bytes
        self.bytes = 0
        self.analyses: dict[str, Analysis] = {}
        self.vocabulary = _Vocabulary()
        self._lock = Lock()

    def analyse(self, contents: Sequence[str]) -> list[Analysis]:
        """Analyse the contents, or take their analyses from the cache."""
        known = self.analyses.get
        found = [known(content) for content in contents]
        if None not in found:
            return found  # type: ignore[return-value]
        # Analyse repeated content once.
        missing = [content for content, analysis in zip(contents, found, strict=True) if analysis is None]
        fresh = {content: analysis_of(content, self.vocabulary.__getitem__) for content in dict.fromkeys(missing)}
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
        """Clear the cache, to free memory. Scores stay the same."""
        with self._lock:
            self._clear()

    def _clear(self) -> None:
        self.analyses = {}
        self.vocabulary = _Vocabulary()
        self.bytes = 0


def _size(content: str, analysis: Analysis) -> int:
    return _OVERHEAD + getsizeof(content) + getsizeof(analysis.counts)


CACHE = _Cache(MAX_BYTES)
