"""A history as units that are kept or dropped as one, each with its tokens; and a unit as an item."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import Any, NamedTuple, get_args

from pycupel.errors import InvalidArgumentError
from pycupel.messages.detect import resolve_provider
from pycupel.messages.options import UnitName, checked_name
from pycupel.messages.providers import MessageView, Provider
from pycupel.messages.ties import with_needs
from pycupel.messages.units import Unit, group_messages, turns
from pycupel.model import ContextItem, ContextKind, ContextSource
from pycupel.model.checks import checked_int, checked_iterable

__all__ = ["History", "items_at", "read_history"]

# Messages have no timestamps, and their order is their age. The start is fixed, so that equal histories are equal.
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

_KINDS = {
    "system": (ContextKind.SYSTEM_PROMPT, ContextSource.CHAT),
    "user": (ContextKind.MESSAGE, ContextSource.CHAT),
    "assistant": (ContextKind.MESSAGE, ContextSource.CHAT),
    "exchange": (ContextKind.TOOL_OUTPUT, ContextSource.TOOL),
}


class History(NamedTuple):
    """A history that has been read.

    Attributes:
        provider: Whose history it is.
        views: The messages as they were read.
        units: The units, or whole turns as units, in order of their first message.
        tokens: What each message costs.
        sizes: What each unit costs.
        ties: For each unit, the indices of the units it is kept with: those that the provider demands, and for an
            exchange, what the assistant said about it.
        pinned: The indices of the units that must stay.
        wanted: The indices of the units that should stay if there is room.
    """

    provider: Provider
    views: list[MessageView]
    units: list[Unit]
    tokens: list[int]
    sizes: list[int]
    ties: list[tuple[int, ...]]
    pinned: frozenset[int]
    wanted: frozenset[int]

    def tokens_of(self, unit_indices: Iterable[int]) -> int:
        """What these units cost together."""
        return sum([self.sizes[i] for i in unit_indices])


def read_history(messages: Sequence[Any], provider: Any, unit: Any, count: Callable[[str], int], pin: Any) -> History:
    """Reads the messages; the arguments are those of `select_messages`."""
    is_turns = checked_name("unit", unit, get_args(UnitName)) == "turn"
    known = resolve_provider(messages, provider)
    views = known.read(messages, count)
    tokens = [view.tokens for view in views]
    units = group_messages(views, known)
    pinned, wanted = _pins(units, _pinned_messages(messages, pin))
    if is_turns:
        units, turn_of = _whole_turns(units)
        pinned, wanted = {turn_of[i] for i in pinned}, {turn_of[i] for i in wanted}
    sizes = [_size(each.indices, tokens) for each in units]
    ties = _ties(units)
    must = frozenset(with_needs(pinned, lambda i: units[i].needs))
    should = frozenset(with_needs(pinned | wanted, ties.__getitem__))
    return History(known, views, units, tokens, sizes, ties, must, should - must)


def items_at(
    history: History, unit_indices: Iterable[int], pinned: Container[int] = (), *, named: bool = False
) -> dict[int, ContextItem]:
    """Items for these units, by unit index.

    With `named`, their metadata has the indices of the messages, which takes as long as all the rest.
    """
    units, sizes = history.units, history.sizes
    items: dict[int, ContextItem] = {}
    for i in unit_indices:
        unit = units[i]
        kind, source = _KINDS[unit.role]
        item = ContextItem(
            unit.text or f"({unit.role} without text)",
            sizes[i],
            kind=kind,
            source=source,
            timestamp=_stamp(unit.indices[-1]),
            pinned=i in pinned,
        )
        items[i] = replace(item, metadata={"pycupel.unit": list(unit.indices)}) if named else item
    return items


@lru_cache(maxsize=4096)
def _stamp(index: int) -> datetime:
    return _EPOCH + timedelta(seconds=index)


def _size(indices: Sequence[int], tokens: Sequence[int]) -> int:
    return tokens[indices[0]] if len(indices) == 1 else sum([tokens[i] for i in indices])


def _ties(units: Sequence[Unit]) -> list[tuple[int, ...]]:
    """What each unit needs, and for each exchange also what the assistant says next in its turn.

    A provider would accept an exchange without its answer, but results without a conclusion are of no use to a model.
    """
    ties = [unit.needs for unit in units]
    answer = -1
    for i in range(len(units) - 1, -1, -1):
        unit = units[i]
        if unit.role == "assistant" and unit.state != "broken":
            answer = i
        elif unit.role == "exchange" and answer >= 0 and units[answer].anchor == unit.anchor:
            ties[i] = (*ties[i], answer)
    return ties


def _whole_turns(units: Sequence[Unit]) -> tuple[list[Unit], dict[int, int]]:
    """A unit for each turn, and the turn of each unit. What is in no turn stays on its own."""
    groups = turns(units)
    grouped = {i for group in groups for i in group}
    groups += [[i] for i in range(len(units)) if i not in grouped]
    groups.sort(key=lambda group: units[group[0]].indices)
    turn_of = {i: turn for turn, group in enumerate(groups) for i in group}
    return [_turn([units[i] for i in group], turn, turn_of) for turn, group in enumerate(groups)], turn_of


def _turn(members: Sequence[Unit], turn: int, turn_of: dict[int, int]) -> Unit:
    needs = {turn_of[need] for member in members for need in member.needs} - {turn}
    return members[0]._replace(
        indices=tuple(sorted(i for member in members for i in member.indices)),
        text="\n".join(member.text for member in members if member.text),
        anchor=None,
        needs=tuple(sorted(needs)),
    )


def _pins(units: Sequence[Unit], asked: frozenset[int]) -> tuple[set[int], set[int]]:
    """The units that must stay, and the last exchange, which should stay even if its turn is over.

    The system prompts, the last user message, the exchange that is still open, and the messages that the caller has
    asked for must stay.
    """
    pinned: set[int] = set()
    last: dict[str, int] = {}
    for i, unit in enumerate(units):
        if unit.state == "broken":
            continue
        if unit.role == "system" or unit.state == "open" or (asked and not asked.isdisjoint(unit.indices)):
            pinned.add(i)
        last[unit.role] = i
    # A history without a user message still has to say something.
    speaker = last.get("user", max((i for role, i in last.items() if role != "system"), default=None))
    if speaker is None:
        return pinned, set()
    pinned.add(speaker)
    exchange = last.get("exchange", speaker)
    if exchange > speaker:
        pinned.add(exchange)
    return pinned, {exchange}


def _pinned_messages(messages: Sequence[Any], pin: Any) -> frozenset[int]:
    """The indices of the messages that the caller pins, by a function or by index."""
    if pin is None:
        return frozenset()
    if callable(pin):
        return frozenset(i for i, message in enumerate(messages) if pin(message))
    indices = [checked_int("every index in pin", i) for i in checked_iterable("pin", "a function or indices", pin)]
    for i in indices:
        if not 0 <= i < len(messages):
            raise InvalidArgumentError(
                f"pin has the index {i}, but there are {len(messages)} messages", argument="pin", value=i
            )
    return frozenset(indices)
