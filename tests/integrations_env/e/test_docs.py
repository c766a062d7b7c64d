"""The page about the hook: its blocks run, with a fake model in place of the reader's."""

from __future__ import annotations

from crewai.tools import tool as crew_tool

from tests.integrations_env.agents import Brain, look_up
from tests.integrations_env.documentation import run_blocks
from tests.integrations_env.e.test_crewai import FakeLLM


def test_crewai() -> None:
    names = run_blocks("crewAI", llm=FakeLLM(Brain()), tools=[crew_tool(look_up)])
    assert str(names["answer"]).startswith("Done")
