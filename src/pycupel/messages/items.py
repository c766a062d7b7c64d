"""`to_items`: a chat history as items, for a pipeline of one's own."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from pycupel.messages.history import items_at, read_history
from pycupel.messages.shapes import checked_messages
from pycupel.model import ContextItem
from pycupel.tokens import get_counter

__all__ = ["to_items"]


def to_items(
    messages: Iterable[Any], provider: str = "auto", *, unit: str = "auto", counter: Any = "auto", pin: Any = None
) -> list[ContextItem]:
    """An item for all messages that belong together, in order; takes what `select_messages` takes.

    `metadata["pycupel.unit"]` holds the places of the messages. What has to stay is pinned; what a provider would
    refuse is left out. A pipeline knows nothing of the ties between items: `select_messages` keeps them.
    """
    source = checked_messages(messages)
    history = read_history(source, provider, unit, get_counter(counter), pin)
    places = [place for place, each in enumerate(history.units) if each.problem is None]
    return list(items_at(history, places, history.pinned, named=True).values())
