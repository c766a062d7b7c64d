"""A history as units that are kept or dropped as one, each with its tokens; and a unit as an item."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import Any, NamedTuple

from pycupel.errors import InvalidArgumentError
from pycupel.messages.detect import resolve_provider
from pycupel.messages.providers._base import joined
from pycupel.messages.shapes import read_messages
from pycupel.messages.units import Unit, group_messages, turns
from pycupel.model import ContextItem, ContextKind, ContextSource
from pycupel.model.checks import checked_int, checked_iterable
from pycupel.tokens import message_counter

__all__ = ["History", "items_at", "needs_of", "read_history", "with_needs"]

# Messages have no timestamps, and their order is their age. The start is fixed, so that equal histories are equal.
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

_KINDS = {
    "system": (ContextKind.SYSTEM_PROMPT, ContextSource.CHAT),
    "user": (ContextKind.MESSAGE, ContextSource.CHAT),
    "assistant": (ContextKind.MESSAGE, ContextSource.CHAT),
    "exchange": (ContextKind.TOOL_OUTPUT, ContextSource.TOOL),
}


class History(NamedTuple):
    """The units, or whole turns as units, in order of their first message.

    `tokens` are those of each message, `sizes` those of each unit. `pinned` are the places of the units that have to
    stay, `wanted` of those that should if they can. `answers` are the places of what the assistant said about each
    exchange.
    """

    provider: str
    units: list[Unit]
    tokens: list[int]
    sizes: list[int]
    pinned: frozenset[int]
    wanted: frozenset[int]
    answers: Mapping[int, int]


def read_history(
    messages: Sequence[Any], provider: str, unit: str, counter: Callable[[str], int], pin: Any = None
) -> History:
    if unit not in ("auto", "turn"):
        raise InvalidArgumentError(f"unit must be 'auto' or 'turn', not {unit!r}", argument="unit", value=unit)
    name = resolve_provider(messages, provider)
    units = group_messages(read_messages(messages, name), name)
    tokens = list(map(message_counter(counter, name), messages))
    pinned, wanted = _pins(units, _asked_for(messages, pin))
    if unit == "turn":
        units, turn_of = _whole_turns(units)
        pinned, wanted = {turn_of[place] for place in pinned}, {turn_of[place] for place in wanted}
    sizes = [_size(each.indices, tokens) for each in units]
    answers = _answers(units)
    must, should = with_needs(pinned, units, {}), with_needs(pinned | wanted, units, answers)
    return History(name, units, tokens, sizes, must, should - must, answers)


def items_at(
    history: History, places: Iterable[int], pinned: Container[int] = (), *, named: bool = False
) -> dict[int, ContextItem]:
    """Items for the units at these places.

    If they are `named`, their metadata has the places of the messages, which takes as long as all the rest.
    """
    units, sizes = history.units, history.sizes
    items: dict[int, ContextItem] = {}
    for place in places:
        unit = units[place]
        kind, source = _KINDS[unit.role]
        item = ContextItem(
            unit.text or f"({unit.role} without text)",
            sizes[place],
            kind=kind,
            source=source,
            timestamp=_stamp(unit.indices[-1]),
            pinned=place in pinned,
        )
        items[place] = replace(item, metadata={"pycupel.unit": list(unit.indices)}) if named else item
    return items


@lru_cache(maxsize=4096)
def _stamp(index: int) -> datetime:
    return _EPOCH + timedelta(seconds=index)


def _size(indices: Sequence[int], tokens: Sequence[int]) -> int:
    return tokens[indices[0]] if len(indices) == 1 else sum([tokens[i] for i in indices])


def needs_of(unit: Unit) -> tuple[int, ...]:
    """The places of the units without which a provider would refuse this one."""
    return unit.also if unit.anchor is None else (unit.anchor, *unit.also)


def with_needs(places: Iterable[int], units: Sequence[Unit], answers: Mapping[int, int]) -> frozenset[int]:
    """The places with those of everything that they need."""
    found: set[int] = set()
    pending = list(places)
    while pending:
        place = pending.pop()
        if place not in found:
            found.add(place)
            pending += needs_of(units[place])
            if place in answers:
                pending.append(answers[place])
    return frozenset(found)


def _answers(units: Sequence[Unit]) -> dict[int, int]:
    """For each exchange, what the assistant says next in its turn.

    A provider would do without, but results that nobody ever spoke about are of no use to a model.
    """
    answers: dict[int, int] = {}
    said = -1
    for place in range(len(units) - 1, -1, -1):
        unit = units[place]
        if unit.role == "assistant" and unit.state != "broken":
            said = place
        elif unit.role == "exchange" and said >= 0 and units[said].anchor == unit.anchor:
            answers[place] = said
    return answers


def _whole_turns(units: Sequence[Unit]) -> tuple[list[Unit], dict[int, int]]:
    """A unit for each turn, and the turn of each unit. What is in no turn stays on its own."""
    groups = turns(units)
    grouped = {place for group in groups for place in group}
    groups += [[place] for place in range(len(units)) if place not in grouped]
    groups.sort(key=lambda group: units[group[0]].indices)
    turn_of = {place: turn for turn, places in enumerate(groups) for place in places}
    return [_turn([units[place] for place in places], turn, turn_of) for turn, places in enumerate(groups)], turn_of


def _turn(members: Sequence[Unit], turn: int, turn_of: dict[int, int]) -> Unit:
    needs = {turn_of[need] for member in members for need in needs_of(member)} - {turn}
    return members[0]._replace(
        indices=tuple(sorted(i for member in members for i in member.indices)),
        text=joined(member.text for member in members),
        anchor=None,
        also=tuple(sorted(needs)),
    )


def _pins(units: Sequence[Unit], asked_for: frozenset[int]) -> tuple[set[int], set[int]]:
    """The units that have to stay, and the last exchange, which should stay even if its turn is over.

    The system prompts, the last user message, the exchange that is still open, and what the caller asks for.
    """
    pinned: set[int] = set()
    last: dict[str, int] = {}
    for place, unit in enumerate(units):
        if unit.state == "broken":
            continue
        if unit.role == "system" or unit.state == "open" or (asked_for and not asked_for.isdisjoint(unit.indices)):
            pinned.add(place)
        last[unit.role] = place
    # A history without a user message still has to say something.
    speaker = last.get("user", max((place for role, place in last.items() if role != "system"), default=None))
    if speaker is None:
        return pinned, set()
    pinned.add(speaker)
    exchange = last.get("exchange", speaker)
    if exchange > speaker:
        pinned.add(exchange)
    return pinned, {exchange}


def _asked_for(messages: Sequence[Any], pin: Any) -> frozenset[int]:
    """The indices of the messages that the caller pins: by a function that is asked about each, or as they are."""
    if pin is None:
        return frozenset()
    if callable(pin):
        return frozenset(i for i, message in enumerate(messages) if pin(message))
    indices = [checked_int("every index in pin", i) for i in checked_iterable("pin", "a function or indices", pin)]
    for i in indices:
        if not 0 <= i < len(messages):
            raise InvalidArgumentError(f"pin names message {i}, but there are {len(messages)}", argument="pin", value=i)
    return frozenset(indices)
