"""Chat histories of OpenAI (Chat and Responses), Anthropic, Gemini and Mistral.

`select_messages` selects what fits and what the provider accepts; `lint_messages` finds what it would refuse. Messages
may be dicts or the objects of the provider's library; they are only read.
"""

from __future__ import annotations

from pycupel.messages.items import to_items
from pycupel.messages.lint import Finding, lint_messages
from pycupel.messages.result import Dropped, ExplainedSelection, MessageSelection
from pycupel.messages.selection import select_messages

__all__ = [
    "Dropped",
    "ExplainedSelection",
    "Finding",
    "MessageSelection",
    "lint_messages",
    "select_messages",
    "to_items",
]
