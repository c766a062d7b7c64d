"""`python -m benchmarks.batch`: throughput of a batch, reading and writing included, and its memory."""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest import mock

from benchmarks import workloads
from benchmarks.floor import best_of, floor_work
from benchmarks.run import to_items
from pycupel import ContextBudget, wire
from pycupel.batch import chunks, run_batch

ITEMS = 20
LIMIT_STANDARD, LIMIT_FASTEST, LIMIT_SPEEDUP, LIMIT_MEMORY = 45.0, 40.0, 1.5, 1.10


def write_requests(path: Path, count: int) -> None:
    """Requests with the workload's items. A hundred different ones repeat."""
    lines: list[str] = []
    for seed in range(100):
        rows = workloads.items(ITEMS, seed)
        asked = {
            "id": seed,
            "items": [wire.to_dict(item) for item in to_items(rows)],
            "budget": wire.to_dict(ContextBudget(*workloads.budget(rows))),
        }
        lines.append(json.dumps(asked) + "\n")
    with path.open("w", encoding="utf-8") as file:
        for n in range(count):
            file.write(lines[n % len(lines)])


def seconds(log: Path, workers: int, clock: Callable[[], float] = time.perf_counter) -> float:
    with tempfile.TemporaryDirectory() as directory:
        start = clock()
        run_batch([log], "chat", Path(directory) / "out", workers=workers)
        return clock() - start


def microseconds(log: Path, count: int, loads: Callable[[bytes], Any]) -> float:
    """What one of the requests costs one worker that reads with `loads`, in time of its processor."""
    with mock.patch.object(chunks, "fastest_loads", return_value=loads):
        return seconds(log, 1, time.process_time) / count * 1e6


def peak_memory(log: Path) -> float:
    """Megabytes that a process of its own needs at most."""
    with tempfile.TemporaryDirectory() as directory:
        code = (
            "import resource, sys; from pycupel.batch import run_batch; "
            f"run_batch([{str(log)!r}], 'chat', {directory + '/out'!r}, workers=1); "
            "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)"
        )
        printed = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout  # noqa: S603
    return int(printed) / 1024


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--requests", type=int, default=60_000, help="for the comparison of one and two workers")
    parser.add_argument("--memory", action="store_true", help="also 10,000 and 200,000 requests")
    options = parser.parse_args()
    floor = best_of({"floor": floor_work(workloads.items(ITEMS))}, 0.5)["floor"]
    with tempfile.TemporaryDirectory() as directory:
        log = Path(directory) / "log.jsonl"
        count = 1_000
        write_requests(log, count)
        # Short runs that take turns: some of them are undisturbed, also on a busy machine.
        readers = (json.loads, chunks.fastest_loads())
        rounds = [[microseconds(log, count, loads) / floor for loads in readers] for _ in range(15)]
        standard, fastest = map(min, zip(*rounds, strict=True))
        print(f"a request of {ITEMS} items, one worker, all included ({floor:.1f} us a floor)")
        print(f"  standard library  {standard:6.1f} floors (limit {LIMIT_STANDARD})")
        print(f"  with orjson       {fastest:6.1f} floors (limit {LIMIT_FASTEST})")
        write_requests(log, options.requests)
        one, two = (min(seconds(log, workers) for _ in range(3)) for workers in (1, 2))
        print(f"{options.requests:,} requests: one worker {one:.1f} s, two {two:.1f} s, ", end="")
        print(f"{one / two:.2f} times as fast (limit {LIMIT_SPEEDUP}); {options.requests / two:,.0f} a second")
        if options.memory:
            write_requests(log, 10_000)
            few = peak_memory(log)
            write_requests(log, 200_000)
            many = peak_memory(log)
            print(f"peak memory: 10,000 requests {few:.0f} MB, 200,000 {many:.0f} MB, ", end="")
            print(f"{many / few:.2f} times as much (limit {LIMIT_MEMORY})")


if __name__ == "__main__":
    main()
