"""What the command line costs to start, over an interpreter that does nothing.

    python -m benchmarks.cli

The limits are those of the issue that asked for the command line: 40 ms for the help, 110 ms for a selection of ten
items. Bytecode has to be written: the first runs warm it up.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROUNDS = 15
HELP_MS, SELECT_MS = 40, 110


def best_ms(rounds: int, commands: dict[str, list[str]]) -> dict[str, float]:
    """The shortest time of each command. They take turns, so that a slow moment hits all of them."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    best = dict.fromkeys(commands, float("inf"))
    for _ in range(rounds):
        for name, command in commands.items():
            start = time.perf_counter()
            subprocess.run(command, env=environment, stdout=subprocess.DEVNULL, check=True)  # noqa: S603 - our own
            best[name] = min(best[name], 1_000 * (time.perf_counter() - start))
    return best


def main() -> int:
    """Print the table, and return 1 if a limit is exceeded."""
    with tempfile.TemporaryDirectory() as directory:
        items = Path(directory, "items.jsonl")
        lines = (f'{{"content": "item {i}", "tokens": {i + 1}}}\n' for i in range(10))
        items.write_text("".join(lines), encoding="utf-8")
        pycupel = [sys.executable, "-m", "pycupel"]
        commands = {
            "python -c pass": [sys.executable, "-c", "pass"],
            "pycupel --version": [*pycupel, "--version"],
            "pycupel --help": [*pycupel, "--help"],
            "pycupel select, ten items": [*pycupel, "select", str(items), "-b", "20", "--quiet"],
        }
        best = best_ms(ROUNDS, commands)
    bare, *rest = best.items()
    limits = [HELP_MS, HELP_MS, SELECT_MS]
    print(f"{bare[0]:28}{bare[1]:7.0f} ms")
    for (name, taken), limit in zip(rest, limits, strict=True):
        over = taken - bare[1]
        print(f"{name:28}{taken:7.0f} ms, {over:4.0f} over it, limit {limit}{'' if over <= limit else '  EXCEEDED'}")
    return int(any(taken - bare[1] > limit for (_, taken), limit in zip(rest, limits, strict=True)))


if __name__ == "__main__":
    sys.exit(main())
