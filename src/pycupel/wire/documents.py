"""Convert values to and from dictionaries and JSON text, and items to and from JSON lines."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from enum import StrEnum
from operator import attrgetter
from types import SimpleNamespace
from typing import Any, Protocol, TypeVar

from pycupel.codecs.base import Codec, Context, adapted, as_object, format_json, must_be, parse_json
from pycupel.codecs.records import OPTIONAL, Field, Record, derive_fields
from pycupel.codecs.values import INTEGER, KIND, NUMBER, OBJECT, TEXT, list_of
from pycupel.diagnostics import PipelineStage, SelectionReport
from pycupel.diagnostics.reasons import (
    EXCLUSION_REASONS,
    CountRequirementShortfall,
    ExcludedItem,
    ExclusionReason,
    IncludedItem,
    InclusionReason,
    OverflowEvent,
    TraceEvent,
    UnknownReason,
    reason_name,
)
from pycupel.errors import DocumentError, InvalidArgumentError
from pycupel.model import ContextBudget, ContextItem, ContextKind, ScoredItem
from pycupel.model.checks import checked_count, checked_iterable, wrong_type
from pycupel.text import quoted
from pycupel.wire.items import BUDGET, ITEM


def _open_enum(members: type[StrEnum]) -> Codec:
    """Return a codec for an enumeration that keeps unknown names: a later version may have written them (WF-03)."""
    known: dict[str, str] = {member.value: member for member in members}
    return adapted(TEXT, read=lambda name: known.get(name, name))


# Every reason is an object with its name, and fields if it has any: `{"reason": "<name>", ...}` (WF-04).
_INCLUSION = adapted(
    Record(SimpleNamespace, [Field("reason", _open_enum(InclusionReason))]),
    read=attrgetter("reason"),
    write=lambda reason: SimpleNamespace(reason=reason),
)

TYPES: dict[Any, Codec] = {
    int: INTEGER,
    float: NUMBER,
    str: TEXT,
    ContextKind: KIND,
    ContextItem: ITEM,
    ContextBudget: BUDGET,
    PipelineStage | str: _open_enum(PipelineStage),
    InclusionReason | str: _INCLUSION,
}
"""The codec for each type of field."""

_REASONS = {
    name: Record(cls, derive_fields(cls, TYPES), other_keys=("reason",)) for name, cls in EXCLUSION_REASONS.items()
}


def _read_exclusion(value: Any, context: Context) -> ExclusionReason:
    # Read the name first, without `strict`, because the name decides which other keys are known.
    name = _INCLUSION.read(value, Context())
    if name in _REASONS:
        known: ExclusionReason = _REASONS[name].read(value, context)
        return known
    fields = {key: field for key, field in as_object(value).items() if key != "reason"}
    return UnknownReason(name, OBJECT.read(fields, context))


def _write_exclusion(value: Any, context: Context) -> dict[str, Any]:
    if isinstance(value, UnknownReason):
        return {**_INCLUSION.write(value.name, context), **OBJECT.write(value.fields, context)}
    name = type(value).__name__
    if EXCLUSION_REASONS.get(name) is not type(value):
        raise must_be("an exclusion reason of pycupel.diagnostics", value)
    return {"reason": name, **_REASONS[name].write(value, context)}


TYPES[ExclusionReason] = Codec(_INCLUSION.schema, _read_exclusion, _write_exclusion)


def _one_reason(cls: type[ExclusionReason]) -> Codec:
    """Return a codec that accepts only this exclusion reason."""

    def checked(reason: ExclusionReason) -> ExclusionReason:
        if type(reason) is not cls:
            raise DocumentError(f"must be {cls.__name__}, not {quoted(reason_name(reason))}", path="reason")
        return reason

    return adapted(TYPES[ExclusionReason], read=checked)


_PARTS: list[type[Any]] = [IncludedItem, ExcludedItem, TraceEvent, OverflowEvent, CountRequirementShortfall]
TYPES.update({cls: Record(cls, derive_fields(cls, TYPES)) for cls in _PARTS})

# Always written, as in other implementations.
_SHORTFALLS = Field("count_requirement_shortfalls", list_of(TYPES[CountRequirementShortfall]), OPTIONAL)

CODECS: Mapping[type[Any], Codec] = {
    ContextItem: ITEM,
    ContextBudget: BUDGET,
    ScoredItem: Record(ScoredItem, derive_fields(ScoredItem, TYPES)),
    SelectionReport: Record(SelectionReport, derive_fields(SelectionReport, TYPES, [_SHORTFALLS])),
    **{cls: TYPES[cls] for cls in _PARTS},
    InclusionReason: TYPES[InclusionReason | str],
    ExclusionReason: TYPES[ExclusionReason],
}
"""The codec of each public class. That of `ExclusionReason` accepts any exclusion reason."""

_ALL_REASONS: list[type[ExclusionReason]] = [*EXCLUSION_REASONS.values(), UnknownReason]
REASON_CODECS: Mapping[type[Any], Codec] = {cls: _one_reason(cls) for cls in _ALL_REASONS}
"""The codec of each exclusion reason. It rejects all other reasons."""


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
    codec = None
    if isinstance(cls, type):
        codec = CODECS.get(cls) or REASON_CODECS.get(cls)
        if cls.__module__.startswith("pycupel.messages."):
            # Imported late, because `messages` is a higher layer.
            from pycupel.messages.wire import MESSAGE_CODECS  # noqa: PLC0415

            codec = MESSAGE_CODECS.get(cls)
    if codec is None:
        supported = ", ".join([*(each.__name__ for each in CODECS), "MessageSelection"])
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
