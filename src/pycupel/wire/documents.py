"""Convert values to and from dictionaries and JSON text, and items to and from JSON lines."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Protocol, TypeVar

from pycupel.codecs.base import Codec, Context
from pycupel.codecs.jsontext import format_json, parse_json
from pycupel.errors import DocumentError, InvalidArgumentError
from pycupel.model import ContextItem
from pycupel.model.checks import checked_count, checked_iterable, wrong_type
from pycupel.wire.items import ITEM

_Value = TypeVar("_Value")
_MAX_INDENT = 100


class _TextStream(Protocol):
    def write(self, text: str, /) -> object: ...


def to_dict(value: object, *, allow_nan: bool = False) -> dict[str, Any]:
    """Return a value as a dictionary of plain JSON values.

    Args:
        value: An item, a budget, a report, a part of a report, or a selection from a chat history.
        allow_nan: Write NaN and infinities, which are not JSON, instead of rejecting them.

    Raises:
        TypeError: there is no wire format for the type of the value.
        DocumentError: a part cannot be written: NaN or an infinity without `allow_nan`, metadata that is not JSON or
            is nested more than 64 levels deep, or a lone surrogate. `path` says where.
    """
    document: dict[str, Any] = _codec("value", value, type(value)).write(value, Context(allow_nan=allow_nan))
    return document


def from_dict(cls: type[_Value], data: Mapping[str, Any], *, strict: bool = False, allow_nan: bool = False) -> _Value:
    """Return the value that a dictionary describes.

    An unknown inclusion reason or stage is returned as a `str`.

    Args:
        cls: The class of the value. `ExclusionReason` means any exclusion reason.
        data: The dictionary. Fields may be spelled `maxTokens` or `max_tokens`; null means absent.
        strict: Reject unknown keys instead of ignoring them.
        allow_nan: Accept NaN and infinities as numbers.

    Raises:
        TypeError: there is no wire format for `cls`.
        DocumentError: the dictionary does not describe a valid value; `path` says what is wrong.
    """
    value: _Value = _codec("cls", cls, cls).read(data, Context(strict, allow_nan))
    return value


def dumps(value: object, *, indent: int | None = None, allow_nan: bool = False) -> str:
    """Return a value as JSON.

    Args:
        value: Any value that `to_dict` accepts.
        indent: The indent of each level; None for a single line.
        allow_nan: Write NaN and infinities, which are not JSON, instead of rejecting them.

    Raises:
        TypeError: there is no wire format for the type of the value, or the indent is not an int.
        InvalidArgumentError: the indent is negative or larger than 100.
        DocumentError: a part cannot be written; `path` says where.
    """
    spaces = None if indent is None else checked_count("indent", indent, InvalidArgumentError)
    if spaces is not None and spaces > _MAX_INDENT:
        raise InvalidArgumentError(f"indent must be at most {_MAX_INDENT}", argument="indent", value=spaces)
    return format_json(to_dict(value, allow_nan=allow_nan), spaces)


def loads(cls: type[_Value], text: str | bytes, *, strict: bool = False, allow_nan: bool = False) -> _Value:
    """Return the value that a JSON text describes.

    Args:
        cls: The class of the value, as for `from_dict`.
        text: The text, as a str or UTF-8 bytes.
        strict: Reject unknown keys instead of ignoring them.
        allow_nan: Accept NaN and infinities as numbers.

    Raises:
        TypeError: there is no wire format for `cls`, or the text is neither a str nor bytes.
        DocumentError: the text is not JSON, or does not describe a valid value; `path` says what is wrong.
    """
    codec = _codec("cls", cls, cls)
    value: _Value = codec.read(parse_json(text), Context(strict, allow_nan))
    return value


def _codec(name: str, given: object, cls: Any) -> Codec:
    # Imported late, because a program that only reads items does not need the codecs of reports.
    from pycupel.wire import reports  # noqa: PLC0415

    codec = None
    if isinstance(cls, type):
        codec = reports.CODECS.get(cls) or reports.REASON_CODECS.get(cls)
        if cls.__module__.startswith("pycupel.messages."):
            # Imported late, because `messages` is a higher layer.
            from pycupel.messages.wire import CODECS  # noqa: PLC0415

            codec = CODECS.get(cls)
    if codec is None:
        supported = ", ".join([*(each.__name__ for each in reports.CODECS), "MessageSelection"])
        raise wrong_type(name, f"one of {supported}", given)
    return codec


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
