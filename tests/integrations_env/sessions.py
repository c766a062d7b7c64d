"""Sessions of an agent with tools, in OpenAI's shape: the same ones every time, and long enough to be trimmed."""

from __future__ import annotations

from random import Random
from typing import Any

__all__ = ["LARGE", "RESULTS", "SYSTEM", "agent_session", "count_words", "words_of"]

SYSTEM = "You are a careful assistant who looks things up before answering."
# A result that is larger than any budget here. It has as many words in JSON, where line breaks are no spaces.
LARGE = " \n".join(f"row {n} holds value_{n}" for n in range(1_000))
# Results of which some become shorter if all of them may have 1,000 words.
RESULTS = [" \n".join(f"row {n} {m} holds value_{n}_{m}" for m in range(40)) for n in range(6)]
_WORDS = ("alpha", "beta", "gamma", "delta", "log", "error", "file", "line", "value", "table", "user", "result")


def agent_session(seed: int, turns: int) -> list[dict[str, Any]]:
    """A system prompt, then turns of a question, up to three exchanges with tools and an answer, then a question."""
    random = Random(seed)
    messages: list[dict[str, Any]] = [{"role": "system", "content": SYSTEM}]
    for turn in range(turns):
        messages.append({"role": "user", "content": f"Question {turn}: {_text(random, 6, 20)}"})
        for step in range(random.randint(0, 3)):
            messages += _exchange(random, f"call_{turn}_{step}", random.choice((1, 1, 2)))
        messages.append({"role": "assistant", "content": f"Answer {turn}: {_text(random, 10, 50)}"})
    messages.append({"role": "user", "content": "And what follows from all this?"})
    return messages


def _exchange(random: Random, name: str, size: int) -> list[dict[str, Any]]:
    calls = [
        {"id": f"{name}_{n}", "type": "function", "function": {"name": "look_up", "arguments": '{"key": "value"}'}}
        for n in range(size)
    ]
    results = [{"role": "tool", "tool_call_id": call["id"], "content": _text(random, 20, 150)} for call in calls]
    return [{"role": "assistant", "content": "", "tool_calls": calls}, *results]


def _text(random: Random, least: int, most: int) -> str:
    return " ".join(random.choices(_WORDS, k=random.randint(least, most)))


def count_words(text: str) -> int:
    """A counter whose numbers can be checked by hand."""
    return len(text.split())


def words_of(message: dict[str, Any]) -> int:
    return count_words(message["content"])
