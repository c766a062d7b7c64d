"""The page about hooks: the block for the OpenAI Agents SDK runs, with a fake model in place of the reader's."""

from __future__ import annotations

from tests.integrations_env.b.test_openai_agents import FakeModel, items, look_up
from tests.integrations_env.documentation import run_blocks


def test_openai_agents() -> None:
    model, given = FakeModel(calls=0), items(turns=60)
    names = run_blocks("OpenAI Agents SDK", model=model, tools=[look_up], items=given)
    assert len(model.seen[0]) < len(given) == len(names["history"]) - 1
