"""What this process remembers of the conversations that it has seen, so that a growing history costs what is new.

    call 1   messages 0 to 40    read, counted, cut          remembered under the key of the conversation
    call 2   messages 0 to 42    0 to 40 are recognised      read, counted and cut from 40 on

A conversation is known by its messages up to the first one of the user, and by everything else that a selection depends
on: provider, counter, policy, options and budget. Under that key are the last selections of it, so that one that was
edited or branched off finds the longest that it begins with. It never changes a result.

Kept are digests, counts, hashes of words, ids, names of tools, marks, and the texts of shortened results; no message
and no other text.
Counters and strategies of the caller are held weakly. All of it stays within a number of bytes, the least recently used
goes first, and what has not been used for an hour is forgotten.
"""

from __future__ import annotations

import os
import sys
from _thread import allocate_lock
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from functools import lru_cache
from sys import getsizeof
from time import monotonic
from types import MethodType
from typing import Any, Generic, NamedTuple, TypeVar, cast
from weakref import ref

from pycupel.errors import InvalidArgumentError
from pycupel.fields import field
from pycupel.messages.memory import Arguments, Fingerprint, Memory, fingerprint_of
from pycupel.messages.parts import MessageView
from pycupel.messages.providers._base import Provider
from pycupel.model.checks import checked_count
from pycupel.tokens.counters import Counter
from pycupel.values import FrozenDict

DEFAULT_LIMIT = 64 * 2**20
"""How many bytes are kept, unless `set_memory_limit` says otherwise."""

_MAX_ENTRIES = 8
_MAX_AGE = 3600.0
# What Python needs for a message, a part, a text, a dropped unit and a conversation, besides their characters.
_VIEW_BYTES = 220
_PART_BYTES = 230
_TEXT_BYTES = 60
_REASON_BYTES = 75
_GONE_BYTES = 15
_CONVERSATION_BYTES = 2_500
# Every so often, what edited and branched conversations no longer share is counted again.
_RECOUNT = 8
# Counts may take a quarter of the limit, in two generations, and so may the units of lines.
_GENERATION = 8
_MADE_BYTES, _NUMBER_BYTES = 180, 36
# With a shorter text, counting or finding its units takes no longer than looking it up.
_SHORTEST, _SHORTEST_LINE = 200, 20
_MAX_COUNTERS = 8

_Made = TypeVar("_Made")

_USERS = ("user", "human", "user_input")
_PRESET_KEYS: dict[int, tuple[Any, Hashable]] = {}
_PLAIN = (str, int, float, bool, bytes, type(None))


class _Weak:
    """A caller's object as a part of a key: equal to itself only, while it lives."""

    __slots__ = ("_hash", "_ref")

    def __init__(self, value: Any) -> None:
        # A bound method is a new object each time it is looked up.
        function = value.__func__ if isinstance(value, MethodType) else None
        self._ref = (ref(value if function is None else value.__self__), function)
        self._hash = hash((id(self._ref[0]()), function))

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        mine = self._ref[0]()
        # What has died equals nothing, because another object may have got its address.
        is_alive = mine is not None
        return is_alive and isinstance(other, _Weak) and mine is other._ref[0]() and self._ref[1] is other._ref[1]


@lru_cache(maxsize=512)
def _compared(kind: Any) -> list[str]:
    return [each.name for each in fields(kind) if each.compare]


def _key_of(value: Any) -> Hashable:
    """Return what identifies a strategy or an option: its fields if it is one of ours, else the object, weakly.

    Raises:
        TypeError: it can be neither compared nor held weakly.
    """
    kind: Any = value.__class__
    home: str = kind.__module__
    members: Any = None
    if kind in _PLAIN:
        return kind, value
    if kind in (tuple, list):
        members = value
    elif kind is FrozenDict:
        members = value.items()
    elif home.startswith("pycupel.") and is_dataclass(value):
        members = [getattr(value, name) for name in _compared(kind)]
    elif home in ("datetime", "pycupel.model.kind") or isinstance(value, Enum):
        return kind, value
    return _Weak(value) if members is None else (kind, tuple([_key_of(each) for each in members]))


def _strategies_key(strategies: Iterable[Any]) -> Hashable:
    """Return what identifies the strategies of a policy. Those of presets live as long as the process."""
    from pycupel.policies.presets import PRESETS  # noqa: PLC0415 - they import every strategy

    made: list[Hashable] = []
    for strategy in strategies:
        known = _PRESET_KEYS.get(id(strategy))
        if known is None or known[0] is not strategy:
            known = (strategy, _key_of(strategy))
            if any(strategy is each.scorer or strategy is each.slicer for each in PRESETS.values()):
                _PRESET_KEYS[id(strategy)] = known
        made.append(known[1])
    return tuple(made)


def _counter_key(counter: Counter) -> Hashable:
    function = counter.function
    return function if counter.direct is function else _Weak(function)


class _Conversation:
    """The last selections of a conversation, the newest last."""

    __slots__ = ("bytes", "entries", "stores", "used")

    def __init__(self, now: float) -> None:
        self.entries: list[Memory] = []
        self.bytes = _CONVERSATION_BYTES
        self.stores = 0
        self.used = now

    def add(self, memory: Memory, past: Memory | None) -> None:
        """Add a selection that continues another one, whose views and texts it shares."""
        self.entries = [each for each in self.entries if each.digest != memory.digest][1 - _MAX_ENTRIES :]
        self.entries.append(memory)
        self.stores += 1
        if self.stores % _RECOUNT == 0:
            self.bytes = _CONVERSATION_BYTES + _bytes_of(self.entries, None)
        else:
            self.bytes += _bytes_of([memory], past)


def _bytes_of(entries: Iterable[Memory], past: Memory | None) -> int:
    """Estimate the bytes of these selections without what they share with each other, and with one they continue."""
    known, said = (0, {}) if past is None else (len(past.views), _texts_of(past))
    views: dict[int, MessageView] = {}
    texts: dict[int, str] = {}
    total = 0
    for entry in entries:
        new = entry.views[known:]
        views.update(zip(map(id, new), new, strict=True))
        texts |= {key: text for key, text in _texts_of(entry).items() if key not in said}
        total += 8 * len(entry.views) + _REASON_BYTES * len(entry.reasons)
        total += _GONE_BYTES * sum([len(each.gone) for each in entry.points])
    total += _VIEW_BYTES * len(views) + _TEXT_BYTES * len(texts)
    total += sum([len(each.encode("utf-8", "replace")) for each in texts.values()])
    for _, _, _, _, calls, results, _, _, _, parts in views.values():
        if parts or results:
            ids = [*calls, *results, *(part.tool for part in parts)]
            total += _PART_BYTES * len(parts) + sum([_TEXT_BYTES + len(str(each)) for each in ids])
    return total


def _texts_of(entry: Memory) -> dict[int, str]:
    return {id(each.text): each.text for point in entry.points for each in point.texts}


class _Store:
    """All that is remembered, in one process, for all threads."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.clear()

    def clear(self) -> None:
        """Forget everything. A lock that another thread held at a fork would never be released, so it is new, too."""
        self._lock = allocate_lock()
        self._conversations: OrderedDict[Hashable, _Conversation] = OrderedDict()
        self._counts: dict[Hashable, _ByText[int]] = {}
        self._units = _ByText[Mapping[int, float]]()
        self.bytes = 0

    def find(self, key: Hashable) -> list[Memory]:
        """Return the selections of a conversation."""
        with self._lock:
            self._forget(monotonic())
            found = self._conversations.get(key)
            if found is None:
                return []
            found.used = monotonic()
            self._conversations.move_to_end(key)
            return found.entries

    def keep(self, key: Hashable, memory: Memory, past: Memory | None) -> None:
        """Keep a selection of a conversation, which continues another one."""
        with self._lock:
            now = monotonic()
            kept = self._conversations.pop(key, None) or _Conversation(now)
            before = kept.bytes if kept.entries else 0
            kept.add(memory, past if past in kept.entries else None)
            kept.used = now
            self._conversations[key] = kept
            self.bytes += kept.bytes - before
            self._forget(now)

    def _forget(self, now: float) -> None:
        """Forget what is too old, and the least recently used while there is too much."""
        room = self.limit - self.limit // 4 - self._units.bytes
        while self._conversations:
            oldest = next(iter(self._conversations.values()))
            if self.bytes <= room and now - oldest.used <= _MAX_AGE:
                return
            self.bytes -= self._conversations.popitem(last=False)[1].bytes

    @property
    def text_bytes(self) -> int:
        """The bytes of what was made of texts."""
        return self._units.bytes + sum([each.bytes for each in self._counts.values()])

    def units(self) -> _ByText[Mapping[int, float]]:
        """Return the units of lines, which may take as much as counts."""
        self._units.room = self.limit // _GENERATION
        return self._units

    def counts(self, counter: Counter) -> _ByText[int] | None:
        """Return the counts that a counter has made; None if it can neither be compared nor held weakly."""
        try:
            key = _counter_key(counter)
        except TypeError:
            return None
        with self._lock:
            made = self._counts.pop(key, None) or _ByText[int]()
            self._counts[key] = made
            if len(self._counts) > _MAX_COUNTERS:
                del self._counts[next(iter(self._counts))]
        made.room = self.limit // (_GENERATION * len(self._counts))
        return made


class _ByText(Generic[_Made]):
    """What a function made of texts, by digest. What the younger generation does not ask for goes with the older."""

    __slots__ = ("_old", "_old_bytes", "_young", "_young_bytes", "room")

    def __init__(self) -> None:
        self.room = 0
        self._young: dict[bytes, _Made] = {}
        self._old: dict[bytes, _Made] = {}
        self._young_bytes = self._old_bytes = 0

    @property
    def bytes(self) -> int:
        """The bytes of both generations."""
        return self._young_bytes + self._old_bytes

    def by(self, make: Callable[[str], _Made], shortest: int) -> Callable[[str], _Made]:
        """Return a function that makes the same, and remembers it, except for texts that are soon done."""
        from hashlib import blake2b  # noqa: PLC0415 - loads OpenSSL

        def remembered(text: str, /) -> _Made:
            if len(text) < shortest:
                return make(text)
            digest = blake2b(str.encode(text, "utf-8", "surrogatepass"), digest_size=16).digest()
            made = self._young.get(digest)
            if made is None:
                made = self._old.get(digest)
                if made is None:
                    made = make(text)
                # A count, or units.
                size = _MADE_BYTES
                if made.__class__ is not int:
                    size += getsizeof(made) + _NUMBER_BYTES * len(cast(Any, made))
                if self._young_bytes + size > self.room:
                    self._old, self._old_bytes = self._young, self._young_bytes
                    self._young, self._young_bytes = {}, 0
                self._young[digest] = made
                self._young_bytes += size
            return made

        return remembered


_STORE = _Store(DEFAULT_LIMIT)
if sys.platform != "win32":  # pragma: no branch
    os.register_at_fork(after_in_child=_STORE.clear)


class Conversation(NamedTuple):
    """A history as one of the conversations that the process remembers."""

    key: Hashable | None
    """What it is known by; None if it is not remembered."""

    fingerprint: Fingerprint
    """The digests of its messages."""

    past: Memory | None
    """The longest selection that it continues."""

    def remember(self, memory: Memory) -> None:
        """Keep what the next selection may use, without texts."""
        past = self.past
        is_known = past is not None and past.digest == memory.digest and past.pins == memory.pins
        if self.key is not None and _STORE.limit and not is_known:
            _STORE.keep(self.key, memory.bare(), past)


def _is_user(message: Any) -> bool:
    # The messages have not been read yet, so a role may be anything.
    names = (field(message, "role"), field(message, "type"))
    return any(isinstance(name, str) and name in _USERS for name in names)


def recognise(
    messages: tuple[Any, ...],
    provider: Provider,
    counter: Counter,
    arguments: Arguments,
    previous: Memory | None,
    end: int,
) -> Conversation:
    """Find what is remembered of a history, by the caller's previous selection, or else by the process.

    `end` is the number of messages of the previous selection, or of these, if they are fewer.
    """
    if previous is not None and previous.was_read_for(provider, counter):
        fingerprint = fingerprint_of(messages, (end, len(messages)))
        if previous.digest == fingerprint.digests.get(len(previous.views)):
            # Then the caller passes the next one, too, and the process need not remember it.
            return Conversation(None, fingerprint, previous)
    key: Hashable | None = None
    found: list[Memory] = []
    if _STORE.limit and messages:
        first = next((n for n, each in enumerate(messages) if _is_user(each)), 0) + 1
        try:
            own = (provider.name, provider.prices, arguments.plain, _counter_key(counter), counter.margin_percent)
            key = (fingerprint_of(messages, [first]).digests[first], own, _strategies_key(arguments.strategies))
            found = _STORE.find(key)
        except TypeError:
            key = None
    lengths = [len(each.views) for each in found if len(each.views) <= len(messages)]
    fingerprint = fingerprint_of(messages, [*lengths, end, len(messages)])
    same = [each for each in found if fingerprint.digests.get(len(each.views)) == each.digest]
    return Conversation(key, fingerprint, max(same, key=lambda each: len(each.views), default=None))


def counting(counter: Counter) -> Callable[[str], int]:
    """Return the function that counts for a counter, and remembers what it has counted."""
    made = _STORE.counts(counter) if _STORE.limit else None
    return counter.direct if made is None else made.by(counter.direct, _SHORTEST)


def finding(find: Callable[[str], Mapping[int, float]]) -> Callable[[str], Mapping[int, float]]:
    """Return a function that finds the units of a line, and remembers what it has found."""
    return _STORE.units().by(find, _SHORTEST_LINE) if _STORE.limit else find


def held_bytes() -> int:
    """Estimate how many bytes are kept."""
    return _STORE.bytes + _STORE.text_bytes


def set_memory_limit(limit: int, /) -> None:
    """Set how many bytes this process may keep of conversations that it has seen: 64 MB by default, 0 for nothing.

    Results do not depend on it, only how fast they are made.

    Args:
        limit: The number of bytes.

    Raises:
        TypeError: it is not an int.
        InvalidArgumentError: it is negative.
    """
    _STORE.limit = checked_count("limit", limit, InvalidArgumentError)
    _STORE.clear()


def clear_caches() -> None:
    """Forget all conversations, counts and analysed contents, to free memory. Results stay the same."""
    from pycupel.scorers import clear_caches as clear_scorers  # noqa: PLC0415 - most programs never do

    _STORE.clear()
    clear_scorers()
