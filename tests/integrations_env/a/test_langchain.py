"""LangChain, with a fake model: what the model sees, and what the state keeps."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import ModelRequest
from langchain.agents.structured_output import AutoStrategy, ProviderStrategy, ToolStrategy
from langchain.chat_models import init_chat_model
from langchain_anthropic import ChatAnthropic
from langchain_core.documents import Document
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import (
    AIMessage,
    AIMessageChunk,
    BaseMessage,
    ChatMessage,
    FunctionMessage,
    HumanMessage,
    SystemMessage,
    ToolMessage,
    convert_to_messages,
)
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import RunnableLambda
from langchain_core.tools import tool
from langchain_mistralai import ChatMistralAI
from langchain_openai import ChatOpenAI
from langgraph.checkpoint.memory import InMemorySaver
from pydantic import BaseModel, Field

from pycupel import ContextBudget
from pycupel.errors import InvalidArgumentError
from pycupel.integrations.langchain import CupelDocumentCompressor, CupelMiddleware
from pycupel.messages import MessageSelection, Shorten, lint_messages
from pycupel.selecting import ContextResult
from tests.integrations_env.sessions import LARGE, RESULTS, SYSTEM, agent_session, count_words

BUDGET = 700


class FakeModel(BaseChatModel):
    """Calls the tool `calls` times, then answers; remembers what it was shown."""

    calls: int = 2
    seen: list[list[BaseMessage]] = []  # noqa: RUF012

    @property
    def _llm_type(self) -> str:
        return "fake"

    def bind_tools(self, tools: Any, **kwargs: Any) -> Any:
        return self

    def _generate(self, messages: list[BaseMessage], *args: Any, **kwargs: Any) -> ChatResult:
        self.seen.append(messages)
        asked = 0 if messages[-1].type == "human" else 1 + int(messages[-1].tool_call_id[-1])
        reply = AIMessage("Done.")
        if asked < self.calls:
            reply = AIMessage("", tool_calls=[{"name": "look_up", "args": {"key": "k"}, "id": f"now_{asked}"}])
        return ChatResult(generations=[ChatGeneration(message=reply)])


@tool
def look_up(key: str) -> str:
    """Look something up."""
    return "found " * 40


def history(seed: int = 1, turns: int = 12) -> list[BaseMessage]:
    return convert_to_messages(agent_session(seed, turns)[1:])


def agent_with(middleware: CupelMiddleware, model: FakeModel, **options: Any) -> Any:
    return create_agent(model, [look_up], system_prompt=SYSTEM, middleware=[middleware], **options)


def assert_acceptable(messages: list[BaseMessage]) -> None:
    assert lint_messages(messages, "openai") == []


def test_the_model_sees_what_fits_and_the_state_keeps_everything() -> None:
    messages, model = history(), FakeModel(seen=[])
    state = agent_with(CupelMiddleware(BUDGET, counter=count_words), model).invoke({"messages": messages})
    assert len(model.seen) == 3
    for seen in model.seen:
        assert seen[0] == SystemMessage(SYSTEM)
        assert_acceptable(seen)
        assert len(seen) < len(messages)
        assert sum(count_words(message.text) for message in seen) <= BUDGET
    assert [message.content for message in state["messages"][: len(messages)]] == [each.content for each in messages]
    assert [message.type for message in state["messages"][len(messages) :]] == ["ai", "tool", "ai", "tool", "ai"]


def test_what_is_seen_are_the_messages_themselves_in_their_order() -> None:
    messages, model = history(), FakeModel(seen=[], calls=0)
    agent_with(CupelMiddleware(BUDGET, counter=count_words, shorten=None), model).invoke({"messages": messages})
    places = [next(i for i, each in enumerate(messages) if each is message) for message in model.seen[0][1:]]
    assert places == sorted(places)
    assert places[-1] == len(messages) - 1


def test_within_a_run_the_prompt_only_grows_after_it_was_cut() -> None:
    """The provider's cache holds: each prompt starts with the whole one before."""
    model = FakeModel(seen=[], calls=4)
    agent_with(CupelMiddleware(BUDGET, counter=count_words), model).invoke({"messages": history()})
    assert len(model.seen) == 5
    for before, after in pairwise(model.seen):
        assert after[: len(before)] == before


def test_one_middleware_serves_several_conversations_with_a_checkpointer() -> None:
    """Each thread's prompt starts like that thread's last one, although their calls alternate."""
    model = FakeModel(seen=[], calls=0)
    agent = agent_with(CupelMiddleware(BUDGET, counter=count_words), model, checkpointer=InMemorySaver())
    threads = [{"configurable": {"thread_id": str(seed)}} for seed in range(3)]
    for seed, thread in enumerate(threads):
        agent.invoke({"messages": history(seed)}, thread)
    for turn in range(2):
        for thread in threads:
            agent.invoke({"messages": [HumanMessage(f"more {turn}")]}, thread)
    for place, before in enumerate(model.seen[:-3]):
        after = model.seen[place + 3]
        assert after[: len(before)] == before


def test_an_agent_that_runs_asynchronously_is_served_as_well() -> None:
    messages, model = history(), FakeModel(seen=[])
    agent = agent_with(CupelMiddleware(BUDGET, counter=count_words), model)
    state = asyncio.run(agent.ainvoke({"messages": messages}))
    assert len(state["messages"]) == len(messages) + 5
    assert all(len(seen) < len(messages) for seen in model.seen)
    for seen in model.seen:
        assert_acceptable(seen)


def test_a_short_history_is_left_alone() -> None:
    model = FakeModel(seen=[], calls=0)
    agent_with(CupelMiddleware(8_000), model).invoke({"messages": [HumanMessage("Hello!")]})
    assert [message.content for message in model.seen[0]] == [SYSTEM, "Hello!"]


def test_the_system_prompt_and_the_tools_count() -> None:
    selections: list[MessageSelection] = []
    middleware = CupelMiddleware(BUDGET, counter=count_words, on_selection=selections.append)
    agent_with(middleware, FakeModel(seen=[], calls=0)).invoke({"messages": [HumanMessage("Hello!")]})
    assert selections[0].usage.system >= count_words(SYSTEM)
    assert selections[0].usage.tools > 0


class Big(BaseModel):
    """A response that takes many words to describe."""

    answer: str = Field(description="word " * 200)


class Small(BaseModel):
    answer: str


def tokens_of_tools(response_format: Any) -> int:
    selections: list[MessageSelection] = []
    middleware = CupelMiddleware(BUDGET, counter=count_words, on_selection=selections.append)
    model: Any = FakeModel(seen=[], calls=0)
    request = ModelRequest(model=model, messages=[HumanMessage("Hello!")], response_format=response_format)
    middleware.wrap_model_call(request, lambda _: None)
    return selections[0].usage.tools


@pytest.mark.parametrize("wrap", [ToolStrategy, ProviderStrategy, AutoStrategy, lambda schema: schema])
def test_the_schema_of_the_response_counts(wrap: Callable[[Any], Any]) -> None:
    assert tokens_of_tools(None) == 0
    assert 200 < tokens_of_tools(wrap(Big)) < 300
    untitled = {"type": "object", "properties": {"answer": {"type": "string", "description": "word " * 200}}}
    assert 200 < tokens_of_tools(wrap(untitled)) < 300


def test_each_of_several_schemas_counts() -> None:
    several = tokens_of_tools(ToolStrategy(Big | Small))
    assert several > tokens_of_tools(ToolStrategy(Big)) + tokens_of_tools(ToolStrategy(Small)) - 30


def test_an_agent_without_a_system_prompt_is_served_as_well() -> None:
    model = FakeModel(seen=[], calls=0)
    create_agent(model, middleware=[CupelMiddleware(BUDGET, counter=count_words)]).invoke({"messages": history()})
    assert_acceptable(model.seen[0])


def test_a_selection_tells_the_places_of_the_messages_that_were_dropped() -> None:
    messages, model = history(), FakeModel(seen=[], calls=0)
    selections: list[MessageSelection] = []
    middleware = CupelMiddleware(BUDGET, counter=count_words, shorten=None, on_selection=selections.append)
    agent_with(middleware, model).invoke({"messages": messages})
    [selection] = selections
    assert selection.messages == model.seen[0][1:]
    assert selection.messages == [messages[i] for i in selection.kept]
    assert sorted((*selection.kept, *(each.index for each in selection.dropped))) == list(range(len(messages)))


def test_a_pin_is_asked_about_langchains_messages() -> None:
    messages, model = history(), FakeModel(seen=[], calls=0)
    first = next(message for message in messages if isinstance(message, ToolMessage))
    middleware = CupelMiddleware(BUDGET, counter=count_words, pin=lambda message: message is first)
    agent_with(middleware, model).invoke({"messages": messages})
    assert any(message is first for message in model.seen[0])
    assert_acceptable(model.seen[0])


def sent_to(model: Any, messages: list[BaseMessage], **options: Any) -> tuple[list[BaseMessage], MessageSelection]:
    """What a model outside of any agent would be sent, without the thread that an agent has."""
    selections: list[MessageSelection] = []
    middleware = CupelMiddleware(options.pop("budget", BUDGET), on_selection=selections.append, **options)
    seen: list[Any] = []
    middleware.wrap_model_call(ModelRequest(model=model, messages=messages), seen.append)  # type: ignore[arg-type]
    return seen[0].messages, selections[0]


CLAUDE: Any = ChatAnthropic(model="claude-haiku-4-5", api_key="none")  # type: ignore[call-arg, arg-type]
GPT: Any = ChatOpenAI(model="gpt-4o", api_key="none")  # type: ignore[arg-type]
SONAR: Any = ChatOpenAI(model="sonar-pro", api_key="none")  # type: ignore[arg-type]
MISTRAL: Any = ChatMistralAI(model="mistral-large-latest", api_key="none")  # type: ignore[call-arg, arg-type]
LATER: Any = init_chat_model("claude-haiku-4-5", model_provider="anthropic", configurable_fields="any")


@pytest.mark.parametrize(
    ("model", "provider", "counter"),
    [
        (CLAUDE, "anthropic", "estimator for anthropic"),
        (GPT, "openai", "o200k_base"),
        (SONAR, "openai", "estimator for an unknown model"),
        (MISTRAL, "mistral", "tekken"),
        (LATER, "anthropic", "estimator for anthropic"),
        (FakeModel(), "openai", "o200k_base"),
    ],
)
def test_the_rules_and_the_counter_are_those_of_the_model(model: Any, provider: str, counter: str) -> None:
    _, selection = sent_to(model, [HumanMessage("Hello!")])
    assert selection.provider == provider
    assert selection.counter.startswith(counter)
    assert sent_to(model, [HumanMessage("Hello!")], provider="gemini")[1].provider == "gemini"


def claude_turn(size: int, thoughts: Any) -> list[BaseMessage]:
    """As `ChatAnthropic` writes it: the calls are also in the content. Only the first answer starts with thoughts."""
    messages: list[BaseMessage] = [HumanMessage("Look it all up.")]
    for n in range(size):
        use = {"type": "tool_use", "id": f"toolu_{n}", "name": "look_up", "input": {"key": "k"}}
        call = {"name": "look_up", "args": {"key": "k"}, "id": f"toolu_{n}"}
        content: Any = [thoughts, use] if n == 0 else [use]
        messages += [AIMessage(content, tool_calls=[call]), ToolMessage("found " * 40, tool_call_id=f"toolu_{n}")]
    return messages


@pytest.mark.parametrize(
    "thoughts",
    [
        {"type": "thinking", "thinking": "Hm.", "signature": "x" * 64},
        {"type": "redacted_thinking", "data": "x" * 64},
        {"type": "reasoning", "reasoning": "Hm.", "extras": {"signature": "x" * 64}},
    ],
)
def test_the_thoughts_that_start_a_turn_stay_where_claude_demands_them(thoughts: Any) -> None:
    messages = claude_turn(30, thoughts)
    for model in (CLAUDE, FakeModel()):
        sent, _ = sent_to(model, messages, counter=count_words)
        assert sent[:2] == messages[:2]
        assert len(sent) < len(messages)
    payload = CLAUDE._get_request_payload(sent)["messages"]
    assert [each.rule for each in lint_messages(payload, "anthropic")] == []


def test_a_shortened_result_is_a_copy_with_another_text() -> None:
    calls = [{"name": "look_up", "args": {"key": "k"}, "id": each} for each in ("c1", "c2")]
    blocks: list[Any] = [{"type": "text", "text": LARGE}, {"type": "image_url", "image_url": {"url": "https://x.org"}}]
    messages = [
        HumanMessage("Look it up."),
        AIMessage("", tool_calls=calls),
        ToolMessage(LARGE, tool_call_id="c1", id="m1", artifact={"rows": 1_000}, status="error"),
        ToolMessage(blocks, tool_call_id="c2", id="m2"),
    ]
    selections: list[MessageSelection] = []
    model = FakeModel(seen=[], calls=0)
    middleware = CupelMiddleware(BUDGET, counter=count_words, on_selection=selections.append)
    create_agent(model, middleware=[middleware]).invoke({"messages": messages})
    [seen] = model.seen
    assert_acceptable(seen)
    assert seen[:2] == messages[:2]
    for before, after in zip(messages[2:], seen[2:], strict=True):
        assert isinstance(after.content, str)
        assert before.model_copy(update={"content": after.content}) == after
    assert sum(count_words(message.text) for message in seen) <= BUDGET
    assert (messages[2].content, messages[3].content) == (LARGE, blocks)
    assert [each.index for each in selections[0].shortened] == [2, 3]
    assert selections[0].messages == seen


@pytest.mark.parametrize("status", ["error", "success"])
def test_results_that_report_errors_are_shortened_last(status: Any) -> None:
    messages: list[BaseMessage] = [HumanMessage("Look it all up.")]
    for n, result in enumerate(RESULTS):
        messages.append(AIMessage("", tool_calls=[{"name": "look_up", "args": {"n": n}, "id": f"c{n}"}]))
        messages.append(ToolMessage(result, tool_call_id=f"c{n}", status=status if n == 1 else "success"))
    model = FakeModel(seen=[], calls=0)
    middleware = CupelMiddleware(1_000, counter=count_words, shorten=Shorten(keep=1))
    create_agent(model, middleware=[middleware]).invoke({"messages": messages})
    assert (RESULTS[1] in [each.content for each in model.seen[0]]) == (status == "error")


def test_every_kind_of_content_is_counted() -> None:
    call: Any = {"name": "look_up", "args": {"key": "six"}, "id": None}
    content: Any = ["one two", "", {"type": "text", "text": "three"}, {"type": "image_url", "image_url": {"url": "x"}}]
    reasoning: Any = [{"type": "reasoning", "summary": [{"type": "summary_text", "text": "four"}]}]
    messages = [
        HumanMessage(content),
        AIMessageChunk(reasoning),
        AIMessage("five", tool_calls=[call]),
        ToolMessage("seven", tool_call_id=""),
        ChatMessage("eight", role="assistant"),
        FunctionMessage("nine", name="f"),
        HumanMessage("ten"),
    ]
    sent, selection = sent_to(FakeModel(), messages, counter=count_words, explain=True, budget=2_000)
    # Nothing calls the function.
    assert sent == [each for each in messages if not isinstance(each, FunctionMessage)]
    report = selection.report
    assert report is not None
    text = "\n".join(each.item.content for each in report.included)
    for word in ("one two", "three", "four", "five", "look_up", "six", "seven", "eight", "ten"):
        assert word in text
    assert selection.total_tokens > 765


def test_wrong_options_are_found_where_they_are_written() -> None:
    with pytest.raises(InvalidArgumentError, match="chat"):
        CupelMiddleware(8_000, policy="chatt")  # type: ignore[arg-type]
    with pytest.raises(InvalidArgumentError, match="budget"):
        CupelMiddleware("8000")
    with pytest.raises(TypeError, match="budget"):
        CupelMiddleware(None)  # type: ignore[arg-type]


class Retriever(BaseRetriever):
    found: list[Document]

    def _get_relevant_documents(self, query: str, **kwargs: Any) -> list[Document]:
        return self.found


def documents(*sizes: int) -> list[Document]:
    return [Document(page_content=" ".join([f"hit{i}"] * size)) for i, size in enumerate(sizes)]


def test_a_chain_gets_the_documents_that_fit_the_best_ones_at_both_edges() -> None:
    found = documents(10, 10, 10, 10, 10)
    compressor = CupelDocumentCompressor(budget=30, counter=count_words)
    chain = Retriever(found=found) | RunnableLambda(lambda hits: compressor.compress_documents(hits, "query"))
    selected = chain.invoke("query")
    assert [found.index(each) for each in selected] == [0, 2, 1]
    assert selected[0] is found[0]


def test_documents_without_scores_rank_in_the_retrievers_order() -> None:
    """Otherwise the shortest would win."""
    compressor = CupelDocumentCompressor(budget=ContextBudget(25), counter=count_words)
    found = documents(20, 18, 5)
    assert found[0] in compressor.compress_documents(found, "query")


def test_documents_are_compressed_asynchronously_as_well() -> None:
    compressor = CupelDocumentCompressor(budget=10, counter=count_words)
    assert asyncio.run(compressor.acompress_documents(documents(5, 5, 5), "query")) == documents(5, 5)


def test_a_compressor_tells_what_it_left_out() -> None:
    results: list[ContextResult] = []
    compressor = CupelDocumentCompressor(budget=10, counter=count_words, on_selection=results.append)
    assert results == []
    compressor.compress_documents(documents(5, 5, 5), "query")
    [result] = results
    assert result.report is not None
    assert [each.item.content for each in result.report.excluded] == ["hit2 hit2 hit2 hit2 hit2"]


def test_a_compressor_finds_wrong_options_where_they_are_written() -> None:
    with pytest.raises(ValueError, match="rag"):
        CupelDocumentCompressor(budget=10, policy="ragg")
    with pytest.raises(ValueError, match="polcy"):
        CupelDocumentCompressor(budget=10, polcy="rag")  # type: ignore[call-arg]
