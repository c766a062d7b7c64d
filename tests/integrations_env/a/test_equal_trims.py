"""How many trims of LangChain's `trim_messages` are the same here. docs/migration.md states the figures."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from random import Random

from langchain_core.messages import BaseMessage, convert_to_messages, trim_messages

from pycupel import select_messages
from pycupel.messages import count_messages
from tests.integrations_env.sessions import agent_session, count_words

PAGE = Path(__file__).parents[3] / "docs/migration.md"
HISTORIES = 500


def _trims(seed: int) -> tuple[list[int], list[int]]:
    """The indices that both keep of a history, with and without a system prompt, in 20 to 90 % of its tokens."""
    source = Random(seed)
    history = agent_session(seed, source.randint(3, 30))[source.randint(0, 1) :]
    budget = int(source.uniform(0.2, 0.9) * count_messages(history, "openai", count_words))
    messages = convert_to_messages(history)
    for n, message in enumerate(messages):
        message.id = str(n)

    def count(given: Sequence[BaseMessage]) -> int:
        return count_messages([history[int(message.id or 0)] for message in given], "openai", count_words)

    theirs = trim_messages(
        messages, max_tokens=budget, token_counter=count, strategy="last", include_system=True, start_on="human"
    )
    ours = select_messages(history, budget, provider="openai", counter=count_words, stable=False, shorten=None)
    return [int(message.id or 0) for message in theirs], [*ours.kept]


def test_the_page_states_how_many_are_equal() -> None:
    trims = [_trims(seed) for seed in range(HISTORIES)]
    equal = sum(theirs == ours for theirs, ours in trims)
    more = sum(set(theirs) < set(ours) for theirs, ours in trims)
    other = HISTORIES - equal - more
    stated = re.search(r"Of (\d+) trims, (\d+) are\s+equal, in (\d+) .*?, and (\d+)", PAGE.read_text(), re.DOTALL)
    assert stated is not None
    assert tuple(map(int, stated.groups())) == (HISTORIES, equal, more, other)
