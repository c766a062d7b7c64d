"""The unit of speed: work on the same items that no implementation in Python can do without.

One read of three fields of every item, one hash of every content, three sorts of as many floats as there are items:
for scores, densities and placement. A time divided by the floor of the same items, measured in the same run, can be
compared between machines.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from typing import Any

__all__ = ["best_of", "floor_work"]


class _Row:
    __slots__ = ("content", "priority", "timestamp", "tokens")

    def __init__(self, fields: dict[str, Any]) -> None:
        self.content: str = fields["content"]
        self.tokens: int = fields["tokens"]
        self.timestamp: int = fields["timestamp_ms"]
        self.priority: int = fields["priority"]


def floor_work(workload: list[dict[str, Any]]) -> Callable[[], object]:
    """The work of one floor, ready to be timed."""
    rows = [_Row(fields) for fields in workload]
    source = random.Random(5)
    scores = [source.random() for _ in rows]

    def work() -> object:
        n = len(rows)
        fields = [(row.tokens, row.timestamp, row.priority) for row in rows]
        seen = {row.content: k for k, row in enumerate(rows)}
        order: list[int] = []
        for _ in range(3):
            order = sorted(range(n), key=scores.__getitem__, reverse=True)
        return fields, seen, order

    return work


def best_of(works: dict[str, Callable[[], object]], seconds: float) -> dict[str, float]:
    """The best time of each, in microseconds. They take turns, so that a slow moment of the machine is shared."""
    best = dict.fromkeys(works, float("inf"))
    clock = time.perf_counter
    end = clock() + seconds * len(works)
    while True:
        for name, work in works.items():
            turn = clock() + 0.004
            while True:
                start = clock()
                work()
                now = clock()
                best[name] = min(best[name], now - start)
                if now > turn:
                    break
        if clock() > end:
            return {name: took * 1e6 for name, took in best.items()}
