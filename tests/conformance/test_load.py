"""Reading vectors: TOML 1.0, and the times of TOML 1.1. CV-01."""

from __future__ import annotations

import tomllib
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest

from pycupel.conformance.vectors import add_seconds, read_vector
from pycupel.errors import DocumentError

MIDNIGHT = datetime(2024, 1, 1, tzinfo=UTC)


def parse(text: str) -> dict[str, object]:
    return tomllib.loads(add_seconds(text))


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("2024-01-01T00:00Z", MIDNIGHT),
        ("2024-01-01t00:00z", MIDNIGHT),
        ("2024-01-01 00:00Z", MIDNIGHT),
        ("2024-01-01T02:00+02:00", datetime(2024, 1, 1, 2, tzinfo=timezone(timedelta(hours=2)))),
        ("2023-12-31T22:30-01:30", datetime(2023, 12, 31, 22, 30, tzinfo=timezone(-timedelta(minutes=90)))),
        ("2024-01-01T00:00", datetime(2024, 1, 1)),  # noqa: DTZ001 - a local time, as TOML has them
    ],
)
@pytest.mark.parametrize("end", ["", "\n", " # comment", "\r\n"])
def test_a_time_without_seconds_gets_them(text: str, moment: datetime, end: str) -> None:
    """CV-01: 21 upstream vectors are TOML 1.1."""
    assert parse(f"when = {text}{end}") == {"when": moment}


@pytest.mark.parametrize("text", ["[2024-01-01T00:00Z]", "[ 2024-01-01T00:00 , 2024-01-01T00:00]"])
def test_times_in_arrays_get_seconds(text: str) -> None:
    """CV-01."""
    values = parse(f"when = {text}")["when"]
    assert isinstance(values, list)
    assert all(value.replace(tzinfo=UTC) == MIDNIGHT for value in values)


def test_times_in_inline_tables_get_seconds() -> None:
    """CV-01."""
    assert parse("item = {when = 2024-01-01T00:00Z, more = {when=2024-01-01T00:00Z}}") == {
        "item": {"when": MIDNIGHT, "more": {"when": MIDNIGHT}}
    }


@pytest.mark.parametrize(
    "text",
    [
        "when = 2024-01-01T00:00:00Z",
        "when = 2024-01-01T00:00:59.123456Z",
        "when = 2024-01-01T00:00:00+02:00",
        "when = 2024-01-01",
        "when = 07:32:00",
        "count = 1",
    ],
)
def test_what_is_toml_1_0_stays_as_it_is(text: str) -> None:
    """CV-01."""
    assert add_seconds(text) == text


@pytest.mark.parametrize(
    "string",
    [
        '"2024-01-01T00:00Z"',
        "'2024-01-01T00:00Z'",
        '"at 2024-01-01T00:00Z, or so"',
        '"a \\" 2024-01-01T00:00Z"',
        '"# 2024-01-01T00:00Z"',
        "'it\"s 2024-01-01T00:00Z'",
        '"it\'s 2024-01-01T00:00Z"',
        "'C:\\' ",
        '"""\n2024-01-01T00:00Z\n"""',
        "'''\n2024-01-01T00:00Z\n'''",
        '"""one " and two "" 2024-01-01T00:00Z"""',
        "'''one ' and two '' 2024-01-01T00:00Z'''",
        '""',
        "''",
        '""""""',
    ],
)
def test_strings_are_left_alone(string: str) -> None:
    """CV-01: seconds are added outside strings and comments only, and still after them."""
    text = f"text = {string}\nwhen = 2024-01-01T00:00Z\n"
    assert add_seconds(text) == f"text = {string}\nwhen = 2024-01-01T00:00:00Z\n"
    assert parse(text)["when"] == MIDNIGHT


@pytest.mark.parametrize("comment", ["# 2024-01-01T00:00Z", "# it's 2024-01-01T00:00Z", '# "2024-01-01T00:00Z'])
def test_comments_are_left_alone(comment: str) -> None:
    """CV-01: a quote in a comment opens no string."""
    text = f"{comment}\nwhen = 2024-01-01T00:00Z {comment}\nagain = 2024-01-01T00:00Z"
    expected = f"{comment}\nwhen = 2024-01-01T00:00:00Z {comment}\nagain = 2024-01-01T00:00:00Z"
    assert add_seconds(text) == expected


def test_a_file_is_read_as_utf_8(tmp_path: Path) -> None:
    """Test Vector Format: strings are UTF-8."""
    path = tmp_path / "vector.toml"
    path.write_bytes('name = "É 日本 🙂"\nwhen = 2024-01-01T00:00Z\n'.encode())
    assert read_vector(path) == {"name": "É 日本 🙂", "when": MIDNIGHT}


def test_a_file_with_windows_line_ends_is_read(tmp_path: Path) -> None:
    path = tmp_path / "vector.toml"
    path.write_bytes(b"[test]\r\nwhen = 2024-01-01T00:00Z\r\n")
    assert read_vector(path) == {"test": {"when": MIDNIGHT}}


def test_what_is_no_toml_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "vector.toml"
    for text, problem in (("[test\n", "Expected ']'"), ("a = 0x" + "f" * 4_000, r"Exceeds the limit \(4300 digits\)")):
        path.write_text(text, encoding="utf-8")
        with pytest.raises(DocumentError, match=f"^invalid TOML: {problem}"):
            read_vector(path)
