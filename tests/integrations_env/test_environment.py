"""The environment is the one that it should be, so that no test is left out because something is missing."""

from __future__ import annotations

import sys
from importlib.metadata import version
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_everything_is_installed_at_its_pinned_version() -> None:
    name = Path(sys.prefix).name.removeprefix(".venv-")
    lines = (ROOT / "tools" / f"{name}.txt").read_text(encoding="utf-8").splitlines()
    pins = dict(line.split("==") for line in lines if "==" in line)
    assert {package: version(package) for package in pins} == pins
