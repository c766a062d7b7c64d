"""What retrievers return, as a user has it: anything in, scores of any scale, in each of the three ways to select."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from pycupel import (
    ContextItem,
    ContextResult,
    GreedySlice,
    Pipeline,
    Policy,
    QuotaEntry,
    QuotaSlice,
    ReflexiveScorer,
    aselect,
    select,
    select_messages,
)
from pycupel.errors import DocumentError, InvalidArgumentError
from pycupel.shorten import Versions
from tests.cli.calls import Call
from tests.messages.test_documents import HaystackDocument, LangChainDocument, NodeWithScore, TextNode

RETRIEVERS = {
    "cosine": [0.99 - i / 50 for i in range(30)],
    "bm25": [34.0 - i for i in range(30)],
    "reranker": [4.0 - i / 2 for i in range(30)],
}
HITS = [(f"{name} {i}", name, score) for name, scores in RETRIEVERS.items() for i, score in enumerate(scores)]
ITEMS = [
    ContextItem(text, 10, kind="Document", metadata={"retriever": name}, future_relevance_hint=score)
    for text, name, score in HITS
]


def test_each_retriever_is_among_the_first_ten_in_select() -> None:
    ranked = Pipeline.from_policy("rag").rank(ITEMS)
    assert {item.metadata["retriever"] for item in ranked.items[:10]} == set(RETRIEVERS)
    result = select(ITEMS, 320, "rag")
    assert {name: sum(item.metadata["retriever"] == name for item in result.items) for name in RETRIEVERS} == {
        "cosine": 11,
        "bm25": 11,
        "reranker": 10,
    }
    [note] = result.notes
    assert note.startswith("the hints of 3 retrievers have different scales ('cosine' 0.41 to 0.99, 'bm25' 5 to 34,")


def read_document(document: Any) -> str:
    text: str = (
        document.content if isinstance(document, ContextItem) else document.get("text") or document["page_content"]
    )
    return text


DICTS = [{"text": text, "score": score, "retriever": name} for text, name, score in HITS]
LANGCHAIN = [
    {"page_content": text, "score": score, "metadata": {"retriever": name, "source": f"{text}.md", "page": [1]}}
    for text, name, score in HITS
]


@pytest.mark.parametrize("documents", [DICTS, LANGCHAIN, ITEMS])
@pytest.mark.parametrize("policy", ["rag", "chat"])
def test_each_retriever_is_among_the_first_ten_beside_a_history(documents: list[Any], policy: Any) -> None:
    history = [{"role": "user", "content": "?"}]
    selection = select_messages(history, 110, documents=documents, policy=policy, counter=lambda text: 10, query="")
    texts = [read_document(each) for each in selection.documents]
    assert len(texts) == 9
    assert {text.split()[0] for text in texts} == set(RETRIEVERS)
    assert any("have different scales" in note for note in selection.notes)


def test_each_retriever_is_among_the_first_ten_on_the_command_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = [
        {
            "content": item.content,
            "tokens": 10,
            "kind": "Document",
            "metadata": {"retriever": item.metadata["retriever"]},
            "futureRelevanceHint": item.future_relevance_hint,
        }
        for item in ITEMS
    ]
    text = "".join(json.dumps(line) + "\n" for line in lines)
    done = Call(monkeypatch, capsys)("select", "-", "--policy", "rag", "--budget", "100", text=text)
    selected = [json.loads(line)["content"] for line in done.out.splitlines()]
    assert "have different scales" in done.err
    assert len(selected) == 10
    assert {text.split()[0] for text in selected} == set(RETRIEVERS)


# Anything in


def test_documents_are_selected_on_the_command_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = ["a text", {"text": "scored", "score": 0.9}, {"page_content": "LangChain's", "metadata": {"source": "x.md"}}]
    done = Call(monkeypatch, capsys)(
        "select", "-", "--policy", "rag", "--budget", "9", "--counter", "estimator", text=json.dumps(rows)
    )
    assert [json.loads(line) for line in done.out.splitlines()] == [
        {"content": "scored", "tokens": 1, "kind": "Document", "source": "Rag", "futureRelevanceHint": 0.9},
        {"content": "LangChain's", "tokens": 3, "kind": "Document", "source": "Rag", "metadata": {"source": "x.md"}},
        {"content": "a text", "tokens": 2, "kind": "Document", "source": "Rag"},
    ]
    assert "counted the tokens of 3 items without a token count, with estimator" in done.err
    for field, problem in {
        '"score": "high"': "the score of record 2, line 1 must be a number, not 'high' (str)",
        '"tokens": true': "record 2, line 1: tokens must be an int, not True (bool)",
    }.items():
        done = Call(monkeypatch, capsys)("select", "-", "--budget", "9", text=f'["a", {{"text": "a", {field}}}]')
        assert done.code == 2
        assert done.err == f"pycupel: stdin: {problem}\n"


def test_what_a_retriever_returns_is_selected_beside_items() -> None:
    mine = ContextItem("mine", 3, kind="Message", pinned=True)
    found = [
        "a text",
        {"text": "a dict", "score": 0.5, "key": "k", "retriever": "r"},
        LangChainDocument("a Document", {"source": "x.md", "page": 3, "nan": float("nan"), "list": [1]}),
        NodeWithScore(TextNode("a node", "n1"), 0.25),
        HaystackDocument("h1", "a hit", {"author": "me"}, 0.75),
        {"content": "an item", "tokens": 5, "kind": "Memory", "pinned": True},
        {"text": "a dict with its tokens", "tokens": 7},
    ]
    result = select([mine, *found], 1_000, "rag", counter=len)
    by_text = {item.content: item for item in result.items}
    assert len(by_text) == 8
    assert by_text["a dict with its tokens"].tokens == 7
    assert by_text["mine"] is mine
    assert by_text["a text"] == ContextItem("a text", 6, kind="Document", source="Rag")
    assert by_text["a dict"].future_relevance_hint == 0.5
    assert by_text["a dict"].metadata == {"key": "k", "retriever": "r"}
    assert by_text["a Document"].metadata == {"source": "x.md", "page": 3}
    assert by_text["a node"].metadata == {"key": "n1"}
    assert by_text["a hit"].metadata == {"author": "me", "key": "h1"}
    assert by_text["an item"] == ContextItem("an item", 5, kind="Memory", pinned=True)
    assert result.notes == ()


def test_without_counter_and_model_tokens_are_estimated_and_a_note_says_so() -> None:
    one = select(["Passwords are reset under Settings."], 100)
    assert one.notes[0] == "the tokens of 1 document were estimated; pass counter= or model= to count them"
    assert one.items[0].tokens == 6
    unknown = select(["Passwords are reset under Settings."], 100, model="acme-1")
    assert unknown.notes[0] == (
        "the tokens of 1 document were estimated; no tokenizer is known for 'acme-1', so pass counter= to count them"
    )
    for options in ({"model": "gpt-4o"}, {"counter": "estimator"}):
        counted = select(["Passwords are reset under Settings."], 100, **options)  # type: ignore[call-overload]
        assert counted.items == one.items
        assert not any("estimated" in note for note in counted.notes)
    assert not any("estimated" in note for note in select([{"content": "a", "tokens": 1}], 9).notes)


def page(content: str, tokens: int, **fields: Any) -> ContextItem:
    return ContextItem(content, tokens, kind="Document", source="Rag", **fields)


def test_versions_and_documents_may_be_mixed() -> None:
    whole, short = ContextItem("a long text", 50), ContextItem("short", 5)
    given = [Versions(whole, [short]), "a document"]
    assert {item.content for item in select(given, 15, "rag", counter=len).items} == {"short", "a document"}
    assert given[1] == "a document"


@pytest.mark.parametrize(
    ("row", "item"),
    [
        (
            {"content": "a", "tokens": 3, "score": 0.5, "retriever": "r", "tags": ["t"]},
            page("a", 3, metadata={"retriever": "r"}, tags=("t",), future_relevance_hint=0.5),
        ),
        ({"text": "a", "pinned": True, "priority": 2}, page("a", 1, pinned=True, priority=2)),
        ({"text": "a", "tokens": None, "futureRelevanceHint": 0.25}, page("a", 1, future_relevance_hint=0.25)),
        ({"content": "a", "pinned": True}, ContextItem("a", 1, pinned=True)),
        ({"content": "a", "tokens": None, "source": "Tool"}, ContextItem("a", 1, source="Tool")),
    ],
)
def test_a_dict_may_be_an_item_and_a_document(row: dict[str, Any], item: ContextItem) -> None:
    result = select([row], 100, "rag")
    assert result.items == [item]
    assert any("estimated" in note for note in result.notes) is (row.get("tokens") is None)


@pytest.mark.parametrize("pair", [("a text", 0.3), (LangChainDocument("a"), 0.3), ["a text", 0.3]])
def test_a_pair_of_a_document_and_a_number_is_refused(pair: Any) -> None:
    with pytest.raises(InvalidArgumentError, match=r"^items\[1\] is a pair .*; put a score into a hint") as caught:
        select(["a", pair], 100)
    assert "turn a distance round, with rescale_hints(items, lower_is_better=True)" in str(caught.value)
    assert caught.value.argument == "items"


def test_other_mistakes_in_documents_name_the_item() -> None:
    with pytest.raises(InvalidArgumentError, match=r"^items\[0\] has no text: page_content, content or text must be"):
        select([{}], 100)
    with pytest.raises(InvalidArgumentError, match=r"^items\[0\] has no text"):
        select([("a", "b", "c")], 100)
    with pytest.raises(TypeError, match=r"^the score of items\[0\] must be a number"):
        select([{"text": "a", "score": "high"}], 100)
    with pytest.raises(DocumentError, match=r"^items\[1\]: tokens: must be an integer, not 'many'"):
        select(["a", {"content": "a", "tokens": "many"}], 100)
    with pytest.raises(TypeError, match=r"^items\[0\]: tokens must be an int"):
        select([{"text": "a", "tokens": "many"}], 100)
    with pytest.raises(DocumentError, match=r"^items\[1\]: pinned: must be true or false, not 1"):
        select(["a", {"text": "a", "pinned": 1}], 100)


def test_the_async_form_has_the_same_arguments_and_result() -> None:
    async def both() -> tuple[ContextResult, ContextResult]:
        plain = await aselect(ITEMS, 100, "rag", query="bm25")
        explained = await aselect(ITEMS, 100, "rag", query="bm25", explain=True)
        assert explained.report.items == explained.items
        return plain, explained

    plain, explained = asyncio.run(both())
    assert plain == select(ITEMS, 100, "rag", query="bm25")
    assert explained.items == plain.items


def test_quotas_by_the_source_of_what_a_retriever_returns() -> None:
    """A dict's own source is metadata, as that of a LangChain document is."""
    texts = [f"{word} five days" for word in ("refunds", "parcels", "answers", "repairs")]
    found = [{"text": text, "score": 1 - i / 10, "source": "wiki"} for i, text in enumerate(texts)]
    found.append({"text": "tickets wait five days", "score": 0.1, "metadata": {"source": "tickets"}})
    half = QuotaSlice([QuotaEntry.each(cap=50)], GreedySlice(cost_exponent=0), by="metadata:source")
    policy = Policy(ReflexiveScorer(), half)
    items = select(found, 12, policy, counter=lambda text: len(text.split())).items
    assert [item.metadata["source"] for item in items] == ["wiki", "wiki", "tickets"]
