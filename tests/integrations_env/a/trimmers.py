"""What other libraries offer for trimming a history, called as their documentation shows, and pycupel beside them.

A trimmer takes a session in OpenAI's shape and a number of words, and returns what stays. `TRIMMERS` makes a new one
for each session, because pycupel's knows what it selected before.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any

import litellm
from langchain_core.messages import convert_to_messages, convert_to_openai_messages, trim_messages
from llama_index.core.llms import ChatMessage
from llama_index.core.memory import ChatMemoryBuffer

from pycupel.messages import MessageSelection, select_messages
from tests.integrations_env.sessions import count_words

__all__ = ["TRIMMERS", "Message", "Trimmer", "words"]

Message = dict[str, Any]
Trimmer = Callable[[list[Message], int], list[Message]]


def words(messages: Iterable[Message]) -> int:
    return sum(count_words(message["content"]) for message in messages)


def by_langchain(messages: list[Message], budget: int, **options: Any) -> list[Message]:
    kept = trim_messages(
        convert_to_messages(messages),
        max_tokens=budget,
        token_counter=lambda each: words(convert_to_openai_messages(each)),
        include_system=True,
        **options,
    )
    return list(convert_to_openai_messages(kept))


def by_litellm(messages: list[Message], budget: int) -> list[Message]:
    """It counts by itself, in tokens: about five for four words of these sessions."""
    return list(litellm.utils.trim_messages([dict(each) for each in messages], max_tokens=budget * 5 // 4))


def by_llama_index(messages: list[Message], budget: int) -> list[Message]:
    """The system prompt is sent beside what the buffer holds."""
    system, *rest = messages
    buffer = ChatMemoryBuffer.from_defaults(
        [
            ChatMessage(each["content"], role=each["role"], additional_kwargs={"place": place})
            for place, each in enumerate(rest)
        ],
        token_limit=budget,
        tokenizer_fn=str.split,
    )
    kept = buffer.get(initial_token_count=count_words(system["content"]))
    return [system, *(rest[each.additional_kwargs["place"]] for each in kept)]


def by_pycupel() -> Trimmer:
    previous: MessageSelection | None = None

    def trim(messages: list[Message], budget: int) -> list[Message]:
        nonlocal previous
        previous = select_messages(messages, budget, counter=count_words, previous=previous)
        return previous.messages

    return trim


TRIMMERS: Mapping[str, Callable[[], Trimmer]] = {
    'langchain-core, `trim_messages(strategy="last")`': lambda: partial(by_langchain, strategy="last"),
    "the same with `start_on` and `end_on`": lambda: partial(
        by_langchain, strategy="last", start_on="human", end_on=("human", "tool")
    ),
    "litellm, `trim_messages`": lambda: by_litellm,
    "llama-index-core, `ChatMemoryBuffer`": lambda: by_llama_index,
    "pycupel, `select_messages`": by_pycupel,
}
