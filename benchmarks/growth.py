"""`python -m benchmarks.growth`: how time grows with the input, for each strategy and reader at its worst known input.

The exponent is that of time from N to 10 N, the best of a few: 1 is linear, 2 quadratic. One above 1.3 is marked.
"""

from __future__ import annotations

import argparse
import gc
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


def measured(small_work: Work, large_work: Work) -> tuple[float, float, float]:
    """The times of both, and the exponent.

    Other work on the machine only adds to them. So what seems to grow too fast is measured again, up to five times.
    """
    # The inputs live on while the work is done, and Python's collector should not walk through them again and again.
    gc.collect()
    gc.freeze()
    small = large = exponent = math.inf
    for _ in range(5):
        small, large = min(small, best_of(small_work)), min(large, best_of(large_work))
        exponent = math.log10(large / small)
        if exponent <= LIMIT:
            break
    gc.unfreeze()
    return small, large, exponent


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", help="only cases whose name contains this")
    only = parser.parse_args().only
    print(f"{'case':32}{'N':>7}{'ms':>10}{'10 N':>8}{'ms':>10}  exponent (limit {LIMIT})")
    for name, size, prepare in (*growth_strategies.CASES, *growth_readers.CASES):
        if only in name:
            small, large, exponent = measured(prepare(size), prepare(10 * size))
            mark = "  OVER" if exponent > LIMIT else ""
            print(f"{name:32}{size:7}{small:10.2f}{10 * size:8}{large:10.2f}  {exponent:5.2f}{mark}", flush=True)


if __name__ == "__main__":
    main()
