"""`python -m benchmarks.growing`: what a growing conversation costs a service that keeps nothing between its calls.

Real sessions, if they are beside the project, else generated ones. Every call gets new objects, as from a request.
Times are processor time in floors of 1 000 candidates, measured in the same run.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
from collections.abc import Iterator
from pathlib import Path
from statistics import mean
from time import process_time
from typing import Any, NamedTuple

from benchmarks import workloads
from benchmarks.floor import best_of, floor_work
from benchmarks.messages import agent, thousand_messages
from pycupel.messages import clear_caches, count_messages, select_messages, set_memory_limit
from pycupel.messages.conversations import DEFAULT_LIMIT, held_bytes
from pycupel.replay import read_log

SHARED = Path(__file__).parents[2] / "shared/histories"
SESSIONS = ("coding-agent-258c.jsonl.xz", "coding-agent-ae4a.jsonl.xz")
CALLS = 40

# The most floors: on average, and of the slowest call after the first.
LIMITS = {"": (30.0, 220.0), "results": (80.0, 600.0)}
# The same for a conversation that is not recognised, but whose texts have been counted before: on average.
LIMITS_TEXTS = {"": 90.0, "results": 650.0}
# 1 000 plain messages, counted by `len`: growing, and a single call.
LIMIT_PLAIN, LIMIT_SINGLE = 15.0, 40.0


class Session(NamedTuple):
    """A session, and how many of its messages there were at each call of the model."""

    name: str
    provider: Any
    messages: list[Any]
    ends: list[int]


def sessions() -> Iterator[Session]:
    """Real sessions, or generated ones."""
    if SHARED.is_dir():
        for name in SESSIONS:
            [history, *_] = sorted(read_log(SHARED / name).histories, key=lambda each: -len(each.messages))
            messages = json.loads(json.dumps(list(history.messages)[:320]))
            yield Session(name.partition(".")[0], history.provider, messages, ends_of(messages))
    else:
        source = random.Random(7)
        messages = agent(7, iter([source.randint(0, 3) for _ in range(80)]))
        yield Session("generated", "openai", messages, ends_of(messages))


def ends_of(messages: list[Any]) -> list[int]:
    """The last calls of the model: before each message of the assistant that does not follow another one."""
    roles = [message.get("role") for message in messages]
    return [n for n in range(1, len(roles)) if roles[n] == "assistant" != roles[n - 1]][-CALLS:]


def grow(session: Session, budget: int, *, is_known: bool = True, **options: Any) -> list[float]:
    """The processor time of each call, in seconds."""
    times: list[float] = []
    for n, end in enumerate(session.ends):
        messages = json.loads(json.dumps(session.messages[:end]))
        if not is_known:
            # Another first question for each call: nothing is recognised, but all other texts have been seen.
            first = next(i for i, each in enumerate(messages) if each["role"] == "user")
            messages[first] = {"role": "user", "content": f"Session {n}."}
        start = process_time()
        select_messages(messages, budget, provider=session.provider, **options)
        times.append(process_time() - start)
    return times


def print_sessions(floor: float) -> bool:
    """Print a line for every session; say whether all keep the limits."""
    kept = True
    for session in sessions():
        budget = int(0.6 * count_messages(session.messages, session.provider))
        print(f"\n{session.name}, {len(session.messages)} messages, {len(session.ends)} calls, budget {budget:,}")
        for shorten, limits in LIMITS.items():
            options: dict[str, Any] = {"shorten": shorten or None}
            for what, is_known, limit in (
                ("off", True, 0),
                ("on", True, DEFAULT_LIMIT),
                ("texts", False, DEFAULT_LIMIT),
            ):
                set_memory_limit(limit)
                if what == "texts":
                    grow(session, budget, **options)
                _, *later = [1e6 * each / floor for each in grow(session, budget, is_known=is_known, **options)]
                most = {"off": (1e9, 1e9), "on": limits, "texts": (LIMITS_TEXTS[shorten], 1e9)}[what]
                is_kept = mean(later) <= most[0] and max(later) <= most[1]
                kept &= is_kept
                print(
                    f"  {shorten or 'plain':8} memory {what:6} {mean(later):8.1f} mean {max(later):8.1f} slowest "
                    f"{held_bytes():10,} bytes" + ("" if is_kept else "  OVER")
                )
    return kept


def print_plain(floor: float) -> bool:
    """Print what 1 000 plain messages cost."""
    messages = thousand_messages()["talk"]
    budget = count_messages(messages, "openai", len) // 2
    set_memory_limit(DEFAULT_LIMIT)
    times: list[float] = []
    for end in range(901, 1_001, 2):
        start = process_time()
        select_messages(messages[:end], budget, counter=len)
        times.append(process_time() - start)
    growing = 1e6 * mean(times[1:]) / floor
    set_memory_limit(0)
    single = best_of({"single": lambda: select_messages(messages, budget, counter=len)}, 0.5)["single"] / floor
    is_kept = growing <= LIMIT_PLAIN and single <= LIMIT_SINGLE
    print(f"\n1 000 plain messages, counter=len: growing {growing:.1f} (limit {LIMIT_PLAIN:g}), ", end="")
    print(f"single {single:.1f} (limit {LIMIT_SINGLE:g})" + ("" if is_kept else "  OVER"))
    return is_kept


def main() -> None:
    """Print everything; fail if a limit is exceeded."""
    argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter).parse_args()
    floor = best_of({"floor": floor_work(workloads.items(1_000))}, 1.0)["floor"]
    print(f"floor of 1 000 candidates: {floor:.0f} microseconds")
    kept = print_sessions(floor)
    kept &= print_plain(floor)
    set_memory_limit(DEFAULT_LIMIT)
    clear_caches()
    if not kept:
        sys.exit("a limit is exceeded")


if __name__ == "__main__":
    main()
