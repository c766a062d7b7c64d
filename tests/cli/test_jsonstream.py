"""JSON values one at a time: arrays, lines, documents; and where they are wrong."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from pycupel.codecs.json_values import Located, read_values
from pycupel.errors import DocumentError


def read(text: str) -> list[Located]:
    return list(read_values(text.splitlines(keepends=True)))


def values(text: str) -> list[Any]:
    return [located.value for located in read(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        (" \n\t\n", []),
        ("[]", []),
        ("[1]", [1]),
        ('\n [ {"a": 1} ,\n\n{"b": [2,\n3]}\n]\n', [{"a": 1}, {"b": [2, 3]}]),
        ('{"a": 1}\n\n{"b": 2}\n', [{"a": 1}, {"b": 2}]),
        ('{"a": 1} {"b": 2}\n7', [{"a": 1}, {"b": 2}, 7]),
        ('{\n"a":\n [1,\n2]}\n', [{"a": [1, 2]}]),
    ],
)
def test_values(text: str, expected: list[Any]) -> None:
    assert values(text) == expected


def test_each_value_knows_its_line() -> None:
    assert read('\n{"a": 1}\n\n7\n') == [Located({"a": 1}, 2), Located(7, 4)]
    assert read('[\n{"a":\n1}, 7,\n8]') == [Located({"a": 1}, 2, True), Located(7, 3, True), Located(8, 4, True)]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ('{"a": 1}\n{"a": }\n', "Expecting value at line 2, column 7"),
        ('{"a": 1}\n{"a": 1,\n{"b": 2}', "at line 2, column 9"),
        ("nonsense", "Expecting value at line 1, column 1"),
        ('{\n"a": 1\n"b": 2}', "Expecting ',' delimiter at line 3, column 1"),
        ('{\n"a": 1}\n{"b": 2}', "Extra data at line 3, column 1"),
        ("[1, 2", "Expecting ',' delimiter or ']' at line 1, column 6"),
        ("[1,\n\n 2 3]", "Expecting ',' delimiter at line 3, column 4"),
        ("[1,", "Expecting value at line 1, column 4"),
        ("[1, ]", "Expecting value at line 1, column 5"),
        ("[1]\n x", "Extra data at line 2, column 2"),
        ('["a\nb"]', "Invalid control character at line 1, column 4"),
        ("[1, [2,\n3", "Expecting ',' delimiter at line 2, column 2"),
        ("[{\n", "at line 1, column 3"),
        ("[" * 100_000, "nested too deeply at line 1, column 2"),
        ("1" * 5_000, "an integer with too many digits at line 1, column 1"),
    ],
)
def test_errors_name_line_and_column(text: str, problem: str) -> None:
    with pytest.raises(DocumentError, match="invalid JSON") as caught:
        read(text)
    assert problem in str(caught.value)


def test_values_are_read_when_they_are_needed() -> None:
    def lines() -> Iterator[str]:
        yield "[1,\n"
        yield "2,\n"
        raise AssertionError

    found = read_values(lines())
    assert [next(found).value, next(found).value] == [1, 2]
