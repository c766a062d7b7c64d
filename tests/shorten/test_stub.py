"""Stub: one line in place of an item."""

from __future__ import annotations

from typing import Any

import pytest

from pycupel import ContextItem
from pycupel.protocols import ShortenContext
from pycupel.shorten import Stub


def stub(metadata: dict[str, Any], content: str = "line\n" * 200) -> str:
    item = ContextItem(content, 900, kind="ToolOutput", metadata=metadata)
    (version,) = Stub().shorten(item, ShortenContext([item]))
    assert version.tokens < item.tokens
    assert version.original_tokens == 900
    return version.content


@pytest.mark.parametrize(
    ("metadata", "origin"),
    [
        ({}, ""),
        ({"call": {"name": "Read", "arguments": {"file_path": "a.py"}}}, ", Read a.py"),
        (
            {"call": {"name": "Read", "arguments": {"offset": 10, "file_path": "a.py", "limit": 200}}},
            ", Read a.py, offset=10, limit=200",
        ),
        (
            {"call": {"name": "Read", "arguments": {"file_path": "a.py", "pages": "1\n2", "all": True, "x": None}}},
            ", Read a.py, pages=1 2, all=True",
        ),
        (
            {"call": {"name": "Write", "arguments": {"file_path": "a.py", "content": "x" * 21, "mode": 420}}},
            ", Write a.py, mode=420",
        ),
        (
            {"call": {"name": "f", "arguments": {"id": "a", **{f"number_{i}": i for i in range(9)}}}},
            ", f a",
        ),
        ({"call": {"name": "f", "arguments": {"a": 10**5000}}}, ", f <5001 digits>"),
        ({"call": {"name": "f", "arguments": {"a": [1]}}}, ", f"),
        ({"call": {"name": "bash", "arguments": '{"command": "ls -l"}'}}, ", bash ls -l"),
        ({"call": {"name": "go", "arguments": "not json"}}, ", go not json"),
        ({"call": {"name": "add", "arguments": {"a": 3}}}, ", add 3"),
        ({"call": {"name": "now", "arguments": None}}, ", now"),
        ({"call": {"name": 3}, "url": "https://x"}, ", url: https://x"),
        ({"path": "", "id": 7}, ", id: 7"),
        ({"id": True}, ""),
        ({"key": "a\nb"}, ", key: a b"),
    ],
)
def test_it_says_what_it_was_how_large_and_where_it_came_from(metadata: dict[str, Any], origin: str) -> None:
    assert stub(metadata) == f"[ToolOutput left out: 200 lines, 900 tokens{origin}]"


@pytest.mark.parametrize("end", ["", "\n"])
def test_one_line_has_no_number_of_lines(end: str) -> None:
    assert stub({}, "x" * 5_000 + end) == "[ToolOutput left out: 900 tokens]"


def test_a_long_argument_is_cut() -> None:
    assert len(stub({"key": "x" * 5_000})) < 250


def test_what_is_shorter_than_a_stub_stays() -> None:
    item = ContextItem("short", 2)
    assert Stub().shorten(item, ShortenContext([item])) == []
