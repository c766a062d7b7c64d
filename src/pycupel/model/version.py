"""Shorter versions of an item: how they are made, and how they are recognised."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NamedTuple, cast

from pycupel.model.checks import as_float, checked_str, wrong_type
from pycupel.model.item import ContextItem
from pycupel.values import FrozenDict

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

    Raises:
        TypeError: an argument has the wrong type.
        InvalidItemError: the content is empty.
    """
    if not isinstance(cast(Any, item), ContextItem):
        raise wrong_type("item", "a ContextItem", item)
    checked_str("maker", maker)
    mark: dict[str, Any] = {"of": _content_key(item.content), "maker": maker}
    if units is not None:
        mark["units"] = as_float("units", units)
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
