"""Counting tokens, offline: an estimator that needs nothing, exact counters through extras, and what messages cost.

| name | what it does |
|---|---|
| `estimate_tokens` | about how many tokens a text has, by the shapes of its characters |
| `get_counter` | a counter by name: auto, estimator, an encoding, a model; or the caller's own function |
| `count_messages` | what a provider will count for a chat history |
| `reported_tokens` | what it did count, from its report of usage: for `Counter.calibrated` |
| `window_of` | the size of a model's context window |
| `item` | a `ContextItem` with its tokens counted |
"""

from __future__ import annotations

from typing import Any

from pycupel.model import ContextItem
from pycupel.tokens.counters import Counter, get_counter, reported_tokens
from pycupel.tokens.estimate import estimate_tokens
from pycupel.tokens.messages import count_messages, message_counter
from pycupel.tokens.windows import window_of

__all__ = [
    "Counter",
    "count_messages",
    "estimate_tokens",
    "get_counter",
    "item",
    "message_counter",
    "reported_tokens",
    "window_of",
]


def item(content: str, *, counter: Any = "auto", **fields: Any) -> ContextItem:
    """A `ContextItem` with its tokens counted; takes the item's other fields, too."""
    return ContextItem(content, get_counter(counter)(content), **fields)
