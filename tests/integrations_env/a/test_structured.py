"""Structured output of agents with long histories: the agent returns it, and what the model saw fits."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest
from haystack.components.agents import Agent as HaystackAgent
from haystack.dataclasses import ChatMessage as HaystackMessage
from langchain.agents import create_agent
from langchain.agents.structured_output import ToolStrategy
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from llama_index.core.agent.workflow import FunctionAgent
from llama_index.core.llms import ChatMessage as LlamaMessage
from llama_index.core.tools import FunctionTool
from pydantic import BaseModel
from pydantic_ai import Agent as PydanticAgent
from pydantic_ai.messages import ModelMessage, ModelResponse, ToolCallPart
from pydantic_ai.models.function import AgentInfo, FunctionModel

from pycupel.integrations.haystack import CupelChatGenerator
from pycupel.integrations.langchain import CupelMiddleware
from pycupel.integrations.llama_index import CupelMemory
from pycupel.integrations.pydantic_ai import CupelHistory
from pycupel.messages import MessageSelection
from tests.integrations_env.a import (
    test_conversations as conversations,
    test_langchain as langchain,
    test_llama_index as llama_index,
    test_pydantic_ai as pydantic_ai,
)
from tests.integrations_env.provider import running
from tests.integrations_env.sessions import count_words

BUDGET = 700


class Verdict(BaseModel):
    """What an agent answers."""

    reason: str


@pytest.fixture
def seen() -> list[MessageSelection]:
    return []


def check(seen: Sequence[MessageSelection], history: Sequence[Any]) -> None:
    assert seen
    assert len(seen[-1].kept) < len(history)
    assert seen[-1].usage.prompt <= BUDGET


def test_langchain(seen: list[MessageSelection]) -> None:
    class Model(langchain.FakeModel):
        def _generate(self, messages: list[BaseMessage], *args: Any, **kwargs: Any) -> ChatResult:
            reply = AIMessage("", tool_calls=[{"name": "Verdict", "args": {"reason": "because"}, "id": "v1"}])
            return ChatResult(generations=[ChatGeneration(message=reply)])

    middleware = CupelMiddleware(BUDGET, counter=count_words, on_selection=seen.append)
    history = langchain.history()
    agent: Any = create_agent(
        Model(), [langchain.look_up], middleware=[middleware], response_format=ToolStrategy(Verdict)
    )
    state = agent.invoke({"messages": history})
    assert state["structured_response"] == Verdict(reason="because")
    assert state["messages"][: len(history)] == history
    check(seen, history)
    assert seen[-1].usage.tools > langchain_tools()


def langchain_tools() -> int:
    """What the tool alone costs."""
    seen: list[MessageSelection] = []
    middleware = CupelMiddleware(BUDGET, counter=count_words, on_selection=seen.append)
    agent: Any = create_agent(langchain.FakeModel(seen=[], calls=0), [langchain.look_up], middleware=[middleware])
    agent.invoke({"messages": langchain.history()[:1]})
    return seen[0].usage.tools


def test_pydantic_ai(seen: list[MessageSelection]) -> None:
    def answer(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        return ModelResponse([ToolCallPart(info.output_tools[0].name, {"reason": "because"})])

    history = pydantic_ai.history()
    hook = CupelHistory(BUDGET, counter=count_words, on_selection=seen.append)
    agent = PydanticAgent(FunctionModel(answer), output_type=Verdict, capabilities=[hook])
    result = asyncio.run(agent.run("Why?", message_history=history))
    assert result.output == Verdict(reason="because")
    assert result.all_messages()[: len(history)] == history
    check(seen, history)
    assert seen[-1].usage.tools > 3


def test_haystack(seen: list[MessageSelection]) -> None:
    """The schema is an option of the generator, or of its run."""
    history = [HaystackMessage.from_user("word " * 60), HaystackMessage.from_assistant("word " * 60)] * 8
    schema = {"name": "verdict", "schema": Verdict.model_json_schema()}
    with running(0) as server:
        inner = conversations.haystack_generator("openai", server)
        inner.generation_kwargs = {"response_format": {"type": "json_schema", "json_schema": schema}}
        generator = CupelChatGenerator(inner, BUDGET, counter=count_words, on_selection=seen.append)
        agent = HaystackAgent(chat_generator=generator)
        agent.run(messages=[*history, HaystackMessage.from_user("Why?")])
        server.check("openai", BUDGET, requests=1, whole=len(history))
        assert server.sent[0]["response_format"]["json_schema"]["schema"]["title"] == "Verdict"
        check(seen, history)
        asked = inner.generation_kwargs.pop("response_format")
        for options in (None, {"response_format": asked}, {"response_format": {"type": "text"}}):
            generator.run([HaystackMessage.from_user("Why?")], generation_kwargs=options)
    assert [each.usage.tools > 3 for each in seen] == [True, False, True, False]


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_llama_index() -> None:
    given: list[list[LlamaMessage]] = []

    def structured(messages: list[LlamaMessage]) -> Any:
        given.append(messages)
        return {"reason": "because"}

    llm, tool = llama_index.FakeAnthropic(), FunctionTool.from_defaults(llama_index.look_up)
    memory = CupelMemory(budget=BUDGET, llm=llm, tools=[tool], options={"counter": count_words})
    agent = FunctionAgent(tools=[tool], llm=llm, streaming=False, structured_output_fn=structured)

    async def talk() -> Any:
        for turn in range(15):
            result = await agent.run(f"Question {turn}", memory=memory)
        return result

    assert Verdict.model_validate(asyncio.run(talk()).structured_response).reason == "because"
    assert len(given) == 15
    assert len(memory.get()) < len(memory.get_all())
