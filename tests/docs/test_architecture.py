"""The page about the architecture names files, functions and layers that exist."""

from __future__ import annotations

import importlib
import re
import tomllib
from operator import attrgetter
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
NAMED = sorted(set(re.findall(r"`([a-z_/]+)\.py`: `([A-Za-z_.]+)`", PAGE)))


def test_the_page_names_functions() -> None:
    assert len(NAMED) > 30


@pytest.mark.parametrize(("module", "name"), NAMED, ids=lambda each: each)
def test_every_function_is_where_the_page_says(module: str, name: str) -> None:
    found = attrgetter(name)(importlib.import_module(f"pycupel.{module.replace('/', '.')}"))
    assert found.__module__ == f"pycupel.{module.replace('/', '.')}"


@pytest.mark.parametrize("path", sorted(set(re.findall(r"`([a-z_/]+(?:\.py|/))`", PAGE))))
def test_every_file_exists(path: str) -> None:
    assert (ROOT / "src" / "pycupel" / path).exists()


def test_the_layers_are_those_that_are_checked() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    (contract,) = settings["tool"]["importlinter"]["contracts"]
    checked = [layer.replace("(", "").replace(")", "") for layer in contract["layers"]]
    block = re.search(r"```text\n(__main__ .*?)```", PAGE, re.DOTALL)
    assert block is not None
    assert [re.split(r" {2,}", line)[0] for line in block[1].splitlines()] == checked
