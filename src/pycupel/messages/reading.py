"""A history as it was read, so that its next selection reads and counts only newer messages."""

from __future__ import annotations

from collections.abc import Callable
from types import MethodType
from typing import Any, final

from pycupel.messages.fingerprints import Fingerprints
from pycupel.messages.parts import MessageView
from pycupel.messages.providers._base import Provider
from pycupel.tokens.counters import Counter


@final
class Reading:
    """The messages of a history as they were read: a cache that is not part of copies and pickles of a selection.

    Attributes:
        provider: The provider of the messages.
        count: The counter of their tokens.
        fingerprint: The fingerprint of the messages.
        cached: The indices of the messages with `cache_control`, which the fingerprint does not cover.
        views: The messages.
        strategies: The scorer, the slicer and the shortener of the selection. The repr of custom ones may be their
            address, by which the next selection recognises them; while they are held, no other object has it.
    """

    __slots__ = ("cached", "count", "fingerprint", "provider", "strategies", "views")

    def __init__(
        self,
        provider: Provider,
        count: Counter,
        fingerprint: str,
        cached: list[int],
        views: list[MessageView],
        strategies: tuple[object, ...],
    ) -> None:
        self.provider = provider
        self.count = count
        self.fingerprint = fingerprint
        self.cached = cached
        self.views = views
        self.strategies = strategies

    def __repr__(self) -> str:
        return f"<Reading: {len(self.views)} messages for {self.provider.name}, counted by {self.count}>"

    def __reduce__(self) -> tuple[Any, ...]:
        # A counter may not be picklable, so the reading becomes None.
        return type(None), ()


def read_on(
    messages: tuple[Any, ...], provider: Provider, count: Counter, fingerprints: Fingerprints, past: Reading | None
) -> list[MessageView]:
    """Read each message into a view.

    Args:
        messages: The history.
        provider: The provider of the messages.
        count: Counts the tokens of a text.
        fingerprints: The fingerprints of the messages.
        past: An earlier reading. Its messages are not read again if they are the first ones of the history, and were
            read for the same provider with the same counter; only those with `cache_control` are.

    Raises:
        MessageShapeError: a message has a shape that the provider does not know.
    """
    views: list[MessageView] = []
    if past is not None and past.provider == provider and _is_same(past.count.function, count.function):
        end = len(past.views)
        if end <= len(messages) and past.fingerprint == fingerprints.of_first(end):
            views += past.views
            # `cache_control` may have moved since then.
            for n in {*past.cached, *fingerprints.cached}:
                [views[n]] = provider.read(messages[: n + 1], count, start=n)
    return views + provider.read(messages, count, start=len(views))


def _is_same(function: Callable[[str], int], other: Callable[[str], int]) -> bool:
    """Whether two functions are the same. A bound method is a new object each time it is looked up."""
    are_methods = isinstance(function, MethodType) and isinstance(other, MethodType)
    return function is other or (are_methods and function == other)
