"""Measures a trimmer: whether a provider accepts what it leaves, and how much of a prompt stays the same."""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from pycupel.messages import lint_messages
from tests.integrations_env.a.trimmers import Message, Trimmer, words
from tests.integrations_env.sessions import agent_session

__all__ = ["PAGE", "SESSIONS", "SHARES", "Comparison", "compare", "documented_comparisons"]

SESSIONS = [agent_session(seed, turns=7) for seed in range(5)]
SHARES = [(n + 2) / 44 for n in range(40)]
LONG_SESSION = agent_session(99, turns=30)
PAGE = Path(__file__).parents[3] / "docs" / "frameworks.md"


class Comparison(NamedTuple):
    """`invalid` counts the trims that a provider refuses, `reused` is the share of a prompt that was sent before."""

    invalid: int
    reused: float


def compare(make: Callable[[], Trimmer]) -> Comparison:
    trims = [make()(session, int(words(session) * share)) for session in SESSIONS for share in SHARES]
    return Comparison(
        sum(bool(lint_messages(kept, "openai")) for kept in trims), _reused(make(), words(LONG_SESSION) // 4)
    )


def _reused(trim: Trimmer, budget: int) -> float:
    """The session is trimmed before each call of the model, that is, whenever the assistant speaks next."""
    calls = [i for i, message in enumerate(LONG_SESSION) if message["role"] == "assistant"]
    prompts = [trim(LONG_SESSION[:i], budget) for i in calls if words(LONG_SESSION[:i]) > budget]
    reused = sum(words(_common_start(before, after)) for before, after in pairwise(prompts))
    return reused / sum(words(prompt) for prompt in prompts[1:])


def _common_start(before: list[Message], after: list[Message]) -> list[Message]:
    length = next(
        (i for i, (then, now) in enumerate(zip(before, after, strict=False)) if then != now),
        min(len(before), len(after)),
    )
    return after[:length]


def documented_comparisons() -> dict[str, Comparison]:
    """What the page says, by the names of the trimmers."""
    rows = re.findall(r"^\| (.+) \| (\d+) of 200 \| (\d+) ?% \|$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    return {name: Comparison(int(invalid), int(percent) / 100) for name, invalid, percent in rows}
