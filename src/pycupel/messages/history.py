"""Turn a history into units that are kept or dropped as a whole, and units into items."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Sequence
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from itertools import pairwise
from typing import Any

from pycupel.errors import InvalidArgumentError, digits
from pycupel.messages.parts import MessageView
from pycupel.messages.providers._base import Provider
from pycupel.messages.staying import Landmarks, staying_at
from pycupel.messages.units import Unit, group_messages, turns
from pycupel.model import ContextItem, ContextKind, ContextSource
from pycupel.model.checks import checked_int, checked_iterable
from pycupel.model.frozen import FrozenDict
from pycupel.model.item import trusted_item

__all__ = ["History", "items_at"]

# Messages have no timestamps, so they get some by order, from a fixed start, so that equal histories stay equal.
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

_NO_METADATA: FrozenDict[str, Any] = FrozenDict()

_KINDS = {
    "system": (ContextKind.SYSTEM_PROMPT, ContextSource.CHAT),
    "reminder": (ContextKind.MESSAGE, ContextSource.CHAT),
    "user": (ContextKind.MESSAGE, ContextSource.CHAT),
    "assistant": (ContextKind.MESSAGE, ContextSource.CHAT),
    "exchange": (ContextKind.TOOL_OUTPUT, ContextSource.TOOL),
}


class History:
    """A history that has been read, in units.

    Args:
        messages: The messages.
        provider: The provider of the messages.
        views: The messages as they were read.
        unit: "turn" to keep or drop whole turns.
        pin: The argument of `select_messages`.

    Attributes:
        provider: The provider of the messages.
        views: The messages as they were read.
        texts: The full text of each message, even if its view has been shortened since.
        units: The units, or whole turns as units, in order of their first message.
        tokens: The tokens of each message.
        sizes: The tokens of each unit.
        ties: For each unit, the indices of the units it is kept with: those that the provider requires, and for an
            exchange, the assistant's answer.
        landmarks: Where to find what stays.
        broken: Why the provider would reject a unit, by unit index; usually empty.
        points: The length of the history at each call of the model: each ends before a run of its output.
        pins: The indices of the messages that the caller pins.
    """

    def __init__(
        self, messages: Sequence[Any], provider: Provider, views: list[MessageView], unit: str, pin: Any
    ) -> None:
        self.provider = provider
        self.views = views
        self.texts = [view.text for view in views]
        self.tokens = tokens = [view.tokens for view in views]
        self.pins = _pinned_messages(messages, pin)
        singles = group_messages(views, provider)
        self.units, unit_of = _whole_turns(singles) if unit == "turn" else (singles, _same)
        self.sizes = [tokens[n[0]] if len(n) == 1 else sum([tokens[i] for i in n]) for n, *_ in self.units]
        self.ties = _ties(self.units)
        self.landmarks = Landmarks(singles, self.pins, len(messages), unit_of, self.units)
        self.broken = {i: each.problem for i, each in enumerate(self.units) if each.problem is not None}
        self.points = _points(views)

    @property
    def whole(self) -> list[int]:
        """Return the indices of the units that are not broken."""
        return [i for i in range(len(self.units)) if i not in self.broken]

    def staying(self, end: int | None = None, gone: Container[int] = ()) -> tuple[frozenset[int], frozenset[int]]:
        """Find what must stay if the history ends before the message `end`, and what stays if there is room."""
        count = len(self.tokens)
        end = count if end is None else end
        return staying_at(self.units, self.ties, self.landmarks, end, is_last=end == count, gone=gone)

    def text_of(self, unit_index: int) -> str:
        """Return the text of a unit."""
        indices = self.units[unit_index].indices
        if len(indices) == 1:
            return self.texts[indices[0]]
        return "\n".join(filter(None, [self.texts[n] for n in indices]))

    def tokens_of(self, unit_indices: Iterable[int], end: int | None = None) -> int:
        """Count the tokens of these units; if `end` is given, only of the messages before it."""
        if end is None:
            return sum([self.sizes[i] for i in unit_indices])
        units, sizes, tokens = self.units, self.sizes, self.tokens
        return sum(
            [
                sizes[i] if units[i].indices[-1] < end else sum([tokens[n] for n in units[i].indices if n < end])
                for i in unit_indices
            ]
        )


def items_at(
    history: History, unit_indices: Iterable[int], pinned: Container[int] = (), *, named: bool = False
) -> dict[int, ContextItem]:
    """Make items for these units, by unit index.

    With `named`, their metadata has the indices of the messages, which doubles the time.
    """
    items: dict[int, ContextItem] = {}
    units, sizes = history.units, history.sizes
    for i in unit_indices:
        indices, role, *_ = units[i]
        kind, source = _KINDS[role]
        metadata = FrozenDict({"pycupel.unit": list(indices)}) if named else _NO_METADATA
        content = history.text_of(i) or f"({role} without text)"
        stamp = _stamp(indices[-1])
        items[i] = trusted_item(content, sizes[i], kind, source, None, (), metadata, stamp, None, i in pinned, None)
    return items


@lru_cache(maxsize=4096)
def _stamp(index: int) -> datetime:
    return _EPOCH + timedelta(seconds=index)


def _same(unit_index: int) -> int:
    return unit_index


def _points(views: Sequence[MessageView]) -> list[int]:
    roles = [view.role for view in views]
    return [n for n, (before, role) in enumerate(pairwise(roles), 1) if role == "assistant" != before]


def _ties(units: Sequence[Unit]) -> list[tuple[int, ...]]:
    """Tie each unit to the units it needs, and each exchange also to the assistant's next answer in its turn.

    A provider would accept an exchange without its answer, but results without a conclusion do not help the model.
    """
    ties = [unit.needs for unit in units]
    answer = -1
    for i in range(len(units) - 1, -1, -1):
        unit = units[i]
        if unit.role == "assistant" and unit.problem is None:
            answer = i
        elif unit.role == "exchange" and answer >= 0 and units[answer].anchor == unit.anchor:
            ties[i] = (*ties[i], answer)
    return ties


def _whole_turns(units: Sequence[Unit]) -> tuple[list[Unit], Callable[[int], int]]:
    """Make a unit for each turn, and return the turn of each unit. Units in no turn remain as they are."""
    groups = turns(units)
    grouped = {i for group in groups for i in group}
    groups += [[i] for i in range(len(units)) if i not in grouped]
    groups.sort(key=lambda group: units[group[0]].indices)
    turn_of = {i: turn for turn, group in enumerate(groups) for i in group}
    whole = [_turn([units[i] for i in group], turn, turn_of) for turn, group in enumerate(groups)]
    return whole, turn_of.__getitem__


def _turn(members: Sequence[Unit], turn: int, turn_of: dict[int, int]) -> Unit:
    needs = {turn_of[need] for member in members for need in member.needs} - {turn}
    return members[0]._replace(
        indices=tuple(sorted(i for member in members for i in member.indices)),
        anchor=None,
        needs=tuple(sorted(needs)),
    )


def _pinned_messages(messages: Sequence[Any], pin: Any) -> list[int]:
    """Return the indices of the messages that the caller pins, by a function or by index, ascending."""
    if pin is None:
        return []
    if callable(pin):
        return [i for i, message in enumerate(messages) if pin(message)]
    listed = checked_iterable("pin", "a function or indices", pin)
    indices = [checked_int(f"pin[{n}]", i) for n, i in enumerate(listed)]
    for i in indices:
        if not 0 <= i < len(messages):
            size = "1 message" if len(messages) == 1 else f"{len(messages)} messages"
            raise InvalidArgumentError(
                f"pin index {digits(i)} is out of range: the history has {size}", argument="pin", value=i
            )
    return sorted(set(indices))
