"""JSON lines: items one at a time."""

from __future__ import annotations

import io
import json
import math
import tracemalloc
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest

from pycupel import ContextItem, wire
from pycupel.errors import DocumentError
from tests.wire.samples import ITEM, NOON


def lines(items: Iterable[ContextItem]) -> str:
    stream = io.StringIO()
    wire.write_items(stream, items)
    return stream.getvalue()


def test_items_are_written_one_to_a_line() -> None:
    stream = io.StringIO()
    items = [ITEM, ContextItem("two\nlines\r\n\u2028\x85", 2)]
    assert wire.write_items(stream, iter(items)) == 2
    text = stream.getvalue()
    assert text.endswith("\n")
    assert [json.loads(line) for line in text.split("\n")[:-1]] == [wire.to_dict(item) for item in items]
    assert list(wire.read_items(io.StringIO(text))) == items


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_items_are_read_from_a_file(tmp_path: Path, newline: str) -> None:
    items = [ITEM, ContextItem("two\u2028lines", 2)]
    path = tmp_path / "items.jsonl"
    with path.open("w", encoding="utf-8", newline=newline) as stream:
        wire.write_items(stream, items)
    with path.open(encoding="utf-8") as stream:
        assert list(wire.read_items(stream)) == items
    with path.open("rb") as binary:
        assert list(wire.read_items(binary)) == items


def test_nothing_is_written_for_no_items() -> None:
    stream = io.StringIO()
    assert wire.write_items(stream, []) == 0
    assert stream.getvalue() == ""
    assert list(wire.read_items(stream)) == []


def test_blank_lines_are_skipped_and_counted() -> None:
    text = [
        "\n",
        '{"content": "a", "tokens": 1}\n',
        "  \t\r\n",
        '{"content": "b", "tokens": 2}\n',
        "",
        '{"content": 3}',
    ]
    read = wire.read_items(text)
    assert [next(read).content, next(read).content] == ["a", "b"]
    with pytest.raises(DocumentError) as info:
        next(read)
    assert (info.value.path, str(info.value)) == (
        "line 6: content",
        "line 6: content: must be a string, not 3 (int)",
    )


@pytest.mark.parametrize(
    ("line", "text"),
    [
        ("{", "line 2: invalid JSON: Expecting property name enclosed in double quotes at column 2"),
        ("[]", "line 2: must be an object, not a list"),
        ('{"content": "a"}', "line 2: tokens: is missing"),
        ('{"content": "a", "tokens": 1, "tags": [1]}', "line 2: tags[0]: must be a string, not 1 (int)"),
        (
            '{"content": "a", "tokens": 1, "futureRelevanceHint": NaN}',
            "line 2: futureRelevanceHint: must be finite, not nan, unless allow_nan is set",
        ),
    ],
)
def test_an_error_names_the_line(line: str, text: str) -> None:
    with pytest.raises(DocumentError) as info:
        list(wire.read_items([lines([ITEM]), line]))
    assert str(info.value) == text


def test_lines_are_read_as_strictly_as_asked() -> None:
    line = '{"content": "a", "tokens": 1, "colour": "red", "futureRelevanceHint": NaN}'
    with pytest.raises(DocumentError, match=r"^line 1: colour: unknown field; expected one of content, tokens, "):
        list(wire.read_items([line], strict=True, allow_nan=True))
    (item,) = wire.read_items([line], allow_nan=True)
    assert math.isnan(item.future_relevance_hint or 0.0)
    with pytest.raises(DocumentError, match=r"^line 1: futureRelevanceHint"):
        lines([item])
    stream = io.StringIO()
    wire.write_items(stream, [item], allow_nan=True)
    assert '"futureRelevanceHint": NaN' in stream.getvalue()


def test_an_item_that_cannot_be_written_leaves_the_lines_before_it() -> None:
    stream = io.StringIO()
    with pytest.raises(DocumentError, match=r"^line 2: metadata.when: must be a string, number"):
        wire.write_items(stream, [ITEM, ContextItem("x", 1, metadata={"when": NOON})])
    assert list(wire.read_items(stream.getvalue().splitlines())) == [ITEM]


def test_only_items_are_written() -> None:
    with pytest.raises(TypeError, match=r"^items\[1\] must be a ContextItem, not 'x'"):
        wire.write_items(io.StringIO(), [ITEM, "x"])  # type: ignore[list-item]
    with pytest.raises(TypeError, match=r"^items must be an iterable of ContextItem"):
        wire.write_items(io.StringIO(), ITEM)  # type: ignore[arg-type]


@pytest.mark.parametrize("stream", ["items.jsonl", b"x", Path("items.jsonl"), None])
def test_a_path_is_no_stream(stream: Any) -> None:
    """At once, not when the first item is asked for."""
    with pytest.raises(TypeError, match=r"^stream must be an open file or another iterable of lines"):
        wire.read_items(stream)


def test_lines_are_text() -> None:
    with pytest.raises(TypeError, match=r"^text must be a str or bytes"):
        list(wire.read_items([{"content": "a", "tokens": 1}]))  # type: ignore[arg-type]


class Sink:
    """A stream that forgets."""

    size = 0

    def write(self, text: str) -> None:
        self.size += len(text)


def peak(work: Callable[[], object]) -> int:
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.unmeasured
def test_items_are_streamed_in_constant_memory() -> None:
    """2,000 items pass through in less than half the memory that holding 200 of them takes."""
    line = wire.dumps(ITEM)

    def source(count: int) -> Iterator[str]:
        return (line.replace("Grüße", f"Grüße {i}") for i in range(count))

    sink = Sink()
    held = peak(lambda: list(wire.read_items(source(200))))
    streamed = peak(lambda: wire.write_items(sink, wire.read_items(source(2_000))))
    assert sink.size > 2_000 * len(line)
    assert streamed < held / 2
