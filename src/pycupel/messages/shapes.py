"""Chat histories of any provider, read into one shape.

Messages may be dicts or the objects of a provider's own library: they are known by their shape, and no library is
imported. They are only read, never changed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pycupel.messages.providers import provider_named
from pycupel.messages.providers._base import MessageView
from pycupel.model.checks import checked_iterable, wrong_type

__all__ = ["MessageView", "checked_messages", "read_messages"]

_EXPECTED = "a list of messages"


def checked_messages(messages: Any) -> list[Any]:
    """The messages as a list of its own. One message alone is not a history."""
    if isinstance(messages, Mapping):
        raise wrong_type("messages", _EXPECTED, messages)  # pyright: ignore[reportUnknownArgumentType]
    return list(checked_iterable("messages", _EXPECTED, messages))


def read_messages(messages: Sequence[Any], provider: str) -> list[MessageView]:
    """One view for each message.

    Raises:
        MessageShapeError: a message is not written the way of the provider.
    """
    return provider_named(provider).read(messages)
