"""The environments that are too large for CI: their committed output is of the tests that there are."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[1] / "integrations_env"
OUTPUT = (FOLDER / "large.txt").read_text(encoding="utf-8")


@pytest.mark.parametrize("environment", ["d", "e"])
def test_the_output_of_all_tests_is_committed(environment: str) -> None:
    """After another test is written or renamed there, `make test-integrations-large` has to run."""
    files = sorted((FOLDER / environment).glob("test_*.py"))
    trees = {file.name: ast.parse(file.read_text(encoding="utf-8")) for file in files}
    there = {
        (name, node.name)
        for name, tree in trees.items()
        for node in tree.body
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")
    }
    outcomes = re.findall(rf"^tests/integrations_env/{environment}/(\w+\.py)::(\w+)\S* (\w+)", OUTPUT, re.MULTILINE)
    assert {(name, test) for name, test, _ in outcomes} == there
    assert {outcome for *_, outcome in outcomes} == {"PASSED"}
