"""What the fuzzers share: how often and how long they run."""

from __future__ import annotations

import argparse
import math
import time
from collections.abc import Callable, Iterable
from typing import Any

from hypothesis import HealthCheck, given, settings, strategies as st

from tests.examples import SHARE

__all__ = ["RUNS", "fuzz", "run_for_minutes"]

RUNS = max(2, round(120 * SHARE))
"""How many inputs the tests check; the minutes of `python -m` are another matter."""


def fuzz(check: Callable[[Any], None], inputs: st.SearchStrategy[Any], runs: int, end: float = math.inf) -> int:
    """Check that many random inputs, or until the clock says `end`; how many that were."""
    checked = 0

    @settings(max_examples=runs, deadline=None, suppress_health_check=list(HealthCheck), database=None)
    @given(inputs)
    def check_one(one: Any) -> None:
        nonlocal checked
        if time.monotonic() < end:
            check(one)
            checked += 1

    check_one()
    return checked


def run_for_minutes(targets: Iterable[tuple[str, Callable[[int, float], int]]], description: str | None) -> None:
    """The command: fuzz each target for some minutes, and say how many inputs that were."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--minutes", type=float, default=1.0)
    parser.add_argument("--only", default="", help="only targets whose name contains this")
    options = parser.parse_args()
    for name, target in targets:
        if options.only in name:
            end = time.monotonic() + 60 * options.minutes
            checked = 0
            while time.monotonic() < end:
                # A few at a time, because inputs are drawn to the last, even if there is no time left to check them.
                checked += target(50, end)
            print(f"{name}: {checked} inputs; everything held", flush=True)  # noqa: T201 - a command
