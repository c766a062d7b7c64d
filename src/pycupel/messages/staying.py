"""Find what must stay at a point of a history: the system prompt, the last user message, the open or last exchange."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Container, Iterable, Sequence
from itertools import accumulate

from pycupel.messages.units import Unit

__all__ = ["Landmarks", "staying_at", "with_needs"]


class _Track:
    """Units of one kind, in order of appearance.

    Args:
        appearances: The message in which each appears, and the index of the unit.
        unit_of: Maps the index of a unit to that of the unit that is kept or dropped.

    Attributes:
        units: The indices of the units.
    """

    def __init__(self, appearances: list[tuple[int, int]], unit_of: Callable[[int], int]) -> None:
        appearances.sort()
        self._message_indices = [n for n, _ in appearances]
        self.units = [unit_of(i) for _, i in appearances]

    def before(self, end: int) -> list[int]:
        """Return the units that appear before a message."""
        return self.units[: bisect_left(self._message_indices, end)]

    def newest(self, end: int) -> int | None:
        """Return the last unit that appears before a message."""
        count = bisect_left(self._message_indices, end)
        return self.units[count - 1] if count else None


class Landmarks:
    """Where to find what stays, so that a history need not be scanned at every point.

    Args:
        units: The units of single messages and exchanges.
        pins: The indices of the messages that the caller pins.
        count: The number of messages.
        unit_of: Maps the index of a unit to the index in `kept` of the unit that contains it.
        kept: The units that are kept or dropped: the same, or whole turns.

    Attributes:
        fixed: Units that always stay: the system prompt, pinned messages, calls that are open at the end.
        reminders: System messages after other messages; the newest stays.
        speakers: Units with text of the user; the newest stays.
        exchanges: Calls with their results; the newest stays during its turn, and later if there is room.
        trailing: The unit of an assistant message at the end of the history, which the model may be asked to continue.
        firsts: For each unit, its first message, ascending.
        reach: For each unit, the last message of this unit and all earlier ones.
    """

    def __init__(
        self,
        units: Sequence[Unit],
        pins: Sequence[int],
        count: int,
        unit_of: Callable[[int], int],
        kept: Sequence[Unit],
    ) -> None:
        # Most units are in the track of their role.
        tracks: dict[str, list[tuple[int, int]]] = {role: [] for role in ("system", "reminder", "user", "exchange")}
        self.trailing: int | None = None
        pinned = frozenset(pins)
        for i, unit in enumerate(units):
            indices, role, _, problem, _, is_open, remark = unit
            if problem is not None:
                continue
            if role in tracks:
                tracks[role].append((indices[0], i))
            elif indices[-1] == count - 1:
                self.trailing = unit_of(i)
            if remark:
                # The results are at the end of an exchange, and the user's text is beside them.
                tracks["user"].append((indices[-1], i))
            if is_open:
                tracks["system"].append((indices[0], i))
            if pinned:
                tracks["system"] += [(n, i) for n in indices if n in pinned]
        self.fixed, self.reminders, self.speakers, self.exchanges = (
            _Track(appearances, unit_of) for appearances in tracks.values()
        )
        self.firsts = [unit.indices[0] for unit in kept]
        self.reach = list(accumulate([unit.indices[-1] for unit in kept], max))


def staying_at(
    units: Sequence[Unit],
    ties: Sequence[Sequence[int]],
    landmarks: Landmarks,
    end: int,
    *,
    is_last: bool,
    gone: Container[int],
) -> tuple[frozenset[int], frozenset[int]]:
    """Find what stays if the history ends before the message `end`: what must stay, and what stays if there is room.

    Args:
        units: The units.
        ties: For each unit, the indices of those that it is kept with.
        landmarks: Where to find what stays.
        end: The number of messages.
        is_last: Whether these are all the messages.
        gone: The units dropped so far.
    """
    begun = bisect_left(landmarks.firsts, end)
    must = set(landmarks.fixed.before(end))
    # Units that started before `end` and continue past it are unfinished.
    i = begun - 1
    while i >= 0 and landmarks.reach[i] >= end:
        if units[i].indices[-1] >= end and units[i].problem is None:
            must.add(i)
        i -= 1
    if is_last and landmarks.trailing is not None:
        must.add(landmarks.trailing)
    reminder = landmarks.reminders.newest(end)
    if reminder is not None:
        must.add(reminder)
    speaker = landmarks.speakers.newest(end)
    if speaker is None:
        # Without a user message, keep the last message that is not a system message.
        speaker = _last_spoken(units, begun)
    wanted = must
    if speaker is not None:
        must.add(speaker)
        exchange = landmarks.exchanges.newest(end)
        exchange = speaker if exchange is None else exchange
        if exchange > speaker:
            must.add(exchange)
        wanted = must if exchange in gone else must | {exchange}
    needed = frozenset(with_needs(must, lambda i: [n for n in units[i].needs if n < begun]))
    tied = with_needs(wanted, lambda i: [n for n in ties[i] if n < begun and n not in gone])
    return needed, frozenset(tied) - needed


def with_needs(start: Iterable[int], needs: Callable[[int], Iterable[int]]) -> list[int]:
    """Add everything that the indices in `start` need, directly or indirectly.

    `needs` gives the indices that an index needs.
    """
    found = list(dict.fromkeys(start))
    seen = set(found)
    for index in found:
        # The list grows while it is walked, until nothing is missing.
        for need in needs(index):
            if need not in seen:
                seen.add(need)
                found.append(need)
    return found


def _last_spoken(units: Sequence[Unit], begun: int) -> int | None:
    for i in range(begun - 1, -1, -1):
        if units[i].problem is None and units[i].role not in ("system", "reminder"):
            return i
    return None
