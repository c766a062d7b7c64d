"""What was seen before: fingerprints of messages, and what was read of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from marshal import dumps
from os import urandom
from types import MethodType
from typing import TYPE_CHECKING, Any, final

from pycupel.fields import as_json, as_plain, is_list, is_mapping
from pycupel.messages.history import Unit
from pycupel.messages.parts import MessageView
from pycupel.messages.providers._base import Provider
from pycupel.tokens.counters import Counter

if TYPE_CHECKING:
    from hashlib import _Hash  # pyright: ignore[reportPrivateUsage] - it has no public name


# Callers move `cache_control` from call to call; it is not part of the content.
_CACHE_CONTROL = "cache_control"
_MARK = _CACHE_CONTROL.encode()
# Later formats write shared references, so equal values may have different bytes.
_FORMAT = 2
# A tuple of messages is written as a header with their number, then each message as on its own.
_HEAD = len(dumps((), _FORMAT))
# Faster than one message at a time, and than all at once, which reallocates memory.
_AT_ONCE = 64


def _without_cache_control(value: Any, removed: list[Any]) -> Any:
    """Copy a value as plain data without `cache_control`, and append what was removed."""
    if isinstance(value, (str, bytes, int, float, type(None))):
        return value
    if is_list(value):
        return [_without_cache_control(each, removed) for each in value]
    plain = value if is_mapping(value) else as_plain(value)
    if not is_mapping(plain):
        return plain
    if _CACHE_CONTROL in plain:
        removed.append(plain[_CACHE_CONTROL])
    return {name: _without_cache_control(each, removed) for name, each in plain.items() if name != _CACHE_CONTROL}


class Fingerprints:
    """Fingerprints of a list of messages and of its prefixes.

    Attributes:
        cached: The indices of the messages with `cache_control`, as far as fingerprints were made.
    """

    def __init__(self, messages: tuple[Any, ...]) -> None:
        self.cached: list[int] = []
        self._messages = messages
        self._hash = _sha256()
        self._done = 0
        self._hashes = {0: self._hash.copy()}

    def of_first(self, count: int, *facts: Any) -> str:
        """Return the fingerprint of the first `count` messages and of plain facts. New counts must be ascending."""
        if count not in self._hashes:
            for start in range(self._done, count, _AT_ONCE):
                self._hash.update(self._bytes(start, min(start + _AT_ONCE, count)))
            self._done = count
            self._hashes[count] = self._hash.copy()
        finished = self._hashes[count].copy()
        finished.update(dumps(facts, _FORMAT))
        return finished.hexdigest()

    def _bytes(self, start: int, end: int) -> bytes | memoryview:
        """Convert messages to bytes, the same for equal messages, even in another process."""
        try:
            written = dumps(self._messages[start:end], _FORMAT)
        except ValueError:
            # An object of a library, or a dict with one inside.
            written = _MARK
        if _MARK in written:
            return b"".join(map(self._message_bytes, range(start, end)))
        return memoryview(written)[_HEAD:]

    def _message_bytes(self, index: int) -> bytes:
        try:
            written = dumps(self._messages[index], _FORMAT)
            return dumps(self._plain(index), _FORMAT) if _MARK in written else written
        except (ValueError, RecursionError):
            return self._as_text(index)

    def _as_text(self, index: int) -> bytes:
        try:
            return as_json(self._plain(index)).encode("utf-8", "surrogatepass")
        except Exception:  # noqa: BLE001 - a user-defined object may raise anything
            # A message that cannot be written equals no other.
            return urandom(16)

    def _plain(self, index: int) -> Any:
        removed: list[Any] = []
        plain = _without_cache_control(self._messages[index], removed)
        if removed:
            self.cached.append(index)
        return plain


def owners_of(units: Iterable[Unit], count: int) -> list[int]:
    """Return, for each message, the index of the first message of its unit; the complement if the unit is broken."""
    owners = [0] * count
    for unit in units:
        first = unit.indices[0]
        owner = first if unit.problem is None else ~first
        for n in unit.indices:
            owners[n] = owner
    return owners


def _sha256(data: bytes = b"") -> _Hash:
    from hashlib import sha256  # noqa: PLC0415 - loads OpenSSL, a tenth of what this package takes to import

    return sha256(data)


def shape_of(owners: list[int]) -> str:
    """Fingerprint which messages belong together, and which of them are broken.

    This may change with later messages: an open call may be answered, or remain unanswered.
    """
    return _sha256(dumps(owners, _FORMAT)).hexdigest()


# A history as it was read, so that its next selection reads and counts only newer messages.


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
