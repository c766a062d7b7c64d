"""Small OpenAI histories for tests that look at single messages, and what they cost."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from pycupel.messages import MessageSelection, lint_messages, select_messages, to_items
from pycupel.messages.options import ProviderName

__all__ = [
    "Message",
    "answer",
    "calls",
    "cost",
    "dropped",
    "errors",
    "exchange",
    "long_turn",
    "question",
    "result",
    "select",
    "small_talk",
    "system",
    "window",
]

Message = dict[str, Any]


def system(text: str = "Be brief.") -> Message:
    return {"role": "system", "content": text}


def question(text: str = "And now?") -> Message:
    return {"role": "user", "content": text}


def answer(text: str = "Done.") -> Message:
    return {"role": "assistant", "content": text}


def calls(*ids: str) -> Message:
    made = [{"id": each, "type": "function", "function": {"name": "read", "arguments": "{}"}} for each in ids]
    return {"role": "assistant", "content": None, "tool_calls": made}


def result(call_id: str, text: str = "result") -> Message:
    return {"role": "tool", "tool_call_id": call_id, "content": text}


def exchange(call_id: str, text: str = "result") -> list[Message]:
    return [calls(call_id), result(call_id, text)]


def long_turn(size: int) -> list[Message]:
    """An agent at work: a system prompt, a task, and exchanges of the same size, the last of which is open."""
    done = [message for n in range(size) for message in exchange(f"call{n:04d}")]
    return [system(), question("Tidy up the repository."), *done, calls("pending")]


def small_talk(size: int) -> list[Message]:
    """A system prompt, and questions and answers of the same size; the last question is not answered yet."""
    said = [message for n in range(size) for message in (question(f"question {n:04d}"), answer(f"answer - {n:04d}"))]
    return [system(), *said[:-1]]


def cost(messages: Iterable[Any], provider: ProviderName = "openai") -> int:
    """What whole messages cost with `counter=len`."""
    return sum(item.tokens for item in to_items(messages, provider, counter=len))


def window(messages: Iterable[Any], provider: ProviderName = "openai") -> int:
    """The smallest window into which they fit: they, and the start of the reply."""
    return cost(messages, provider) + 3


def select(messages: Any, budget: Any, **options: Any) -> MessageSelection:
    """`select_messages`, with a character for a token."""
    selection: MessageSelection = select_messages(messages, budget, counter=len, **options)
    return selection


def dropped(selection: MessageSelection) -> list[int]:
    return [each.index for each in selection.dropped]


def errors(messages: Sequence[Any], provider: ProviderName = "openai") -> list[str]:
    return [finding.rule for finding in lint_messages(messages, provider) if finding.severity == "error"]
