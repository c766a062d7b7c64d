"""`make bench-integrations`: against LangChain's `trim_messages`, and what the objects of libraries cost beside dicts.

It needs the environment of the hooks for LangChain. Times are milliseconds of processor time, the best of some rounds
in which all take turns, for 1 000 messages of an agent in half of their tokens. *Growing*: the last calls of a
conversation, each with two more messages; *single*: nothing is known of the conversation.
"""

# The libraries may be missing when types are checked.
# pyright: basic, reportMissingImports=false

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterator
from statistics import mean
from time import process_time
from typing import Any

from anthropic.types import TextBlock, ToolUseBlock
from langchain_core.messages import convert_to_messages, trim_messages
from langchain_core.messages.utils import count_tokens_approximately
from openai.types.chat import ChatCompletionMessage

from benchmarks.messages import thousand_messages
from pycupel.messages import clear_caches, count_messages, select_messages, set_memory_limit
from pycupel.messages.conversations import DEFAULT_LIMIT

LENGTHS = range(941, 1_001, 2)
ROUNDS = 5
# What objects may cost, in multiples of dicts.
LIMIT_OBJECTS = 3.0


def count(text: str) -> int:
    """As LangChain approximates it."""
    return len(text) // 4


def histories() -> dict[str, tuple[Any, list[Any], list[Any]]]:
    """The same conversation for each library: the provider, dicts, and its own objects."""
    messages = thousand_messages()["an agent, many turns"]
    blocks = list(_as_anthropic(messages))
    return {
        "langchain": ("openai", messages, convert_to_messages(messages)),
        "openai": ("openai", messages, list(map(_openai_object, messages))),
        "anthropic": ("anthropic", blocks, list(map(_anthropic_object, blocks))),
    }


def _openai_object(message: dict[str, Any]) -> Any:
    """What the library returned: the assistant's messages. Whoever keeps a history adds the others as dicts."""
    return ChatCompletionMessage.model_validate(message) if message["role"] == "assistant" else message


def _as_anthropic(messages: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    results: list[Any] = []
    for message in messages:
        if message["role"] == "tool":
            result = {"type": "tool_result", "tool_use_id": message["tool_call_id"], "content": message["content"]}
            results.append(result)
            continue
        if results:
            yield {"role": "user", "content": results}
            results = []
        content: list[Any] = [{"type": "text", "text": message["content"]}] if message["content"] else []
        for call in message.get("tool_calls") or ():
            function = call["function"]
            use = {"type": "tool_use", "id": call["id"], "name": function["name"]}
            content.append({**use, "input": json.loads(function["arguments"])})
        yield {"role": message["role"], "content": content}


def _anthropic_object(message: dict[str, Any]) -> dict[str, Any]:
    if message["role"] != "assistant":
        return message
    made = {"text": TextBlock, "tool_use": ToolUseBlock}
    return {**message, "content": [made[block["type"]].model_validate(block) for block in message["content"]]}


def growing(select: Callable[[list[Any]], object], messages: list[Any]) -> float:
    """The mean of the last calls of a conversation, in milliseconds."""
    ends = [min(end, len(messages)) for end in LENGTHS]
    select(messages[: ends[0] - 2])
    times: list[float] = []
    for end in ends:
        given = messages[:end]
        start = process_time()
        select(given)
        times.append(process_time() - start)
    return 1e3 * mean(times)


def single(select: Callable[[list[Any]], object], messages: list[Any]) -> float:
    """One call, in milliseconds."""
    start = process_time()
    select(messages)
    return 1e3 * (process_time() - start)


def best(works: dict[str, Callable[[], float]], memory: int) -> dict[str, float]:
    """The best time of each. They take turns, so that a slow moment of the machine is shared."""
    found = dict.fromkeys(works, float("inf"))
    for _ in range(ROUNDS):
        for name, work in works.items():
            clear_caches()
            set_memory_limit(memory)
            found[name] = min(found[name], work())
    set_memory_limit(DEFAULT_LIMIT)
    return found


def print_trimmed() -> bool:
    """Print what LangChain's function takes, and ours; say whether ours is not slower."""
    _, dicts, objects = histories()["langchain"]
    budget = count_messages(dicts, "openai", count) // 2
    options: dict[str, Any] = {"strategy": "last", "include_system": True, "start_on": "human"}

    def theirs(messages: list[Any]) -> object:
        return trim_messages(messages, max_tokens=budget, token_counter=count_tokens_approximately, **options)

    def ours(messages: list[Any]) -> object:
        return select_messages(messages, budget, provider="openai", counter=count)

    times = best({"theirs": lambda: growing(theirs, objects), "ours": lambda: growing(ours, dicts)}, DEFAULT_LIMIT)
    kept = times["ours"] <= times["theirs"]
    print(
        f"growing, 1 000 messages: trim_messages {times['theirs']:.1f} ms, select_messages {times['ours']:.1f} ms",
        end="",
    )
    print("" if kept else "  OVER")
    return kept


def print_objects() -> bool:
    """Print what objects of libraries cost beside dicts; say whether all keep the limit."""
    kept = True
    for name, (provider, dicts, objects) in histories().items():
        budget = count_messages(dicts, provider, count) // 2

        def select(messages: list[Any], provider: Any = provider, budget: int = budget) -> object:
            return select_messages(messages, budget, provider=provider, counter=count)

        for what, memory, measure in (("growing", DEFAULT_LIMIT, growing), ("single", 0, single)):
            works = {"dicts": (select, dicts), "objects": (select, objects)}
            times = best({each: lambda given=given, m=measure: m(*given) for each, given in works.items()}, memory)  # type: ignore[misc]
            share = times["objects"] / times["dicts"]
            kept &= share <= LIMIT_OBJECTS
            print(f"{name:10} {what:8} dicts {times['dicts']:6.1f} ms, objects {times['objects']:6.1f} ms, ", end="")
            print(f"{share:.1f} times" + ("" if share <= LIMIT_OBJECTS else "  OVER"))
    return kept


def main() -> None:
    """Print everything; fail if a limit is exceeded."""
    argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter).parse_args()
    kept = print_trimmed()
    kept &= print_objects()
    if not kept:
        sys.exit("a limit is exceeded")


if __name__ == "__main__":
    main()
