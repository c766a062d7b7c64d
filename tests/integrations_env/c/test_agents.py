"""What every history hook must show, in each framework of this environment."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from pycupel.messages import MessageSelection
from tests.integrations_env.agents import GIANT, Brain, Framework, look_up
from tests.integrations_env.c.agent_framework import AgentFramework
from tests.integrations_env.c.google_adk import Adk
from tests.integrations_env.c.langgraph import DeepAgent, LangChain
from tests.integrations_env.c.strands import Strands, StrandsOnBedrock

FRAMEWORKS: list[type[Framework]] = [Adk, AgentFramework, DeepAgent, LangChain, Strands, StrandsOnBedrock]
each_framework = pytest.mark.parametrize("framework", FRAMEWORKS)


@each_framework
def test_a_long_turn(framework: type[Framework]) -> None:
    made = framework()
    asyncio.run(made.talk("ann", 3, rounds=15))


@each_framework
def test_streaming(framework: type[Framework]) -> None:
    made = framework()
    asyncio.run(made.talk("ann", 20, stream=True))


@each_framework
def test_conversations_at_the_same_time(framework: type[Framework]) -> None:
    """Each is sent what it would be sent alone."""
    together, alone = framework(), framework()

    async def all_at_once() -> None:
        await asyncio.gather(*(together.talk(name, 15) for name in ("ann", "bob", "eve")))

    asyncio.run(all_at_once())
    asyncio.run(alone.talk("bob", 15))
    sent, expected = (repr([each["messages"] for each in made.brains["bob"].sent]) for made in (together, alone))
    assert sent == expected


@each_framework
def test_a_giant_result_does_not_end_an_agent(framework: type[Framework]) -> None:
    """It is four times as large as the budget, and stored whole."""
    made = framework()
    made.brains["ann"] = Brain(GIANT)
    answer = asyncio.run(made.ask("ann", "What is there?"))
    assert answer.startswith("Done")
    assert look_up(GIANT) in asyncio.run(made.stored("ann"))
    made.brains["ann"].check(made.provider, requests=2, budget=made.budget)
    assert "value_" in str(made.brains["ann"].sent[-1]["messages"])


@each_framework
def test_selections_can_be_observed_and_messages_pinned(framework: type[Framework]) -> None:
    """Both are given the library's own messages."""
    seen: list[MessageSelection] = []
    made = framework(on_selection=seen.append, pin=lambda each: "Question 0" in f"{each!r}{getattr(each, 'text', '')}")
    asyncio.run(made.talk("ann", 30 if made.budget < 1_000 else 50))
    assert {each.kept[0] for each in seen} == {0}
    assert seen[-1].history_length == len(seen[-1].source)
    assert 0 < len(seen[-1].dropped) == len(seen[-1].source) - len(seen[-1].messages)


@each_framework
def test_the_instructions_and_tools_count(framework: type[Framework]) -> None:
    seen: list[MessageSelection] = []
    made = framework(on_selection=seen.append)
    asyncio.run(made.talk("ann", 1))
    assert seen[0].usage.system > 5
    assert seen[0].usage.tools > 5
    assert seen[0].usage.window == made.budget


@each_framework
def test_an_unknown_option_is_refused(framework: type[Framework]) -> None:
    options: dict[str, Any] = {"shortn": "results"}
    with pytest.raises(TypeError, match="did you mean 'shorten'"):
        framework(**options)
