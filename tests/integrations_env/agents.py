"""What every history hook must show, whatever the framework: long conversations of an agent with tools.

A `Brain` stands for the model of one conversation. The framework's own fake model asks it what to answer, and tells it
what it was sent, in a provider's shape.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from itertools import count, pairwise, takewhile
from typing import Any

from pycupel.messages import lint_messages, select_messages
from pycupel.tokens import count_messages
from tests.integrations_env.sessions import LARGE, count_words

__all__ = [
    "ANSWER",
    "BUDGET",
    "GIANT",
    "TURNS",
    "Brain",
    "Framework",
    "look_up",
    "renumbered",
    "reused",
    "selected_from",
]

BUDGET = 900
TURNS = 200
GIANT = "giant"
ANSWER = "Done, " + "as far as I can tell. " * 5


def look_up(key: str) -> str:
    """Look something up."""
    return LARGE if key == GIANT else f"{key} " + "found " * 40


class Brain:
    """Answers each question with rounds of calls of `look_up`, then with a text. Every third turn calls it twice."""

    def __init__(self, key: str = "k", rounds: int = 1, answer: str = ANSWER) -> None:
        self.sent: list[dict[str, Any]] = []
        self.key = key
        self.answer = answer
        self._rounds = rounds
        self._left = 0
        self._turn = 0
        self._ids = count()

    def calls(self, *, is_question: bool, **sent: Any) -> list[str]:
        """Note what was sent, and return the ids of the calls to make; none if it is time to answer."""
        self.sent.append(sent)
        if is_question:
            self._left = self._rounds
            self._turn += 1
        elif self._left:
            self._left -= 1
        if not self._left:
            return []
        return [f"call{next(self._ids):05d}" for _ in range(1 + (self._turn % 3 == 0))]

    def check(self, provider: Any, *, requests: int, budget: int = BUDGET) -> None:
        """No prompt would be refused, and none is too large."""
        assert len(self.sent) == requests
        for sent in self.sent:
            assert [each.rule for each in lint_messages(sent["messages"], provider)] == []
            assert count_messages(**sent, provider=provider, counter=count_words) <= budget

    def prompts(self) -> list[Any]:
        """The messages of each call."""
        return [each["messages"] for each in self.sent]


def reused(prompts: Sequence[Sequence[Any]]) -> float:
    """The share of the prompts that is an unchanged start of the one before."""
    same = [
        len(list(takewhile(lambda both: both[0] == both[1], zip(*pair, strict=False)))) for pair in pairwise(prompts)
    ]
    return sum(same) / sum(map(len, prompts[1:]))


def renumbered(prompts: str) -> str:
    """Number the ids of calls anew, as in "000012s01": in what order they are given depends on who is served first."""
    numbers: dict[str, int] = {}
    return re.sub(r"\d+s\d+", lambda each: f"call {numbers.setdefault(each[0], len(numbers))}", prompts)


def selected_from(whole: Iterable[dict[str, Any]], provider: Any, budget: int = BUDGET) -> list[Any]:
    """What `select_messages` by itself makes of prompts that nobody trimmed, in the provider's own shape.

    A hook must send the same: then it loses nothing of what the library reuses of a prompt.
    """
    options: dict[str, Any] = {"provider": provider, "counter": count_words}
    return [
        select_messages(
            each["messages"], budget, system=each.get("system"), tools=each.get("tools") or (), **options
        ).messages
        for each in whole
    ]


class Framework(ABC):
    """A framework with one hook for several conversations, each with a brain of its own."""

    budget = BUDGET

    provider: Any
    """The provider in whose shape the brains are told what was sent."""

    def __init__(self, **options: Any) -> None:
        self.agent_options: dict[str, Any] = options.pop("agent_options", {})
        self.budget = options.pop("budget", self.budget)
        self.options = {"budget": self.budget, "counter": count_words, **options}
        self.brains: dict[str, Brain] = {}

    @abstractmethod
    async def ask(self, name: str, question: str, *, stream: bool = False) -> str:
        """Ask the agent of a conversation, and return its answer."""

    @abstractmethod
    async def stored(self, name: str) -> list[str]:
        """Return the texts that the framework has stored of a conversation: questions, results and answers."""

    async def talk(self, name: str, turns: int, *, stream: bool = False, rounds: int = 1) -> None:
        """Have a conversation, and check that it is stored as it was."""
        self.brains[name] = Brain(name, rounds)
        texts: list[str] = []
        for turn in range(turns):
            question = f"Question {turn} by {name} about the log"
            assert await self.ask(name, question, stream=stream) == ANSWER.strip()
            results = rounds * (1 + ((turn + 1) % 3 == 0))
            texts += [question, *[look_up(name)] * results, ANSWER]
        assert [each.strip() for each in await self.stored(name)] == [each.strip() for each in texts]
        self.brains[name].check(self.provider, requests=turns * (rounds + 1), budget=self.budget)
