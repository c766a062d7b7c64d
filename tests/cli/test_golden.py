"""Every verb as a process, at 80 columns and piped. `UPDATE_GOLDEN=1 pytest tests/cli/test_golden.py` writes the files.

The files are in `tests/cli/golden`, and each is a session in a terminal: see `tests/cli/console.py`.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from pycupel.cli import VERBS
from tests.cli.console import Shell, steps_of, text_of

GOLDEN = Path(__file__).with_name("golden")
FILES = sorted(GOLDEN.glob("*.txt"))


def test_every_verb_has_a_file() -> None:
    assert {file.stem for file in FILES} >= set(VERBS)


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_every_command_prints_what_the_file_says(file: Path, quick_shell: Shell) -> None:
    expected = steps_of(file.read_text(encoding="utf-8"))
    assert expected
    actual = [quick_shell.step(step.command) for step in expected]
    if os.environ.get("UPDATE_GOLDEN"):
        file.write_text(text_of(actual), encoding="utf-8")
        return
    assert text_of(actual) == text_of(expected)


@pytest.mark.parametrize("name", ["context", "count", "demo", "diff", "explain", "pycupel", "replay", "sweep"])
def test_no_line_of_a_table_is_wider_than_80_columns(name: str) -> None:
    for step in steps_of((GOLDEN / f"{name}.txt").read_text(encoding="utf-8")):
        shown = [
            line
            for line in step.output.splitlines()
            if not line.startswith(("{", "pycupel:", "  pycupel ", "  For an unknown model"))
        ]
        assert all(len(line) <= 80 for line in shown), step.command
