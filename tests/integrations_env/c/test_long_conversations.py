"""Two hundred turns of an agent with tools, in each framework of this environment."""

from __future__ import annotations

import asyncio

from tests.integrations_env.agents import TURNS, Framework
from tests.integrations_env.c.test_agents import each_framework


@each_framework
def test_200_turns_in_a_small_window(framework: type[Framework]) -> None:
    """None invalid, none too large, everything stored, and most of each prompt is that of the one before."""
    made = framework()
    asyncio.run(made.talk("ann", TURNS))
    brain = made.brains["ann"]
    assert len(brain.sent[-1]["messages"]) < TURNS
    assert brain.reused() > 0.65
