"""The page about the architecture names files, functions and layers that exist."""

from __future__ import annotations

import importlib
import re
import sys
import tomllib
from collections.abc import Callable
from operator import attrgetter
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

import pycupel
from pycupel import ContextItem, select
from pycupel.messages import lint_messages, select_messages
from pycupel.shorten import KeyLines

ROOT = Path(__file__).parents[2]
SOURCE = Path(pycupel.__path__[0])
PAGE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
NAMED = sorted(set(re.findall(r"`([a-z_/]+)\.py`: `([A-Za-z_.]+)`", PAGE)))


def test_the_page_names_functions() -> None:
    assert len(NAMED) > 30


@pytest.mark.parametrize(("module", "name"), NAMED, ids=lambda each: each)
def test_every_function_is_where_the_page_says(module: str, name: str) -> None:
    found = attrgetter(name)(importlib.import_module(f"pycupel.{module.replace('/', '.')}"))
    assert found.__module__ == f"pycupel.{module.replace('/', '.')}"


def called(run: Callable[[], object]) -> set[tuple[str, str]]:
    """The functions of the package that a run calls, by file and name."""
    found: set[tuple[str, str]] = set()

    def note(frame: FrameType, event: str, _: object) -> None:
        path = Path(frame.f_code.co_filename)
        if event == "call" and path.is_relative_to(SOURCE):
            found.add((path.relative_to(SOURCE).with_suffix("").as_posix(), frame.f_code.co_name))

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        run()
    finally:
        sys.setprofile(before)
    return found


def follow_both_paths() -> None:
    """An item and a message on every way that the page describes."""
    items = [ContextItem(f"Some words about {i}.\n" * 9, 50) for i in range(9)]
    report = select([*items, ContextItem("pinned", 5, pinned=True)], 200, "rag", explain=True).report
    assert report.included + report.excluded
    assert report.events
    assert report.notes
    select(items, 120, query="About 3?", shorten=KeyLines())
    history: list[dict[str, Any]] = [{"role": "user", "content": f"Question {i}"} for i in range(20)]
    for i in range(9):
        call = {"id": f"call{i}", "type": "function", "function": {"name": "look", "arguments": "{}"}}
        history.append({"role": "assistant", "content": None, "tool_calls": [call]})
        history.append({"role": "tool", "tool_call_id": call["id"], "content": "A line of the result\n" * 20})
    history.append({"role": "user", "content": "The last question"})
    first = select_messages(history, 600)
    select_messages([*history, {"role": "assistant", "content": "An answer"}], 600, previous=first)
    select_messages(history, 900, documents=items)
    select_messages([{"role": "user", "content": [{"type": "text", "text": "A part"}]}], 900)
    select_messages(history, 600, shorten="results")
    lint_messages(history)


def test_every_function_is_called_on_its_path() -> None:
    """All functions that the page names; classes are built in ways that a profiler does not see."""
    names = [(module, name) for module, name in NAMED if not name.rpartition(".")[2][0].isupper()]
    calls = called(follow_both_paths)
    assert [(module, name) for module, name in names if (module, name.rpartition(".")[2]) not in calls] == []
    assert len(names) > 25


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
