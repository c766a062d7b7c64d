"""`python -m benchmarks.run`: what pycupel needs, in floors, beside the public reference's figures and the limits."""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tracemalloc
from collections.abc import Callable
from dataclasses import fields
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks import workloads
from benchmarks.floor import best_of, floor_work
from benchmarks.relevance import print_relevance
from pycupel import (
    CompositeScorer,
    ContextBudget,
    ContextItem,
    DiagnosticTraceCollector,
    FrequencyScorer,
    GreedySlice,
    KindScorer,
    KnapsackSlice,
    Pipeline,
    PriorityScorer,
    RecencyScorer,
    ReflexiveScorer,
    ScaledScorer,
    UShapedPlacer,
    select,
)
from pycupel.analytics import find_min_budget_for, sweep_budgets
from pycupel.diagnostics import NullTraceCollector

SIZES = (10, 100, 300, 500, 1_000, 2_000, 5_000, 10_000)
COMPOSITE = CompositeScorer([(RecencyScorer(), 0.5), (PriorityScorer(), 0.3), (KindScorer(), 0.2)])
RICH = CompositeScorer(
    [
        (RecencyScorer(), 0.4),
        (PriorityScorer(), 0.2),
        (KindScorer(), 0.2),
        (FrequencyScorer(), 0.1),
        (ReflexiveScorer(), 0.1),
    ]
)
# Above some size, candidates times buckets exceed the default max_cells, so it is lifted; the selection is the same.
CASES = {
    "composite-greedy": Pipeline(COMPOSITE, GreedySlice(), UShapedPlacer()),
    "rich-greedy": Pipeline(RICH, GreedySlice(), UShapedPlacer()),
    "scaled-greedy": Pipeline(ScaledScorer(RecencyScorer()), GreedySlice(), UShapedPlacer()),
    "composite-knapsack": Pipeline(COMPOSITE, KnapsackSlice(100, max_cells=None), UShapedPlacer()),
    "composite-knapsack-exact": Pipeline(COMPOSITE, KnapsackSlice(1, max_cells=None), UShapedPlacer()),
}


def limit(case: str, n: int) -> float | None:
    """The most floors that `run` may need."""
    if n < 100:
        return 10.0 if case == "composite-greedy" else None
    if case == "composite-knapsack":
        return 10.0 if n == 100 else 8.0 if n >= 500 else None
    if case == "composite-knapsack-exact":
        return 12.0 if n in {1_000, 10_000} else None
    return 9.0 if case == "rich-greedy" else 6.0


# The most floors that a run of composite-greedy may need with what is read of its report, by number of items.
READ_LIMITS = {
    "stages": {10: 15.0, 100: 8.0, 1_000: 6.0, 10_000: 4.5},
    "dry_run": {10: 16.0, 100: 11.0, 1_000: 8.0, 10_000: 5.5},
    "all": {10: 30.0, 100: 17.0, 1_000: 13.5, 10_000: 7.8},
}


# The most floors that `select` may need, by number of items.
SELECT_LIMITS = {10: 15.0, 100: 6.2, 1_000: 3.8}


def read_limit(column: str, case: str, n: int) -> float | None:
    """The most floors that a run may need whose report is read."""
    return READ_LIMITS[column].get(n) if case == "composite-greedy" else None


def run_stages(pipeline: Pipeline, items: list[ContextItem], budget: ContextBudget) -> object:
    """A run with a collector at Stage detail, and all of its report."""
    collector = DiagnosticTraceCollector()
    pipeline.run(items, budget, collector=collector)
    report = collector.build_report()
    return report.included, report.excluded, report.events


def dry_run(pipeline: Pipeline, items: list[ContextItem], budget: ContextBudget) -> object:
    """A dry run, and both lists of items."""
    report = pipeline.dry_run(items, budget)
    return report.included, report.excluded


def dry_run_all(pipeline: Pipeline, items: list[ContextItem], budget: ContextBudget) -> object:
    """A dry run, and every field of its report."""
    report = pipeline.dry_run(items, budget)
    return [getattr(report, field.name) for field in fields(report)]


def to_items(rows: list[dict[str, Any]]) -> list[ContextItem]:
    return [
        ContextItem(
            row["content"],
            row["tokens"],
            kind=row["kind"],
            timestamp=datetime.fromtimestamp(row["timestamp_ms"] / 1_000, UTC),
            priority=row["priority"],
            future_relevance_hint=row["future_relevance_hint"],
            tags=row["tags"],
        )
        for row in rows
    ]


def time_sizes(sizes: tuple[int, ...], seconds: float) -> dict[tuple[str, int], float]:
    """Print a line for every case and size, and return the times of `run` in microseconds."""
    reference = json.loads((Path(__file__).parent / "reference.json").read_text(encoding="utf-8"))["cases"]
    times: dict[tuple[str, int], float] = {}
    print("floors, with the limit in brackets; `ref` is what the public reference needs, in the same unit")
    print("stages: a collector at Stage detail, report read; dry_run: included and excluded read; all: events, too")
    columns = "".join(f"  {name:>14}" for name in READ_LIMITS)
    print(f"{'case':25}{'n':>6}  {'run':>14}{'ref':>8}{columns}{'ref':>8}")
    for n in sizes:
        rows = workloads.items(n)
        items, budget = to_items(rows), ContextBudget(*workloads.budget(rows))
        works: dict[str, Callable[[], object]] = {"floor": floor_work(rows)}
        for case, pipeline in CASES.items():
            works[case] = partial(pipeline.run, items, budget)
            works[f"{case} stages"] = partial(run_stages, pipeline, items, budget)
            works[f"{case} dry_run"] = partial(dry_run, pipeline, items, budget)
            works[f"{case} all"] = partial(dry_run_all, pipeline, items, budget)
        works["select"] = partial(select, items, budget)
        works["null"] = partial(CASES["composite-greedy"].run, items, budget, collector=NullTraceCollector())
        best = best_of(works, seconds)
        for case in CASES:
            times[case, n] = best[case]
            ref = reference.get(f"{case}-{n}", {})
            read = "".join(f"  {_floors(best, f'{case} {name}', read_limit(name, case, n))}" for name in READ_LIMITS)
            print(
                f"{case:25}{n:6}  {_floors(best, case, limit(case, n))}{ref.get('run_over_floor', '-'):>8}"
                f"{read}{ref.get('dry_run_over_floor', '-'):>8}",
                flush=True,
            )
        took = _floors(best, "select", SELECT_LIMITS.get(n))
        print(f"{'select(items, budget)':25}{n:6}  {took}  {best['select'] / 1e3:.2f} ms")
        print(f"{'':25}{n:6}  NullTraceCollector costs {best['null'] / best['composite-greedy'] - 1:+.1%} (limit 5 %)")
    return times


def _floors(best: dict[str, float], work: str, most: float | None) -> str:
    floors = best[work] / best["floor"]
    mark = "" if most is None else f"({most:g})" if floors <= most else f"OVER {most:g}"
    return f"{floors:6.2f} {mark:7}"


def print_growth(times: dict[tuple[str, int], float]) -> None:
    print("\ntime at n = 10 000 over time at n = 1 000 (limit 15)")
    for case in CASES:
        print(f"{case:26}{times[case, 10_000] / times[case, 1_000]:8.1f}")


def print_simulation() -> None:
    rows = workloads.items(1_000)
    items, budget = to_items(rows), ContextBudget(*workloads.budget(rows))
    pipeline, target = CASES["composite-greedy"], items[500]
    best = best_of(
        {
            "dry": partial(dry_run_all, pipeline, items, budget),
            "find": partial(find_min_budget_for, pipeline, items, target, budget.max_tokens),
            "sweep": partial(sweep_budgets, pipeline, items, range(10_000, 210_000, 10_000)),
        },
        0.5,
    )
    # The unit of the limit: it was set when a dry run made all of its report at once.
    print("\nbudget simulation at n = 1 000, in multiples of one dry_run with everything read")
    print(f"{'find_min_budget_for':26}{best['find'] / best['dry']:8.2f}  limit 3")
    print(f"{'sweep over 20 budgets':26}{best['sweep'] / best['dry']:8.2f}")


def print_memory() -> None:
    print("\npeak extra memory of one run at n = 100 000, bytes an item")
    rows = workloads.items(100_000)
    items, budget = to_items(rows), ContextBudget(*workloads.budget(rows))
    for case, most in (("composite-greedy", 650), ("rich-greedy", 900)):
        tracemalloc.start()
        before, _ = tracemalloc.get_traced_memory()
        tracemalloc.reset_peak()
        CASES[case].run(items, budget)
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        print(f"{case:26}{(peak - before) / len(items):8.0f}  limit {most}")


class Plain:
    """A class with five slots and no checks, to compare the construction of a ContextItem with."""

    __slots__ = ("content", "kind", "priority", "timestamp", "tokens")

    def __init__(self, content: str, tokens: int, *, kind: str, priority: int, timestamp: datetime) -> None:
        self.content = content
        self.tokens = tokens
        self.kind = kind
        self.priority = priority
        self.timestamp = timestamp


def print_construction() -> None:
    now = datetime.now(UTC)
    rounds = range(2_000)
    best = best_of(
        {
            "plain": lambda: [Plain("text", 5, kind="Document", priority=3, timestamp=now) for _ in rounds],
            "item": lambda: [ContextItem("text", 5, kind="Document", priority=3, timestamp=now) for _ in rounds],
        },
        0.5,
    )
    print("\nconstructing a ContextItem with five fields, over a plain slots class (limit 3.5)")
    print(f"{'':26}{best['item'] / best['plain']:8.2f}  {best['item'] / len(rounds) * 1e3:.0f} ns")


def print_import_time() -> None:
    statements = ("import pycupel", "from pycupel import select", "import pycupel.messages")
    best = dict.fromkeys(statements, float("inf"))
    # They take turns, so that a slow moment hits all of them.
    for _ in range(15):
        for statement in statements:
            timed = f"import time; t = time.perf_counter(); {statement}; print(time.perf_counter() - t)"
            command = [sys.executable, "-I", "-c", timed]
            taken = float(subprocess.run(command, capture_output=True, text=True, check=True).stdout)  # noqa: S603
            best[statement] = min(best[statement], taken)
    print("\nimports, over bare Python (limits: pycupel 60 ms, pycupel.messages 1.3 times select)")
    for statement, taken in best.items():
        print(f"  {statement:28}{taken * 1e3:8.1f} ms")
    print(f"  {'messages over select':28}{best[statements[2]] / best[statements[1]]:8.2f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer sizes and shorter measurements")
    quick = parser.parse_args().quick
    times = time_sizes((10, 100, 1_000, 10_000) if quick else SIZES, 0.1 if quick else 0.5)
    print_growth(times)
    print_simulation()
    print_memory()
    print_construction()
    print_relevance()
    print_import_time()


if __name__ == "__main__":
    main()
