"""`python -m benchmarks.streams`: what a stream costs, how it grows, and how good it is beside offline selection."""

from __future__ import annotations

import asyncio
import math
from collections.abc import AsyncIterator
from functools import partial

from benchmarks import workloads
from benchmarks.floor import best_of, floor_work
from benchmarks.run import to_items
from pycupel import ContextBudget, ContextItem, KindScorer, Pipeline, ReflexiveScorer, Scorer, StreamSlice, TagScorer
from pycupel.scorers._base import score_all

SIZES = (1_000, 10_000, 100_000)
ABSOLUTE: dict[str, Scorer] = {
    "hints": ReflexiveScorer(),
    "kinds": KindScorer(),
    "tags": TagScorer({"auth": 3.0, "db": 2.0, "ui": 1.0}),
}
LIMIT_QUALITY = 0.95
LIMIT_EXPONENT = 1.3


async def arriving(items: list[ContextItem]) -> AsyncIterator[ContextItem]:
    for item in items:
        yield item


def stream_async(pipeline: Pipeline, items: list[ContextItem], budget: ContextBudget) -> object:
    return asyncio.run(pipeline.run_stream(arriving(items), budget))


def quality(scorer: Scorer, items: list[ContextItem], budget: ContextBudget, batch_size: int) -> float:
    """The score of a stream's selection, as a share of that of the offline selection by score."""
    scores = {id(item): score for item, score in zip(items, score_all(scorer, tuple(items)), strict=True)}

    def total(selected: list[ContextItem]) -> float:
        return math.fsum(scores[id(item)] for item in selected)

    offline = Pipeline(scorer, StreamSlice(len(items))).run(items, budget)
    online = Pipeline(scorer, StreamSlice(batch_size, replace=True)).run_stream_sync(items, budget)
    return total(online) / total(offline)


def qualities(scorer: Scorer, share: float) -> list[float]:
    """The quality over seeds, orders of arrival and batch sizes, for a budget of this share of all tokens."""
    found: list[float] = []
    for seed in range(5):
        rows = workloads.items(1_000, seed)
        items = to_items(rows)
        worst_first = sorted(items, key=lambda item: item.future_relevance_hint or 0.0)
        for order in (items, worst_first, worst_first[::-1]):
            for batch_size in (1, 32, 256):
                budget = ContextBudget(*workloads.budget(rows, share))
                found.append(quality(scorer, order, budget, batch_size))
    return found


def main() -> None:
    print("Time of a stream in floors, hints as scores, a budget of 40 % of all tokens")
    print(f"{'':>9} {'replace=False':>14} {'replace=True':>14} {'async, True':>14}")
    seconds: dict[int, float] = {}
    for size in SIZES:
        rows = workloads.items(size)
        items = to_items(rows)
        budget = ContextBudget(*workloads.budget(rows))
        plain, replacing = (Pipeline(ReflexiveScorer(), StreamSlice(replace=replace)) for replace in (False, True))
        best = best_of(
            {
                "floor": floor_work(rows),
                "first": partial(plain.run_stream_sync, items, budget),
                "replacing": partial(replacing.run_stream_sync, items, budget),
                "async": partial(stream_async, replacing, items, budget),
            },
            1.0,
        )
        seconds[size] = best["replacing"]
        floors = [best[each] / best["floor"] for each in ("first", "replacing", "async")]
        print(f"{size:>9,} {floors[0]:>14.1f} {floors[1]:>14.1f} {floors[2]:>14.1f}")
    exponent = math.log10(seconds[SIZES[-1]] / seconds[SIZES[-2]])
    print(f"growth exponent with replacement: {exponent:.2f} (limit {LIMIT_EXPONENT})\n")
    print("Score of replace=True beside offline selection by score (5 seeds, 3 orders of arrival, 3 batch sizes)")
    print(f"{'':>9} {'budget':>8} {'lowest':>8} {'mean':>8}")
    for name, scorer in ABSOLUTE.items():
        for share in (0.4, 0.2, 0.05):
            found = qualities(scorer, share)
            print(f"{name:>9} {share:>8.0%} {min(found):>8.3f} {math.fsum(found) / len(found):>8.3f}")
    print(f"(limit {LIMIT_QUALITY} at the workload's own budget, 40 % of all tokens)")


if __name__ == "__main__":
    main()
