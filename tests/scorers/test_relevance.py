"""RelevanceScorer: what the vectors `relevance-*` do not show."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from pycupel import ContextItem, Pipeline
from pycupel.errors import ScorerConfigError
from pycupel.scorers import RelevanceScorer
from pycupel.scorers._base import score_all

PLAIN: dict[str, Any] = {"share": 0, "group_share": 0}


def items(*contents: str, kind: str = "Message", **options: Any) -> list[ContextItem]:
    return [ContextItem(content, 10, kind=kind, **options) for content in contents]


def scores(scorer: RelevanceScorer, candidates: list[ContextItem]) -> list[float]:
    """The scores of all items, after a look whether `score` gives the same, bit for bit."""
    together = score_all(scorer, candidates)
    assert together == [scorer.score(item, candidates) for item in candidates]
    return together


def best(query: str, *contents: str) -> str:
    """The content with the highest score, without the help of neighbours."""
    found = scores(RelevanceScorer(query, **PLAIN), items(*contents))
    return contents[found.index(max(found))]


@pytest.mark.parametrize(
    ("query", "answer", "other"),
    [
        pytest.param("max tokens", "limit = max_tokens", "limit = other_limit", id="parts of snake_case"),
        pytest.param("MÜNCHEN", "Ankunft in münchen", "Ankunft in Köln", id="case in any script"),
        pytest.param("日本の水道", "東京の水道について", "大阪の鉄道について", id="scripts without spaces"),
    ],
)
def test_finds_what_was_meant(query: str, answer: str, other: str) -> None:
    assert best(query, other, answer) == answer


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("What happened on 7 May 2023?", ["noon", "2023-05-07 is over"]),
        ("2023-05-07", ["noon", "2023-05-07 is over"]),
        ("May 8th", ["evening"]),
        ("What happened yesterday?", ["noon", "2023-05-07 is over"]),
        ("yesterday or on May 8", ["noon", "evening", "2023-05-07 is over"]),
        ("9 May", []),
    ],
)
def test_a_date_finds_timestamps_and_other_spellings(query: str, found: list[str]) -> None:
    days = {"noon": datetime(2023, 5, 7, 12, tzinfo=UTC), "evening": datetime(2023, 5, 8, 20, tzinfo=UTC)}
    contents = ("noon", "evening", "2023-05-07 is over", "another day")
    candidates = [ContextItem(content, 10, timestamp=days.get(content)) for content in contents]
    together = scores(RelevanceScorer(query, **PLAIN), candidates)
    assert [content for content, score in zip(contents, together, strict=True) if score > 0.0] == found


def test_without_timestamps_yesterday_is_a_word() -> None:
    assert best("what was yesterday", "what was today", "that was Yesterday") == "that was Yesterday"


def test_there_is_no_day_before_the_first() -> None:
    first = ContextItem("one", 10, timestamp=datetime.min.replace(tzinfo=UTC))
    assert scores(RelevanceScorer("yesterday"), [first]) == [1.0]


def test_an_empty_query_matches_nothing() -> None:
    assert scores(RelevanceScorer(""), items("one", "two")) == [0.0, 0.0]
    assert scores(RelevanceScorer("to be or not to be"), items("to be", "two")) == [0.0, 0.0]


def test_a_group_that_cannot_be_hashed_is_none() -> None:
    candidates = [*items("key", "aa", metadata={"session": ["x"]}), *items("bb", metadata={"session": "y"})]
    assert scores(RelevanceScorer("key"), candidates) == [1.0, 0.0, 0.0]


@pytest.mark.parametrize(("kind", "shares"), [("Message", True), ("ToolOutput", True), ("Document", False)])
def test_without_groups_a_conversation_is_one_and_documents_have_none(kind: str, shares: bool) -> None:
    found = scores(RelevanceScorer("key"), items("key", "aa", kind=kind))
    assert (found[1] > 0.0) is shares


def test_an_object_at_several_positions_has_the_largest_of_its_scores() -> None:
    """Beside the hit it scores more than far away."""
    twice = ContextItem("aa", 10)
    key, *rest = items("key", "bb", "cc", "dd", "ee")
    found = scores(RelevanceScorer("key"), [twice, *rest, key, twice])
    assert found[0] == found[-1] == pytest.approx(0.7 / 1.2)


def test_a_content_without_words_counts_as_one_word() -> None:
    """1 / 1 word and 1 / 4 words, to the power of one half."""
    candidates = items("key", "aa bb cc dd", "?")
    scorer = RelevanceScorer("key", share=1, group_share=0, length_exponent=0.5)
    assert scores(scorer, candidates) == pytest.approx([1.0, 0.5, 1.0])


def test_options_change_what_counts() -> None:
    """k1 = 0 ignores repetitions, b = 0 ignores length."""
    repeated = items("key key key aa bb cc", "key bb cc")
    assert scores(RelevanceScorer("key", k1=0, **PLAIN), repeated) == [1.0, 1.0]
    long_one = items("key " + "aa " * 50, "key bb")
    assert scores(RelevanceScorer("key", b=0, **PLAIN), long_one) == [1.0, 1.0]


def test_without_a_query_there_is_an_error_that_says_what_to_pass() -> None:
    """In a pipeline, too."""
    with pytest.raises(ScorerConfigError, match=r"RelevanceScorer has no query.*query='\.\.\.'") as caught:
        RelevanceScorer().score_all(items("one"))
    assert caught.value.argument == "query"
    with pytest.raises(ScorerConfigError, match="no query"):
        RelevanceScorer().score(items("one")[0], items("one"))
    with pytest.raises(ScorerConfigError, match="no query"):
        Pipeline(RelevanceScorer()).run(items("one"), 100)


def test_for_query_gives_a_bound_copy() -> None:
    """The original stays as it is, and another question may follow."""
    scorer = RelevanceScorer(k1=2.0)
    assert scorer.for_query("a") == RelevanceScorer("a", k1=2.0)
    assert scorer.for_query("a").for_query("b").query == "b"
    assert scorer.query is None
    with pytest.raises(TypeError, match="query must be a str"):
        scorer.for_query(None)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("options", "name"),
    [
        ({"k1": -1}, "k1"),
        ({"k1": float("nan")}, "k1"),
        ({"b": 1.1}, "b"),
        ({"share": 1.5}, "share"),
        ({"group_share": -0.1}, "group_share"),
        ({"length_exponent": 2}, "length_exponent"),
        ({"window": -1}, "window"),
    ],
)
def test_numbers_out_of_range_are_refused(options: dict[str, Any], name: str) -> None:
    with pytest.raises(ScorerConfigError, match=f"{name} must") as caught:
        RelevanceScorer(**options)
    assert caught.value.argument == name
