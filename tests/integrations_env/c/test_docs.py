"""The pages about hooks: their blocks run, with fake models in place of the reader's."""

from __future__ import annotations

import asyncio
import subprocess
import sys

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage
from langchain_core.tools import tool as langchain_tool
from strands import tool as strands_tool

from tests.integrations_env.agents import Brain, look_up
from tests.integrations_env.c import agent_framework, google_adk, langgraph, strands
from tests.integrations_env.documentation import block_of, run_blocks


def test_google_adk() -> None:
    brain = Brain()
    names = run_blocks(
        "Google's ADK", model=google_adk.FakeModel(model="gemini-2.5-flash", brain=brain), tools=[look_up]
    )
    assert len(names["events"]) == 3
    assert len(brain.sent) == 2


def test_agent_framework() -> None:
    brain = Brain()
    names = run_blocks("Microsoft Agent Framework", client=agent_framework.FakeClient(brain), tools=[look_up])
    assert names["response"].text.startswith("Done")
    assert len(brain.sent) == 2


def test_strands() -> None:
    brain = Brain()
    names = run_blocks("Strands Agents", model=strands.FakeModel(brain), tools=[strands_tool(look_up)])
    assert str(names["result"]).startswith("Done")
    assert len(names["history"]) == 4


def test_deepagents() -> None:
    brain = Brain()
    model = langgraph.FakeModel(brain=brain)
    messages: list[BaseMessage] = [HumanMessage("Hello!"), AIMessage("Hello."), HumanMessage("What is there?")]
    names = run_blocks("deepagents and LangGraph", model=model, tools=[langchain_tool(look_up)], messages=messages)
    assert len(names["state"]["messages"]) == 6
    [answer] = names["call_model"]({"messages": messages})["messages"]
    assert answer.tool_calls


def test_claude_agent_sdk() -> None:
    [matcher] = run_blocks("Claude Agent SDK")["options"].hooks["PostToolUse"]
    event = {"hook_event_name": "PostToolUse", "tool_name": "Bash", "tool_response": "word " * 9_000}
    assert asyncio.run(matcher.hooks[0](event, "toolu_1", {}))


def test_a_trace_of_an_agent() -> None:
    """In a process of its own, because there is one provider of tracers in a process."""
    program = (
        "from tests.integrations_env.c.test_docs import *\n"
        "model = google_adk.FakeModel(model='gemini-2.5-flash', brain=Brain('07:34', rounds=3))\n"
        'run_blocks("An agent\'s run", model=model, tools=[look_up])\n'
    )
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, encoding="utf-8", check=True)
    assert run.stdout == block_of("An agent's run", "text")
