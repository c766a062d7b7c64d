"""Count tokens offline, with an estimator or, through extras, exactly; for texts and for messages.

| name | what it does |
|---|---|
| `estimate_tokens` | about how many tokens a text has, by the shapes of its characters |
| `get_counter` | a counter by name: auto, estimator, an encoding, a model; or your own function |
| `count_messages` | what a provider will count for a chat history |
| `reported_tokens` | what a provider has counted, from its usage report, for `Counter.calibrated` |
| `window_of` | the size of a model's context window |
| `item` | a `ContextItem` with its tokens counted |
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any, TypedDict, Unpack

from pycupel.lazy import load_when_used
from pycupel.model import ContextItem, ContextKind, ContextSource
from pycupel.model.checks import checked_str
from pycupel.tokens.counters import Counter, CounterLike, get_counter, reported_tokens
from pycupel.tokens.windows import window_of

if TYPE_CHECKING:
    from pycupel.messages.counting import count_messages
    from pycupel.tokens.estimate import estimate_tokens
else:
    # `count_messages` belongs to messages, and the estimator builds tables that not every program needs.
    __getattr__ = load_when_used(
        __name__, {"pycupel.messages.counting": "count_messages", ".estimate": "estimate_tokens"}
    )

__all__ = [
    "Counter",
    "CounterLike",
    "count_messages",
    "estimate_tokens",
    "get_counter",
    "item",
    "reported_tokens",
    "window_of",
]


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
