"""Thirty turns of three conversations that alternate, in each framework, with its real models for Claude and GPT.

The models talk to a server on the loopback address: what is checked is what was really sent. Nothing may be refused,
nothing may be larger than the budget, and what is stored keeps everything. One of the conversations is synchronous, one
asynchronous, and one is streamed.
"""

from __future__ import annotations

import asyncio
import gc
from collections import defaultdict
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import pytest
from haystack.components.agents import Agent as HaystackAgent
from haystack.components.generators.chat import OpenAIChatGenerator
from haystack.dataclasses import ChatMessage as HaystackMessage
from haystack.tools import tool as haystack_tool
from haystack.utils import Secret
from haystack_integrations.components.generators.anthropic import AnthropicChatGenerator
from langchain.agents import create_agent
from langchain_anthropic import ChatAnthropic
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import HumanMessage
from langchain_core.tools import tool as langchain_tool
from langchain_openai import ChatOpenAI
from langgraph.checkpoint.memory import InMemorySaver
from pydantic_ai import Agent as PydanticAgent
from pydantic_ai.messages import ModelMessage
from pydantic_ai.models import Model
from pydantic_ai.models.anthropic import AnthropicModel, AnthropicModelSettings
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.anthropic import AnthropicProvider
from pydantic_ai.providers.openai import OpenAIProvider

from pycupel.integrations.haystack import CupelChatGenerator
from pycupel.integrations.langchain import CupelMiddleware
from pycupel.integrations.pydantic_ai import CupelHistory
from pycupel.messages.options import ProviderName
from tests.integrations_env.agents import reused
from tests.integrations_env.provider import STEPS, Ask, Provider, check_at_once, running
from tests.integrations_env.sessions import LARGE, SYSTEM, count_words

BUDGET = 900
TURNS = 30
NAMES = ("sync", "async", "stream")
REQUESTS = TURNS * len(NAMES) * (STEPS + 1)
# A question, two rounds of calls with three results, and an answer.
MESSAGES = 1 + 2 + 3 + 1
# Anthropic gets the results of a round in one message.
WHOLE = TURNS * (1 + 2 + 2 + 1) - 1
CLAUDE = "claude-haiku-4-5"
THINKING: Any = {"type": "enabled", "budget_tokens": 1024}

# The libraries leave connections to the garbage collector when an event loop ends.
pytestmark = pytest.mark.usefixtures("collected")
each_provider = pytest.mark.parametrize("provider", ["anthropic", "openai"])


@pytest.fixture
def collected() -> Iterator[None]:
    yield
    gc.collect()


def question(name: str, turn: int) -> str:
    """The conversations begin alike."""
    return f"Question {turn} " + ("is the same for all" if turn == 0 else f"by {name} about the log")


def look_up(key: str) -> str:
    """Look something up."""
    return "found " * 40


def langchain_model(provider: ProviderName, server: Provider) -> BaseChatModel:
    if provider == "openai":
        return ChatOpenAI(model="gpt-4o", base_url=server.url, api_key="none")  # type: ignore[arg-type]
    return ChatAnthropic(  # type: ignore[call-arg]
        model=CLAUDE,
        base_url=server.url,
        api_key="none",
        max_tokens=4096,
        thinking=THINKING,
    )


def langchain_turn(agent: Any, name: str, turn: int) -> None:
    thread = {"configurable": {"thread_id": name}}
    given = {"messages": [HumanMessage(question(name, turn))]}
    if name == "sync":
        agent.invoke(given, thread)
    elif name == "async":
        asyncio.run(agent.ainvoke(given, thread))
    else:
        list(agent.stream(given, thread, stream_mode="messages"))


@each_provider
def test_langchain(provider: ProviderName) -> None:
    with running() as server:
        agent = create_agent(
            langchain_model(provider, server),
            [langchain_tool(look_up)],
            system_prompt=SYSTEM,
            middleware=[CupelMiddleware(BUDGET, counter=count_words)],
            checkpointer=InMemorySaver(),
        )
        for turn in range(TURNS):
            for name in NAMES:
                langchain_turn(agent, name, turn)
        server.check(provider, BUDGET, requests=REQUESTS, whole=WHOLE)
    for name in NAMES:
        kept = agent.get_state({"configurable": {"thread_id": name}}).values["messages"]
        assert len(kept) == TURNS * MESSAGES
        asked = [each.content for each in kept if each.type == "human"]
        assert asked == [question(name, turn) for turn in range(TURNS)]


def pydantic_model(provider: ProviderName, server: Provider) -> tuple[Model, Any]:
    if provider == "openai":
        return OpenAIChatModel("gpt-4o", provider=OpenAIProvider(base_url=server.url, api_key="none")), None
    settings = AnthropicModelSettings(anthropic_thinking=THINKING, max_tokens=4096)
    return AnthropicModel(CLAUDE, provider=AnthropicProvider(base_url=server.url, api_key="none")), settings


def pydantic_turn(agent: PydanticAgent[None, str], name: str, asked: str, stored: list[ModelMessage]) -> Any:
    if name == "sync":
        return agent.run_sync(asked, message_history=stored)
    if name == "async":
        return asyncio.run(agent.run(asked, message_history=stored))

    async def stream() -> Any:
        async with agent.run_stream(asked, message_history=stored) as result:
            await result.get_output()
            return result

    return asyncio.run(stream())


@each_provider
def test_pydantic_ai(provider: ProviderName) -> None:
    stored: dict[str, list[ModelMessage]] = {name: [] for name in NAMES}
    with running() as server:
        model, settings = pydantic_model(provider, server)
        capability = CupelHistory(BUDGET, counter=count_words)
        agent = PydanticAgent(
            model, instructions=SYSTEM, tools=[look_up], capabilities=[capability], model_settings=settings
        )
        for turn in range(TURNS):
            for name in NAMES:
                stored[name] = pydantic_turn(agent, name, question(name, turn), stored[name]).all_messages()
        server.check(provider, BUDGET, requests=REQUESTS, whole=WHOLE)
    for name in NAMES:
        assert len(stored[name]) == TURNS * 2 * (STEPS + 1)
        texts = [part.content for each in stored[name] for part in each.parts if part.part_kind == "user-prompt"]
        assert texts == [question(name, turn) for turn in range(TURNS)]


def haystack_generator(provider: ProviderName, server: Provider) -> Any:
    if provider == "openai":
        return OpenAIChatGenerator(api_key=Secret.from_token("none"), model="gpt-4o", api_base_url=server.url)
    options = {"thinking": THINKING, "max_tokens": 4096}
    return AnthropicChatGenerator(api_key=Secret.from_token("none"), model=CLAUDE, generation_kwargs=options)


@each_provider
def test_haystack(provider: ProviderName, monkeypatch: pytest.MonkeyPatch) -> None:
    stored: dict[str, list[HaystackMessage]] = {name: [] for name in NAMES}
    with running() as server:
        monkeypatch.setenv("ANTHROPIC_BASE_URL", server.url)
        generator = CupelChatGenerator(haystack_generator(provider, server), BUDGET, counter=count_words)
        agent = HaystackAgent(chat_generator=generator, tools=[haystack_tool(look_up)])
        for turn in range(TURNS):
            for name in NAMES:
                given = [*stored[name], HaystackMessage.from_user(question(name, turn))]
                if name == "async":
                    result = asyncio.run(agent.run_async(messages=given))
                else:
                    callback = (lambda _: None) if name == "stream" else None
                    result = agent.run(messages=given, streaming_callback=callback)
                assert result["messages"][: len(given)] == given
                stored[name] = result["messages"]
        server.check(provider, BUDGET, requests=REQUESTS, whole=WHOLE)
    assert [len(stored[name]) for name in NAMES] == [TURNS * MESSAGES] * len(NAMES)


def pydantic_ask(provider: ProviderName, server: Provider) -> Ask:
    stored: dict[str, list[ModelMessage]] = defaultdict(list)
    model, settings = pydantic_model(provider, server)
    hook = CupelHistory(BUDGET, counter=count_words)
    agent = PydanticAgent(model, instructions=SYSTEM, tools=[look_up], capabilities=[hook], model_settings=settings)

    async def ask(name: str, asked: str) -> None:
        stored[name] = (await agent.run(asked, message_history=stored[name])).all_messages()

    return ask


def haystack_ask(provider: ProviderName, server: Provider, *, in_threads: bool = False) -> Ask:
    stored: dict[str, list[HaystackMessage]] = defaultdict(list)
    generator = CupelChatGenerator(haystack_generator(provider, server), BUDGET, counter=count_words)
    agent = HaystackAgent(chat_generator=generator, tools=[haystack_tool(look_up)])

    async def ask(name: str, asked: str) -> None:
        given = [*stored[name], HaystackMessage.from_user(asked)]
        run = asyncio.to_thread(agent.run, messages=given) if in_threads else agent.run_async(messages=given)
        stored[name] = (await run)["messages"]

    return ask


@each_provider
@pytest.mark.parametrize(
    "framework",
    [
        pytest.param(pydantic_ask, id="pydantic"),
        pytest.param(haystack_ask, id="haystack"),
        pytest.param(partial(haystack_ask, in_threads=True), id="haystack in threads"),
    ],
)
def test_conversations_at_the_same_time(
    framework: Callable[[ProviderName, Provider], Ask], provider: ProviderName, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each is sent what it would be sent alone."""

    def make(server: Provider) -> Ask:
        monkeypatch.setenv("ANTHROPIC_BASE_URL", server.url)
        return framework(provider, server)

    check_at_once(make, provider, BUDGET)


def langchain_talk(server: Provider) -> tuple[Callable[[str], object], Callable[[], list[str]]]:
    """How to ask, and which questions are stored."""
    middleware = CupelMiddleware(BUDGET, counter=count_words)
    tools, saver = [langchain_tool(look_up)], InMemorySaver()
    model = langchain_model("openai", server)
    agent: Any = create_agent(model, tools, system_prompt=SYSTEM, middleware=[middleware], checkpointer=saver)
    thread: Any = {"configurable": {"thread_id": "t"}}

    def stored() -> list[str]:
        return [each.content for each in agent.get_state(thread).values["messages"] if each.type == "human"]

    return lambda asked: agent.invoke({"messages": [HumanMessage(asked)]}, thread), stored


def pydantic_talk(server: Provider) -> tuple[Callable[[str], object], Callable[[], list[str]]]:
    model, _ = pydantic_model("openai", server)
    hook = CupelHistory(BUDGET, counter=count_words)
    agent = PydanticAgent(model, instructions=SYSTEM, tools=[look_up], capabilities=[hook])
    history: list[ModelMessage] = []

    def ask(asked: str) -> None:
        history[:] = agent.run_sync(asked, message_history=list(history)).all_messages()

    def stored() -> list[str]:
        return [str(part.content) for each in history for part in each.parts if part.part_kind == "user-prompt"]

    return ask, stored


def haystack_talk(server: Provider) -> tuple[Callable[[str], object], Callable[[], list[str]]]:
    generator = CupelChatGenerator(haystack_generator("openai", server), BUDGET, counter=count_words)
    agent = HaystackAgent(chat_generator=generator, tools=[haystack_tool(look_up)])
    history: list[HaystackMessage] = []

    def ask(asked: str) -> None:
        history[:] = agent.run(messages=[*history, HaystackMessage.from_user(asked)])["messages"]

    return ask, lambda: [str(each.text) for each in history if each.role.value == "user"]


@pytest.mark.parametrize(("talk", "least"), [(langchain_talk, 0.75), (pydantic_talk, 0.7), (haystack_talk, 0.75)])
@pytest.mark.unmeasured
def test_200_turns_in_a_small_window(talk: Any, least: float) -> None:
    """None invalid, none too large, all stored.

    The library by itself reuses 0.77 of the prompts of such turns, and 0.71 to 0.72 if the note that Pydantic AI may
    add takes its room.
    """
    with running(1) as server:
        ask, stored = talk(server)
        questions = [question("sync", turn) for turn in range(200)]
        for each in questions:
            ask(each)
        server.check("openai", BUDGET, requests=400, whole=200)
    assert stored() == questions
    assert reused([body["messages"] for body in server.sent]) > least


LONG = 20


@pytest.mark.parametrize("framework", ["langchain", "pydantic", "haystack"])
def test_a_long_turn_starts_with_its_thoughts_for_claude(framework: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Only the first of its rounds has thoughts. Others are dropped, and the rest still starts with them."""
    with running(LONG) as server:
        monkeypatch.setenv("ANTHROPIC_BASE_URL", server.url)
        LONG_TURNS[framework](server, question("ann", 1))
        server.check("anthropic", BUDGET, requests=LONG + 1, whole=2 * LONG)
        assert all(body["messages"][1]["content"][0]["type"] == "thinking" for body in server.sent[1:])


def langchain_long_turn(server: Provider, asked: str) -> None:
    middleware = CupelMiddleware(BUDGET, counter=count_words)
    agent = create_agent(langchain_model("anthropic", server), [langchain_tool(look_up)], middleware=[middleware])
    agent.invoke({"messages": [HumanMessage(asked)]}, {"recursion_limit": 100})


def pydantic_long_turn(server: Provider, asked: str) -> None:
    model, settings = pydantic_model("anthropic", server)
    capability = CupelHistory(BUDGET, counter=count_words)
    PydanticAgent(model, tools=[look_up], capabilities=[capability], model_settings=settings).run_sync(asked)


def haystack_long_turn(server: Provider, asked: str) -> None:
    generator = CupelChatGenerator(haystack_generator("anthropic", server), BUDGET, counter=count_words)
    agent = HaystackAgent(chat_generator=generator, tools=[haystack_tool(look_up)])
    agent.run([HaystackMessage.from_user(asked)])


LONG_TURNS = {"langchain": langchain_long_turn, "pydantic": pydantic_long_turn, "haystack": haystack_long_turn}


def look_up_much(key: str) -> str:
    """Look something up."""
    return LARGE


look_up_much.__name__ = "look_up"


def langchain_large(provider: ProviderName, server: Provider, asked: str) -> list[Any]:
    middleware = CupelMiddleware(BUDGET, counter=count_words)
    agent = create_agent(langchain_model(provider, server), [langchain_tool(look_up_much)], middleware=[middleware])
    messages = agent.invoke({"messages": [HumanMessage(asked)]})["messages"]
    return [each.content for each in messages if each.type == "tool"]


def pydantic_large(provider: ProviderName, server: Provider, asked: str) -> list[Any]:
    model, settings = pydantic_model(provider, server)
    capability = CupelHistory(BUDGET, counter=count_words)
    agent = PydanticAgent(model, tools=[look_up_much], capabilities=[capability], model_settings=settings)
    messages = agent.run_sync(asked).all_messages()
    return [part.content for each in messages for part in each.parts if part.part_kind == "tool-return"]


def haystack_large(provider: ProviderName, server: Provider, asked: str) -> list[Any]:
    generator = CupelChatGenerator(haystack_generator(provider, server), BUDGET, counter=count_words)
    agent = HaystackAgent(chat_generator=generator, tools=[haystack_tool(look_up_much)])
    messages = agent.run([HaystackMessage.from_user(asked)])["messages"]
    return [result.result for each in messages for result in each.tool_call_results]


@each_provider
@pytest.mark.parametrize("large", [langchain_large, pydantic_large, haystack_large])
def test_large_results_do_not_end_an_agent(large: Any, provider: ProviderName, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each is four times as large as the budget. What is stored is whole, and what was sent begins like the last."""
    with running() as server:
        monkeypatch.setenv("ANTHROPIC_BASE_URL", server.url)
        assert large(provider, server, question("ann", 1)) == [LARGE] * 3
        server.check(provider, BUDGET, requests=STEPS + 1, whole=10)
        assert "value_" in str(server.sent[-1]["messages"])
