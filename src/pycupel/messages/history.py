"""A history as blocks that are kept or dropped as one, each with its tokens, as an item."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import Any, NamedTuple

from pycupel.errors import InvalidArgumentError
from pycupel.messages.detect import resolve_provider
from pycupel.messages.shapes import read_messages
from pycupel.messages.units import Unit, group_messages, turns
from pycupel.model import ContextItem, ContextKind, ContextSource
from pycupel.model.checks import checked_int, checked_iterable

__all__ = ["Block", "History", "read_history", "with_needs"]

# Messages have no timestamps, and their order is their age. The start is fixed, so that equal histories are equal.
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

_KINDS = {
    "system": (ContextKind.SYSTEM_PROMPT, ContextSource.CHAT),
    "user": (ContextKind.MESSAGE, ContextSource.CHAT),
    "assistant": (ContextKind.MESSAGE, ContextSource.CHAT),
    "exchange": (ContextKind.TOOL_OUTPUT, ContextSource.TOOL),
}


class Block(NamedTuple):
    """Messages that are kept or dropped as one: a unit, or a whole turn.

    `needs` are the places of the blocks without which a provider would refuse this one. `problem` says why it cannot
    be kept at all.
    """

    indices: tuple[int, ...]
    item: ContextItem
    needs: tuple[int, ...] = ()
    problem: str | None = None


class History(NamedTuple):
    """The blocks in order of their first message, and the tokens of each message.

    `pinned` are the places of the blocks that have to stay, `wanted` of those that should if they can.
    """

    provider: str
    blocks: list[Block]
    tokens: list[int]
    pinned: frozenset[int]
    wanted: frozenset[int]


def read_history(
    messages: Sequence[Any], provider: str, unit: str, cost: Callable[[Any], int], pin: Any = None
) -> History:
    if unit not in ("auto", "turn"):
        raise InvalidArgumentError(f"unit must be 'auto' or 'turn', not {unit!r}", argument="unit", value=unit)
    name = resolve_provider(messages, provider)
    units = group_messages(read_messages(messages, name), name)
    tokens = [cost(message) for message in messages]
    blocks = [_block(each, tokens) for each in units]
    block_of: Sequence[int] = range(len(units))
    if unit == "turn":
        blocks, block_of = _whole_turns(units, blocks)
    pinned, wanted = _pins(units, _asked_for(messages, pin))
    must, should = (with_needs((block_of[place] for place in places), blocks) for places in (pinned, wanted))
    return History(name, blocks, tokens, must, should - must)


def _needs(unit: Unit) -> tuple[int, ...]:
    return unit.also if unit.anchor is None else (unit.anchor, *unit.also)


def _block(unit: Unit, tokens: Sequence[int]) -> Block:
    indices = unit.indices
    kind, source = _KINDS[unit.role]
    item = ContextItem(
        unit.text or f"({unit.role} without text)",
        sum([tokens[i] for i in indices]),
        kind=kind,
        source=source,
        timestamp=_stamp(indices[-1]),
        metadata={"pycupel.unit": list(indices)},
    )
    return Block(indices, item, _needs(unit), unit.problem)


@lru_cache(maxsize=4096)
def _stamp(index: int) -> datetime:
    return _EPOCH + timedelta(seconds=index)


def _whole_turns(units: Sequence[Unit], blocks: Sequence[Block]) -> tuple[list[Block], list[int]]:
    """A block for each turn, and the block of each unit. What is in no turn stays on its own."""
    groups = turns(units)
    grouped = {place for group in groups for place in group}
    groups += [[place] for place in range(len(units)) if place not in grouped]
    groups.sort(key=lambda group: units[group[0]].indices)
    block_of = {place: block for block, places in enumerate(groups) for place in places}
    merged = [
        _merged(
            [blocks[place] for place in places],
            {block_of[need] for place in places for need in blocks[place].needs} - {i},
        )
        for i, places in enumerate(groups)
    ]
    return merged, [block_of[place] for place in range(len(units))]


def _merged(blocks: Sequence[Block], needs: set[int]) -> Block:
    if len(blocks) == 1:
        return blocks[0]._replace(needs=tuple(sorted(needs)))
    indices = tuple(sorted(i for block in blocks for i in block.indices))
    item = replace(
        blocks[0].item,
        content="\n".join(block.item.content for block in blocks),
        tokens=sum(block.item.tokens for block in blocks),
        timestamp=_stamp(indices[-1]),
        metadata={"pycupel.unit": list(indices)},
    )
    return Block(indices, item, tuple(sorted(needs)))


def _pins(units: Sequence[Unit], asked_for: frozenset[int]) -> tuple[set[int], set[int]]:
    """The units that have to stay, and the last exchange, which should stay even if its turn is over.

    The system prompts, the last user message, the exchange that is still open, and what the caller asks for.
    """
    sound = [place for place, unit in enumerate(units) if unit.state != "broken"]
    pinned = {place for place in sound if units[place].role == "system" or units[place].state == "open"}
    pinned |= {place for place in sound if not asked_for.isdisjoint(units[place].indices)}
    openers = {unit.anchor for unit in units}
    speakers = [place for place in sound if units[place].role == "user" or place in openers]
    others = [place for place in sound if units[place].role != "system"]
    # A history without a user message still has to say something.
    pinned |= set((speakers or others)[-1:])
    exchanges = [place for place in sound if units[place].role == "exchange"]
    wanted = set(exchanges[-1:])
    if speakers and exchanges and exchanges[-1] > speakers[-1]:
        pinned |= wanted
    return pinned, wanted


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


def with_needs(places: Iterable[int], blocks: Sequence[Block]) -> frozenset[int]:
    """The blocks with everything that they need."""
    found: set[int] = set()
    pending = list(places)
    while pending:
        place = pending.pop()
        if place not in found:
            found.add(place)
            pending += blocks[place].needs
    return frozenset(found)
