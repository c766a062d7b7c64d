"""Read and write items as JSON lines, one at a time, so that memory does not grow with the file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Protocol

from pycupel.codecs.base import Context
from pycupel.codecs.jsontext import format_json, parse_json
from pycupel.errors import DocumentError
from pycupel.model import ContextItem
from pycupel.model.checks import checked_iterable, wrong_type
from pycupel.wire.items import ITEM

__all__ = ["read_items", "write_items"]


class _TextStream(Protocol):
    def write(self, text: str, /) -> object: ...


def read_items(
    stream: Iterable[str] | Iterable[bytes], *, strict: bool = False, allow_nan: bool = False
) -> Iterator[ContextItem]:
    """Read items from JSON lines, one at a time. Blank lines are skipped.

    Args:
        stream: An open file, or any other iterable of lines.
        strict: Reject unknown keys instead of ignoring them.
        allow_nan: Accept NaN and infinities as numbers.

    Returns:
        An iterator that reads lines as items are needed.

    Raises:
        TypeError: the stream is a path, or not an iterable of lines.
        DocumentError: a line is not a valid item. `path` starts with the line number, like `line 3: tokens`.
    """
    lines = checked_iterable("stream", "an open file or another iterable of lines", stream)
    return _read(lines, Context(strict, allow_nan))


def write_items(stream: _TextStream, items: Iterable[ContextItem], *, allow_nan: bool = False) -> int:
    """Write items as JSON lines, one at a time.

    Args:
        stream: A file that is open for writing text.
        items: The items. An iterator is consumed as they are written.
        allow_nan: Write NaN and infinities, which are not JSON, instead of rejecting them.

    Returns:
        The number of items written.

    Raises:
        TypeError: the stream cannot be written to, or one of the items is not a ContextItem.
        DocumentError: an item cannot be written. All items before it have been written, and no part of it.
    """
    if not hasattr(stream, "write"):
        raise wrong_type("stream", "a file that is open for writing", stream)
    context = Context(allow_nan=allow_nan)
    count = 0
    for item in checked_iterable("items", "an iterable of ContextItem", items):
        if not isinstance(item, ContextItem):
            raise wrong_type(f"items[{count}]", "a ContextItem", item)
        count += 1
        try:
            line = format_json(ITEM.write(item, context))
        except DocumentError as error:
            error.path = _on_line(count, error.path)
            raise
        stream.write(f"{line}\n")
    return count


def _read(lines: Iterable[Any], context: Context) -> Iterator[ContextItem]:
    for number, line in enumerate(lines, 1):
        if isinstance(line, (str, bytes)) and not line.strip():
            continue
        try:
            item: ContextItem = ITEM.read(parse_json(line), context)
        except DocumentError as error:
            error.path = _on_line(number, error.path)
            raise
        yield item


def _on_line(number: int, path: str) -> str:
    return f"line {number}: {path}" if path else f"line {number}"
