"""What is special about deepagents: its own summarisation, subagents and structured output."""

from __future__ import annotations

import asyncio
from typing import Any

from deepagents import create_deep_agent
from deepagents.backends import StateBackend
from deepagents.middleware.summarization import SummarizationMiddleware
from langchain.agents.structured_output import ToolStrategy
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage
from langchain_core.tools import tool as langchain_tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode, tools_condition
from pydantic import BaseModel

from pycupel.integrations.langchain import CupelMiddleware
from pycupel.messages import MessageSelection, select_messages
from tests.integrations_env.agents import Brain, look_up, reused
from tests.integrations_env.c.langgraph import DeepAgent, FakeModel
from tests.integrations_env.sessions import count_words


class Verdict(BaseModel):
    """What the agent answers."""

    reason: str


class VerdictModel(FakeModel):
    """Answers with a call of the tool that the structured output is."""

    def _reply(self, messages: list[BaseMessage]) -> AIMessage:
        return AIMessage("", tool_calls=[{"name": "Verdict", "args": {"reason": "because"}, "id": "v1"}])


def test_structured_output() -> None:
    """Its schema counts."""
    seen: list[MessageSelection] = []
    for response_format, model in ((None, FakeModel), (ToolStrategy(Verdict), VerdictModel)):
        middleware = CupelMiddleware(6_000, counter=count_words, on_selection=seen.append)
        brain = Brain(rounds=0)
        agent = create_deep_agent(model(brain=brain), middleware=[middleware], response_format=response_format)
        result = agent.invoke({"messages": [HumanMessage("Why?")]})
    assert result["structured_response"] == Verdict(reason="because")
    assert seen[-1].usage.tools > seen[0].usage.tools


def test_its_own_tools_and_prompt_count() -> None:
    seen: list[MessageSelection] = []
    made = DeepAgent(on_selection=seen.append)
    asyncio.run(made.talk("ann", 2))
    assert seen[0].usage.tools > 1_000


def test_its_summarisation_goes_together_with_the_hook() -> None:
    """It summarises what the state holds at once; the hook trims what is sent at every call, and comes after it."""
    sent: list[list[BaseMessage]] = []

    class Noting(FakeModel):
        def _reply(self, messages: list[BaseMessage]) -> AIMessage:
            sent.append(messages)
            return super()._reply(messages)

    brain = Brain("ann")
    model = Noting(brain=brain)
    seen: list[MessageSelection] = []
    summarisation = SummarizationMiddleware(
        model, backend=StateBackend(), trigger=("messages", 40), keep=("messages", 10)
    )
    agent = create_deep_agent(
        model,
        [langchain_tool(look_up)],
        middleware=[summarisation, CupelMiddleware(6_000, counter=count_words, on_selection=seen.append)],
        checkpointer=InMemorySaver(),
    )
    for turn in range(30):
        agent.invoke({"messages": [HumanMessage(f"Question {turn}")]}, {"configurable": {"thread_id": "t"}})
    # A summary was made, by a call of its own, and the hook saw it instead of what it covers.
    assert any("summar" in str(each.content).lower() for messages in sent for each in messages)
    assert max(each.history_length for each in seen) <= 45
    state = agent.get_state({"configurable": {"thread_id": "t"}}).values["messages"]
    assert len([each for each in state if each.type == "human"]) >= 30


def test_a_plain_node_of_a_graph() -> None:
    """It selects before it calls its model, as the page shows it; the state keeps everything."""
    brain, tools = Brain("ann"), [langchain_tool(look_up)]
    model = FakeModel(brain=brain).bind_tools(tools)

    def call_model(state: MessagesState) -> dict[str, Any]:
        selection = select_messages(
            state["messages"], 900, provider="openai", counter=count_words, tools=model.tools, too_large="shorten"
        )
        return {"messages": [model.invoke(selection.messages)]}

    graph = StateGraph(MessagesState)
    graph.add_node("model", call_model)
    graph.add_node("tools", ToolNode(tools))
    graph.add_edge(START, "model")
    graph.add_conditional_edges("model", tools_condition)
    graph.add_edge("tools", "model")
    agent = graph.compile(checkpointer=InMemorySaver())
    for turn in range(25):
        state = agent.invoke({"messages": [HumanMessage(f"Question {turn}")]}, {"configurable": {"thread_id": "t"}})
    brain.check("openai", requests=50)
    assert len(brain.sent[-1]["messages"]) < len(state["messages"]) == 25 * 4 + 8
    assert reused(brain.prompts()) > 0.8
