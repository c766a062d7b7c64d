"""LlamaIndex, with mock models: what an agent and a query engine send, and what the memory keeps."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from itertools import pairwise
from typing import Any

import pytest
from llama_index.core import QueryBundle, VectorStoreIndex
from llama_index.core.agent.workflow import FunctionAgent
from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.base.llms.types import (
    AudioBlock,
    CacheControl,
    CachePoint,
    ChatMessage,
    ChatResponse,
    ImageBlock,
    LLMMetadata,
    MessageRole,
    TextBlock,
    ThinkingBlock,
    ToolCallBlock,
)
from llama_index.core.bridge.pydantic import PrivateAttr
from llama_index.core.embeddings import MockEmbedding
from llama_index.core.llms import MockLLM
from llama_index.core.llms.function_calling import FunctionCallingLLM
from llama_index.core.query_engine import RetrieverQueryEngine
from llama_index.core.response_synthesizers import ResponseMode, get_response_synthesizer
from llama_index.core.schema import NodeWithScore, TextNode
from llama_index.core.storage.chat_store import SimpleChatStore
from llama_index.core.tools import FunctionTool, ToolSelection

from pycupel import ContextBudget
from pycupel.integrations.llama_index import CupelMemory, CupelPostprocessor
from pycupel.messages import MessageSelection, lint_messages
from pycupel.selecting import ContextResult
from pycupel.tokens import count_messages
from tests.integrations_env.agents import renumbered, reused
from tests.integrations_env.sessions import LARGE, SYSTEM, agent_session, count_words


def hits(*scores: float | None, size: int = 10) -> list[NodeWithScore]:
    return [
        NodeWithScore(node=TextNode(text=" ".join([f"hit{i}"] * size), id_=str(i)), score=score)
        for i, score in enumerate(scores)
    ]


class Retriever(BaseRetriever):
    def __init__(self, found: list[NodeWithScore]) -> None:
        self._found = found
        super().__init__()

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return self._found


def engine(found: list[NodeWithScore], postprocessor: CupelPostprocessor) -> RetrieverQueryEngine:
    synthesizer = get_response_synthesizer(llm=MockLLM(), response_mode=ResponseMode.SIMPLE_SUMMARIZE)
    return RetrieverQueryEngine(Retriever(found), synthesizer, [postprocessor])


def test_a_query_engine_sees_what_fits_the_best_nodes_at_both_edges() -> None:
    found = hits(0.3, 0.9, 0.5, 0.7)
    response: Any = engine(found, CupelPostprocessor(budget=30, counter=count_words)).query("Which?")
    assert [each.node_id for each in response.source_nodes] == ["1", "2", "3"]
    assert [each is found[int(each.node_id)] for each in response.source_nodes] == [True] * 3
    # The mock model answers with the prompt.
    prompt = str(response)
    assert "hit0" not in prompt
    assert prompt.index("hit1") < prompt.index("hit2") < prompt.index("hit3")


def test_an_index_takes_it_as_well() -> None:
    nodes = [each.node for each in hits(None, None, None)]
    index = VectorStoreIndex(nodes, embed_model=MockEmbedding(embed_dim=4))
    query_engine = index.as_query_engine(
        llm=MockLLM(),
        similarity_top_k=3,
        node_postprocessors=[CupelPostprocessor(budget=ContextBudget(20), counter=count_words)],
    )
    assert len(query_engine.query("Which?").source_nodes) == 2


def test_nodes_are_selected_asynchronously_as_well() -> None:
    postprocessor = CupelPostprocessor(budget=10, counter=count_words)
    [selected] = asyncio.run(postprocessor.apostprocess_nodes(hits(0.1, 0.8), query_str="Which?"))
    assert selected.node_id == "1"


def test_nodes_without_scores_rank_in_the_retrievers_order() -> None:
    postprocessor = CupelPostprocessor(budget=10, counter=count_words)
    assert [each.node_id for each in postprocessor.postprocess_nodes(hits(None, None))] == ["0"]


def test_a_postprocessor_tells_what_it_left_out() -> None:
    results: list[ContextResult] = []
    postprocessor = CupelPostprocessor(budget=10, counter=count_words, on_selection=results.append)
    postprocessor.postprocess_nodes(hits(0.1, 0.8))
    [result] = results
    assert result.report is not None
    assert [each.item.metadata["key"] for each in result.report.excluded] == ["0"]


def test_a_postprocessor_can_be_named_and_copied() -> None:
    postprocessor = CupelPostprocessor(budget=10)
    assert postprocessor.class_name() == "CupelPostprocessor"
    assert CupelPostprocessor.from_dict(postprocessor.to_dict()).budget == 10


def test_wrong_options_are_found_where_they_are_written() -> None:
    with pytest.raises(ValueError, match="rag"):
        CupelPostprocessor(budget=10, policy="ragg")
    with pytest.raises(ValueError, match="polcy"):
        CupelPostprocessor(budget=10, polcy="rag")  # type: ignore[call-arg]


BUDGET = 700
STEPS = 2
NAMES = ("ann", "bob", "cid")


class FakeAnthropic(MockLLM, FunctionCallingLLM):
    """Claude as LlamaIndex sees it: thinks, calls the tool twice, then answers; remembers what it was shown."""

    _seen: list[list[ChatMessage]] = PrivateAttr(default_factory=list)

    @property
    def seen(self) -> list[list[ChatMessage]]:
        return self._seen

    @property
    def metadata(self) -> LLMMetadata:
        return LLMMetadata(model_name="claude-haiku-4-5", is_function_calling_model=True)

    def _prepare_chat_with_tools(self, tools: Sequence[Any], chat_history: Any = None, **kwargs: Any) -> dict[str, Any]:
        return {"messages": chat_history}

    def get_tool_calls_from_response(self, response: ChatResponse, **kwargs: Any) -> list[ToolSelection]:
        return [
            ToolSelection(tool_id=str(each.tool_call_id), tool_name=each.tool_name, tool_kwargs={"key": "k"})
            for each in response.message.blocks
            if isinstance(each, ToolCallBlock)
        ]

    async def achat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> ChatResponse:
        return ChatResponse(message=self._reply(list(messages)))

    async def astream_chat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> Any:
        async def stream() -> AsyncIterator[ChatResponse]:
            yield ChatResponse(message=self._reply(list(messages)), delta="")

        return stream()

    def _reply(self, messages: list[ChatMessage]) -> ChatMessage:
        self.seen.append(messages)
        last = messages[-1]
        step = int(last.additional_kwargs["tool_call_id"][-1]) + 1 if last.role == MessageRole.TOOL else 0
        if step == STEPS:
            return ChatMessage("Done, " + "as far as I can tell. " * 5, role="assistant")
        thoughts = [ThinkingBlock(content="Let me see.", additional_information={"signature": "x" * 64})]
        call = ToolCallBlock(tool_call_id=f"{len(self.seen)}s{step}", tool_name="look_up", tool_kwargs={"key": "k"})
        return ChatMessage([*(thoughts if step == 0 else ()), call], role="assistant")


def look_up(key: str) -> str:
    """Look something up."""
    return "found " * 40


def as_sent(messages: Sequence[ChatMessage]) -> list[dict[str, Any]]:
    """As Anthropic gets them; the system prompt goes beside them."""
    sent: list[dict[str, Any]] = []
    for message in messages:
        call_id = message.additional_kwargs.get("tool_call_id")
        blocks: list[dict[str, Any]] = []
        for block in message.blocks:
            if isinstance(block, ThinkingBlock):
                signature = block.additional_information["signature"]
                blocks.append({"type": "thinking", "thinking": block.content, "signature": signature})
            elif isinstance(block, ToolCallBlock):
                blocks.append({"type": "tool_use", "id": block.tool_call_id, "name": "look_up", "input": {"key": "k"}})
            elif not isinstance(block, CachePoint):
                blocks.append({"type": "text", "text": block.text})  # type: ignore[union-attr]
        if call_id:
            blocks = [{"type": "tool_result", "tool_use_id": call_id, "content": blocks}]
        if message.role != MessageRole.SYSTEM:
            sent.append({"role": "assistant" if message.role == MessageRole.ASSISTANT else "user", "content": blocks})
    return sent


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_large_result_does_not_end_an_agent() -> None:
    """Nor does one whose content is not only text. The store keeps what it was."""
    llm, tool = FakeAnthropic(), FunctionTool.from_defaults(look_up)
    mark = CachePoint(cache_control=CacheControl(type="ephemeral"))
    picture = ImageBlock(url="https://example.org/image.png")
    results: list[list[Any]] = [[TextBlock(text=LARGE)], [TextBlock(text=LARGE), picture, mark]]
    calls = [ToolCallBlock(tool_call_id=f"c{n}", tool_name="look_up", tool_kwargs={"key": "k"}) for n in range(2)]
    messages = [
        ChatMessage("Look it up."),
        ChatMessage(list(calls), role="assistant"),
        *(
            ChatMessage(blocks, role="tool", additional_kwargs={"tool_call_id": f"c{n}"})
            for n, blocks in enumerate(results)
        ),
    ]
    selections: list[MessageSelection] = []
    options = {"counter": count_words, "on_selection": selections.append}
    memory = CupelMemory.from_defaults(messages, llm, budget=1_000, system=SYSTEM, tools=[tool], options=options)
    kept = memory.get()
    assert kept[:2] == messages[:2]
    for n in (2, 3):
        [text, *rest] = kept[n].blocks
        assert isinstance(text, TextBlock)
        assert 0 < count_words(text.text) < 1_000
        assert rest == ([mark] if n == 3 else [])
        assert kept[n].additional_kwargs == messages[n].additional_kwargs
    assert [each.index for each in selections[0].shortened] == [2, 3]
    assert selections[0].messages == kept
    assert memory.get_all() == messages
    agent = FunctionAgent(tools=[tool], llm=llm, system_prompt=SYSTEM, streaming=False)
    assert "Done" in str(asyncio.run(run_agent(agent, memory)))
    for seen in map(as_sent, llm.seen):
        assert [each for each in lint_messages(seen, "anthropic") if each.severity == "error"] == []
        assert count_messages(seen, "anthropic", count_words) <= 1_300
    assert [each.blocks for each in memory.get_all()[2:4]] == results


async def run_agent(agent: FunctionAgent, memory: CupelMemory) -> Any:
    return await agent.run("And then?", memory=memory)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize(
    ("streaming", "names", "turns"), [(False, NAMES, 30), (True, NAMES, 30), (False, ["ann"], 200)]
)
@pytest.mark.unmeasured
def test_long_conversations_with_claude(streaming: bool, names: Sequence[str], turns: int) -> None:
    """Three that alternate, and one of 200 turns.

    What an agent does in one run is not in its memory yet, so the memory's budget leaves room for it.
    """
    llm, tool = FakeAnthropic(), FunctionTool.from_defaults(look_up)
    agent = FunctionAgent(tools=[tool], llm=llm, system_prompt=SYSTEM, streaming=streaming)
    store, budget, room = SimpleChatStore(), 1_400, 300
    shared: dict[str, Any] = {"llm": llm, "system": SYSTEM, "tools": [tool], "chat_store": store}
    memories = {
        name: CupelMemory(budget=budget - room, chat_store_key=name, options={"counter": count_words}, **shared)
        for name in names
    }

    async def converse() -> None:
        for turn in range(turns):
            for name in names:
                await agent.run("The same for all" if turn == 0 else f"{turn} by {name}", memory=memories[name])

    asyncio.run(converse())
    assert len(llm.seen) == turns * len(names) * (STEPS + 1)
    tools = [{"name": "look_up", "description": tool.metadata.description, "input_schema": {}}]
    for seen in llm.seen:
        assert seen[0].content == SYSTEM
        sent = as_sent(seen)
        assert lint_messages(sent, "anthropic") == []
        assert count_messages(sent, "anthropic", count_words, system=SYSTEM, tools=tools) <= budget
    assert len(llm.seen[-1]) < len(max(llm.seen, key=len)) + 1 < len(memories["ann"].get_all())
    for name in names:
        asked = [each.content for each in store.get_messages(name) if each.role == MessageRole.USER]
        assert asked == ["The same for all", *(f"{turn} by {name}" for turn in range(1, turns))]
    if len(names) == 1:
        # The library by itself reuses 0.624 of these prompts: signatures and the prompt for tools take half the room.
        assert reused([as_sent(seen) for seen in llm.seen]) > 0.62


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("streaming", [False, True])
def test_conversations_at_the_same_time(streaming: bool) -> None:
    """Each is sent what it would be sent alone. One store, one agent and one model serve them all."""
    turns = 12

    def sent_to(*names: str) -> dict[str, str]:
        llm, tool = FakeAnthropic(), FunctionTool.from_defaults(look_up)
        agent = FunctionAgent(tools=[tool], llm=llm, system_prompt=SYSTEM, streaming=streaming)
        shared: dict[str, Any] = {"llm": llm, "system": SYSTEM, "tools": [tool], "chat_store": SimpleChatStore()}

        async def talk(name: str) -> None:
            memory = CupelMemory(budget=1_100, chat_store_key=name, options={"counter": count_words}, **shared)
            for turn in range(turns):
                await agent.run("The same for all" if turn == 0 else f"{turn} by {name}", memory=memory)
            assert len(memory.get()) < len(memory.get_all()) == turns * 2 * (STEPS + 1)

        async def all_at_once() -> None:
            await asyncio.gather(*map(talk, names))

        asyncio.run(all_at_once())
        prompts = [str(as_sent(seen)) for seen in llm.seen]
        # The first turn is nobody's.
        whose = [[name for name in names if f"by {name}" in prompt] for prompt in prompts]
        if len(names) > 1:
            # If they only took turns, they would alternate no more often than that.
            assert sum(a != b for a, b in pairwise(whose)) > len(names) * turns
        return {
            name: renumbered("\n".join(each for each, by in zip(prompts, whose, strict=True) if by == [name]))
            for name in names
        }

    together = sent_to(*NAMES)
    for name in NAMES:
        alone = sent_to(name)
        assert alone[name].count("\n") == (turns - 1) * (STEPS + 1) - 1
        assert together[name] == alone[name]


def history(seed: int = 1, turns: int = 12) -> list[ChatMessage]:
    """With the calls as older versions keep them."""
    return [
        ChatMessage(
            each["content"],
            role=each["role"],
            additional_kwargs={name: each[name] for name in ("tool_calls", "tool_call_id") if name in each},
        )
        for each in agent_session(seed, turns)
    ]


def test_a_memory_gives_what_fits_and_keeps_everything() -> None:
    messages = history()
    memory = CupelMemory.from_defaults(messages, llm=MockLLM(), budget=BUDGET, options={"counter": count_words})
    kept = memory.get()
    assert kept == asyncio.run(memory.aget("anything"))
    assert 0 < len(kept) < len(messages)
    assert kept[0] == messages[0]
    sent = [{"role": each.role.value, "content": each.content, **each.additional_kwargs} for each in kept]
    assert lint_messages(sent, "openai") == []
    assert memory.get_all() == messages
    assert CupelMemory.from_defaults(budget=BUDGET).get() == []


def test_every_kind_of_content_of_a_chat_message_is_counted() -> None:
    selections: list[MessageSelection] = []
    options = {"counter": count_words, "on_selection": selections.append, "explain": True}
    message = ChatMessage(
        [TextBlock(text="one two"), ImageBlock(image=b"x"), AudioBlock(audio=b"x"), ThinkingBlock(content="three")],
        role="user",
    )
    calls = ChatMessage([ToolCallBlock(tool_name="look_up", tool_kwargs={"key": "four"})], role="assistant")
    result = ChatMessage("five", role="tool")
    memory = CupelMemory.from_defaults([message, calls, result], budget=8_000, options=options, tools=[look_up])
    assert memory.get() == [message, calls, result]
    [selection] = selections
    assert selection.report is not None
    text = "\n".join(each.item.content for each in selection.report.included)
    for word in ("one two", "three", "look_up", "four", "five"):
        assert word in text
    assert selection.total_tokens > 765 + 1000
    assert selection.usage.tools > 0


def test_a_memory_finds_wrong_options_where_they_are_written() -> None:
    with pytest.raises(ValueError, match="unit must be one of"):
        CupelMemory(budget=BUDGET, options={"unit": "word"})
    with pytest.raises(ValueError, match="options"):
        CupelMemory(budget=BUDGET, options=["unit"])  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="unit"):
        CupelMemory(budget=BUDGET, unit="turn")  # type: ignore[call-arg]
    assert CupelMemory(budget=BUDGET).class_name() == "CupelMemory"
