"""Agents on LiteLLM, against a server that answers like Anthropic and OpenAI.

What is checked is what was really sent.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import litellm
import pytest
from pydantic import BaseModel

from pycupel.integrations.litellm import CupelHandler
from pycupel.messages import MessageSelection
from tests.integrations_env.agents import TURNS
from tests.integrations_env.provider import Provider, running
from tests.integrations_env.sessions import LARGE, SYSTEM, count_words

BUDGET = 900
MODELS = {"openai": "openai/gpt-4o", "anthropic": "anthropic/claude-haiku-4-5"}
TOOL: dict[str, Any] = {
    "type": "function",
    "function": {
        "name": "look_up",
        "description": "Look something up.",
        "parameters": {"type": "object", "properties": {"key": {"type": "string"}}, "required": ["key"]},
    },
}
each_provider = pytest.mark.parametrize("provider", MODELS)


class Verdict(BaseModel):
    """What the model answers."""

    reason: str


@pytest.fixture
def handler(monkeypatch: pytest.MonkeyPatch) -> CupelHandler:
    made = CupelHandler(BUDGET, counter=count_words)
    monkeypatch.setattr(litellm, "callbacks", [made])
    return made


class Agent:
    """The loop that people write around `acompletion`: it keeps the whole history."""

    def __init__(self, server: Provider, provider: str, result: str = "found " * 40) -> None:
        self.options: dict[str, Any] = {"model": MODELS[provider], "api_base": server.url, "api_key": "none"}
        self.options["tools"] = [TOOL]
        self.messages: list[Any] = [{"role": "system", "content": SYSTEM}]
        self.result = result

    async def ask(self, question: str, complete: Callable[..., Any]) -> None:
        self.messages.append({"role": "user", "content": question})
        while True:
            before = list(self.messages)
            message = await complete(messages=self.messages, **self.options)
            assert self.messages == before
            self.messages.append(message)
            calls = message.get("tool_calls") or ()
            if not calls:
                return
            for call in calls:
                self.messages.append({"role": "tool", "tool_call_id": call["id"], "content": self.result})


async def whole(**request: Any) -> Any:
    return _plain((await litellm.acompletion(**request)).choices[0].message)


async def streamed(**request: Any) -> Any:
    chunks = [chunk async for chunk in await litellm.acompletion(stream=True, **request)]
    return _plain(litellm.stream_chunk_builder(chunks, messages=request["messages"]).choices[0].message)  # type: ignore[union-attr]


def _plain(message: Any) -> dict[str, Any]:
    shape: dict[str, Any] = message.model_dump(exclude_none=True)
    return {name: shape[name] for name in ("role", "content", "tool_calls", "thinking_blocks") if shape.get(name)}


@pytest.mark.usefixtures("handler")
@pytest.mark.parametrize("provider", ["openai"])
def test_200_turns_in_a_small_window(provider: Any) -> None:
    with running(1) as server:
        agent = Agent(server, provider)

        async def talk() -> None:
            for turn in range(TURNS):
                await agent.ask(f"Question {turn} about the log", whole)

        asyncio.run(talk())
        server.check(provider, BUDGET, requests=TURNS * 2, whole=TURNS)
        assert len([each for each in agent.messages if each["role"] == "user"]) == TURNS
        assert reused(server) > 0.6


def reused(server: Provider) -> float:
    """The share of the prompts that is an unchanged start of the one before."""
    prompts = [[json.dumps(each) for each in body["messages"]] for body in server.sent]
    same = [
        next((n for n, both in enumerate(zip(a, b, strict=False)) if both[0] != both[1]), min(len(a), len(b)))
        for a, b in pairwise(prompts)
    ]
    return sum(same) / sum(map(len, prompts[1:]))


@pytest.mark.usefixtures("handler")
@each_provider
def test_conversations_at_the_same_time_one_of_them_streamed(provider: Any) -> None:
    with running(1) as server:
        agents = [Agent(server, provider) for _ in range(3)]

        async def talk(agent: Agent, complete: Callable[..., Any]) -> None:
            for turn in range(15):
                await agent.ask(f"Question {turn} about the log", complete)

        async def all_at_once() -> None:
            await asyncio.gather(*map(talk, agents, (whole, whole, streamed)))

        asyncio.run(all_at_once())
        server.check(provider, BUDGET, requests=3 * 15 * 2, whole=15 * 4)
        assert [len([each for each in agent.messages if each["role"] == "user"]) for agent in agents] == [15] * 3


@pytest.mark.usefixtures("handler")
@each_provider
def test_a_giant_result_does_not_end_an_agent(provider: Any) -> None:
    with running(1) as server:
        agent = Agent(server, provider, LARGE)
        asyncio.run(agent.ask("What is there?", whole))
        server.check(provider, BUDGET, requests=2, whole=10)
        assert "value_" in str(server.sent[-1]["messages"])
        assert [each["content"] for each in agent.messages if each["role"] == "tool"] == [LARGE] * 2


def test_a_synchronous_call_is_trimmed_by_a_function() -> None:
    """The SDK calls no hook that could change its request."""
    old = [{"role": role, "content": "word " * 300} for role in ("user", "assistant") * 3]
    messages = [*old, {"role": "user", "content": "Well?"}]
    with running(0) as server:
        request = CupelHandler(BUDGET, counter=count_words).trim_request(
            model=MODELS["openai"], messages=messages, api_base=server.url, api_key="none"
        )
        litellm.completion(**request)
        server.check("openai", BUDGET, requests=1, whole=7)
    assert len(messages) == 7


def test_the_model_gives_the_limits_and_structured_output_counts() -> None:
    seen: list[MessageSelection] = []
    handler = CupelHandler("50%", counter=count_words, on_selection=seen.append)
    schema = {"type": "json_schema", "json_schema": {"name": "v", "schema": Verdict.model_json_schema()}}
    for response_format in (None, Verdict, schema, {"type": "json_object"}):
        handler.trim_request(
            model="openai/gpt-4o", messages=[{"role": "user", "content": "Why?"}], response_format=response_format
        )
    assert {each.usage.window for each in seen} == {64_000}
    plain, by_class, by_schema, by_name = (each.usage.tools for each in seen)
    assert plain == by_name == 0
    assert min(by_class, by_schema) > 3


def test_a_session_is_known_by_its_id() -> None:
    seen: list[MessageSelection] = []
    handler = CupelHandler(BUDGET, counter=count_words, on_selection=seen.append)
    messages = [{"role": "user", "content": "Why?"}]
    for more in ({"litellm_session_id": "s"}, {"metadata": {"session_id": "s"}}, {"metadata": None}):
        handler.trim_request(model="openai/gpt-4o", messages=messages, **more)
    assert [each.stable_prefix_tokens > 0 for each in seen] == [False, True, False]


def test_other_calls_are_left_alone() -> None:
    handler = CupelHandler(BUDGET, counter=count_words)
    assert asyncio.run(handler.async_pre_call_deployment_hook({"input": "text"}, "aembedding")) is None
    assert handler.trim_request(model="gpt-4o") == {"model": "gpt-4o"}
