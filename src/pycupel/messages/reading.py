"""What was read of a history, so that the next selection of it reads and counts only what came since."""

from __future__ import annotations

from collections.abc import Callable
from types import MethodType
from typing import Any, final

from pycupel.messages.fingerprints import Fingerprints
from pycupel.messages.providers import MessageView, Provider
from pycupel.tokens.counter import Counter

__all__ = ["Reading"]


@final
class Reading:
    """The messages of a history as they were read. It is a cache, which deep copies and pickles of a selection lack.

    Attributes:
        provider: Whose messages they are.
        count: What counted them.
        fingerprint: The fingerprint of the messages.
        views: The messages.
    """

    __slots__ = ("count", "fingerprint", "provider", "views")

    def __init__(self, provider: Provider, count: Counter, fingerprint: str, views: list[MessageView]) -> None:
        self.provider = provider
        self.count = count
        self.fingerprint = fingerprint
        self.views = views

    def __reduce__(self) -> tuple[Any, ...]:
        # Not every function that counts can be pickled.
        return _nothing, ()

    def views_for(
        self, messages: tuple[Any, ...], provider: Provider, count: Counter, fingerprints: Fingerprints
    ) -> list[MessageView]:
        """The views, if they are those of the first messages for this provider and counter; otherwise none."""
        end = len(self.views)
        is_same = _is_same(self.count.function, count.function) and self.provider == provider
        if is_same and end <= len(messages) and self.fingerprint == fingerprints.of_first(end):
            return self.views
        return []


def _is_same(function: Callable[[str], int], other: Callable[[str], int]) -> bool:
    """Whether they are one function. Two methods of one object are, though each is an object of its own."""
    return function is other or (function.__class__ is other.__class__ is MethodType and function == other)


def _nothing() -> None:
    return None
