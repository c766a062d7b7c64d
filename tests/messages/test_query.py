"""Documents are ranked by the last question, or by the one that the caller asks. The history is not."""

from __future__ import annotations

from typing import Any

import pytest

from pycupel import CompositeScorer, ContextItem, Policy, RecencyScorer, RelevanceScorer
from pycupel.messages import select_messages
from pycupel.messages.documents import scorer_for
from pycupel.scorers._base import score_all

HISTORY: list[dict[str, Any]] = [
    {"role": "user", "content": "Where can I park?"},
    {"role": "assistant", "content": "Behind the house."},
    {"role": "user", "content": "How do I reset my password?"},
]
# All of one length, so that it does not matter for the history which of them are selected.
DOCUMENTS = [
    "Lunch is at noon, in the great hall on the ground floor",
    "Passwords are reset under Settings, on the page Account",
    "Parking is behind the house, for the guests and for you",
]
ROOM_FOR_ONE = 150


def documents(query: str | None = None, policy: Any = "chat") -> list[Any]:
    options: Any = {"counter": len, "provider": "openai", "documents": DOCUMENTS, "policy": policy}
    selected: list[Any] = select_messages(HISTORY, ROOM_FOR_ONE, query=query, **options).documents
    return selected


@pytest.mark.parametrize("policy", ["chat", "rag", Policy(RelevanceScorer())])
def test_documents_are_ranked_by_the_last_user_message(policy: Any) -> None:
    assert documents(policy=policy) == [DOCUMENTS[1]]


@pytest.mark.parametrize("policy", ["chat", "rag", Policy(RelevanceScorer())])
def test_the_caller_may_ask_something_else(policy: Any) -> None:
    assert documents("When is lunch?", policy) == [DOCUMENTS[0]]


@pytest.mark.parametrize("query", [None, "Where can I park?", "What is five?"])
@pytest.mark.parametrize("explain", [False, True])
def test_the_history_is_cut_the_same_whatever_is_asked(query: str | None, explain: bool) -> None:
    history = [{"role": "user", "content": f"Question {i} about parking and passwords"} for i in range(50)]
    options: Any = {"counter": len, "documents": DOCUMENTS, "explain": explain}
    plain = Policy(RecencyScorer())
    asking = Policy(CompositeScorer([(RecencyScorer(), 1), (RelevanceScorer(), 9)]))
    expected = select_messages(history, 600, policy=plain, **options).kept
    assert select_messages(history, 600, policy=asking, query=query, **options).kept == expected


def test_a_history_without_a_question_ranks_documents_by_nothing() -> None:
    silent = [{"role": "system", "content": "Be brief."}, {"role": "assistant", "content": "Hello!"}]
    selection = select_messages(silent, 1_000, counter=len, documents=DOCUMENTS, provider="openai")
    assert len(selection.documents) == 3


def test_a_query_that_changes_nothing_is_noted() -> None:
    (note,) = select_messages(HISTORY, 1_000, counter=len, query="Lunch?").notes
    assert note == "the query was ignored: it ranks only documents, and none were passed"
    plain = Policy(RecencyScorer())
    (note,) = select_messages(HISTORY, 1_000, counter=len, query="Lunch?", policy=plain, documents=DOCUMENTS).notes
    assert note == "no scorer of the policy reads the query; add a RelevanceScorer, or choose a policy that has one"


def test_a_query_is_a_string() -> None:
    with pytest.raises(TypeError, match="query must be a str"):
        select_messages(HISTORY, 1_000, documents=DOCUMENTS, query=5)  # type: ignore[call-overload]


def test_one_score_is_that_of_all() -> None:
    items = [ContextItem(text, 10) for text in (*DOCUMENTS, "Where can I park?", "How do I reset my password?")]
    scorer, notes = scorer_for(RelevanceScorer(), items[:3], None, "When is lunch?")
    scores = score_all(scorer, items)
    assert scores == [scorer.score(item, items) for item in items]
    assert (scores[0], scores[3:], notes) == (1.0, [0.0, 0.0], ())
