"""Chat histories of OpenAI (Chat and Responses), Anthropic, Gemini and Mistral.

| name | what it does |
|---|---|
| `select_messages` | trims a history to a budget, so that the provider accepts it |
| `aselect_messages` | the same, with a coroutine that summarises dropped messages |
| `lint_messages` | finds what the provider would reject |
| `count_messages` | counts the tokens of a request as the provider will |
| `tokens_by_kind` | counts the tokens of each kind of message |
| `recall` | gives back the original text of a result that was shortened |
| `recall_tool` | the definition of the tool with which a model asks for it |
| `to_items` | returns the history as items, for your own pipeline |
| `set_memory_limit` | sets how much this process remembers of conversations, to be fast |
| `clear_caches` | forgets it |

Messages may be dicts or objects from the provider's library; they are never changed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pycupel.lazy import load_when_used
from pycupel.messages.api import aselect_messages, lint_messages, select_messages, to_items
from pycupel.messages.conversations import clear_caches, set_memory_limit
from pycupel.messages.counting import Usage, count_messages, tokens_by_kind
from pycupel.messages.options import ProviderName, ResolvedProviderName, Shorten, TooLarge, UnitName
from pycupel.messages.providers._base import Finding
from pycupel.messages.result import Cut, Dropped, ExplainedSelection, MessageSelection, ShortenedMessage

if TYPE_CHECKING:
    from pycupel.messages.tool_results import recall, recall_tool
else:
    # Few callers shorten results.
    __getattr__, __dir__ = load_when_used(__name__, {".tool_results": "recall recall_tool"})

__all__ = [
    "Cut",
    "Dropped",
    "ExplainedSelection",
    "Finding",
    "MessageSelection",
    "ProviderName",
    "ResolvedProviderName",
    "Shorten",
    "ShortenedMessage",
    "TooLarge",
    "UnitName",
    "Usage",
    "aselect_messages",
    "clear_caches",
    "count_messages",
    "lint_messages",
    "recall",
    "recall_tool",
    "select_messages",
    "set_memory_limit",
    "to_items",
    "tokens_by_kind",
]
