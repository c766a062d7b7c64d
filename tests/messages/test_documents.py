"""Documents beside a history: what is understood, which version stays, and how they share the budget.

The classes here have the attributes of the real ones, which are tested where they are installed.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta, timezone
from math import inf, nan
from types import SimpleNamespace
from typing import Any

import pytest

from pycupel import ContextBudget, ContextItem, Policy, QuotaEntry, QuotaSlice, RecencyScorer, ReflexiveScorer
from pycupel.diagnostics import BudgetExceeded, Deduplicated
from pycupel.documents import DocumentItem, read_documents
from pycupel.errors import InvalidArgumentError, InvalidItemError
from pycupel.messages import Dropped, MessageSelection, select_messages
from pycupel.policies import CHAT
from tests.messages.chats import cost, dropped, question, small_talk

HISTORY = [question()]


@dataclass
class LangChainDocument:
    page_content: str
    metadata: dict[str, Any] = field(default_factory=dict)
    id: str | None = None
    type: str = "Document"


@dataclass
class TextNode:
    text: str
    id_: str

    @property
    def node_id(self) -> str:
        return self.id_

    def get_content(self) -> str:
        return self.text


@dataclass
class NodeWithScore:
    node: TextNode
    score: float | None = None


@dataclass
class HaystackDocument:
    id: str
    content: str | None
    meta: dict[str, Any] = field(default_factory=dict)
    score: float | None = None
    blob: bytes | None = None


@dataclass
class Annotations:
    audience: list[str] | None = None
    priority: float | None = None
    last_modified: str | None = None


@dataclass
class TextResourceContents:
    uri: str
    text: str
    mime_type: str = "text/plain"


@dataclass
class EmbeddedResource:
    resource: TextResourceContents
    annotations: Annotations | None = None
    type: str = "resource"


def read(*documents: Any) -> list[ContextItem]:
    """In the caller's order."""
    found, _ = read_documents(documents, len)
    made: list[DocumentItem] = sorted(found, key=lambda each: each.index)
    return [each.item for each in made]


def select(documents: Any, budget: Any = 100_000, messages: Any = HISTORY, **options: Any) -> MessageSelection:
    selection: MessageSelection = select_messages(messages, budget, documents=documents, counter=len, **options)
    return selection


# What is understood


def test_a_dict_may_say_kind_score_and_timestamp() -> None:
    noon = datetime(2026, 1, 5, 12, tzinfo=UTC)
    [item] = read({"text": "four", "kind": "Memory", "score": 0.5, "timestamp": noon, "key": "notes.md"})
    assert item == ContextItem(
        "four",
        4,
        kind="Memory",
        source="Rag",
        timestamp=noon,
        future_relevance_hint=0.5,
        metadata={"key": "notes.md"},
    )


@pytest.mark.parametrize(
    "document",
    [
        "a text",
        {"text": "a text"},
        {"content": "a text"},
        {"page_content": "a text"},
        LangChainDocument("a text"),
        NodeWithScore(TextNode("a text", "n1")),
        HaystackDocument("d1", "a text"),
        TextResourceContents("file:///a.txt", "a text"),
        EmbeddedResource(TextResourceContents("file:///a.txt", "a text")),
        {"type": "resource", "resource": {"uri": "file:///a.txt", "text": "a text"}},
        SimpleNamespace(text="a text"),
    ],
)
def test_every_kind_of_hit_is_understood(document: Any) -> None:
    [item] = read(document)
    assert (item.content, item.tokens, str(item.kind), str(item.source)) == ("a text", 6, "Document", "Rag")
    assert item.timestamp is None
    assert item.future_relevance_hint is None
    selection = select([document])
    assert selection.documents[0] is document
    assert selection.total_tokens == cost(HISTORY) + 6


def test_scores_are_hints_and_stay_as_they_are_between_0_and_1() -> None:
    items = read(
        NodeWithScore(TextNode("a", "1"), 0.9),
        HaystackDocument("d1", "b", score=0.2),
        EmbeddedResource(TextResourceContents("c", "c"), Annotations(priority=0.7)),
        {"text": "d", "annotations": {"priority": 1}},
        {"text": "e", "score": 0.0, "annotations": {"priority": 1}},
        "f",
    )
    assert [item.future_relevance_hint for item in items] == [0.9, 0.2, 0.7, 1.0, 0.0, None]


def test_other_scores_are_scaled_from_the_lowest_to_the_highest() -> None:
    documents = [{"text": str(score), "score": score} for score in (-2, 8, 3)]
    assert [item.future_relevance_hint for item in read(*documents)] == [0.0, 1.0, 0.5]
    assert read({"text": "x", "score": 12})[0].future_relevance_hint == 0.5
    huge = read(*({"text": str(score), "score": score} for score in (-1e308, 1e308, 0)))
    assert [each.future_relevance_hint for each in huge] == [0.0, 1.0, 0.5]


def test_a_score_that_says_nothing_is_none() -> None:
    documents = [{"text": str(score), "score": score} for score in (nan, inf, -inf, 0.5)]
    assert [item.future_relevance_hint for item in read(*documents)] == [None, None, None, 0.5]


def test_timestamps_are_datetimes_or_iso_8601() -> None:
    moment = datetime(2026, 1, 5, 12, tzinfo=UTC)
    items = read(
        {"text": "a", "timestamp": moment.astimezone(timezone(timedelta(hours=2)))},
        {"text": "b", "timestamp": "2026-01-05T12:00:00Z"},
        EmbeddedResource(TextResourceContents("c", "c"), Annotations(last_modified="2026-01-05T12:00:00+00:00")),
        {"resource": {"text": "d"}, "annotations": {"lastModified": "2026-01-05T12:00:00Z"}},
        {"text": "e", "annotations": {"lastModified": "2026-01-05T12:00:00Z"}},
    )
    assert [item.timestamp for item in items] == [moment] * 5


def test_an_item_is_taken_as_it_is() -> None:
    mine = ContextItem("mine", 7, kind="Memory", source="Tool", priority=3, tags=["a"], future_relevance_hint=5.0)
    assert read(mine) == [mine]
    assert select([mine]).documents[0] is mine


def test_an_empty_document_costs_nothing() -> None:
    assert read("") == [ContextItem("(empty)", 0, kind="Document", source="Rag")]


# One version of each


def test_repeated_reads_of_one_file_collapse_and_the_newest_wins() -> None:
    noon = datetime(2026, 1, 5, 12, tzinfo=UTC)
    documents = [
        {"text": "new", "key": "a.py", "timestamp": noon},
        {"text": "old", "key": "a.py", "timestamp": noon - timedelta(hours=1)},
        {"text": "undated", "key": "a.py"},
        {"text": "other", "key": "b.py"},
    ]
    selection = select(documents, explain=True)
    assert selection.documents == [documents[0], documents[3]]
    assert selection.dropped_documents == (Dropped(1, Deduplicated("new")), Dropped(2, Deduplicated("new")))
    assert selection.report is not None
    assert selection.report.total_candidates == 5


def test_without_timestamps_the_later_one_is_the_newer() -> None:
    documents = [
        LangChainDocument("first", id="a"),
        {"text": "second", "uri": "a", "score": 0.1},
        HaystackDocument("a", "third", score=0.9),
        NodeWithScore(TextNode("fourth", "a"), 0.5),
    ]
    assert select(documents).documents == [documents[3]]


def test_the_same_text_is_the_same_document() -> None:
    selection = select(["twice", "once", "twice"])
    assert selection.documents == ["once", "twice"]
    assert selection.dropped_documents == (Dropped(0, Deduplicated("twice")),)
    mine = ContextItem("mine", 7)
    selection = select([mine, mine])
    assert selection.documents == [mine]
    assert selection.dropped_documents == (Dropped(0, Deduplicated("mine")),)
    assert selection.total_tokens == cost(HISTORY) + 7


def test_the_same_text_under_two_keys_is_two_documents() -> None:
    assert len(select([{"text": "x", "key": "a"}, {"text": "x", "key": "b"}, "x"]).documents) == 3


def test_a_key_may_be_anything_that_has_a_text() -> None:
    """Such as the URI objects of MCP."""
    documents = [{"text": "old", "key": 7}, {"text": "new", "key": "7"}]
    assert select(documents).documents == [documents[1]]


# Order


def test_the_best_documents_stand_at_both_edges_and_messages_are_not_touched() -> None:
    documents = [{"text": name, "score": score} for name, score in zip("abcde", (0.1, 0.9, 0.5, 0.7, 0.3), strict=True)]
    history = small_talk(3)
    for policy in ("rag", "chat"):
        selection = select(documents, messages=history, policy=policy)
        assert "".join(each["text"] for each in selection.documents) == "bcaed"
        assert selection.messages == history


def test_a_report_does_not_change_the_order() -> None:
    noon = datetime(2026, 1, 5, 12, tzinfo=UTC)
    documents = [{"text": str(n), "score": 0.5, "timestamp": noon - timedelta(days=n % 3)} for n in range(6)]
    plain, explained = (select(documents, policy="rag", explain=explain) for explain in (False, True))
    assert plain.documents == explained.documents


# The budget


def test_three_tenths_of_what_is_pinned_leaves_are_kept_free_for_documents() -> None:
    history = small_talk(60)
    room = 1_000 - cost([history[0], history[-1]])
    for end in range(61, 120, 2):
        selection = select(["x" * 100 + str(n) for n in range(20)], 1_000, messages=history[:end])
        assert cost(selection.messages) <= 1_000 - int(0.3 * room)
        assert 880 < selection.total_tokens <= 1_000
    assert {type(each.reason) for each in selection.dropped_documents} == {BudgetExceeded}


def test_a_short_history_leaves_them_the_rest() -> None:
    history = small_talk(3)
    selection = select(["x" * 100 + str(n) for n in range(20)], 1_000, messages=history)
    assert selection.messages == history
    assert 850 < selection.total_tokens <= 1_000


def test_documents_do_not_push_out_a_history_that_fits_beside_their_share() -> None:
    history = small_talk(20)
    budget = cost(history) * 100 // 70
    selection = select(["x" * 5_000, *("y" * 50 + str(n) for n in range(20))], budget, messages=history)
    assert selection.messages == history
    assert selection.documents


def test_a_note_says_that_the_history_was_cut_only_for_documents() -> None:
    history = small_talk(21)
    window = cost(history) + 3
    cut = select([], window, history)
    assert cut.dropped
    for each in cut.dropped:
        assert isinstance(each.reason, BudgetExceeded)
        assert each.reason.item_tokens > each.reason.available_tokens
    [note] = cut.notes
    assert note.startswith("the history was cut to keep up to 30% of the tokens free for documents; without documents=")
    assert select(None, window, history).messages == history
    assert select([], window - 1, history).notes == ()
    assert select([], 2 * window, history).notes == ()


def test_every_document_is_selected_or_dropped() -> None:
    documents = ["x" * 100 + str(n % 15) for n in range(20)]
    selection = select(documents, 1_000, messages=small_talk(60))
    indices = [each.index for each in selection.dropped_documents]
    assert len(indices) + len(selection.documents) == 20
    assert indices == sorted(set(indices))


def test_quotas_split_the_budget_between_history_documents_and_memory() -> None:
    history = small_talk(150)
    documents: list[Any] = [{"text": f"{n:050d}", "score": 0.5} for n in range(30)]
    memories: list[Any] = [{"text": f"m{n:049d}", "kind": "Memory"} for n in range(30)]
    quotas = QuotaSlice([QuotaEntry("Document", require=40, cap=40), QuotaEntry("Memory", cap=10)])
    budget = ContextBudget(4_000, 2_000)
    for messages in (history, history[:5]):
        selection = select(documents + memories, budget, messages=messages, policy=Policy(CHAT.scorer, quotas))
        room = budget.max_tokens
        used = {kind: sum(50 for each in selection.documents if each.get("kind") == kind) for kind in (None, "Memory")}
        assert 0.30 * room < used[None] <= 0.40 * room
        assert 0.05 * room < used["Memory"] <= 0.10 * room
        assert bool(selection.dropped) == (messages is history)


def test_quotas_for_messages_do_not_cut_a_history_that_fits() -> None:
    history = small_talk(5)
    policy = Policy(RecencyScorer(), QuotaSlice([QuotaEntry("Message", cap=1)]))
    selection = select(["a", "b"], 1_000, messages=history, policy=policy)
    assert selection.messages == history
    assert selection.documents == ["a", "b"]


def test_a_required_share_is_kept_free_for_documents() -> None:
    history = small_talk(30)
    documents = ["x" * 30 + str(n) for n in range(50)]
    budget = cost(history) * 100 // 60
    assert not select(documents, budget, messages=history).dropped
    half = QuotaSlice([QuotaEntry("Document", require=50)])
    assert select(documents, budget, messages=history, policy=Policy(RecencyScorer(), half)).dropped


def test_the_policy_ranks_documents() -> None:
    documents = [{"text": "x" * 60 + str(n), "score": n / 10} for n in range(10)]
    selection = select(documents, 200, policy=Policy(ReflexiveScorer()))
    assert sorted(each["score"] for each in selection.documents) == [0.7, 0.8, 0.9]


def test_documents_without_a_history() -> None:
    selection = select(["a", "b"], messages=[])
    assert (selection.messages, selection.documents) == ([], ["a", "b"])
    assert select([]).documents == select(None).documents == []


def test_documents_are_read_from_any_iterable_and_not_changed() -> None:
    document = {"text": "a", "key": "k"}
    selection = select(iter([document]))
    assert selection.documents[0] is document
    assert document == {"text": "a", "key": "k"}


def test_documents_do_not_count_as_a_stable_prefix() -> None:
    history = small_talk(5)
    first = select(["a"], messages=history[:-1])
    second = select(["a"], messages=history, previous=first)
    assert second.stable_prefix_tokens == cost(history[:-1])
    assert dropped(second) == []


# What bad input gets


@pytest.mark.parametrize("documents", ["text", {"text": "a"}, 7])
def test_documents_that_are_no_list(documents: Any) -> None:
    with pytest.raises(TypeError, match="documents must be a list of documents"):
        select(documents)


@pytest.mark.parametrize(
    "document", [7, None, {}, {"text": None}, {"text": ["a"]}, HaystackDocument("d", None, blob=b"x")]
)
def test_a_document_without_text(document: Any) -> None:
    with pytest.raises(
        InvalidArgumentError, match=r"documents\[1\] has no text: page_content, content or text must be"
    ):
        select(["a", document])


def test_a_document_with_its_score_beside_it_is_told_how_to_pass_the_score() -> None:
    """As LangChain's `similarity_search_with_score` returns them; whether it is a distance, only the caller knows."""
    with pytest.raises(InvalidArgumentError, match=r"documents\[0\] is a pair .*; put a score into a hint") as caught:
        select([(LangChainDocument("a"), 0.3)])
    assert "pass a dict with text and score, or a ContextItem with future_relevance_hint" in str(caught.value)
    assert "turn a distance round, with rescale_hints(items, lower_is_better=True)" in str(caught.value)


@pytest.mark.parametrize(
    ("document", "error", "text"),
    [
        ({"text": "a", "score": "high"}, TypeError, r"the score of documents\[0\] must be a number"),
        (
            {"text": "a", "timestamp": 5},
            TypeError,
            r"timestamp of documents\[0\] must be a datetime or an ISO 8601 string",
        ),
        (
            {"text": "a", "timestamp": "noon"},
            InvalidArgumentError,
            r"the timestamp of documents\[0\] must be a datetime",
        ),
        (
            {"text": "a", "timestamp": datetime.fromisoformat("2026-01-05")},
            InvalidItemError,
            r"documents\[0\]: timestamp must have a time zone",
        ),
        (
            {"text": "a", "timestamp": "2026-01-05"},
            InvalidItemError,
            r"documents\[0\]: timestamp must have a time zone",
        ),
        ({"text": "a", "kind": " "}, InvalidItemError, r"documents\[0\]: ContextKind must not be empty or blank"),
        (ContextItem("a", -5), InvalidArgumentError, r"documents\[0\] has -5 tokens"),
    ],
)
def test_a_document_with_a_field_that_makes_no_sense(document: Any, error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        select([document])


@pytest.mark.parametrize("empty", ["", "  ", None])
def test_documents_with_an_empty_id_are_different(empty: Any) -> None:
    documents = [{"text": text, "id": empty} for text in ("alpha", "beta", "gamma")]
    selection = select_messages([{"role": "user", "content": "q"}], 500, documents=documents)
    assert sorted(each["text"] for each in selection.documents) == ["alpha", "beta", "gamma"]
