"""Counting tokens offline: an estimator without dependencies, exact counters through extras, and counts of messages.

| name | what it does |
|---|---|
| `estimate_tokens` | about how many tokens a text has, by the shapes of its characters |
| `get_counter` | a counter by name: auto, estimator, an encoding, a model; or the caller's own function |
| `count_messages` | what a provider will count for a chat history |
| `reported_tokens` | what it did count, from its usage report, for `Counter.calibrated` |
| `window_of` | the size of a model's context window |
| `item` | a `ContextItem` with its tokens counted |
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pycupel.model import ContextItem
from pycupel.tokens.counters import Counter, CounterLike, get_counter, reported_tokens
from pycupel.tokens.estimate import estimate_tokens
from pycupel.tokens.windows import window_of

if TYPE_CHECKING:
    from pycupel.messages.counting import count_messages

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


def item(content: str, *, counter: CounterLike = "auto", **fields: Any) -> ContextItem:
    """A `ContextItem` with its tokens counted.

    Args:
        content: The text.
        counter: Counts its tokens; what `get_counter` takes.
        fields: The other fields of the item, such as `kind` or `priority`.
    """
    return ContextItem(content, get_counter(counter)(content), **fields)


# Hidden from type checkers, for which it would make every name valid.
if not TYPE_CHECKING:  # pragma: no branch

    def __getattr__(name: str) -> Any:
        """`count_messages` belongs to `pycupel.messages`, and is imported when it is asked for."""
        if name == "count_messages":
            from pycupel.messages.counting import count_messages  # noqa: PLC0415

            return count_messages
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
