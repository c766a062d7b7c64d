"""A few seconds of the pipeline fuzzer."""

from __future__ import annotations

from tests.fuzz.loop import RUNS
from tests.fuzz.pipelines import fuzz_pipelines


def test_invariants_hold_for_random_pipelines() -> None:
    """Each input once, within the budget, `run == dry_run == select`, the same twice."""
    assert fuzz_pipelines(RUNS) >= RUNS
