"""Two hundred turns of an agent with tools, in each framework of this environment."""

from __future__ import annotations

import asyncio

from tests.integrations_env.agents import TURNS, Framework, reused, selected_from
from tests.integrations_env.c.test_agents import each_framework


@each_framework
def test_200_turns_in_a_small_window(framework: type[Framework]) -> None:
    """None invalid, none too large, everything stored, and most of each prompt is that of the one before.

    How much is reused is the library's own figure, as the next test shows: 0.80 to 0.98, and 0.70 for Claude, also on
    Bedrock, whose prompt for tools takes 346 tokens of a window of 900.
    """
    made = framework()
    asyncio.run(made.talk("ann", TURNS))
    brain = made.brains["ann"]
    assert len(brain.sent[-1]["messages"]) < TURNS
    assert reused(brain.prompts()) > (0.69 if made.provider in ("anthropic", "converse") else 0.79)


@each_framework
def test_what_is_sent_is_what_the_library_selects_by_itself(framework: type[Framework]) -> None:
    trimmed, whole = framework(), framework(budget=1_000_000)
    for made in (trimmed, whole):
        asyncio.run(made.talk("ann", 60))
    expected = selected_from(whole.brains["ann"].sent, trimmed.provider, trimmed.budget)
    assert trimmed.brains["ann"].prompts() == expected
    assert len(expected[-1]) < len(whole.brains["ann"].prompts()[-1])
