"""`ContextItem`, one piece of context, and `ScoredItem`, an item with its score."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from datetime import UTC, datetime
from types import MappingProxyType
from typing import Any, NamedTuple, Never, cast, final

from pycupel.errors import InvalidItemError, digits
from pycupel.model.checks import (
    as_float,
    checked_bool,
    checked_int,
    checked_iterable,
    checked_mapping,
    checked_pairs,
    checked_str,
    wrong_type,
)
from pycupel.model.kind import ContextKind, ContextSource

__all__ = ["ContextItem", "ScoredItem", "split_scored"]

_NO_TAGS: tuple[str, ...] = ()
_NO_METADATA: Mapping[str, Any] = MappingProxyType({})


class _Draft:
    """A `ContextItem` that is not frozen yet.

    Writing eleven attributes past a frozen class costs more than validating them, and items are built by the thousand
    on every request. So a new item is written as a draft, with plain assignments, and then becomes a `ContextItem`,
    which has the same slots.
    """

    __slots__ = (
        "content",
        "future_relevance_hint",
        "kind",
        "metadata",
        "original_tokens",
        "pinned",
        "priority",
        "source",
        "tags",
        "timestamp",
        "tokens",
    )

    content: str
    tokens: int
    kind: ContextKind
    source: ContextSource
    priority: int | None
    tags: tuple[str, ...]
    metadata: Mapping[str, Any]
    timestamp: datetime | None
    future_relevance_hint: float | None
    pinned: bool
    original_tokens: int | None


@final
@dataclass(frozen=True, slots=True, init=False, repr=False)
class ContextItem(_Draft):
    """One piece of context: a message, a document, the output of a tool, a memory.

    Equality is structural; the pipeline itself tells items apart by identity.

    Raises:
        TypeError: an argument has a wrong type.
        InvalidItemError: the content is empty, a kind or source is blank, or the timestamp has no time zone.
    """

    content: str
    tokens: int
    kind: ContextKind
    source: ContextSource
    priority: int | None
    tags: tuple[str, ...]
    metadata: Mapping[str, Any] = field(hash=False)
    timestamp: datetime | None
    future_relevance_hint: float | None
    pinned: bool
    original_tokens: int | None

    def __new__(
        cls,
        content: str,
        tokens: int,
        *,
        kind: ContextKind | str = ContextKind.MESSAGE,
        source: ContextSource | str = ContextSource.CHAT,
        priority: int | None = None,
        tags: Iterable[str] = _NO_TAGS,
        metadata: Mapping[str, Any] = _NO_METADATA,
        timestamp: datetime | None = None,
        future_relevance_hint: float | None = None,
        pinned: bool = False,
        original_tokens: int | None = None,
    ) -> ContextItem:
        draft = _Draft()
        draft.content = content if type(content) is str else checked_str("content", content)
        if not content:
            raise InvalidItemError("content must not be empty", argument="content", value=content)
        draft.tokens = tokens if type(tokens) is int else checked_int("tokens", tokens)
        draft.kind = kind if type(kind) is ContextKind else ContextKind.of(kind)
        draft.source = source if type(source) is ContextSource else ContextSource.of(source)
        draft.priority = priority if priority is None or type(priority) is int else checked_int("priority", priority)
        draft.tags = _NO_TAGS if tags is _NO_TAGS else _as_tags(tags)
        draft.metadata = metadata if metadata is _NO_METADATA else _as_metadata(metadata)
        draft.timestamp = timestamp if timestamp is None else _as_utc(timestamp)
        hint = future_relevance_hint
        draft.future_relevance_hint = (
            hint if hint is None or type(hint) is float else as_float("future_relevance_hint", hint)
        )
        draft.pinned = pinned if pinned is False else checked_bool("pinned", pinned)
        original = original_tokens
        draft.original_tokens = (
            original if original is None or type(original) is int else checked_int("original_tokens", original)
        )
        draft.__class__ = cls
        return cast(ContextItem, draft)

    def __init_subclass__(cls) -> Never:
        raise TypeError("ContextItem cannot be subclassed; put what you want to carry along into metadata")

    def __repr__(self) -> str:
        options = (
            f", {f.name}={_repr(getattr(self, f.name))}"
            for f in fields(self)[2:]
            if getattr(self, f.name) != getattr(_PLAIN, f.name)
        )
        return f"ContextItem({self.content!r}, {digits(self.tokens)}{''.join(options)})"

    def __reduce__(self) -> tuple[Any, ...]:
        values = {f.name: getattr(self, f.name) for f in fields(self)}
        return _rebuild, ({**values, "metadata": dict(self.metadata)},)


class ScoredItem(NamedTuple):
    """An item with the score that it has been given."""

    item: ContextItem
    score: float


def split_scored(scored_items: Any) -> tuple[list[ContextItem], list[float]]:
    """The items and their scores, as two lists. Any pair will do for a `ScoredItem`."""
    items: list[ContextItem] = []
    scores: list[float] = []
    for i, (item, score) in enumerate(checked_pairs("scored_items", "(item, score)", scored_items)):
        if not isinstance(item, ContextItem):
            raise wrong_type(f"the item of scored_items[{i}]", "a ContextItem", item)
        items.append(item)
        scores.append(as_float(f"the score of scored_items[{i}]", score))
    return items, scores


def _repr(value: object) -> str:
    return digits(value) if type(value) is int else repr(value)


def _rebuild(values: dict[str, Any]) -> ContextItem:
    """What pickle and copy call, because a read-only mapping cannot be pickled."""
    return ContextItem(**values)


def _as_tags(value: Any) -> tuple[str, ...]:
    # Asking for an abstract base class costs more than all the rest.
    given: Iterable[Any] = value
    if type(value) is not list:
        given = checked_iterable("tags", "an iterable of str", value)
    tags = tuple(given)
    for tag in tags:
        if type(tag) is not str:
            checked_str("every tag in tags", tag)
    return tags


def _as_metadata(value: Any) -> Mapping[str, Any]:
    given: Mapping[Any, Any] = value
    if type(value) is not dict:
        given = checked_mapping("metadata", "a mapping", value)
    metadata = dict(given)
    for key in metadata:
        if type(key) is not str:
            checked_str("every key in metadata", key)
    return MappingProxyType(metadata)


def _as_utc(value: Any) -> datetime:
    """The same instant in UTC, because Python compares times of one zone by the wall clock (DM-07, PY-02)."""
    if type(value) is datetime and value.tzinfo is UTC:
        return value
    if not isinstance(value, datetime):
        raise wrong_type("timestamp", "a datetime", value)
    if value.utcoffset() is None:
        raise InvalidItemError(
            f"timestamp must have a time zone, {value!r} has none; use datetime.now(timezone.utc) or add tzinfo",
            argument="timestamp",
            value=value,
        )
    try:
        moved = value.astimezone(UTC)
    except OverflowError:
        raise InvalidItemError(
            f"timestamp {value!r} has no equivalent in UTC", argument="timestamp", value=value
        ) from None
    return datetime.combine(moved.date(), moved.time(), UTC)


_PLAIN = ContextItem("-", 0)
