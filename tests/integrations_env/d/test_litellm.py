"""Agents on LiteLLM, in a program, against a server that answers like Anthropic and OpenAI.

What is checked is what was really sent.
"""

from __future__ import annotations

import asyncio
import copy
import socket
from collections.abc import Callable
from typing import Any

import litellm
import pytest
from pydantic import BaseModel

from pycupel.integrations.litellm import CupelHandler
from pycupel.messages import MessageSelection
from tests.integrations_env.agents import TURNS, reused, selected_from
from tests.integrations_env.d.requests import SHAPES, converse
from tests.integrations_env.provider import Ask, Provider, check_at_once, running
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
# In so small a window: Claude's prompt for tools and the signatures of its thoughts take more than half of it.
LEAST_REUSED = {"openai": 0.75, "anthropic": 0.37, "responses": 0.7}
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
@each_provider
def test_200_turns_in_a_small_window(provider: Any) -> None:
    with running(1) as server:
        agent = Agent(server, provider)

        async def talk() -> None:
            for turn in range(TURNS):
                await agent.ask(f"Question {turn} about the log", whole)

        asyncio.run(talk())
        server.check(provider, BUDGET, requests=TURNS * 2, whole=TURNS)
        assert len([each for each in agent.messages if each["role"] == "user"]) == TURNS


@each_provider
def test_what_is_sent_is_what_the_library_selects_by_itself(provider: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """So no prompt reuses less of the one before than it would without LiteLLM."""
    prompts: list[list[Any]] = []
    for callbacks in ([], [CupelHandler(BUDGET, counter=count_words)]):
        monkeypatch.setattr(litellm, "callbacks", callbacks)
        with running(1) as server:
            agent = Agent(server, provider)

            async def talk(agent: Agent = agent) -> None:
                for turn in range(30):
                    await agent.ask(f"Question {turn} about the log", whole)

            asyncio.run(talk())
        if not callbacks:
            prompts.append(selected_from(server.sent, provider))
    prompts.append([body["messages"] for body in server.sent])
    own, sent = map(reused, prompts)
    assert sent == pytest.approx(own, abs=0.01)
    assert sent > LEAST_REUSED[provider]


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
def test_conversations_at_the_same_time_are_sent_what_they_would_be_sent_alone(provider: Any) -> None:
    def make(server: Provider) -> Ask:
        agents: dict[str, Agent] = {}

        async def ask(name: str, question: str) -> None:
            await agents.setdefault(name, Agent(server, provider)).ask(question, whole)

        return ask

    check_at_once(make, provider, BUDGET)


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


class Native:
    """LiteLLM's functions for the requests of Anthropic's Messages and of OpenAI's Responses."""

    def __init__(self, shape: str, server: Provider, **options: Any) -> None:
        self._call: Any = {"anthropic": litellm.anthropic_messages, "responses": litellm.aresponses}[shape]
        self._options = {"model": MODELS.get(shape, MODELS["openai"]), "api_base": server.url, "api_key": "none"}
        self._options |= options

    async def __call__(self, **request: Any) -> dict[str, Any]:
        return _as_dict(await self._call(**self._options, **request))


def _as_dict(response: Any) -> dict[str, Any]:
    shape: dict[str, Any] = response if isinstance(response, dict) else response.model_dump(exclude_none=True)
    return shape


@pytest.mark.usefixtures("handler")
@pytest.mark.parametrize("shape", SHAPES)
def test_200_turns_of_requests_that_have_the_shape_of_the_provider(shape: Any) -> None:
    with running(1) as server:
        history = asyncio.run(converse(shape, Native(shape, server), TURNS))
        server.check(shape, BUDGET, requests=TURNS * 2, whole=TURNS)
        prompts = [body["input" if shape == "responses" else "messages"] for body in server.sent]
        assert reused(prompts) > LEAST_REUSED[shape]
        assert len([each for each in history if each.get("role") == "user" and "Question" in str(each)]) == TURNS


@pytest.mark.usefixtures("handler")
@pytest.mark.parametrize("shape", SHAPES)
def test_conversations_at_the_same_time_with_the_shape_of_the_provider(shape: Any) -> None:
    with running(1) as server:

        async def all_at_once() -> None:
            await asyncio.gather(*(converse(shape, Native(shape, server), 15) for _ in range(3)))

        asyncio.run(all_at_once())
        server.check(shape, BUDGET, requests=3 * 15 * 2, whole=15 * 4)


@pytest.mark.usefixtures("handler")
@pytest.mark.parametrize("shape", SHAPES)
def test_a_giant_result_with_the_shape_of_the_provider(shape: Any) -> None:
    with running(1) as server:
        history = asyncio.run(converse(shape, Native(shape, server), 1, LARGE))
        server.check(shape, BUDGET, requests=2, whole=10)
        assert "value_" in str(server.sent[-1])
    assert str(history).count("value_999") == 2


@pytest.mark.usefixtures("handler")
@pytest.mark.parametrize("shape", SHAPES)
def test_a_stream_with_the_shape_of_the_provider(shape: Any) -> None:
    words = "word " * 300
    old = [{"role": role, "content": words} for role in ("user", "assistant") * 3]
    messages = [*old, {"role": "user", "content": "Well?"}]
    with running(0) as server:
        options: Any = {"input": messages} if shape == "responses" else {"messages": messages, "max_tokens": 10}

        async def ask() -> list[Any]:
            call = Native(shape, server)._call
            stream = await call(**Native(shape, server)._options, **options, stream=True)
            return [chunk async for chunk in stream]

        assert "as far as I can tell" in str(asyncio.run(ask()))
        server.check(shape, BUDGET, requests=1, whole=7)
        assert server.sent[0]["stream"]
    assert len(messages) == 7


def test_a_session_is_known_by_its_id() -> None:
    seen: list[MessageSelection] = []
    handler = CupelHandler(BUDGET, counter=count_words, on_selection=seen.append)
    messages = [{"role": "user", "content": "Why?"}]
    for more in ({"litellm_session_id": "s"}, {"metadata": {"session_id": "s"}}, {"metadata": None}):
        handler.trim_request(model="openai/gpt-4o", messages=messages, **more)
    assert [each.stable_prefix_tokens > 0 for each in seen] == [False, True, False]


def test_the_schema_of_other_requests_counts_too() -> None:
    seen: list[MessageSelection] = []
    handler = CupelHandler(BUDGET, counter=count_words, on_selection=seen.append, pin=lambda each: "Why" in str(each))
    ask = [{"role": "user", "content": "Why?"}]
    schema = {"type": "json_schema", "name": "v", "schema": Verdict.model_json_schema()}
    requests: list[tuple[str, dict[str, Any]]] = [
        ("aresponses", {"input": ask, "instructions": "Be brief."}),
        ("aresponses", {"input": ask, "text": {"format": schema}}),
        ("aresponses", {"input": ask, "text_format": Verdict}),
        ("aresponses", {"input": ask, "text": {"format": {"type": "text"}}}),
        ("anthropic_messages", {"messages": ask, "output_config": {"format": schema}}),
        ("anthropic_messages", {"messages": ask, "output_format": schema}),
    ]
    for call_type, request in requests:
        asyncio.run(handler.async_pre_call_deployment_hook({"model": "gpt-4o", **request}, call_type))
    assert [each.provider for each in seen] == ["responses"] * 4 + ["anthropic"] * 2
    assert [each.usage.tools > 3 for each in seen] == [False, True, True, False, True, True]
    assert seen[0].usage.system > 0


@pytest.mark.parametrize("name", ["previous_response_id", "conversation"])
def test_a_conversation_on_the_server_is_left_alone(name: str) -> None:
    """The calls of these results are there."""
    handler = CupelHandler(BUDGET, counter=count_words)
    result = {"type": "function_call_output", "call_id": "c", "output": "word " * 2_000}
    request = {"model": "gpt-4o", "input": [result], name: "id"}
    assert asyncio.run(handler.async_pre_call_deployment_hook(request, "aresponses")) == request


def test_the_proxys_hook_trims_for_a_name_that_no_router_knows() -> None:
    """And the deployment's hook then has nothing to do, unless it is for another model or a message was added."""
    seen: list[MessageSelection] = []
    handler = CupelHandler(BUDGET, counter=count_words, on_selection=seen.append)
    old = [{"role": role, "content": "word " * 300} for role in ("user", "assistant") * 3]
    data = {"model": "gpt-4o", "messages": [*old, {"role": "user", "content": "Well?"}]}
    trimmed = asyncio.run(handler.async_pre_call_hook(None, None, data, "acompletion"))
    assert trimmed is not None
    assert trimmed["model"] == "gpt-4o"
    assert len(trimmed["messages"]) < len(data["messages"]) == 7
    more: dict[str, Any] = {"messages": copy.copy(trimmed["messages"])}
    more["messages"].append({"role": "user", "content": "And?"})
    for expected, change in ((1, {}), (2, {"model": "anthropic/claude-haiku-4-5"}), (3, more)):
        asyncio.run(handler.async_pre_call_deployment_hook({**trimmed, **change}, "acompletion"))
        assert len(seen) == expected
    for call_type, other in (("aembedding", {"input": ["text"]}), ("pass_through_endpoint", data)):
        assert asyncio.run(handler.async_pre_call_hook(None, None, other, call_type)) is None
    text = {"model": "gpt-4o", "input": "text"}
    assert asyncio.run(handler.async_pre_call_hook(None, None, text, "aresponses")) == text


def test_other_calls_are_left_alone() -> None:
    handler = CupelHandler(BUDGET, counter=count_words)
    assert asyncio.run(handler.async_pre_call_deployment_hook({"input": "text"}, "aembedding")) is None
    assert handler.trim_request(model="gpt-4o") == {"model": "gpt-4o"}


@pytest.mark.parametrize("stream", [False, True])
def test_the_router_trims_for_each_deployment_that_it_tries(stream: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first does not answer, nor when it is tried again: each time, and for the fallback, all is trimmed anew."""
    seen: list[MessageSelection] = []
    monkeypatch.setattr(litellm, "callbacks", [CupelHandler(BUDGET, counter=count_words, on_selection=seen.append)])
    old = [{"role": role, "content": "word " * 300} for role in ("user", "assistant") * 3]
    messages = [*old, {"role": "user", "content": "Well?"}]
    # Nobody listens on a port that is bound and nothing more.
    with running(0) as server, socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        places = {"openai": f"http://127.0.0.1:{silent.getsockname()[1]}", "anthropic": server.url}
        params = {name: {"model": MODELS[name], "api_base": url, "api_key": "none"} for name, url in places.items()}
        router = litellm.Router(
            [{"model_name": name, "litellm_params": each} for name, each in params.items()],
            fallbacks=[{"openai": ["anthropic"]}],
            num_retries=1,
            retry_after=0,
            disable_cooldowns=True,
        )

        async def ask() -> None:
            answer: Any = await router.acompletion("openai", messages, stream=stream, max_retries=0)  # type: ignore[arg-type,call-overload]
            if stream:
                assert [chunk async for chunk in answer]

        asyncio.run(ask())
        server.check("anthropic", BUDGET, requests=1, whole=7)
        assert server.sent[0].get("stream", False) == stream
    assert [each.provider for each in seen] == ["openai", "openai", "anthropic"]
    assert [each.history_length for each in seen] == [7, 7, 7]
    assert len(messages) == 7
