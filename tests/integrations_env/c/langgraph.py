"""Agents of deepagents and LangChain, with a model that asks a brain."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from deepagents import create_deep_agent
from langchain.agents import create_agent
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage, HumanMessage
from langchain_core.messages.utils import convert_to_openai_messages
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from langchain_core.tools import tool as langchain_tool
from langchain_core.utils.function_calling import convert_to_openai_tool
from langgraph.checkpoint.memory import InMemorySaver

from pycupel.fields import as_json
from pycupel.integrations.langchain import CupelMiddleware
from tests.integrations_env.agents import BUDGET, Brain, Framework, look_up
from tests.integrations_env.sessions import SYSTEM

__all__ = ["DeepAgent", "FakeModel", "LangChain"]


class FakeModel(BaseChatModel):
    """Asks the brain of the conversation that the question names."""

    brain: Any
    tools: Any = ()

    @property
    def _llm_type(self) -> str:
        return "fake"

    def bind_tools(self, tools: Any, **kwargs: Any) -> Any:
        return self.model_copy(update={"tools": list(map(convert_to_openai_tool, tools))})

    def _generate(self, messages: list[BaseMessage], *args: Any, **kwargs: Any) -> ChatResult:
        return ChatResult(generations=[ChatGeneration(message=self._reply(messages))])

    def _stream(self, messages: list[BaseMessage], *args: Any, **kwargs: Any) -> Iterator[ChatGenerationChunk]:
        reply = self._reply(messages)
        chunks = [
            {"name": c["name"], "args": as_json({"key": self.brain.key}), "id": c["id"], "index": n}
            for n, c in enumerate(reply.tool_calls)
        ]
        yield ChatGenerationChunk(message=AIMessageChunk(content=reply.content, tool_call_chunks=chunks))

    def _reply(self, messages: list[BaseMessage]) -> AIMessage:
        calls = self.brain.calls(
            is_question=messages[-1].type == "human",
            messages=list(map(_as_sent, convert_to_openai_messages(messages))),
            tools=self.tools,
        )
        key = {"key": self.brain.key}
        return AIMessage(
            "" if calls else self.brain.answer,
            tool_calls=[{"name": "look_up", "args": key, "id": each} for each in calls],
        )


def _as_sent(message: dict[str, Any]) -> dict[str, Any]:
    """As OpenAI is sent it: without the tool's name; and without spaces that the counter of these tests would count."""
    for call in message.get("tool_calls", ()):
        call["function"]["arguments"] = as_json(json.loads(call["function"]["arguments"]))
    return {name: value for name, value in message.items() if name != "name"}


class DeepAgent(Framework):
    """`create_deep_agent`, whose own tools and prompt have thousands of words. All have one middleware."""

    provider = "openai"
    budget = 6_000

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.middleware = CupelMiddleware(**self.options)
        self.graphs: dict[str, Any] = {}

    def _graph(self, brain: Brain) -> Any:
        return create_deep_agent(
            FakeModel(brain=brain),
            [langchain_tool(look_up)],
            system_prompt=SYSTEM,
            middleware=[self.middleware],
            checkpointer=InMemorySaver(),
            **self.agent_options,
        )

    async def ask(self, name: str, question: str, *, stream: bool = False) -> str:
        if name not in self.graphs:
            self.graphs[name] = self._graph(self.brains[name])
        graph, thread = self.graphs[name], {"configurable": {"thread_id": name}}
        given = {"messages": [HumanMessage(question)]}
        if stream:
            chunks = [chunk async for chunk, _ in graph.astream(given, thread, stream_mode="messages")]
            return "".join(str(each.content) for each in chunks if each.type == "AIMessageChunk").strip()
        return str((await graph.ainvoke(given, thread))["messages"][-1].content).strip()

    async def stored(self, name: str) -> list[str]:
        state = await self.graphs[name].aget_state({"configurable": {"thread_id": name}})
        return [each.content for each in state.values["messages"] if each.content]


class LangChain(DeepAgent):
    """`create_agent`, which adds nothing of its own."""

    budget = BUDGET

    def _graph(self, brain: Brain) -> Any:
        options: dict[str, Any] = {"middleware": [self.middleware], "checkpointer": InMemorySaver()}
        return create_agent(FakeModel(brain=brain), [langchain_tool(look_up)], system_prompt=SYSTEM, **options)
