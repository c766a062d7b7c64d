"""`to_items`: a chat history as items, for a pipeline of one's own."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from pycupel.messages.history import read_history
from pycupel.messages.shapes import checked_messages
from pycupel.model import ContextItem
from pycupel.tokens import get_counter, message_counter

__all__ = ["to_items"]


def to_items(
    messages: Iterable[Any], provider: str = "auto", *, unit: str = "auto", counter: Any = "auto", pin: Any = None
) -> list[ContextItem]:
    """An item for all messages that belong together, in order; takes what `select_messages` takes.

    `metadata["pycupel.unit"]` holds the places of the messages. What has to stay is pinned; what a provider would
    refuse is left out. A pipeline knows nothing of the ties between items: `select_messages` keeps them.
    """
    source = checked_messages(messages)
    history = read_history(source, provider, unit, message_counter(get_counter(counter)), pin)
    return [
        replace(block.item, pinned=True) if place in history.pinned else block.item
        for place, block in enumerate(history.blocks)
        if block.problem is None
    ]
