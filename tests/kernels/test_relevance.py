"""BM25, and passing scores on."""

from __future__ import annotations

from math import log

import pytest

from pycupel.kernels.words import Analysis, Corpus, bm25, share_with_group, share_with_neighbours


def text(words: str) -> Analysis:
    found = words.split()
    return Analysis({word: found.count(word) for word in found}, len(found))


def test_bm25_is_the_usual_formula() -> None:
    """Two of three texts hold `a`: idf = log(1 + 1.5 / 2.5); lengths 2, 4, 3 with mean 3."""
    scores = bm25({"a": 2.0}, [text("a b"), text("a a c d"), text("b c d")], 1.2, 0.75, Corpus())
    idf = log(1.0 + 1.5 / 2.5)
    assert scores == pytest.approx(
        [
            2.0 * idf * 2.2 / (1 + 1.2 * (0.25 + 0.75 * 2 / 3)),
            2.0 * idf * 2 * 2.2 / (2 + 1.2 * (0.25 + 0.75 * 4 / 3)),
            0.0,
        ]
    )


def test_rare_terms_count_more_and_terms_add_up() -> None:
    scores = bm25(
        {"rare": 1.0, "common": 1.0},
        [text("rare x"), text("common x"), text("common x"), text("common rare")],
        1.2,
        0.75,
        Corpus(),
    )
    assert scores[3] > scores[0] > scores[1] == scores[2]


@pytest.mark.parametrize("texts", [[], [text("")], [text("b"), text("")]])
def test_nothing_to_find_is_nothing(texts: list[Analysis]) -> None:
    """No texts, texts without words, texts without the term."""
    assert bm25({"a": 1.0}, texts, 1.2, 0.75, Corpus()) == [0.0] * len(texts)
    assert bm25({}, texts, 1.2, 0.75, Corpus()) == [0.0] * len(texts)


def test_scores_are_divided_by_the_largest() -> None:
    assert Corpus().scaled("words", [1.0, 4.0, 0.0]) == [0.25, 1.0, 0.0]
    assert Corpus().scaled("words", [0.0, 0.0]) == [0.0, 0.0]
    assert Corpus().scaled("words", []) == []


@pytest.mark.parametrize(
    ("groups", "window", "expected"),
    [
        pytest.param([0, 0, 0, 0, 0], 1, [0.0, 0.4, 0.9, 0.6, 0.5], id="one step each way"),
        pytest.param([0, 0, 0, 0, 0], 2, [0.4, 0.4, 1.0, 0.6, 0.8], id="the best neighbour counts, not the sum"),
        pytest.param([0, 0, 0, 0, 0], 9, [0.4, 0.4, 1.0, 0.6, 0.8], id="as far as there are items"),
        pytest.param([0, 0, 1, 1, 1], 2, [0.0, 0.0, 1.0, 0.6, 0.8], id="not across groups"),
        pytest.param([None] * 5, 2, [0.0, 0.0, 0.8, 0.2, 0.4], id="without a group there are no neighbours"),
        pytest.param([0, 0, 0, 0, 0], 0, [0.0, 0.0, 0.8, 0.2, 0.4], id="no window"),
    ],
)
def test_neighbours_share(groups: list[int | None], window: int, expected: list[float]) -> None:
    """Scores 0, 0, 0.8, 0.2, 0.4, and a share of one half."""
    assert share_with_neighbours([0.0, 0.0, 0.8, 0.2, 0.4], groups, window, 0.5) == pytest.approx(expected)


def test_groups_share_their_best() -> None:
    """The best of a group gets its share, too; without a group there is nothing to share."""
    scores = share_with_group([0.5, 0.1, 0.0, 0.9], [0, 0, 1, None], 0.2)
    assert scores == pytest.approx([0.6, 0.2, 0.0, 0.9])
