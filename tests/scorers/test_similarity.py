"""SimilarityScorer: the caller's embeddings."""

from __future__ import annotations

import pickle
from array import array
from typing import Any

import pytest

from pycupel import CompositeScorer, ContextItem
from pycupel.errors import ScorerConfigError
from pycupel.scorers import RelevanceScorer, SimilarityScorer
from pycupel.scorers._base import score_all
from pycupel.testing import check_scorer

VECTORS = {
    "north": [0.0, 2.0],
    "east": [3.0, 0.0],
    "north-east": [1.0, 1.0],
    "south": [0.0, -1.0],
    "nowhere": [0.0, 0.0],
}
ITEMS = [ContextItem(content, 10) for content in VECTORS]


def embed(texts: list[str]) -> list[list[float]]:
    return [VECTORS.get(text, [float(len(text)), 1.0]) for text in texts]


class Array:
    """Like an array of numpy, as far as it matters: rows and `tolist`."""

    def __init__(self, rows: list[Any]) -> None:
        self.rows = rows

    def tolist(self) -> list[Any]:
        return self.rows


def test_scores_are_cosines() -> None:
    """1 in the same direction, 0 at a right angle or without one, -1 opposite; lengths do not matter."""
    assert SimilarityScorer(embed, "north").score_all(ITEMS) == pytest.approx([1.0, 0.0, 0.5**0.5, -1.0, 0.0])


def test_one_call_embeds_the_question_and_every_content_once() -> None:
    calls: list[list[str]] = []

    def recorded(texts: list[str]) -> list[list[float]]:
        calls.append(texts)
        return embed(texts)

    SimilarityScorer(recorded, "north").score_all([*ITEMS, ContextItem("east", 5)])
    assert calls == [["north", "east", "north-east", "south", "nowhere"]]


@pytest.mark.parametrize(
    "as_returned",
    [
        pytest.param(lambda rows: rows, id="lists"),
        pytest.param(lambda rows: tuple(map(tuple, rows)), id="tuples"),
        pytest.param(lambda rows: (iter(row) for row in rows), id="iterators"),
        pytest.param(lambda rows: [array("f", row) for row in rows], id="rows of single precision"),
        pytest.param(Array, id="an array"),
        pytest.param(lambda rows: [Array(row) for row in rows], id="rows that are arrays"),
        pytest.param(lambda rows: [[int(number) for number in row] for row in rows], id="integers"),
        pytest.param(lambda rows: [[number * 1e300 for number in row] for row in rows], id="huge numbers"),
    ],
)
def test_vectors_may_come_in_any_shape(as_returned: Any) -> None:
    scorer = SimilarityScorer(lambda texts: as_returned(embed(texts)), "north")
    assert scorer.score_all(ITEMS) == pytest.approx([1.0, 0.0, 0.5**0.5, -1.0, 0.0])


@pytest.mark.parametrize(
    ("returned", "message"),
    [
        pytest.param(None, "the result of wrong must be a vector for each text, not None", id="nothing"),
        pytest.param("ab", "the result of wrong must be a vector for each text, not 'ab'", id="a string"),
        pytest.param([1.0, 2.0], "vector 0 that wrong returned must be a list of numbers, not 1.0", id="one vector"),
        pytest.param([["a"], ["b"]], "every element of vector 0 that wrong returned must be a number", id="no numbers"),
        pytest.param([[1.0]], "wrong returned 1 vectors for 2 texts", id="too few"),
        pytest.param([[1.0], [1.0, 2.0]], "vector 1 .* has 2 numbers, but vector 0 has 1", id="different lengths"),
        pytest.param([[1.0], [float("nan")]], "vector 1 .* not finite", id="not a number"),
        pytest.param([[float("inf")], [1.0]], "vector 0 .* not finite", id="infinite"),
    ],
)
def test_a_wrong_answer_is_an_error_that_says_where(returned: Any, message: str) -> None:
    def wrong(texts: list[str]) -> Any:
        return returned

    with pytest.raises(ScorerConfigError, match=message) as caught:
        SimilarityScorer(wrong, "north").score_all(ITEMS[1:2])
    assert caught.value.argument == "embed"


def test_without_a_query_there_is_an_error_that_says_what_to_pass() -> None:
    with pytest.raises(ScorerConfigError, match="SimilarityScorer has no query"):
        SimilarityScorer(embed).score_all(ITEMS)
    assert SimilarityScorer(embed).for_query("north") == SimilarityScorer(embed, "north")


@pytest.mark.parametrize(("arguments", "name"), [((1,), "embed"), ((embed, 1), "query")])
def test_wrong_types_are_refused(arguments: tuple[Any, ...], name: str) -> None:
    with pytest.raises(TypeError, match=f"{name} must be"):
        SimilarityScorer(*arguments)


def test_a_hybrid_is_a_composite() -> None:
    """Half of each."""
    hybrid = CompositeScorer(
        [(RelevanceScorer("north", share=0, group_share=0), 1), (SimilarityScorer(embed, "north"), 1)]
    )
    assert score_all(hybrid, ITEMS)[0] == pytest.approx(1.0)


def test_keeps_the_contract_of_scorers_and_is_a_value() -> None:
    scorer = SimilarityScorer(embed, "north")
    check_scorer(scorer)
    assert pickle.loads(pickle.dumps(scorer)) == scorer


def test_an_empty_question_is_similar_to_nothing_and_embeds_nothing() -> None:
    def refuse(texts: list[str]) -> list[list[float]]:
        raise AssertionError(texts)

    assert SimilarityScorer(refuse, "").score_all([ContextItem("a", 1)]) == [0.0]
