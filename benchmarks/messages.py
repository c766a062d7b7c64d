"""`python -m benchmarks.messages`: how fast chat histories are cut, and how much of the prompt cache that leaves."""

from __future__ import annotations

import argparse
import random
import sys
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any, NamedTuple

from benchmarks import workloads
from benchmarks.floor import best_of, floor_work
from pycupel.messages import MessageSelection, select_messages
from pycupel.messages.providers.openai import OPENAI

Message = dict[str, Any]

# The most that 1 000 messages may take, in floors of as many items.
MOST_FLOORS = 25.0
# The least part of all prompt tokens that are the start of the prompt before, and of the window that is used.
LEAST_REUSE = 0.85
LEAST_USE = 0.70


def cost(messages: Iterable[Message]) -> int:
    """What the messages cost, without the reply."""
    return OPENAI.price(messages, len)


def turn(source: random.Random, number: int, exchanges: int) -> list[Message]:
    """A question, calls with short arguments and long results, and an answer."""
    messages: list[Message] = [{"role": "user", "content": _text(source, 20, 200)}]
    for n in range(exchanges):
        ids = [f"call_{number}_{n}_{i}" for i in range(source.choice((1, 1, 1, 2, 3)))]
        function = {"name": "read_file", "arguments": '{"path": "src/main.py"}'}
        calls = [{"id": each, "type": "function", "function": function} for each in ids]
        messages.append({"role": "assistant", "content": None, "tool_calls": calls})
        messages += ({"role": "tool", "tool_call_id": each, "content": _text(source, 50, 1_500)} for each in ids)
    return [*messages, {"role": "assistant", "content": _text(source, 50, 500)}]


def _text(source: random.Random, least: int, most: int) -> str:
    return "x" * source.randint(least, most)


def agent(seed: int, exchanges: Iterator[int]) -> list[Message]:
    """A history with as many turns as there are numbers of exchanges."""
    source = random.Random(seed)
    turns = [turn(source, number, size) for number, size in enumerate(exchanges)]
    return [{"role": "system", "content": _text(source, 300, 300)}, *(message for each in turns for message in each)]


def sixty_turns(seed: int) -> list[Message]:
    """60 turns with 39 exchanges among them, so that a model is called 99 times."""
    source = random.Random(seed)
    sizes = [0] * 60
    for _ in range(39):
        sizes[source.randrange(60)] += 1
    return agent(seed, iter(sizes))


def thousand_messages() -> dict[str, list[Message]]:
    """Histories of 1 000 messages, by name."""
    source = random.Random(1)
    spoken = [{"role": ("user", "assistant")[i % 2], "content": _text(source, 20, 400)} for i in range(1_000)]
    sizes = iter([source.randint(0, 3) for _ in range(400)])
    return {
        "talk": spoken,
        "an agent, many turns": agent(2, sizes)[:1_000],
        "an agent, one turn": agent(3, iter([400]))[:1_000],
    }


def print_speed(seconds: float) -> bool:
    """Print a line for every history and budget; say whether all keep the limit."""
    print(f"select_messages on 1 000 messages with counter=len, in floors (limit {MOST_FLOORS:g})")
    print(f"{'':24}{'all fit':>12}{'nine tenths':>12}{'half':>12}{'a tenth':>12}{'kept':>12}")
    kept = True
    for name, messages in thousand_messages().items():
        size = cost(messages)
        previous = select_messages(messages[:-1], size // 2, counter=len)
        works: dict[str, Callable[[], object]] = {
            "floor": floor_work(workloads.items(1_000)),
            "all fit": partial(select_messages, messages, 2 * size, counter=len),
            "nine tenths": partial(select_messages, messages, size * 9 // 10, counter=len),
            "half": partial(select_messages, messages, size // 2, counter=len),
            "a tenth": partial(select_messages, messages, size // 10, counter=len),
            "kept": partial(select_messages, messages, size // 2, counter=len, previous=previous),
        }
        best = best_of(works, seconds)
        floors = [best[work] / best["floor"] for work in works if work != "floor"]
        kept &= max(floors) <= MOST_FLOORS
        mark = "" if max(floors) <= MOST_FLOORS else "  OVER"
        print(f"  {name:22}" + "".join(f"{each:12.1f}" for each in floors) + mark, flush=True)
    return kept


class Stability(NamedTuple):
    """How much of the prompts is the start of the one before, and how full the window is after the first cut."""

    reuse: float
    use: float


def stability(messages: list[Message], window: int, cut: Callable[[list[Message]], list[Message]]) -> Stability:
    """Cut the history before each call of the model."""
    before: list[Message] = []
    tokens = reused = 0
    uses: list[float] = []
    for end, message in enumerate(messages):
        if message["role"] == "assistant":
            prompt = cut(messages[:end])
            size = cost(prompt)
            tokens += size
            reused += cost(_common_start(before, prompt))
            if len(prompt) < end:
                uses.append(size / window)
            before = prompt
    return Stability(reused / tokens, sum(uses) / len(uses))


def _common_start(before: list[Message], prompt: list[Message]) -> Iterator[Message]:
    for then, now in zip(before, prompt, strict=False):
        if then is not now:
            return
        yield now


def last_turns(messages: list[Message], window: int) -> list[Message]:
    """What most programs do: keep the system prompt and the newest whole turns that fit."""
    starts = [i for i, message in enumerate(messages) if message["role"] == "user"]
    fitting = [start for start in starts if cost([messages[0], *messages[start:]]) <= window]
    return [messages[0], *messages[fitting[0] if fitting else starts[-1] :]]


class Selecting:
    """Calls `select_messages` with its last selection each time."""

    def __init__(self, window: int) -> None:
        self._window = window
        self._previous: MessageSelection | None = None

    def __call__(self, messages: list[Message]) -> list[Message]:
        self._previous = select_messages(messages, self._window, counter=len, previous=self._previous)
        return self._previous.messages


def print_stability() -> bool:
    """Print a line for every window; say whether all keep the limits."""
    print(f"\n60 turns, 99 calls: prompt tokens reused (at least {LEAST_REUSE:.0%}), window used ({LEAST_USE:.0%})")
    print(f"{'':24}{'select_messages':>24}{'the last turns':>24}")
    kept = True
    for seed in (1, 2, 3):
        messages = sixty_turns(seed)
        for share in (0.2, 0.3, 0.5):
            window = int(cost(messages) * share)
            ours = stability(messages, window, Selecting(window))
            plain = stability(messages, window, partial(last_turns, window=window))
            is_kept = ours.reuse >= LEAST_REUSE and ours.use >= LEAST_USE
            kept &= is_kept
            figures = "".join(f"{each.reuse:16.1%}{each.use:8.1%}" for each in (ours, plain))
            print(f"  seed {seed}, window {window:6} " + figures + ("" if is_kept else "  BELOW"), flush=True)
    return kept


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="shorter measurements")
    is_fast = print_speed(0.1 if parser.parse_args().quick else 0.5)
    is_stable = print_stability()
    return 0 if is_fast and is_stable else 1


if __name__ == "__main__":
    sys.exit(main())
