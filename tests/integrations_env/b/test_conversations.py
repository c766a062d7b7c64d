"""Thirty turns of three conversations that alternate, in the OpenAI Agents SDK, with its real models.

The models talk to a server on the loopback address: what is checked is what was really sent. One of the conversations
is streamed.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from typing import Any

import pytest
from agents import (
    Agent,
    Model,
    OpenAIChatCompletionsModel,
    OpenAIResponsesModel,
    RunConfig,
    Runner,
    SQLiteSession,
    function_tool,
)
from openai import AsyncOpenAI

from pycupel.integrations.openai_agents import CupelInputFilter
from pycupel.messages.options import ProviderName
from tests.integrations_env.agents import reused
from tests.integrations_env.provider import STEPS, Ask, Provider, check_at_once, running
from tests.integrations_env.sessions import LARGE, SYSTEM, count_words

BUDGET = 900
TURNS = 30
NAMES = ("one", "two", "stream")
REQUESTS = TURNS * len(NAMES) * (STEPS + 1)


@function_tool
def look_up(key: str) -> str:
    """Look something up."""
    return "found " * 40


def model_of(provider: ProviderName, server: Provider) -> Model:
    client = AsyncOpenAI(base_url=server.url, api_key="none")
    if provider == "responses":
        return OpenAIResponsesModel("gpt-4o", client)
    return OpenAIChatCompletionsModel("gpt-4o", client)


async def converse(agent: Agent[Any], config: RunConfig, sessions: dict[str, SQLiteSession]) -> None:
    for turn in range(TURNS):
        for name in NAMES:
            asked = f"Question {turn} " + ("is the same for all" if turn == 0 else f"by {name}")
            if name == "stream":
                streamed = Runner.run_streamed(agent, asked, run_config=config, session=sessions[name])
                async for _ in streamed.stream_events():
                    pass
            else:
                await Runner.run(agent, asked, run_config=config, session=sessions[name])


@pytest.mark.parametrize("provider", ["responses", "openai"])
def test_openai_agents(provider: ProviderName) -> None:
    async def all_turns() -> list[list[Any]]:
        sessions = {name: SQLiteSession(name) for name in NAMES}
        await converse(agent, config, sessions)
        stored = [await session.get_items() for session in sessions.values()]
        for session in sessions.values():
            session.close()
        return stored

    with running() as server:
        agent = Agent(name="Helper", instructions=SYSTEM, model=model_of(provider, server), tools=[look_up])
        config = RunConfig(call_model_input_filter=CupelInputFilter(BUDGET, counter=count_words), tracing_disabled=True)
        stored = asyncio.run(all_turns())
        server.check(provider, BUDGET, requests=REQUESTS, whole=TURNS * 7 - 1)
    for items in stored:
        assert len([each for each in items if each.get("role") == "user"]) == TURNS
        assert len([each for each in items if each.get("type") == "function_call_output"]) == TURNS * 3


@pytest.mark.parametrize("provider", ["responses", "openai"])
def test_conversations_at_the_same_time(provider: ProviderName) -> None:
    """Each is sent what it would be sent alone."""

    def make(server: Provider) -> Ask:
        stored: dict[str, list[Any]] = defaultdict(list)
        agent = Agent(name="Helper", instructions=SYSTEM, model=model_of(provider, server), tools=[look_up])
        config = RunConfig(call_model_input_filter=CupelInputFilter(BUDGET, counter=count_words), tracing_disabled=True)

        async def ask(name: str, asked: str) -> None:
            given: list[Any] = [*stored[name], {"role": "user", "content": asked}]
            stored[name] = (await Runner.run(agent, given, run_config=config)).to_input_list()

        return ask

    check_at_once(make, provider, BUDGET)


@pytest.mark.unmeasured
def test_200_turns_in_a_small_window() -> None:
    """None invalid, none too large, all stored. The library by itself reuses 0.715 of the prompts with these items."""
    questions = [f"Question {turn} about the log" for turn in range(200)]

    async def talk() -> list[Any]:
        session = SQLiteSession("t")
        for asked in questions:
            await Runner.run(agent, asked, run_config=config, session=session)
        items: list[Any] = await session.get_items()
        session.close()
        return items

    with running(1) as server:
        agent = Agent(name="Helper", instructions=SYSTEM, model=model_of("responses", server), tools=[look_up])
        config = RunConfig(call_model_input_filter=CupelInputFilter(BUDGET, counter=count_words), tracing_disabled=True)
        stored = asyncio.run(talk())
        server.check("responses", BUDGET, requests=400, whole=200)
    assert [each["content"] for each in stored if each.get("role") == "user"] == questions
    assert reused([body["input"] for body in server.sent]) > 0.71


@function_tool(name_override="look_up")
def look_up_much(key: str) -> str:
    """Look something up."""
    return LARGE


@pytest.mark.parametrize("provider", ["responses", "openai"])
def test_large_results_do_not_end_an_agent(provider: ProviderName) -> None:
    """Each is four times as large as the budget. What the run keeps is whole."""
    with running() as server:
        agent = Agent(name="Helper", model=model_of(provider, server), tools=[look_up_much])
        config = RunConfig(call_model_input_filter=CupelInputFilter(BUDGET, counter=count_words), tracing_disabled=True)
        items: list[Any] = asyncio.run(Runner.run(agent, "Look it up.", run_config=config)).to_input_list()
        server.check(provider, BUDGET, requests=STEPS + 1, whole=10)
        assert "value_" in str(server.sent[-1])
    assert [each["output"] for each in items if each.get("type") == "function_call_output"] == [LARGE] * 3
