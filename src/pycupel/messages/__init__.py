"""Chat histories of OpenAI (Chat and Responses), Anthropic, Gemini and Mistral.

| name | what it does |
|---|---|
| `select_messages` | trims a history to a budget, so that the provider accepts it |
| `aselect_messages` | the same, with a coroutine that summarises dropped messages |
| `lint_messages` | finds what the provider would reject |
| `count_messages` | counts the tokens of a request as the provider will |
| `tokens_by_kind` | counts the tokens of each kind of message |
| `to_items` | returns the history as items, for your own pipeline |

Messages may be dicts or objects from the provider's library; they are never changed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pycupel.lazy import load_when_used
from pycupel.messages.counting import Usage, count_messages, tokens_by_kind
from pycupel.messages.options import ProviderName, ResolvedProviderName, TooLarge, UnitName
from pycupel.messages.result import ExplainedSelection, MessageSelection
from pycupel.messages.selection import aselect_messages, select_messages

if TYPE_CHECKING:
    from pycupel.messages.changes import Cut, Dropped, ShortenedMessage
    from pycupel.messages.items import to_items
    from pycupel.messages.lint import lint_messages
    from pycupel.messages.providers._base import Finding
else:
    # Imported on first use, because many calls of `select_messages` need none of them.
    __getattr__, __dir__ = load_when_used(
        __name__,
        {".changes": "Cut Dropped ShortenedMessage", ".items": "to_items", ".lint": "Finding lint_messages"},
    )


__all__ = [
    "Cut",
    "Dropped",
    "ExplainedSelection",
    "Finding",
    "MessageSelection",
    "ProviderName",
    "ResolvedProviderName",
    "ShortenedMessage",
    "TooLarge",
    "UnitName",
    "Usage",
    "aselect_messages",
    "count_messages",
    "lint_messages",
    "select_messages",
    "to_items",
    "tokens_by_kind",
]
