"""Items as JSON lines, one at a time: a file of any size needs the memory of one item."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Protocol

from pycupel.errors import DocumentError
from pycupel.model import ContextItem
from pycupel.model.checks import checked_iterable, wrong_type
from pycupel.wire.documents import parse, unparse
from pycupel.wire.items import ITEM
from pycupel.wire.values import Mode

__all__ = ["read_items", "write_items"]


class _TextStream(Protocol):
    def write(self, text: str, /) -> object: ...


def read_items(
    stream: Iterable[str] | Iterable[bytes], *, strict: bool = False, allow_nan: bool = False
) -> Iterator[ContextItem]:
    """The items of an open file, or of any lines, as they are asked for. Blank lines are skipped.

    Raises:
        TypeError: the stream is no iterable of lines; a path is none.
        DocumentError: a line is no item. The path starts with its number, like `line 3: tokens`.
    """
    return _read(
        checked_iterable("stream", "an open file or another iterable of lines", stream), Mode(strict, allow_nan)
    )


def write_items(stream: _TextStream, items: Iterable[ContextItem], *, allow_nan: bool = False) -> int:
    """Write one line for each item, as they come, and return how many.

    Raises:
        TypeError: something among the items is none.
        DocumentError: an item cannot be written. The lines before it are complete, and nothing of it is written.
    """
    mode = Mode(allow_nan=allow_nan)
    count = 0
    for item in checked_iterable("items", "an iterable of ContextItem", items):
        if not isinstance(item, ContextItem):
            raise wrong_type(f"items[{count}]", "a ContextItem", item)
        count += 1
        try:
            line = unparse(ITEM.write(item, mode))
        except DocumentError as error:
            error.path = _on_line(count, error.path)
            raise
        stream.write(f"{line}\n")
    return count


def _read(lines: Iterable[Any], mode: Mode) -> Iterator[ContextItem]:
    for number, line in enumerate(lines, 1):
        if isinstance(line, (str, bytes)) and not line.strip():
            continue
        try:
            item: ContextItem = ITEM.read(parse(line), mode)
        except DocumentError as error:
            error.path = _on_line(number, error.path)
            raise
        yield item


def _on_line(number: int, path: str) -> str:
    return f"line {number}: {path}" if path else f"line {number}"
