"""PromptPlacer and the presets for documents: the question comes last."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from pycupel import (
    ChronologicalPlacer,
    ContextItem,
    FramedPlacer,
    Pipeline,
    Policy,
    PromptPlacer,
    ReflexiveScorer,
    StreamSlice,
    UShapedPlacer,
    policies,
    select,
)
from pycupel.errors import DocumentError, InvalidArgumentError
from pycupel.policies import policy_from_dict, policy_to_dict

NOON = datetime(2026, 1, 5, 12, tzinfo=UTC)
QUESTION = "How do I reset my password?"
SYSTEM = ContextItem("system", 1, kind="SystemPrompt")
PAGES = [ContextItem(f"page {i}", 1, kind="Document", future_relevance_hint=1 - i / 10) for i in range(5)]


def talk(content: str, kind: str = "Message", minute: int | None = None, **fields: Any) -> ContextItem:
    timestamp = None if minute is None else NOON + timedelta(minutes=minute)
    return ContextItem(content, 1, kind=kind, timestamp=timestamp, **fields)


EARLIER = [talk("hello"), talk("a tool's result", "ToolOutput"), talk("hi")]
DATED = [talk("newest", minute=9), talk("oldest", minute=1), talk("a dated result", "ToolOutput", 10)]
EDGES = ["system", "page 0", "page 2", "page 4", "page 3", "page 1"]


def order(items: list[ContextItem], policy: Any = "rag", **options: Any) -> list[str]:
    return [item.content for item in select(items, 100, policy, **options).items]


@pytest.mark.parametrize("policy", ["rag", "document-qa"])
@pytest.mark.parametrize(
    ("items", "expected"),
    [
        pytest.param([talk(QUESTION, pinned=True), *PAGES, SYSTEM], [*EDGES, QUESTION], id="a pinned question"),
        pytest.param([SYSTEM, *PAGES, talk(QUESTION)], [*EDGES, QUESTION], id="a question that is not pinned"),
        pytest.param(
            [*EARLIER, SYSTEM, *PAGES, talk(QUESTION)],
            [*EDGES, "hello", "a tool's result", "hi", QUESTION],
            id="a conversation in order",
        ),
        pytest.param(
            [SYSTEM, *PAGES, *DATED], [*EDGES, "oldest", "a dated result", "newest"], id="a conversation by time"
        ),
        pytest.param(
            [talk(QUESTION), *EARLIER, *PAGES, SYSTEM],
            [*EDGES, "hello", "a tool's result", "hi", QUESTION],
            id="the query anywhere",
        ),
    ],
)
def test_the_question_is_last_in_five_shapes_of_input(policy: str, items: list[ContextItem], expected: Any) -> None:
    assert order(items, policy, query=QUESTION) == expected


def test_without_a_query_the_newest_message_is_last() -> None:
    assert order([talk(QUESTION), *PAGES, SYSTEM, *EARLIER])[-4:] == [QUESTION, "hello", "a tool's result", "hi"]
    assert order([talk("pinned", pinned=True), *PAGES, talk("later")])[-2:] == ["pinned", "later"]


def test_documents_and_memories_alone_are_ordered_as_before() -> None:
    items = [SYSTEM, *PAGES, ContextItem("memory", 1, kind="Memory", future_relevance_hint=0.95)]
    framed = Policy(policies.RAG.scorer, policies.RAG.slicer, FramedPlacer(UShapedPlacer()))
    assert order(items) == order(items, framed)


def test_a_conversation_alone_is_ordered_by_score_but_for_the_question() -> None:
    items = [talk(f"m{i}", future_relevance_hint=1 - i / 10) for i in range(4)]
    framed = Policy(policies.RAG.scorer, policies.RAG.slicer, FramedPlacer(UShapedPlacer()))
    assert order([SYSTEM, *items]) == order([SYSTEM, *items], framed)
    assert order([*items, SYSTEM], query="m1")[-1] == "m1"
    asked = talk("asked", pinned=True)
    assert order([asked, *items])[-1] == "asked"
    two = [asked, talk("also asked", pinned=True), *items]
    assert order(two) == order(two, framed)


def test_one_ranking_serves_many_budgets_and_keeps_its_question() -> None:
    pipeline = Pipeline.from_policy("rag")
    ranking = pipeline.rank([talk(QUESTION), *EARLIER, *PAGES], query=QUESTION)
    assert pipeline.select(ranking, 100).items[-1].content == QUESTION
    bound = policies.RAG.for_query(QUESTION)
    assert order([talk(QUESTION), *EARLIER, *PAGES], bound)[-1] == QUESTION
    with pytest.raises(DocumentError):
        policy_to_dict(bound)
    stream = Pipeline(policies.RAG.scorer, StreamSlice(2), PromptPlacer())
    streamed = stream.run_stream_sync([talk(QUESTION), *EARLIER, *PAGES], 100, query=QUESTION)
    assert streamed[-1].content == QUESTION


def test_it_is_a_value_that_files_can_name() -> None:
    assert policy_to_dict("rag")["placerType"] == "prompt"
    placer = PromptPlacer(ChronologicalPlacer())
    policy = Policy(ReflexiveScorer(), placer=placer)
    assert policy_from_dict(policy_to_dict(policy)).placer == placer != PromptPlacer()
    assert repr(PromptPlacer()) == "PromptPlacer()"
    with pytest.raises(TypeError, match="inner"):
        PromptPlacer(7)  # type: ignore[arg-type]
    nested: Any = ChronologicalPlacer()
    for _ in range(100):
        nested = FramedPlacer(nested)
    with pytest.raises(InvalidArgumentError, match="nested"):
        PromptPlacer(nested)


def test_prompts_inside_prompts_are_nested_100_levels_deep_at_most() -> None:
    nested: Any = ChronologicalPlacer()
    for _ in range(100):
        nested = PromptPlacer(nested)
    with pytest.raises(InvalidArgumentError, match="nested"):
        PromptPlacer(nested)


def test_the_inner_placer_keeps_its_own_order_of_what_has_no_timestamp() -> None:
    """The conversation is in the order of the input, documents are in the order in which the placer gets them."""
    items = [*RISING_PAGES[1:], *RISING, RISING_PAGES[0]]
    pipeline = Pipeline(ReflexiveScorer(), placer=PromptPlacer(ChronologicalPlacer()))
    assert " ".join(item.content for item in pipeline.run(items, 100)) == "p3 p2 p1 m3 m1 m2"


def test_place_works_without_a_pipeline() -> None:
    scored = [(talk("a"), 1.0), (PAGES[0], 0.5), (talk("b"), 0.9)]
    assert [item.content for item in PromptPlacer().place(scored)] == ["page 0", "a", "b"]  # type: ignore[arg-type]


RISING = [talk(f"m{i}", future_relevance_hint=i / 10) for i in (3, 1, 2)]
RISING_PAGES = [ContextItem(f"p{i}", 1, kind="Document", future_relevance_hint=i / 10) for i in (3, 1, 2)]
RESULT = talk("result", "ToolOutput", future_relevance_hint=0.9)


@pytest.mark.parametrize(
    ("items", "expected"),
    [
        pytest.param(RISING_PAGES, "p3 p1 p2", id="documents alone"),
        pytest.param(RISING, "m3 m1 m2", id="messages alone, of which none is the question"),
        pytest.param([*RISING, *RISING_PAGES], "p3 p1 p2 m3 m1 m2", id="the newest message is the last of the input"),
        pytest.param([RESULT, *RISING_PAGES], "p3 p1 p2 result", id="no message"),
        pytest.param([*RISING, RESULT, RISING_PAGES[0]], "p3 m3 m1 result m2", id="a result between messages"),
    ],
)
def test_what_has_no_timestamp_keeps_the_order_of_the_input(items: list[ContextItem], expected: str) -> None:
    """With an inner placer that does, and for the conversation always: neither is in the order of the scores."""
    pipeline = Pipeline(ReflexiveScorer(), placer=PromptPlacer(ChronologicalPlacer("position")))
    assert " ".join(item.content for item in pipeline.run(items, 100)) == expected


def test_a_query_of_another_type_is_refused_by_its_name() -> None:
    with pytest.raises(TypeError, match=r"^query must be"):
        PromptPlacer().for_query(7)  # type: ignore[arg-type]


# FramedPlacer(last_inner=...)


def test_another_placer_may_order_the_last_ones() -> None:
    placer = FramedPlacer(UShapedPlacer(), last=("Message",), last_inner=ChronologicalPlacer("position"))
    items = [*PAGES[:2], talk("first", future_relevance_hint=0.1), talk("second", future_relevance_hint=0.9)]
    pipeline = Pipeline(ReflexiveScorer(), placer=placer)
    assert [item.content for item in pipeline.run(items, 100)] == ["page 0", "page 1", "first", "second"]
    policy = Policy(ReflexiveScorer(), placer=placer)
    assert policy_to_dict(policy)["placer"]["lastInner"] == {"type": "chronological", "undated": "position"}
    assert policy_from_dict(policy_to_dict(policy)) == policy
    with pytest.raises(TypeError, match=r"^last_inner must be"):
        FramedPlacer(last_inner=7)  # type: ignore[arg-type]
