"""`item`: an item with its tokens counted."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any, TypedDict, Unpack

from pycupel.model import ContextItem, ContextKind, ContextSource
from pycupel.model.checks import checked_str
from pycupel.tokens.counters import CounterLike, get_counter


class _ItemFields(TypedDict, total=False):
    """The fields of an item, except content and tokens."""

    kind: ContextKind | str
    source: ContextSource | str
    priority: int | None
    tags: Iterable[str]
    metadata: Mapping[str, Any]
    timestamp: datetime | None
    future_relevance_hint: float | None
    pinned: bool
    original_tokens: int | None


def item(content: str, *, counter: CounterLike = "auto", **fields: Unpack[_ItemFields]) -> ContextItem:
    """Make a `ContextItem`, and count its tokens.

    Args:
        content: The text.
        counter: Counts the tokens; anything that `get_counter` takes.
        fields: The other fields of the item, such as `kind` or `priority`.

    Raises:
        TypeError: an argument has the wrong type.
        InvalidArgumentError: there is no such counter.
        InvalidItemError: a field is invalid, such as an empty content.
    """
    return ContextItem(content, get_counter(counter)(checked_str("content", content)), **fields)
