"""What was seen before: fingerprints of messages, the points of a history, and its messages as they were read.

A selection remembers its history, so that the next one, of the same history with more messages, reads and counts only
those, and replays only what comes after the last point. It never changes a result: a selection whose history or
arguments differ in anything that matters is not recognised.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from marshal import dumps
from operator import is_
from os import urandom
from types import MethodType
from typing import TYPE_CHECKING, Any, NamedTuple, final

from pycupel.diagnostics import ExclusionReason
from pycupel.errors import CupelError
from pycupel.fields import as_json, as_plain, is_list, is_mapping
from pycupel.messages.history import BareView, History, bare_view
from pycupel.messages.options import Options
from pycupel.messages.overlay import QUESTION, ResultText, longest_text, results_in
from pycupel.messages.parts import MessageView
from pycupel.messages.providers._base import PASSING, Provider
from pycupel.messages.room import Room
from pycupel.tokens.counters import Counter
from pycupel.values import FrozenDict, is_equal

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


class Fingerprint(NamedTuple):
    """Digests of the prefixes of a history."""

    digests: Mapping[int, str]
    """The digest of the first messages, by their number."""

    cached: list[int]
    """The indices of the messages with `cache_control`, which the digests do not cover."""


def fingerprint_of(messages: tuple[Any, ...], ends: Iterable[int]) -> Fingerprint:
    """Digest the prefixes of a history that end before these messages, in one pass."""
    digests: dict[int, str] = {}
    cached: list[int] = []
    running = _sha256()
    done = 0
    for end in sorted({*ends}):
        for start in range(done, end, _AT_ONCE):
            running.update(_bytes(messages, start, min(start + _AT_ONCE, end), cached))
        done = end
        digests[end] = running.hexdigest()
    return Fingerprint(digests, cached)


def _bytes(messages: tuple[Any, ...], start: int, end: int, cached: list[int]) -> bytes | memoryview:
    """Convert messages to bytes, the same for equal messages, even in another process."""
    try:
        written = dumps(messages[start:end], _FORMAT)
    except ValueError:
        # An object of a library, or a dict with one inside.
        written = _MARK
    if _MARK in written:
        return b"".join([_message_bytes(messages[n], n, cached) for n in range(start, end)])
    return memoryview(written)[_HEAD:]


def _message_bytes(message: Any, index: int, cached: list[int]) -> bytes:
    try:
        written = dumps(message, _FORMAT)
        return dumps(_plain(message, index, cached), _FORMAT) if _MARK in written else written
    except (ValueError, RecursionError):
        pass
    try:
        return as_json(_plain(message, index, cached)).encode("utf-8", "surrogatepass")
    except Exception:  # noqa: BLE001 - a user-defined object may raise anything
        # A message that cannot be written equals no other.
        return urandom(16)


def _plain(message: Any, index: int, cached: list[int]) -> Any:
    removed: list[Any] = []
    plain = _without_cache_control(message, removed)
    if removed:
        cached.append(index)
    return plain


def _sha256(data: bytes = b"") -> _Hash:
    from hashlib import sha256  # noqa: PLC0415 - loads OpenSSL, a tenth of what this package takes to import

    return sha256(data)


class Point(NamedTuple):
    """A history before a call of the model, after the cuts up to there: where a later selection may continue."""

    end: int
    """The number of messages seen so far."""

    gone: tuple[int, ...]
    """The indices of the first messages of the units dropped so far."""

    shape: str
    """A fingerprint of which messages belonged together."""

    texts: tuple[ResultText, ...] = ()
    """The texts of the results shortened so far."""


START = Point(0, (), "")
"""The point before the first message."""


def shape_of(history: History, end: int) -> str:
    """Fingerprint which of the first messages belong together, and which of them are broken or always stay.

    This may change with later messages: an open call may be answered, or remain unanswered, and a tool may be removed.
    Then the cuts up to here may have been others.
    """
    broken = [first for i in sorted(history.broken) if (first := history.firsts[i]) < end]
    prompts = history.prompts[: bisect_left(history.prompts, end)]
    return _sha256(dumps((history.starts[:end], broken, prompts), _FORMAT)).hexdigest()


def is_point_of(history: History, point: Point, reasons: Container[int]) -> bool:
    """Whether what a point says can be true of a history. It may come from a file that is damaged, or made up."""
    gone = {*point.gone}
    stay = {unit for _, role, unit in history.appearances if role == "system"}
    droppable = {first for i, first in enumerate(history.firsts) if i not in stay and i not in history.broken}
    return (
        all(n in droppable and n in reasons and n < point.end for n in gone)
        and all(0 <= n < point.end and history.firsts[history.unit_of[n]] not in gone for n, _, _ in point.texts)
        and all(_has_text(history, n, number) for n, number, _ in point.texts)
    )


def _has_text(history: History, index: int, number: int) -> bool:
    """Whether a message has this result, or a text, that may be shortened."""
    if number == QUESTION:
        return longest_text(history.messages[index], history.whole_views[index].parts) is not None
    return 0 <= number < len(results_in(history.views[index].parts))


class Arguments(NamedTuple):
    """Everything besides the messages that cuts depend on."""

    provider: str
    """The name of the provider."""

    plain: tuple[object, ...]
    """Numbers and names."""

    strategies: tuple[Any, ...]
    """The policy's scorer and slicer, and the shortener or None."""

    def document(self) -> str | None:
        """Write them for a selection that is stored; None if a strategy cannot be written, and so not recognised."""
        # Few selections are stored.
        from pycupel.codecs.base import Context  # noqa: PLC0415
        from pycupel.policies.strategies import SHORTENER, SLICER, WEIGHTED_SCORERS  # noqa: PLC0415

        scorer, slicer, shortener = self.strategies
        try:
            written = [WEIGHTED_SCORERS.write([(scorer, 1.0)], Context()), SLICER.write(slicer, Context())]
            written += [] if shortener is None else [SHORTENER.write(shortener, Context())]
        except (CupelError, RecursionError):
            return None
        return repr((self.provider, self.plain, written))


def cut_arguments(provider: Provider, options: Options, room: Room, limits: Iterable[object]) -> Arguments:
    """Collect everything besides the messages that cuts depend on; `limits` are those of the model, if it is known."""
    # Without anything to summarise, a missing summary does not mean that it failed.
    plain = (*room.arguments, options.unit, *limits, options.summarize is not None)
    shortener = None
    if options.shortening is not None:
        given, keep, exclude, *when = options.shortening
        named, shortener = (given, None) if isinstance(given, str) else (None, given)
        plain += (named, keep, *sorted(exclude), *when)
    return Arguments(provider.name, plain, (options.policy.scorer, options.policy.slicer, shortener))


@final
class Memory:
    """What a selection remembers of its history. Copies and pickles have only what a stored selection has.

    Args:
        fingerprint: What a stored selection is recognised by; empty if it cannot be, None to make it when it is needed,
            because most selections are never stored.
        points: The last point before the end, and the end itself, which may become a point; none if cuts do not last.
        digest: The digest of the messages; empty if the selection was stored.
        cached: The indices of the messages with `cache_control`, which the digest does not cover.
        views: The messages as they were read.
        pins: The indices of the messages that the caller pinned.
        count: Counted the tokens; None if the selection was stored.
        arguments: What else the cuts depend on. It holds the strategies, which may be recognised by their identity.
        reasons: Why units are gone at the points, by their first message.
    """

    __slots__ = ("_fingerprint", "arguments", "cached", "count", "digest", "pins", "points", "reasons", "views")

    def __init__(
        self,
        fingerprint: str | None,
        points: Iterable[Point],
        digest: str = "",
        cached: Sequence[int] = (),
        views: Sequence[MessageView] = (),
        pins: Sequence[int] = (),
        count: Counter | None = None,
        arguments: Arguments | None = None,
        reasons: Mapping[int, ExclusionReason] = FrozenDict(),
    ) -> None:
        self._fingerprint = fingerprint
        self.points = tuple(points)
        self.digest = digest
        self.cached = cached
        self.views = views
        self.pins = pins
        self.count = count
        self.arguments = arguments
        self.reasons = reasons

    @property
    def fingerprint(self) -> str:
        """What a stored selection is recognised by; empty if it cannot be."""
        if self._fingerprint is None:
            tokens = _lasting_tokens(self.views)
            self._fingerprint = _stored_fingerprint(self.digest, tokens, self.pins, self.arguments)
        return self._fingerprint

    def stored(self) -> Memory:
        """Return what a stored selection has."""
        return Memory(self.fingerprint, self.points)

    def bare(self) -> Memory:
        """Return what the process may keep: nothing that a message says, and nothing of the caller's."""
        # Most are bare already, and a call of `bare_view` for each would take three times as long.
        views = [view if view.__class__ is BareView else bare_view(view) for view in self.views]
        return Memory("", self.points, self.digest, self.cached, views, self.pins, reasons=self.reasons)

    def was_read_for(self, provider: Provider, count: Counter) -> bool:
        """Whether its messages were read for this provider, and counted by this counter."""
        if self.arguments is None or self.count is None or self.arguments.provider != provider.name:
            return False
        one, other = self.count.function, count.function
        # A bound method is a new object each time it is looked up.
        are_methods = isinstance(one, MethodType) and isinstance(other, MethodType)
        return one is other or (are_methods and one == other)

    def continues(self, end: int, fingerprint: Fingerprint, history: History, arguments: Arguments) -> bool:
        """Whether it is of the first `end` messages of this history, with the same arguments."""
        digest, pins, tokens = fingerprint.digests[end], history.pins_before(end), _lasting_tokens(history.views[:end])
        if self.arguments is None:
            return bool(self.fingerprint) and self.fingerprint == _stored_fingerprint(digest, tokens, pins, arguments)
        return self.digest == digest and self.has_same_counts(history) and is_equal(self.arguments, arguments)

    def has_same_counts(self, history: History) -> bool:
        """Whether the counter and the pins, which may be functions, say the same of its messages as they did."""
        then, now = self.views, history.views[: len(self.views)]
        # Usually they are the same objects, and to see that is faster than to compare what they say.
        is_same = (len(then) == len(now) and all(map(is_, then, now))) or _lasting_tokens(then) == _lasting_tokens(now)
        return is_same and self.pins == history.pins_before(len(then))

    def last_point(self, history: History) -> Point:
        """Return the last point that is also one of this history, from where a replay may continue."""
        positions = {*history.call_positions, 0}
        for point in reversed(self.points):
            if (
                point.end in positions
                and point.end < len(history.tokens)
                and point.shape == shape_of(history, point.end)
            ):
                return point
        return START

    def __repr__(self) -> str:
        read = "stored" if self.count is None else f"{len(self.views)} messages counted by {self.count}"
        return f"<Memory: {len(self.points)} points, {read}>"

    def __reduce__(self) -> tuple[Any, ...]:
        # A counter may not be picklable.
        return Memory, (self.fingerprint, self.points)


NOTHING = Memory("", ())
"""What a selection remembers that was made from its fields."""


def _lasting_tokens(views: Iterable[MessageView]) -> list[int]:
    """Return the tokens of each message, without those that later messages may take away."""
    return [0 if view.marks and PASSING in view.marks else view.tokens for view in views]


def _stored_fingerprint(digest: str, tokens: list[int], pins: Sequence[int], arguments: Arguments | None) -> str:
    document = None if arguments is None else arguments.document()
    return "" if document is None else _sha256(dumps((digest, tokens, [*pins], document), _FORMAT)).hexdigest()


def read_on(
    messages: tuple[Any, ...],
    provider: Provider,
    count: Callable[[str], int],
    fingerprint: Fingerprint,
    past: Memory | None,
) -> list[MessageView]:
    """Read each message into a view, except the first ones, of which `past` remembers what was read.

    Of those, only messages with `cache_control` are read again.
    """
    views: list[MessageView] = []
    if past is not None:
        views += past.views
        # `cache_control` may have moved since then.
        for n in {*past.cached, *(n for n in fingerprint.cached if n < len(views))}:
            [views[n]] = provider.read(messages[: n + 1], count, start=n)
    return provider.settled(views + provider.read(messages, count, start=len(views)))
