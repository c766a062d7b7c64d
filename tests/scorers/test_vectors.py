"""SimilarityScorer: contents are embedded once, vectors may be given, and an async `embed` is awaited."""

from __future__ import annotations

import asyncio
import copy
import pickle
import warnings
from array import array
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from pycupel import (
    CompositeScorer,
    ContextItem,
    Policy,
    RelevanceScorer,
    ScaledScorer,
    SimilarityScorer,
    aselect,
    select,
)
from pycupel.errors import ScorerConfigError

ITEMS = [ContextItem(word, 10, metadata={"vector": [len(word), 2.0]}) for word in ("one", "three", "eleven")]


def vectors_of(texts: list[str]) -> list[list[float]]:
    return [[float(len(text)), 1.0] for text in texts]


class Recorded:
    """An embedding model that remembers what it was asked."""

    def __init__(self) -> None:
        self.calls: list[list[str]] = []

    def __call__(self, texts: list[str]) -> list[list[float]]:
        self.calls.append(texts)
        return vectors_of(texts)


def recorded(texts: list[str]) -> list[list[float]]:
    return vectors_of(texts)


def test_contents_are_embedded_once_whatever_the_question() -> None:
    embed = Recorded()
    scorer = SimilarityScorer(embed)
    first = scorer.for_query("north").score_all(ITEMS)
    assert scorer.for_query("north").score_all(ITEMS) == first
    scorer.for_query("south-east").score_all([*ITEMS, ContextItem("new", 1)])
    assert embed.calls == [["north", "one", "three", "eleven"], ["south-east", "new"]]
    policy = Policy(CompositeScorer([(RelevanceScorer(), 1), (ScaledScorer(scorer), 1)]))
    select(ITEMS, 100, policy, query="north")
    assert len(embed.calls) == 2
    assert scorer.for_query("north").score(ITEMS[1], ITEMS) == first[1]


def test_the_cache_is_bounded_and_may_be_off() -> None:
    embed = Recorded()
    small = SimilarityScorer(embed, "q", cache=2)
    assert small.score_all(ITEMS) == small.score_all(ITEMS)
    assert embed.calls == [["q", "one", "three", "eleven"], ["q", "one"]]
    off = SimilarityScorer(Recorded(), "q", cache=0)
    assert off.score_all(ITEMS) == off.score_all(ITEMS) == small.score_all(ITEMS)
    assert len(off.embed.calls) == 2  # type: ignore[attr-defined]
    with pytest.raises(ScorerConfigError, match="cache must be 0 or more"):
        SimilarityScorer(embed, cache=-1)


def test_the_cache_is_no_part_of_the_value() -> None:
    used, fresh = SimilarityScorer(recorded, "q"), SimilarityScorer(recorded, "q")
    used.score_all(ITEMS)
    assert used == fresh
    assert hash(used) == hash(fresh)
    assert repr(used) == repr(fresh)
    assert len(pickle.dumps(used)) == len(pickle.dumps(fresh))
    assert pickle.loads(pickle.dumps(used)) == copy.deepcopy(used) == used
    assert pickle.loads(pickle.dumps(used)).score_all(ITEMS) == used.score_all(ITEMS)


def test_threads_share_the_cache() -> None:
    scorer = SimilarityScorer(Recorded(), cache=50)
    many = [ContextItem(f"{'x' * n}", 1) for n in range(1, 90)]
    with ThreadPoolExecutor(8) as pool:
        results = list(pool.map(lambda n: scorer.for_query(f"q{n % 3}").score_all(many), range(24)))
    assert results[0] == results[3] == results[6]


@pytest.mark.parametrize("vectors", [{item.content: (len(item.content), 1) for item in ITEMS[:2]}, "vector"])
def test_vectors_that_are_there_are_not_embedded(vectors: Any) -> None:
    embed = Recorded()
    scores = SimilarityScorer(embed, "query", vectors=vectors).score_all(ITEMS)
    missing = ["query", "eleven"] if isinstance(vectors, dict) else ["query"]
    assert embed.calls == [missing]
    assert len(scores) == 3
    everything = {text: [float(len(text)), 1.0] for text in ("query", "one", "three", "eleven")}
    assert SimilarityScorer(embed, "query", vectors=everything).score_all(ITEMS) == (
        SimilarityScorer(recorded, "query").score_all(ITEMS)
    )
    assert len(embed.calls) == 1


def test_of_equal_contents_one_may_have_the_vector() -> None:
    embed = Recorded()
    twice = [ContextItem("one", 1, metadata={"vector": (3, 1)}), ContextItem("one", 1)]
    SimilarityScorer(embed, "query", vectors="vector").score_all(twice)
    assert embed.calls == [["query"]]


@pytest.mark.parametrize(
    ("vectors", "error", "message"),
    [
        (7, TypeError, "vectors must be a mapping from contents to vectors, or a metadata key, not 7"),
        ({"one": 7}, ScorerConfigError, "a vector in vectors must be a list of numbers, not 7"),
        ({"one": [1.0]}, ScorerConfigError, "the vector of the query has 2 numbers, but one of a content has 1"),
    ],
)
def test_wrong_vectors(vectors: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        SimilarityScorer(recorded, "q", vectors=vectors).score_all(ITEMS)


# Async


class Async:
    def __init__(self) -> None:
        self.calls = 0

    async def __call__(self, texts: list[str]) -> Iterator[array[float]]:
        await asyncio.sleep(0)
        self.calls += 1
        return (array("d", row) for row in vectors_of(texts))


def test_an_async_embedding_is_awaited_once() -> None:
    embed = Async()
    policy = Policy(CompositeScorer([(RelevanceScorer(), 1), (ScaledScorer(SimilarityScorer(embed, cache=0)), 1)]))
    pinned = ContextItem("pinned", 1, pinned=True)
    result = asyncio.run(aselect([*ITEMS, pinned], 100, policy, query="three"))
    same = Policy(CompositeScorer([(RelevanceScorer(), 1), (ScaledScorer(SimilarityScorer(recorded)), 1)]))
    assert result.items == select([*ITEMS, pinned], 100, same, query="three").items
    assert embed.calls == 1
    bound = Policy(SimilarityScorer(embed, "three"))
    assert asyncio.run(aselect(ITEMS, 10, bound)).items == [ITEMS[1]]
    assert asyncio.run(aselect(ITEMS, 10, bound)).items == [ITEMS[1]]
    assert embed.calls == 2
    assert asyncio.run(aselect(ITEMS, 100, bound, query="")).items


def test_a_plain_embedding_works_there_too_and_no_query_is_told() -> None:
    plain = Policy(SimilarityScorer(recorded))
    assert asyncio.run(aselect(ITEMS, 100, plain, query="x")).items == select(ITEMS, 100, plain, query="x").items
    with pytest.raises(ScorerConfigError, match="has no query"):
        asyncio.run(aselect(ITEMS, 100, plain))


def test_in_select_an_async_embedding_is_an_error_without_a_warning() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(ScorerConfigError, match="embed is async; use aselect, which awaits it"):
            select(ITEMS, 100, Policy(SimilarityScorer(Async())), query="x")
