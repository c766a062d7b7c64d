"""What is loaded: `benchmarks/cli.py` measures how long that takes."""

from __future__ import annotations

import importlib
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.console import Shell


def modules_loaded_by(shell: Shell, *arguments: str) -> set[str]:
    code = (
        "import sys\nfrom pycupel.cli import main\nmain(sys.argv[1:])\n"
        "print(*(name for name in sys.modules if name.startswith('pycupel')), file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments],
        cwd=shell.directory,
        env=shell.environment,
        capture_output=True,
        text=True,
        check=True,
    )
    return set(done.stderr.split())


def test_the_help_loads_nothing_of_the_library(shell: Shell) -> None:
    parts = {"pycupel.cli.exits", "pycupel.cli.parsers", "pycupel.cli.width"}
    for option in ("--help", "--version"):
        assert modules_loaded_by(shell, option) == {"pycupel", "pycupel.cli", *parts}


def test_select_loads_what_it_needs(shell: Shell) -> None:
    Path(shell.directory, "items.jsonl").write_text('{"content": "a", "tokens": 1}', encoding="utf-8")
    loaded = modules_loaded_by(shell, "select", "items.jsonl", "-b", "5", "--quiet")
    assert "pycupel.selecting" in loaded
    heavy = {
        "wire.reports",
        "scorers.decay",
        "scorers.similarity",
        "tokens",
        "messages",
        "render",
        "replay",
        "analytics",
    }
    assert not loaded & {f"pycupel.{name}" for name in heavy}


@pytest.mark.parametrize("name", ["pycupel.scorers", "pycupel.wire"])
def test_names_that_are_loaded_later_are_there(name: str) -> None:
    package = importlib.import_module(name)
    assert all(getattr(package, each).__name__ == each for each in package.__all__)
    with pytest.raises(AttributeError, match=f"^module '{name}' has no attribute 'nothing'$"):
        _ = package.nothing
