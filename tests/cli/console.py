"""Command lines and what they print, as a reader sees them in a terminal.

A text of this form holds them: a line that starts with `$ ` is a command; what follows, up to the next command, is what
it writes to stdout, then to stderr; `[exit 2]` says how it ends, if that is not 0.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.cli.calls import PRICED

ROOT = Path(__file__).parents[2]


@dataclass(frozen=True, slots=True)
class Step:
    command: str
    output: str


def steps_of(text: str) -> list[Step]:
    commands = text.split("\n$ ") if text.startswith("$ ") else ["", *text.split("\n$ ")[1:]]
    commands[0] = commands[0].removeprefix("$ ")
    parts = [each.partition("\n") for each in commands if each]
    return [Step(command, output.strip("\n")) for command, _, output in parts]


def text_of(steps: Sequence[Step]) -> str:
    return "\n".join(f"$ {step.command}\n{step.output}".rstrip() + "\n" for step in steps)


def write_program(path: Path, command: str) -> None:
    """Write a program that runs a command with its own arguments."""
    path.write_text(f'#!/bin/sh\nexec {command} "$@"\n', encoding="utf-8")
    path.chmod(0o755)


class Shell:
    """Runs command lines in a new directory, with a `pycupel` on the path."""

    def __init__(self, directory: Path, pycupel: Path) -> None:
        self.pycupel = pycupel
        self.directory = directory / "work"
        self.directory.mkdir()
        unwanted = {"NO_COLOR", "COLUMNS", "PYTHONPATH", "PYTHONIOENCODING"}
        kept = {name: value for name, value in os.environ.items() if name not in unwanted}
        self.environment = {
            **kept,
            "PATH": f"{pycupel.parent}:{os.environ['PATH']}",
            "PYTHONUTF8": "1",
            "COLUMNS": "80",
            # Prices grow old.
            "SOURCE_DATE_EPOCH": PRICED,
        }

    def run(self, command: str, *, text: str = "") -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["/bin/sh", "-c", command],
            cwd=self.directory,
            env=self.environment,
            input=text,
            capture_output=True,
            encoding="utf-8",
            check=False,
        )

    def step(self, command: str) -> Step:
        done = self.run(command)
        exit_line = f"[exit {done.returncode}]\n" if done.returncode else ""
        lines = (done.stdout + done.stderr + exit_line).splitlines()
        return Step(command, "\n".join(line.rstrip() for line in lines).strip("\n"))
