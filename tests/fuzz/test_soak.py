"""A few runs of the soak, and how it judges the memory."""

from __future__ import annotations

import pytest

from tests.fuzz.soak import Checkpoint, growth, main


def test_a_few_runs_hold(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--items", "40", "--histories", "20"]) == 0
    assert capsys.readouterr().out.count("everything held") == 2


def test_memory_that_grows_is_found() -> None:
    """Not while caches fill, and not by what an allocator may keep."""
    flat = [Checkpoint(i, 50.0 + (i > 1), 100_000) for i in range(8)]
    assert growth(flat) == ""
    assert growth([*flat, Checkpoint(8, 62.0, 100_000)]) == "11.0 MB more than after 2 runs"
    assert growth([*flat, Checkpoint(8, 51.0, 104_000)]) == "4,000 objects more than after 2 runs"
