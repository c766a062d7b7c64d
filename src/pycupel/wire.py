"""Convert items, budgets and reports to and from dictionaries, JSON and JSON lines.

    text = wire.dumps(report)
    report = wire.loads(SelectionReport, text)

A value that is written and read back equals the original, except NaN, which equals nothing, and messages that are
objects of a library, which become dicts. Any other value for which that is impossible cannot be written. Timestamps are
read to the microsecond. Unknown stages and reasons are kept; unknown keys are ignored unless `strict` is set; duplicate
keys are rejected.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import UTC, datetime
from enum import StrEnum
from functools import lru_cache
from math import isfinite
from operator import attrgetter
from types import SimpleNamespace
from typing import Any, Protocol, TypeVar

from pycupel.codecs.base import (
    FLAG,
    INTEGER,
    KIND,
    NUMBER,
    OBJECT,
    SOURCE,
    TEXT,
    Codec,
    Context,
    adapted,
    as_object,
    format_json,
    limited,
    list_of,
    map_of,
    must_be,
    parse_json,
)
from pycupel.codecs.records import OPTIONAL, Field, Record, derive_fields
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
from pycupel.model import ContextBudget, ContextItem, ContextKind, ContextSource, ScoredItem
from pycupel.model.checks import checked_count, checked_iterable, wrong_type
from pycupel.model.item import trusted_item
from pycupel.scorers.fields import MetadataTrustScorer
from pycupel.text import quoted
from pycupel.values import FrozenDict

__all__ = ["dumps", "from_dict", "loads", "read_items", "to_dict", "write_items"]

# Python accepts more forms than RFC 3339, some of them without a time zone.
_is_rfc_3339 = re.compile(
    r"\d{4}-\d\d-\d\d[Tt ](?:[01]\d|2[0-3]):\d\d:\d\d(?:\.\d+)?(?:[Zz]|[+-]\d\d:\d\d)", re.ASCII
).fullmatch

# Most times are in UTC, to the second, millisecond or microsecond. For each of these lengths, every third character
# from the fifth on is a separator; Python checks the numbers between them.
_USUAL_SEPARATORS = {20: "--T::Z", 24: "--T::.", 27: "--T::."}


def _read_timestamp(value: Any, context: Context) -> datetime:
    try:
        is_usual = type(value) is str and value[4:20:3] == _USUAL_SEPARATORS.get(len(value)) and value[-1] == "Z"
        # Some versions of Python accept 24 as an hour.
        if is_usual and "T24" not in value:
            return datetime.fromisoformat(value)
        if _is_rfc_3339(value):
            moment = datetime.fromisoformat(value.upper())
            return moment if moment.tzinfo is UTC else moment.astimezone(UTC)
    except (TypeError, ValueError, OverflowError):
        pass
    raise must_be("a time with a time zone, like 2026-01-05T12:00:00Z", TEXT.read(value, context))


_TIMESTAMP = Codec(
    lambda: {"type": "string", "format": "date-time"},
    _read_timestamp,
    lambda value, _: value.isoformat().replace("+00:00", "Z"),
)

_TAGS = list_of(TEXT)

# Looked up once, because items are read by the million.
_MESSAGE, _CHAT = ContextKind.MESSAGE, ContextSource.CHAT
_TEXTS = frozenset({str})
_NO_METADATA: FrozenDict[str, Any] = FrozenDict()


def _cached(codec: Codec) -> Callable[[str], Any]:
    @lru_cache(maxsize=1_000)
    def named(name: str) -> Any:
        return codec.read(name, Context())

    return named


_kind_named, _source_named = _cached(KIND), _cached(SOURCE)


def usual_item(data: dict[Any, Any], context: Context) -> ContextItem | None:
    """Read a common item in half the time, by using a codec only where checking the type is not enough.

    For an object with mistakes or snake_case keys, this returns None or raises a DocumentError; use `ITEM` instead.
    """
    if "future_relevance_hint" in data or "original_tokens" in data:
        return None
    get = data.get
    content, tokens, kind, source, priority = get("content"), get("tokens"), get("kind"), get("source"), get("priority")
    tags, metadata, timestamp = get("tags"), get("metadata"), get("timestamp")
    hint, pinned, original = get("futureRelevanceHint"), get("pinned"), get("originalTokens")
    if type(content) is not str or not content or type(tokens) is not int:
        return None
    labels: tuple[str, ...] = ()
    if type(tags) is list and _TEXTS.issuperset(map(type, tags)) and "".join(tags).isascii():  # pyright: ignore[reportUnknownArgumentType] - from outside
        labels = tuple(tags)  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType] - from outside
    elif tags is not None:
        labels = _TAGS.read(tags, context)
    return trusted_item(
        content if content.isascii() else TEXT.read(content, context),
        tokens,
        _MESSAGE if kind is None else _kind_named(kind) if type(kind) is str else KIND.read(kind, context),
        _CHAT if source is None else _source_named(source) if type(source) is str else SOURCE.read(source, context),
        priority if priority is None or type(priority) is int else INTEGER.read(priority, context),
        labels,
        _NO_METADATA if metadata is None else FrozenDict(OBJECT.read(metadata, context)),
        None if timestamp is None else _read_timestamp(timestamp, context),
        hint if hint is None or (type(hint) is float and isfinite(hint)) else NUMBER.read(hint, context),
        False if pinned is None else FLAG.read(pinned, context),
        None if original is None else INTEGER.read(original, context),
    )


def _write_metadata(metadata: Any, context: Context) -> dict[str, Any]:
    """Write a number for trust as the decimal string that other implementations read (WF-07)."""
    written: dict[str, Any] = OBJECT.write(metadata, context)
    trust = written.get(MetadataTrustScorer.key)
    # A bool is no trust, and NaN and infinities, where they are allowed, have no decimal string. An int may be beyond
    # the range of floats, for which `isfinite` raises.
    if type(trust) is int or (type(trust) is float and isfinite(trust)):
        written[MetadataTrustScorer.key] = str(trust)
    return written


ITEM = Record(
    ContextItem,
    [
        Field("content", TEXT),
        Field("tokens", INTEGER),
        Field("kind", KIND, OPTIONAL),
        Field("source", SOURCE, OPTIONAL),
        Field("priority", INTEGER, None),
        Field("tags", _TAGS, ()),
        Field("metadata", Codec(OBJECT.schema, OBJECT.read, _write_metadata), {}),
        Field("timestamp", _TIMESTAMP, None),
        Field("futureRelevanceHint", NUMBER, None),
        Field("pinned", FLAG, False),
        Field("originalTokens", INTEGER, None),
    ],
    fast_read=usual_item,
)


BUDGET = Record(
    ContextBudget,
    [
        Field("maxTokens", INTEGER),
        Field("targetTokens", INTEGER, OPTIONAL),
        Field("outputReserve", INTEGER, 0),
        Field("reservedSlots", map_of(KIND, limited(INTEGER, low=0)), {}),
        Field("estimationSafetyMarginPercent", NUMBER, 0.0),
    ],
)


# Reports, and whole documents.


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
        DocumentError: the dictionary does not describe a valid value; `path` says what is wrong.
    """
    value: _Value = _codec("cls", cls, cls).read(data, Context(strict, allow_nan))
    return value


def dumps(value: object, *, indent: int | None = None, allow_nan: bool = False) -> str:
    """Return a value as JSON, as `to_dict` does as a dictionary; on a single line, unless there is an indent."""
    spaces = None if indent is None else checked_count("indent", indent, InvalidArgumentError)
    if spaces is not None and spaces > _MAX_INDENT:
        raise InvalidArgumentError(f"indent must be at most {_MAX_INDENT}", argument="indent", value=spaces)
    return format_json(to_dict(value, allow_nan=allow_nan), spaces)


def loads(cls: type[_Value], text: str | bytes, *, strict: bool = False, allow_nan: bool = False) -> _Value:
    """Return the value that a JSON text, a str or UTF-8 bytes, describes, as `from_dict` does of a dictionary."""
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
    """Read items from JSON lines, of an open file or another iterable, as they are needed. Blank lines are skipped.

    The options are those of `from_dict`.

    Raises:
        DocumentError: a line is not a valid item. `path` starts with the line number, like `line 3: tokens`.
    """
    lines = checked_iterable("stream", "an open file or another iterable of lines", stream)
    return _read(lines, Context(strict, allow_nan))


def write_items(stream: _TextStream, items: Iterable[ContextItem], *, allow_nan: bool = False) -> int:
    """Write items as JSON lines to a text file that is open, one at a time, and return how many they were.

    Raises:
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
