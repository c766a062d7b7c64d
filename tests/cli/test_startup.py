"""What is loaded: `benchmarks/cli.py` measures how long that takes."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

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
    parts = {"pycupel.cli.exits", "pycupel.cli.parsers"}
    for option in ("--help", "--version"):
        assert modules_loaded_by(shell, option) == {"pycupel", "pycupel.cli", "pycupel.lazy", *parts}


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
