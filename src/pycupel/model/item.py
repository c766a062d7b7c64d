"""`ContextItem`, one piece of context; `ScoredItem`, an item with its score; and shorter versions of an item."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from datetime import UTC, datetime
from typing import Any, NamedTuple, Never, cast, final

from pycupel.errors import InvalidItemError
from pycupel.model.checks import (
    as_float,
    checked_aware,
    checked_bool,
    checked_int,
    checked_iterable,
    checked_mapping,
    checked_pairs,
    checked_str,
    wrong_type,
)
from pycupel.model.kind import ContextKind, ContextSource
from pycupel.text import shortened
from pycupel.values import FrozenDict, draft_of, sealed

_NO_TAGS: tuple[str, ...] = ()
_NO_METADATA: FrozenDict[str, Any] = FrozenDict()

# The most characters of the content, and of any other field, in a repr.
_SHOWN_CONTENT = 60
_SHOWN_OPTION = 100


@final
@sealed
@dataclass(frozen=True, slots=True, init=False, repr=False)
class ContextItem:
    """One piece of context: a message, a document, the output of a tool, a memory.

    Items are immutable; `dataclasses.replace` makes a changed copy. Two items are equal if all their fields are; the
    pipeline distinguishes items by identity.

    Raises:
        InvalidItemError: the content is empty, a kind or source is blank, or the timestamp has no time zone.
    """

    content: str
    """The text. It must not be empty."""

    tokens: int
    """The size of the item in tokens, as counted by you. A pipeline excludes items with a negative size."""

    kind: ContextKind
    """What the item is. A plain string is accepted, such as `"Document"`."""

    source: ContextSource
    """Where the item comes from. A plain string is accepted, such as `"Rag"`."""

    priority: int | None
    """How important the item is, for `PriorityScorer`; higher is more important."""

    tags: tuple[str, ...]
    """Labels, for `TagScorer` and `FrequencyScorer`, in the order given.

    Sort a set first: its order differs between processes, and items whose tags are in another order are not equal.
    """

    metadata: Mapping[str, Any] = field(hash=False)
    """Your own additional data, as a read-only mapping with str keys."""

    timestamp: datetime | None
    """When the item was made, for `RecencyScorer`, `DecayScorer` and `ChronologicalPlacer`.

    It must have a time zone, and is converted to UTC.
    """

    future_relevance_hint: float | None
    """How relevant the item will be, conventionally from 0 to 1, for `ReflexiveScorer`."""

    pinned: bool
    """Whether the item is always selected."""

    original_tokens: int | None
    """The size before the content was shortened, if it was."""

    def __new__(  # noqa: D102 - editors then show the docstring of the class
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
        text = content if type(content) is str else checked_str("content", content)
        if not text:
            raise InvalidItemError("content must not be empty", argument="content", value=content)
        hint, original = future_relevance_hint, original_tokens
        return trusted_item(
            text,
            tokens if type(tokens) is int else checked_int("tokens", tokens),
            kind if type(kind) is ContextKind else ContextKind.of(kind, "kind"),
            source if type(source) is ContextSource else ContextSource.of(source, "source"),
            priority if priority is None or type(priority) is int else checked_int("priority", priority),
            _NO_TAGS if tags is _NO_TAGS else _as_tags(tags),
            metadata if metadata is _NO_METADATA else _as_metadata(metadata),
            timestamp if timestamp is None else _as_utc(timestamp),
            hint if hint is None or type(hint) is float else as_float("future_relevance_hint", hint),
            pinned if pinned is False else checked_bool("pinned", pinned),
            original if original is None or type(original) is int else checked_int("original_tokens", original),
        )

    def __init_subclass__(cls) -> Never:
        raise TypeError("ContextItem cannot be subclassed; put additional data into metadata")

    def __repr__(self) -> str:
        content = repr(self.content)
        if len(self.content) > _SHOWN_CONTENT:
            content = f"{self.content[:_SHOWN_CONTENT]!r}... ({len(self.content)} characters)"
        options = (
            f", {f.name}={shortened(getattr(self, f.name), _SHOWN_OPTION)}"
            for f in fields(self)[2:]
            if getattr(self, f.name) != getattr(_PLAIN, f.name)
        )
        return f"ContextItem({content}, {shortened(self.tokens)}{''.join(options)})"


_Draft: Any = draft_of(ContextItem)


def trusted_item(
    content: str,
    tokens: int,
    kind: ContextKind,
    source: ContextSource,
    priority: int | None,
    tags: tuple[str, ...],
    metadata: Mapping[str, Any],
    timestamp: datetime | None,
    future_relevance_hint: float | None,
    pinned: bool,  # noqa: FBT001 - in the order of the fields
    original_tokens: int | None,
) -> ContextItem:
    """Build an item from fields that have already been checked and converted."""
    # Every request builds thousands of items, and filling a draft that becomes an item is the fastest way.
    draft = _Draft()
    draft.content = content
    draft.tokens = tokens
    draft.kind = kind
    draft.source = source
    draft.priority = priority
    draft.tags = tags
    draft.metadata = metadata
    draft.timestamp = timestamp
    draft.future_relevance_hint = future_relevance_hint
    draft.pinned = pinned
    draft.original_tokens = original_tokens
    draft.__class__ = ContextItem
    item: ContextItem = draft
    return item


class ScoredItem(NamedTuple):
    """An item with the score that a scorer gave it."""

    item: ContextItem
    """The item."""

    score: float
    """Its score, conventionally between 0 and 1."""


def checked_items(values: Any) -> list[ContextItem]:
    """Check for an iterable of items; errors call it `items`."""
    items = list(checked_iterable("items", "an iterable of ContextItem", values))
    for i, item in enumerate(items):
        if not isinstance(item, ContextItem):
            raise wrong_type(f"items[{i}]", "a ContextItem", item)
    return items


def split_scored(scored_items: Any) -> tuple[list[ContextItem], list[float]]:
    """Split pairs into a list of items and a list of scores. Any pair is accepted as a `ScoredItem`."""
    items: list[ContextItem] = []
    scores: list[float] = []
    for i, (item, score) in enumerate(checked_pairs("scored_items", "(item, score)", scored_items)):
        if not isinstance(item, ContextItem):
            raise wrong_type(f"scored_items[{i}]: item", "a ContextItem", item)
        items.append(item)
        scores.append(as_float(f"scored_items[{i}]: score", score))
    return items, scores


def _as_tags(value: Any) -> tuple[str, ...]:
    # `isinstance` with an abstract base class would cost more than everything else here.
    given: Iterable[Any] = value
    if type(value) is not tuple and type(value) is not list:
        given = checked_iterable("tags", "an iterable of str", value)
    tags = tuple(given)
    for tag in tags:
        if type(tag) is not str:
            # Some are subclasses of str, or mistakes.
            for i, each in enumerate(tags):
                checked_str(f"tags[{i}]", each)
            break
    return tags


def _as_metadata(value: Any) -> Mapping[str, Any]:
    given: Mapping[Any, Any] = value
    if type(value) is not dict:
        given = checked_mapping("metadata", "a mapping", value)
    metadata: FrozenDict[str, Any] = FrozenDict(given)
    for key in metadata:
        if type(key) is not str:
            checked_str("metadata: key", key)
    return metadata


def _as_utc(value: Any) -> datetime:
    """Convert to UTC, because Python compares times of one zone by the wall clock (DM-07, PY-02)."""
    if type(value) is datetime and value.tzinfo is UTC:
        return value
    aware = checked_aware("timestamp", value, InvalidItemError)
    try:
        moved = aware.astimezone(UTC)
    except OverflowError:
        message = f"timestamp {value!r} has no equivalent in UTC"
        raise InvalidItemError(message, argument="timestamp", value=value) from None
    return datetime.combine(moved.date(), moved.time(), UTC)


_PLAIN = ContextItem("-", 0)


# Shorter versions of an item: how they are made, and how they are recognised.


VERSION_KEY = "pycupel.version"
"""The metadata key that marks a version. Its value has `of`, `maker`, and `units` if they are stated."""

_DIGITS = 16


class Shortened(NamedTuple):
    """An item that was selected in a shorter version."""

    item: ContextItem
    """The whole item."""

    version: ContextItem
    """The version that was selected instead."""


def make_version(item: ContextItem, content: str, tokens: int, maker: str, units: float | None = None) -> ContextItem:
    """Make a shorter version of an item: a marked copy with `original_tokens` set and all other fields kept.

    Args:
        item: The whole item.
        content: The text of the version.
        tokens: Its tokens.
        maker: How it was made, as a human-readable name.
        units: How much of the item's unique information the version has, in the shortener's units. Without it, the
            share of the tokens decides.
    """
    if not isinstance(cast(Any, item), ContextItem):
        raise wrong_type("item", "a ContextItem", item)
    checked_str("maker", maker)
    mark: dict[str, Any] = {"of": _content_key(item.content), "maker": maker}
    if units is not None:
        mark["units"] = as_float("units", units)
    # If the item is a version itself, the new mark replaces the old one.
    metadata = {**item.metadata, VERSION_KEY: FrozenDict(mark)}
    return replace(item, content=content, tokens=tokens, original_tokens=item.tokens, metadata=metadata)


def version_mark(item: ContextItem) -> Mapping[str, Any] | None:
    """Return the mark of a version; None for a whole item."""
    mark: Any = item.metadata.get(VERSION_KEY)
    return cast(dict[str, Any], mark) if isinstance(mark, dict) else None


def whole_tokens(item: ContextItem) -> int:
    """Return the tokens of the whole item; those of a version are its `original_tokens`."""
    original = item.original_tokens
    return item.tokens if original is None or version_mark(item) is None else original


def is_version_of(version: ContextItem, item: ContextItem) -> bool:
    """Whether one item is marked as a shorter version of the other."""
    mark = version_mark(version)
    return mark is not None and version.original_tokens == item.tokens and mark.get("of") == _content_key(item.content)


def origin_key(item: ContextItem) -> str:
    """Return a key that an item shares with its versions, but with no other content."""
    mark = version_mark(item)
    return _content_key(item.content) if mark is None else str(mark.get("of"))


def stated_units(version: ContextItem) -> float | None:
    """Return the units that the shortener stated for a version, or None."""
    mark = version_mark(version)
    units = None if mark is None else mark.get("units")
    return float(units) if isinstance(units, (int, float)) else None


def _content_key(content: str) -> str:
    from hashlib import sha256  # noqa: PLC0415 - loads OpenSSL, and most programs make no versions

    # Unpaired surrogates have no UTF-8.
    return sha256(content.encode("utf-8", "surrogatepass")).hexdigest()[:_DIGITS]
