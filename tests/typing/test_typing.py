"""What type checkers say about users' programs: the API as documented is right, and wrong names are errors."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from shutil import copy

import pytest

HERE = Path(__file__).parent
ROOT = HERE.parents[1]

_BLOCK = re.compile(r"(?ms)^```python\n(.*?)^```$")
_MYPY_ERROR = re.compile(r"(?m)^(\w+\.py):(\d+): error: (.*)$")

# What a checker says about a line, by file and number.
Errors = dict[tuple[str, int], str]


def write_programs(directory: Path) -> None:
    """The two files beside this one, and each example of the README, as a reader would copy it."""
    copy(HERE / "api.py", directory)
    copy(HERE / "wrong_names.py", directory)
    examples = _BLOCK.findall((ROOT / "README.md").read_text(encoding="utf-8"))
    assert len(examples) >= 2
    for i, example in enumerate(examples, start=1):
        (directory / f"readme_{i}.py").write_text(example, encoding="utf-8")


def marked_lines(directory: Path) -> set[tuple[str, int]]:
    return {
        (file.name, i)
        for file in directory.glob("*.py")
        for i, line in enumerate(file.read_text(encoding="utf-8").splitlines(), start=1)
        if line.endswith("  # error")
    }


def output_of(*command: str, directory: Path) -> str:
    """Run among the programs, so that the project's own settings do not count."""
    environment = {**os.environ, "MYPYPATH": str(ROOT / "src")}
    done = subprocess.run(
        [sys.executable, "-m", *command], capture_output=True, text=True, check=False, cwd=directory, env=environment
    )
    assert done.returncode == 1, done.stdout + done.stderr
    return done.stdout


def mypy_errors(directory: Path) -> Errors:
    output = output_of("mypy", "--strict", ".", directory=directory)
    return {(name, int(line)): message for name, line, message in _MYPY_ERROR.findall(output)}


def pyright_errors(directory: Path) -> Errors:
    settings = {
        "typeCheckingMode": "strict",
        "extraPaths": [str(ROOT / "src")],
        # A name that is only looked at has no effect.
        "reportUnusedExpression": False,
    }
    (directory / "pyrightconfig.json").write_text(json.dumps(settings), encoding="utf-8")
    output = output_of("pyright", "--outputjson", "--pythonpath", sys.executable, directory=directory)
    return {
        (Path(finding["file"]).name, finding["range"]["start"]["line"] + 1): finding["message"]
        for finding in json.loads(output)["generalDiagnostics"]
        if finding["severity"] == "error"
    }


@pytest.mark.parametrize("check", [mypy_errors, pyright_errors])
def test_checkers_find_the_wrong_names_and_nothing_else(check: Callable[[Path], Errors], tmp_path: Path) -> None:
    """Strict modes: what is documented has no error, and neither have the README's examples as they stand."""
    write_programs(tmp_path)
    wrong, found = marked_lines(tmp_path), check(tmp_path)
    assert len(wrong) >= 5
    assert {where: message for where, message in found.items() if where not in wrong} == {}
    assert sorted(wrong.difference(found)) == []
