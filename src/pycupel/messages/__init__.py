"""Chat histories of OpenAI (Chat and Responses), Anthropic, Gemini (also Interactions), Mistral and Bedrock.

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

from pycupel.lazy import load_when_used

__all__, __getattr__, __dir__ = load_when_used(__name__)
