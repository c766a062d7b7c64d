"""Which results are out of date."""

from __future__ import annotations

from typing import Any

import pytest

from pycupel.shorten import ToolCall, superseded


def read(path: str, **part: Any) -> ToolCall:
    return ToolCall("Read", {"file_path": path, **part})


WRITE = ToolCall("Write", {"file_path": "a.py", "content": "x"})
EDIT = ToolCall("Edit", {"file_path": "a.py", "old_string": "x", "new_string": "y"})


@pytest.mark.parametrize(
    ("calls", "expected"),
    [
        ([], []),
        ([read("a.py"), read("b.py")], [False, False]),
        ([read("a.py"), read("a.py"), read("a.py")], [True, True, False]),
        ([read("a.py", offset=10), read("a.py")], [True, False]),
        ([read("a.py"), read("a.py", offset=10)], [False, False]),
        ([read("a.py", offset=10), read("a.py", offset=10)], [True, False]),
        ([read("a.py", offset=10), read("a.py", offset=20)], [False, False]),
        ([read("a.py", offset=None), read("a.py")], [True, False]),
        ([read("a.py"), WRITE], [True, False]),
        ([WRITE, read("a.py")], [False, False]),
        ([read("a.py"), EDIT], [False, False]),
        ([ToolCall("view_file", {"path": "a.py"}), read("a.py")], [True, False]),
        ([ToolCall("bash", '{"command": "ls"}'), ToolCall("bash", {"command": "ls"})], [True, False]),
        ([ToolCall("bash", "ls -l"), ToolCall("bash", "ls")], [False, False]),
        ([ToolCall("now", None), ToolCall("now", None)], [True, False]),
        ([ToolCall("Write", {"file_path": "a.py"}), WRITE], [False, False]),
        ([read("a.py"), read("a.py")._replace(failed=True)], [False, False]),
        ([read("a.py"), WRITE._replace(failed=True)], [False, False]),
        ([read("a.py")._replace(failed=True), read("a.py")], [True, False]),
        ([read("a.py"), read("a.py")._replace(failed=True), read("a.py")], [True, True, False]),
        ([read("a.pdf", pages="1-5"), read("a.pdf", pages="6-9")], [False, False]),
        ([read("a.py", first=1), read("a.py", first=100)], [False, False]),
        ([read("a.py", first=1), read("a.py")], [True, False]),
        ([read("a.py", reason="to see"), read("a.py", reason="to check")], [True, False]),
    ],
)
def test_the_newest_result_supersedes_older_ones(calls: list[ToolCall], expected: list[bool]) -> None:
    assert superseded(calls) == expected


def test_arguments_that_are_no_json() -> None:
    assert superseded([ToolCall("f", {"a": {1}}), ToolCall("f", "[" * 100_000)]) == [False, False]


def test_arguments_that_cannot_be_compared_equal_no_others() -> None:
    mixed = ToolCall("f", {1: "a", "b": 2})
    assert superseded([mixed, mixed, ToolCall("f", {}), ToolCall("f", {})]) == [False, False, True, False]
