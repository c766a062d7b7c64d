"""What the pytest plug-in does in a project of somebody else, with the wheel and pytest installed and nothing more."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from importlib.metadata import entry_points
from pathlib import Path

TESTS = """
import sys

from pycupel import ContextItem, PriorityScorer

ITEMS = [
    ContextItem("What does E42 mean?", 30, priority=2),
    ContextItem("E42: the pump has lost pressure.", 60, kind="Document", priority=1),
]


def test_passes(cupel_report):
    report = cupel_report(ITEMS, 100, PriorityScorer())
    report.should().include_item_with_kind("Document").match_snapshot("pump")


def test_fails(cupel_report):
    cupel_report(ITEMS, 50, PriorityScorer()).should().include_item_with_kind("Document")
"""
UNRELATED = """
import sys


def test_nothing_is_loaded():
    assert "pycupel_pytest" in sys.modules
    assert "pycupel" not in sys.modules
"""


def run_pytest(directory: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-I", "-m", "pytest", "-p", "no:cacheprovider", *arguments]
    unwanted = {"CI", "BUILD_NUMBER", "CUPEL_UPDATE_SNAPSHOTS", "PYTEST_ADDOPTS"}
    environment = {name: value for name, value in os.environ.items() if name not in unwanted}
    return subprocess.run(  # noqa: S603 - this very interpreter
        command, cwd=directory, env=environment, capture_output=True, text=True, check=False
    )


def check(done: subprocess.CompletedProcess[str], code: int, *patterns: str) -> None:
    output = done.stdout + done.stderr
    assert done.returncode == code, output
    assert all(re.search(pattern, output) for pattern in patterns), output


(point,) = (point for point in entry_points(group="pytest11") if point.name == "pycupel")
plug_in = point.load()
assert "site-packages" in Path(plug_in.__file__).parts, plug_in.__file__

with tempfile.TemporaryDirectory() as name:
    project = Path(name)
    (project / "test_context.py").write_text(TESTS, encoding="utf-8")
    (project / "test_unrelated.py").write_text(UNRELATED, encoding="utf-8")
    check(run_pytest(project, "test_unrelated.py"), 0, "1 passed")
    failed = run_pytest(project, "test_context.py", "--cupel-report-dir", "reports")
    check(failed, 1, "1 failed, 1 passed", r"IncludeItemWithKind\(Document\) failed: Included contained 0 items")
    assert {"test_context.py.test_fails.json", "test_context.py.test_fails.txt"} <= {
        path.name for path in (project / "reports").iterdir()
    }
    assert (project / "__snapshots__" / "pump.json").is_file()
    check(run_pytest(project, "-p", "no:pycupel", "test_context.py"), 1, "fixture 'cupel_report' not found")
print("smoke test of the pytest plug-in: passed")  # noqa: T201
