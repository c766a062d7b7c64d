"""KeyLines: the lines that say most of what is said nowhere else."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any

import pytest

from pycupel import ContextItem
from pycupel.errors import InvalidArgumentError
from pycupel.model.item import is_version_of, stated_units
from pycupel.protocols import ShortenContext
from pycupel.shorten import KeyLines
from pycupel.shorten.key_lines import units_of

NOTE = re.compile(r" ?\[\+[\d,]+ (?:lines?|characters)\] ?\n?")


def item(content: str, tokens: int | None = None, **options: Any) -> ContextItem:
    return ContextItem(content, len(content) if tokens is None else tokens, **options)


def shortened(*items: ContextItem, kept_texts: tuple[str, ...] = (), shares: tuple[float, ...] = (0.3,)) -> list[str]:
    """The versions of the first item."""
    return [version.content for version in KeyLines(shares).shorten(items[0], ShortenContext(items, kept_texts))]


def filler(n: int) -> str:
    return "".join(f"and so on, as it was before, line by line by line {'x' * 20}\n" for _ in range(n))


def test_lines_that_introduce_something_are_kept_as_they_are_and_in_order() -> None:
    text = f"{filler(9)}    def parse_header(self, raw_bytes):\n{filler(9)}\tsee src/app/config.py\n{filler(3)}"
    (version,) = shortened(item(text), shares=(0.2,))
    assert "    def parse_header(self, raw_bytes):\n" in version
    assert "\tsee src/app/config.py\n" in version
    assert version.index("parse_header") < version.index("config.py")


def test_what_is_left_out_is_counted() -> None:
    text = f"{filler(9)}def parse_header(raw_bytes): pass\n{filler(12)}"
    (version,) = shortened(item(text), shares=(0.04,))
    assert version == "[+9 lines]\ndef parse_header(raw_bytes): pass\n[+12 lines]\n"


class Text(str):
    """A string with its own idea of lines."""

    __slots__ = ()

    def splitlines(self, keepends: bool = False) -> list[str]:
        return [Text(line) for line in super().splitlines(keepends)]

    def __hash__(self) -> int:
        raise TypeError("no hash")


def test_strings_of_other_classes_are_split_like_any_other() -> None:
    text = f"{filler(9)}def parse_header(raw_bytes): pass\n{filler(12)}"
    other = item(Text(text))
    context = ShortenContext([other])
    context.memo[units_of] = lru_cache(units_of)
    assert [version.content for version in KeyLines((0.3,)).shorten(other, context)] == shortened(item(text))


def test_versions_are_shorter_and_say_what_they_are() -> None:
    whole = item("".join(f"value_{i} = function_{i}({i})\n" for i in range(100)), priority=3, tags=["a"])
    versions = KeyLines().shorten(whole, ShortenContext([whole]))
    assert len(versions) == 5
    sizes = [version.tokens for version in versions]
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[0] < whole.tokens
    for version, share in zip(versions, (0.7, 0.4, 0.2, 0.1, 0.05), strict=True):
        assert version.tokens <= share * whole.tokens * 1.2
        assert version.original_tokens == whole.tokens
        assert (version.priority, version.tags) == (3, ("a",))
        assert is_version_of(version, whole)
        assert version.metadata["pycupel.version"]["maker"].startswith("KeyLines, ")
        units = stated_units(version)
        assert units is not None
        assert 0 < units < KeyLines().units(whole, ShortenContext([whole]))


def test_what_a_newer_item_says_is_not_said_again() -> None:
    line = "the_setting: src/app/config.py\n"
    old, new = item(f"{filler(9)}{line}{filler(9)}"), item(f"{line}{filler(2)}")
    assert "the_setting" in shortened(old)[0]
    assert "the_setting" not in "".join(shortened(old, new))
    context = ShortenContext([old, new])
    assert KeyLines().units(old, context) < 1 < KeyLines().units(new, context)


def test_newer_is_what_has_the_later_timestamp() -> None:
    line = "the_setting: src/app/config.py\n"
    first = item(f"{line}{filler(5)}", timestamp=datetime(2026, 1, 2, tzinfo=UTC))
    second = item(f"{line}{filler(5)}x", timestamp=datetime(2026, 1, 1, tzinfo=UTC))
    context = ShortenContext([first, second])
    assert KeyLines().units(first, context) > KeyLines().units(second, context)


def test_what_has_no_timestamp_is_older_than_anything_that_has_one() -> None:
    line = "the_setting: src/app/config.py\n"
    first = item(f"{line}{filler(5)}", timestamp=datetime(1969, 1, 1, tzinfo=UTC))
    second = item(f"{line}{filler(5)}x")
    context = ShortenContext([first, second])
    assert KeyLines().units(first, context) > KeyLines().units(second, context)


def test_what_stays_anyway_is_not_said_again() -> None:
    text = f"{filler(9)}the_setting: src/app/config.py\n{filler(9)}"
    assert "the_setting" not in "".join(shortened(item(text), kept_texts=("the_setting: src/app/config.py",)))


def test_the_same_object_twice_is_one_item() -> None:
    whole = item(f"{filler(9)}the_setting: src/app/config.py\n")
    assert "the_setting" in shortened(whole, whole)[0]


def test_what_several_lines_say_is_kept_once_where_it_is_shortest() -> None:
    long = "here it is explained at length what the_setting: means " + "and more " * 10 + "\n"
    text = f"{long}{filler(9)}the_setting: 12\n{filler(9)}"
    (version,) = shortened(item(text), shares=(0.1,))
    assert "the_setting: 12\n" in version
    assert "at length" not in version


def test_error_messages_headings_and_numbers_count() -> None:
    text = f"{filler(9)}error: no room\n{filler(9)}## Notes\n{filler(9)}timeout 30\n{filler(9)}"
    (version,) = shortened(item(text), shares=(0.05,))
    assert "error: no room\n" in version
    assert "## Notes\n" in version


@pytest.mark.parametrize(
    "line",
    [
        "ERROR payment gateway timeout",
        "2026-05-01T00:05:01Z ERROR payment gateway timeout",
        "[ERROR] payment gateway timeout",
        "CRITICAL payment gateway timeout",
        "FAILED tests/test_pay.py::test_card - assert 3 == 4",
        "error[E0308]: mismatched types",
        'level=error msg="payment gateway timeout"',
        '{"severity": "critical", "text": "payment gateway timeout"}',
    ],
)
def test_a_line_marked_as_an_error_outweighs_the_requests_around_it(line: str) -> None:
    requests = [f"GET /api/orders/{i * 7919} 200 {i % 90}ms\n" for i in range(100)]
    text = "".join([*requests[:50], f"{line}\n", *requests[50:]])
    (version,) = shortened(item(text), shares=(0.05,))
    assert f"{line}\n" in version


def test_an_error_that_is_repeated_with_other_numbers_counts_once() -> None:
    errors = "".join(f"12:{i:02} ERROR timeout of order {i * 31}\n" for i in range(30))
    text = f"{filler(9)}{errors}{filler(9)}the_setting: src/app/config.py\n{filler(9)}"
    (version,) = shortened(item(text), shares=(0.05,))
    assert version.count("ERROR") == 1
    assert "the_setting" in version


def test_a_line_that_only_mentions_an_error_is_an_ordinary_line() -> None:
    text = f"{filler(9)}the error was not logged, and nothing failed\n{filler(9)}the_setting: 12\n{filler(9)}"
    (version,) = shortened(item(text), shares=(0.03,))
    assert "the error" not in version


def test_a_table_keeps_its_header() -> None:
    rows = "".join(f"| thing number {i} | plain |\n" for i in range(30))
    text = f"{filler(4)}| name | state |\n|---|---|\n{rows}| the_setting: | src/app/config.py |\n{filler(9)}"
    (version,) = shortened(item(text), shares=(0.1,))
    assert "| name | state |\n" in version
    assert "the_setting" in version


def test_a_table_of_values_keeps_its_header() -> None:
    rows = "".join(f"{i},{i},{i}\n" for i in range(100))
    (version,) = shortened(item(f"name,size,state\n{rows}the_setting:,src/app/config.py,2\n"), shares=(0.3,))
    assert version.startswith("name,size,state\n[+")
    assert "the_setting" in version


def test_a_diff_keeps_the_header_of_a_hunk() -> None:
    context = "".join(f" line {i} as it was\n" for i in range(30))
    added = "+the_setting: src/app/config.py\n"
    diff = f"diff --git a/x b/x\n@@ -1,30 +1,31 @@\n{context}{added}@@ -90,3 +91,3 @@\n{context}end\n"
    (version,) = shortened(item(diff), shares=(0.1,))
    assert "@@ -1,30 +1,31 @@\n" in version
    assert "+the_setting" in version


def test_a_stack_trace_of_python_keeps_its_first_and_last_frames() -> None:
    frames = "".join(f'  File "app/mod.py", line {i}, in step\n    step()\n' for i in range(2, 40))
    trace = (
        f'Traceback (most recent call last):\n  File "main.py", line 1, in <module>\n    run()\n{frames}'
        '  File "last.py", line 99, in deep_call\n    raise ValueError\nValueError: bad_setting: is 3\n'
    )
    (version,) = shortened(item(f"{filler(9)}{trace}{filler(9)}"), shares=(0.12,))
    assert "Traceback (most recent call last):\n" in version
    assert '  File "main.py", line 1, in <module>\n' in version
    assert '  File "last.py", line 99, in deep_call\n' in version
    assert "ValueError: bad_setting: is 3\n" in version


@pytest.mark.parametrize("before", ["", "com.example.SettingError: the_setting: is 3\n"])
def test_a_stack_trace_of_java_keeps_its_first_and_last_frames(before: str) -> None:
    frames = "".join(f"    at com.example.Step.run(Step.java:{i})\n" for i in range(2, 40))
    trace = f"{before}    at com.example.First.run(First.java:1)\n{frames}    at com.example.Last.run(Last.java:9)\n"
    (version,) = shortened(item(f"{trace}{filler(9) if before else ''}"), shares=(0.3,))
    assert before in version
    assert "First.java:1" in version
    assert "Last.java:9" in version


def test_json_keeps_the_keys_around_a_line() -> None:
    data = {"servers": [{"name": f"n{i}", "open": True} for i in range(40)], "paths": {"config_file": "src/app.toml"}}
    (version,) = shortened(item(json.dumps(data, indent=2)), shares=(0.1,))
    assert version.startswith("{\n")
    assert '  "paths": {\n' in version
    assert '    "config_file": "src/app.toml"\n' in version


def test_json_in_one_line_is_taken_apart_between_values() -> None:
    data = {f"key_{i}": f"some words, number {i}" for i in range(200)}
    text = json.dumps(data)
    (version,) = shortened(item(text), shares=(0.3,))
    assert NOTE.search(version)
    assert all(part in text for part in NOTE.split(version))


def test_a_gap_that_is_shorter_than_its_note_stays() -> None:
    text = f"the_first: a/b/c\n}}\nthe_second: d/e/f\n{filler(9)}"
    (version,) = shortened(item(text), shares=(0.1,))
    assert version == "the_first: a/b/c\n}\nthe_second: d/e/f\n[+9 lines]\n"


def test_one_line_left_out() -> None:
    text = f"the_first: a/b/c\n{filler(1)}the_second: d/e/f\n{filler(9)}"
    assert "[+1 line]\n" in shortened(item(text), shares=(0.1,))[0]


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("short", id="one line"),
        pytest.param("x" * 5_000_000, id="a line of 5 MB"),
        pytest.param("\x00\x01\x02" * 1_000 + "\nname_1: 2\n" * 100, id="binary"),
        pytest.param("\x07\x02\n" * 1_000, id="control characters"),
        pytest.param("\u202eabc def " * 500, id="direction"),
        pytest.param("a b\nc d\n" * 50, id="nothing to count"),
    ],
)
def test_what_cannot_be_shortened_has_no_versions(text: str) -> None:
    assert shortened(item(text)) == []


def test_binary_content_counts_as_one() -> None:
    whole = item("\x00" * 100)
    assert KeyLines().units(whole, ShortenContext([whole])) == 1.0


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("name_1: 1\r\nplain words here\rname_2: 2\nplain again\r\n" * 40, id="mixed line ends"),
        pytest.param("שם_א: נתיב/קבצה.txt\nעד מילים רבת כאן\n" * 40 + "סף_הקבץ: שמאל\n", id="right to left"),
        pytest.param("name_1: \ud800\nplain \udfff words here\n" * 40, id="unpaired surrogates"),
        pytest.param("\x1b[31mname_1: red\x1b[0m\nplain words here\n" * 40, id="escapes"),
        pytest.param("name_\u0301x: e\u0301\nplain words here\n" * 40, id="combining marks"),
        pytest.param(" ".join(f"word_{i}\\n" for i in range(900)), id="no line breaks"),
    ],
)
def test_lines_come_out_intact(text: str) -> None:
    for version in shortened(item(text), shares=(0.05, 0.2, 0.7)):
        parts = [part for part in NOTE.split(version) if part]
        assert parts
        assert all(part in text for part in parts)


def test_with_a_counter_tokens_are_counted() -> None:
    whole = item("".join(f"value_{i} = {i}\n" for i in range(100)), 400)
    context = ShortenContext([whole], counter=lambda text: len(text.split()))
    assert all(version.tokens == len(version.content.split()) for version in KeyLines().shorten(whole, context))


def test_a_version_that_would_not_be_shorter_is_left_out() -> None:
    whole = item("".join(f"value_{i} = {i}\n" for i in range(100)), 400)
    assert KeyLines().shorten(whole, ShortenContext([whole], counter=lambda text: 400)) == []


@pytest.mark.unmeasured
def test_deep_nesting_takes_no_more_than_linear_time() -> None:
    text = "[\n" + "".join(f"{' ' * i}[\n" for i in range(3_000)) + "the_setting: 1\n"
    assert shortened(item(text), shares=(0.9,))


@pytest.mark.parametrize("shares", [(), (1.5,), (-0.1,)])
def test_shares_are_checked(shares: tuple[float, ...]) -> None:
    with pytest.raises(InvalidArgumentError, match="shares"):
        KeyLines(shares)


def test_shares_must_be_numbers() -> None:
    with pytest.raises(TypeError, match=r"shares\[0\] must be a number"):
        KeyLines(["x"])  # type: ignore[list-item]


def test_makers_are_values() -> None:
    assert KeyLines((0.2, 0.1, 0.2)) == KeyLines((0.1, 0.2))
    assert hash(KeyLines()) == hash(KeyLines())


def test_what_was_left_out_before_is_counted_again() -> None:
    text = (
        "[+1,200 lines]\n"
        + "a line that says nothing\n" * 9
        + "the_name: src/app/main.py\n[+1 line]\n"
        + "nor this\n" * 9
    )
    [version] = shortened(item(text), shares=(0.1,))
    assert version == "[+1,209 lines]\nthe_name: src/app/main.py\n[+10 lines]\n"
    assert shortened(item(text.replace("1,200", "9" * 5_000)), shares=(0.2,)) != []
