"""How tests read histories of a provider, by its name."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pycupel.messages.history import Unit, group_messages
from pycupel.messages.parts import MessageView
from pycupel.messages.providers import PROVIDERS

__all__ = ["read_messages", "units_of"]


def read_messages(messages: Sequence[Any], provider: str) -> list[MessageView]:
    return PROVIDERS[provider].read(messages)


def units_of(messages: Sequence[Any], provider: str) -> list[Unit]:
    return group_messages(read_messages(messages, provider), PROVIDERS[provider])
