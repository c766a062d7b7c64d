"""`python -m benchmarks.growth`: how time grows with the input, for each strategy and reader at its worst known input.

The exponent is that of time from N to 10 N, the best of a few: 1 is linear, 2 quadratic. One above 1.3 is marked.
"""

from __future__ import annotations

import argparse
import math
import time

from benchmarks import growth_readers, growth_strategies
from benchmarks.growth_strategies import Work

LIMIT = 1.3


def best_of(work: Work) -> float:
    """The least processor time of a call, in milliseconds: of three, or as many as half a second allows."""
    best = math.inf
    calls = 0
    end = time.process_time() + 0.5
    while calls < 3 or time.process_time() < end:
        start = time.process_time()
        work()
        best = min(best, time.process_time() - start)
        calls += 1
    return best * 1e3


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", help="only cases whose name contains this")
    only = parser.parse_args().only
    print(f"{'case':32}{'N':>7}{'ms':>10}{'10 N':>8}{'ms':>10}  exponent (limit {LIMIT})")
    for name, size, prepare in (*growth_strategies.CASES, *growth_readers.CASES):
        if only in name:
            small, large = best_of(prepare(size)), best_of(prepare(10 * size))
            exponent = math.log10(large / small)
            mark = "  OVER" if exponent > LIMIT else ""
            print(f"{name:32}{size:7}{small:10.2f}{10 * size:8}{large:10.2f}  {exponent:5.2f}{mark}", flush=True)


if __name__ == "__main__":
    main()
