"""The cache of analyses: it saves time, changes nothing, and stays small."""

from __future__ import annotations

import gc
import tracemalloc
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from pycupel import ContextItem
from pycupel.kernels import words
from pycupel.kernels.words import Analysis, analysis_of
from pycupel.scorers import RelevanceScorer, clear_caches
from pycupel.scorers.relevance import MAX_BYTES, Analyses, analyses


@pytest.fixture(autouse=True)
def empty_caches() -> Iterator[None]:
    clear_caches()
    yield
    clear_caches()


def text(i: int, words: int = 50) -> str:
    return " ".join(f"word{(i * 31 + j * 7) % 900}x" for j in range(words))


def test_a_content_is_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also if it occurs twice in one call, and whether or not it is the same object."""
    read: list[str] = []

    def recorded(content: str, terms_of: Callable[[str], Iterable[str]]) -> Analysis:
        read.append(content)
        return analysis_of(content, terms_of)

    monkeypatch.setattr(words, "analysis_of", recorded)
    cache = Analyses(MAX_BYTES)
    first = cache.analyse(["a b", "c", "a b"])
    again = cache.analyse([" ".join("ab"), "d"])
    assert read == ["a b", "c", "d"]
    assert first[0] is first[2] is again[0]
    assert first[0].counts == {"b": 1}
    assert first[0].length == 2
    cache.clear()
    cache.analyse(["a b"])
    assert read == ["a b", "c", "d", "a b"]


def test_scores_are_the_same_with_and_without_it() -> None:
    items = [ContextItem(text(i), 50) for i in range(20)]
    scorer = RelevanceScorer(text(3, 5))
    scores = scorer.score_all(items)
    assert scorer.score_all(items) == scores
    clear_caches()
    assert scorer.score_all(items) == scores


def test_clearing_frees_what_is_counted() -> None:
    analyses().analyse([text(1)])
    assert min(analyses().bytes, analyses().vocabulary.bytes) > 0
    clear_caches()
    assert analyses().bytes + analyses().vocabulary.bytes == 0


def test_the_oldest_are_dropped_when_it_is_full() -> None:
    """And the newest stay: half of the bytes are for about 25 of these."""
    cache = Analyses(120_000)
    for i in range(100):
        cache.analyse([f"{'alpha beta ' * 180} {i}"])
        assert cache.bytes <= 60_000
        assert list(cache.analyses)[-1].endswith(f" {i}")
    kept = list(cache.analyses)
    assert 10 < len(kept) < 30
    assert kept[0].endswith(f" {100 - len(kept)}")


def test_a_content_that_is_larger_than_the_cache_is_not_kept() -> None:
    cache = Analyses(4_000)
    assert cache.analyse(["the " * 5_000])[0].length == 5_000
    assert not cache.analyses
    assert cache.bytes == 0


def test_a_vocabulary_that_is_too_large_is_forgotten_with_everything() -> None:
    """Its strings are in the analyses, too."""
    cache = Analyses(20_000)
    assert len(cache.analyse([" ".join(f"unique{i}z{j}" for j in range(20)) for i in range(10)])) == 10
    assert not cache.analyses
    assert not cache.vocabulary
    assert cache.bytes == 0


def allocated_and_counted(contents: list[str]) -> tuple[int, int]:
    cache = Analyses(MAX_BYTES)
    gc.collect()
    tracemalloc.start()
    cache.analyse([f"{content} " for content in contents])
    gc.collect()
    allocated, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return allocated, cache.bytes + cache.vocabulary.bytes


@pytest.mark.unmeasured
def test_the_bytes_are_about_right() -> None:
    """What Python really allocates is at most half as much again, and at least half of it."""
    contents = [text(i) + f" {i}" for i in range(500)]
    # The interpreter's own table of strings may grow at any time, but not twice in a row.
    allocated, counted = min(allocated_and_counted(contents) for _ in range(3))
    assert 0.5 * counted < allocated < 1.5 * counted


@pytest.mark.unmeasured
def test_threads_may_share_it() -> None:
    """Many threads that fill, overflow and clear it get the same analyses as one."""
    cache = Analyses(100_000)
    contents = [text(i) for i in range(40)]
    expected = Analyses(MAX_BYTES).analyse(contents)

    def work(i: int) -> bool:
        if i % 10 == 9:
            cache.clear()
        return cache.analyse(contents[i % 20 :]) == expected[i % 20 :]

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(work, range(60)))
    cache.clear()
    assert cache.bytes == 0
