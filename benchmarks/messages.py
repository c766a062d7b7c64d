"""`python -m benchmarks.messages`: how fast chat histories are cut, and how much of the prompt cache that leaves.

Results are not shortened here, so that what is measured is the cut; `benchmarks.shortening` and `benchmarks.growing`
measure the default.
"""

from __future__ import annotations

import argparse
import gc
import random
import sys
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from math import log
from statistics import mean
from typing import Any, NamedTuple

from benchmarks import workloads
from benchmarks.floor import best_of, floor_work
from pycupel.messages import select_messages, set_memory_limit
from pycupel.messages.providers.openai import OPENAI

Message = dict[str, Any]

# The most that 1 000 messages may take, in floors of as many items: without and with the previous selection.
MOST_FLOORS = 45.0
MOST_FLOORS_CACHED = 20.0
# How the time may grow with the number of messages: twice as many may take 2 ** 1.15 times as long.
MOST_EXPONENT = 1.15
# The least part of all prompt tokens that are the start of the prompt before, and of the window that is used: on
# average over the seeds, and for each of them.
LEAST_REUSE, LEAST_USE = 0.90, 0.78
LEAST_REUSE_EACH, LEAST_USE_EACH = 0.88, 0.75


def cost(messages: Iterable[Message]) -> int:
    """What the messages cost, without the reply."""
    return OPENAI.price(list(messages), len)


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


def sixty_turns(seed: int) -> tuple[list[Message], list[Message]]:
    """60 turns with 39 exchanges among them, so that a model is called 99 times; and what is said in 60 more."""
    source = random.Random(seed)
    sizes = [0] * 120
    for first in (0, 60):
        for _ in range(39):
            sizes[first + source.randrange(60)] += 1
    said = agent(seed, iter(sizes))
    end = len(agent(seed, iter(sizes[:60])))
    return said[:end], said[end:]


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


def reminded(size: int) -> list[Message]:
    """A coding agent with a single task, and a reminder beside each result."""
    source = random.Random(size)
    messages: list[Message] = [{"role": "user", "content": _text(source, 200, 200)}]
    while len(messages) < size:
        call = {"type": "tool_use", "id": f"toolu_{len(messages)}", "name": "read_file", "input": {"path": "main.py"}}
        result = {"type": "tool_result", "tool_use_id": call["id"], "content": _text(source, 50, 1_500)}
        reminder = {"type": "text", "text": "<reminder>Keep the list of tasks up to date.</reminder>"}
        messages.append({"role": "assistant", "content": [call]})
        messages.append({"role": "user", "content": [result, reminder]})
    return messages


WINDOWS = {"nine tenths": 0.9, "half": 0.5, "a tenth": 0.1, "3 in 100": 0.03}


def print_speed(seconds: float) -> bool:
    """Print a line for every history; say whether all keep the limits."""
    print(f"select_messages on 1 000 messages with counter=len, in floors (limit {MOST_FLOORS:g})")
    cached = [f"{name}, cached" for name in WINDOWS]
    print(f"with the previous selection: cached (limit {MOST_FLOORS_CACHED:g})")
    print(f"{'':22}" + "".join(f"{name:>13}" for name in ("all fit", *WINDOWS, *(["cached"] * len(WINDOWS)))))
    kept = True
    for name, messages in thousand_messages().items():
        size = cost(messages)
        works: dict[str, Callable[[], object]] = {
            "floor": floor_work(workloads.items(1_000)),
            "all fit": partial(select_messages, messages, 2 * size, counter=len, shorten=None),
        }
        for window, share in WINDOWS.items():
            options: dict[str, Any] = {"budget": int(share * size), "counter": len, "shorten": None}
            previous = select_messages(messages[:-1], **options)
            works[window] = partial(select_messages, messages, **options)
            works[f"{window}, cached"] = partial(select_messages, messages, previous=previous, **options)
        best = best_of(works, seconds)
        floors = {work: best[work] / best["floor"] for work in ("all fit", *WINDOWS, *cached)}
        is_kept = all(each <= (MOST_FLOORS_CACHED if work in cached else MOST_FLOORS) for work, each in floors.items())
        kept &= is_kept
        print(f"  {name:20}" + "".join(f"{each:13.1f}" for each in floors.values()) + ("" if is_kept else "  OVER"))
    return kept


def print_growth(seconds: float, sizes: tuple[int, ...] = (1_250, 2_500, 5_000, 10_000)) -> bool:
    """Print how the time grows with the number of messages, for windows that grow with them and for a fixed one."""
    print(f"\nhow the time grows: the exponent (limit {MOST_EXPONENT:g}) from {sizes[0]} to {sizes[-1]} messages")
    kept = True
    long_agent = agent(2, iter([random.Random(4).randint(0, 3) for _ in range(5_000)]))
    histories = {
        "an agent": {size: long_agent[:size] for size in sizes},
        "an agent, one turn": {size: agent(3, iter([size]))[:size] for size in sizes},
        "with reminders": {size: reminded(size) for size in sizes},
    }
    # Python's collector walks through all that lives, again and again while a long history is read. These histories are
    # ours, and not a part of what is measured; what the selection makes of them is.
    gc.collect()
    gc.freeze()
    for name, by_size in histories.items():
        fixed = cost(by_size[sizes[0]]) // 3
        for window in ("half", "a tenth", "fixed"):
            works: dict[str, Callable[[], object]] = {}
            for size, messages in by_size.items():
                budget = {"half": cost(messages) // 2, "a tenth": cost(messages) // 10, "fixed": fixed}[window]
                works[str(size)] = partial(select_messages, messages, budget, counter=len, shorten=None)
            best = best_of(works, seconds)
            exponent = log(best[str(sizes[-1])] / best[str(sizes[0])]) / log(sizes[-1] / sizes[0])
            kept &= exponent <= MOST_EXPONENT
            mark = "" if exponent <= MOST_EXPONENT else "  OVER"
            print(f"  {name:20}{window:10}{exponent:6.2f}" + mark, flush=True)
    gc.unfreeze()
    return kept


class Stability(NamedTuple):
    """How much of the prompts is the start of the one before, and how full the window is after the first cut."""

    reuse: float
    use: float


def stability(
    messages: list[Message], later: list[Message], window: int, cut: Callable[[list[Message]], list[Message]]
) -> Stability:
    """Cut the history before each call of the model.

    How full the window is depends on how long ago the last cut was. So it is measured from cut to cut, and the history
    goes on with what is said later until the next one; the calls before the first cut do not count.
    """
    before: list[Message] = []
    tokens = reused = 0
    uses: list[float] = []
    said = [*messages, *later]
    for end, message in enumerate(said):
        if message["role"] != "assistant":
            continue
        prompt = cut(said[:end])
        size = cost(prompt)
        same = list(_common_start(before, prompt))
        if end < len(messages):
            tokens += size
            reused += cost(same)
        elif len(same) < len(before):
            break
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
    room = window - cost(messages[:1])
    kept = end = len(messages)
    for n in range(len(messages) - 1, 0, -1):
        room -= cost([messages[n]])
        if messages[n]["role"] == "user" and (room >= 0 or kept == end):
            kept = n
    return [messages[0], *messages[kept:]]


def print_stability(seeds: Iterable[int] = range(1, 11)) -> bool:
    """Print a line for every window; say whether all keep the limits. Nothing is remembered between calls."""
    print(f"\n60 turns, 99 calls: prompt tokens reused (at least {LEAST_REUSE:.0%}), window used ({LEAST_USE:.0%})")
    print("from the first cut to the one after the 60 turns;")
    print(f"mean and least of ten seeds (at least {LEAST_REUSE_EACH:.0%} and {LEAST_USE_EACH:.0%})")
    print(f"{'':16}{'select_messages':>32}{'the last turns':>32}")
    kept = True
    histories = [sixty_turns(seed) for seed in seeds]
    for share in (0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9):
        ours: list[Stability] = []
        plain: list[Stability] = []
        for messages, later in histories:
            window = int(cost(messages) * share)
            ours.append(stability(messages, later, window, partial(selected, window=window)))
            plain.append(stability(messages, later, window, partial(last_turns, window=window)))
        reuse, use = mean(each.reuse for each in ours), mean(each.use for each in ours)
        is_kept = reuse >= LEAST_REUSE and use >= LEAST_USE
        is_kept &= all(each.reuse >= LEAST_REUSE_EACH and each.use >= LEAST_USE_EACH for each in ours)
        kept &= is_kept
        figures = "".join(f"{_figures(each):>32}" for each in (ours, plain))
        print(f"  window {share:7.0%}" + figures + ("" if is_kept else "  BELOW"), flush=True)
    return kept


def selected(messages: list[Message], window: int) -> list[Message]:
    """What `select_messages` selects, without what it selected before."""
    return select_messages(messages, window, counter=len, shorten=None).messages


def _figures(found: list[Stability]) -> str:
    reuse, use = [each.reuse for each in found], [each.use for each in found]
    return f"{mean(reuse):.1%} ({min(reuse):.1%}) {mean(use):.1%} ({min(use):.1%})"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="shorter measurements")
    seconds = 0.1 if parser.parse_args().quick else 0.5
    # The same history again and again: what the process remembers of it is measured by `benchmarks.growing`.
    set_memory_limit(0)
    # A list, because all of them should be printed.
    return 0 if all([print_speed(seconds), print_growth(seconds), print_stability()]) else 1


if __name__ == "__main__":
    sys.exit(main())
