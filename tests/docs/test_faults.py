"""The table of faults in `docs/limits.md`: each row names a test that exists."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SECTION = (ROOT / "docs/limits.md").read_text(encoding="utf-8").partition("## When something breaks")[2]
ROWS = [line for line in SECTION.splitlines() if line.startswith("| ")][1:]


@cache
def functions_in(path: str) -> set[str]:
    tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
    return {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.split("|")[1].strip())
def test_the_test_of_a_fault_exists(row: str) -> None:
    [(path, name)] = re.findall(r"`(tests/[\w/]+\.py)::(test_\w+)`", row)
    assert name in functions_in(path)


def test_the_table_has_rows() -> None:
    assert len(ROWS) > 20
