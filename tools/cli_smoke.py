"""Every verb of the installed `pycupel`, as its golden output shows it: `python tools/cli_smoke.py ENV/bin`."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from tests.cli.console import Shell, steps_of, text_of

installed = Path(sys.argv[1], "pycupel").resolve()
assert installed.is_file(), installed
files = sorted((ROOT / "tests" / "cli" / "golden").glob("*.txt"))
assert files
for file in files:
    expected = steps_of(file.read_text(encoding="utf-8"))
    with tempfile.TemporaryDirectory() as directory:
        shell = Shell(Path(directory), installed)
        actual = [shell.step(step.command) for step in expected]
    assert text_of(actual) == text_of(expected), f"{file.name}:\n{text_of(actual)}"
print(f"smoke test of the command line: {len(files)} sessions as expected")  # noqa: T201
