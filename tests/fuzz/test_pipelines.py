"""A few seconds of the pipeline fuzzer; `PYCUPEL_FUZZ_RUNS` sets how many runs."""

from __future__ import annotations

import os

from tests.fuzz.pipelines import fuzz


def test_invariants_hold_for_random_pipelines() -> None:
    """Each input once, within the budget, `run == dry_run == select`, the same twice."""
    runs = int(os.environ.get("PYCUPEL_FUZZ_RUNS", "120"))
    assert fuzz(runs) >= runs
