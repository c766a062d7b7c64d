"""`KeyLines`: the lines with the most information that appears nowhere else."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from pycupel.errors import InvalidArgumentError
from pycupel.model import ContextItem
from pycupel.model.checks import checked_float, checked_iterable, inside
from pycupel.model.version import make_version
from pycupel.protocols import ShortenContext
from pycupel.shorten._pieces import Piece, join_pieces, pieces_of
from pycupel.shorten._units import units_of
from pycupel.values import hold

SHARES = (0.05, 0.1, 0.2, 0.4, 0.7)
"""The largest shares of an item's tokens that versions have by default."""

# The cost of a line in addition to its characters: its part of the note about left-out lines.
_GAP = 8
_MAX_NEEDED = 16

_Form = TypeVar("_Form")


@dataclass(frozen=True, slots=True, init=False)
class KeyLines:
    """Keeps the lines with the most information that appears nowhere else in the context.

    Identifiers, paths, named numbers, error messages and headings count, and other words a little. Information in
    several items counts for the newest, so repeated lines are left out of older ones. Lines keep their order and their
    text, with the number of lines left out between them. A table keeps its header, a diff the header of a
    hunk, a stack trace its first and last frames, and JSON the keys around a line. Very long lines are split
    between words. Binary content and text that cannot be split have no versions.

    Items are newest first by timestamp; without one, a later item is newer.

    Raises:
        TypeError: a share is not a number.
        InvalidArgumentError: a share is not between 0 and 1, or there is none.
    """

    shares: tuple[float, ...] = field(metadata=inside(low=0.0, high=1.0))
    """The largest share of the item's tokens that each version may have."""

    def __init__(self, shares: Iterable[float] = SHARES) -> None:
        given = [
            checked_float(f"shares[{i}]", share, InvalidArgumentError, low=0.0, high=1.0)
            for i, share in enumerate(checked_iterable("shares", "an iterable of numbers", shares))
        ]
        if not given:
            raise InvalidArgumentError("shares must not be empty", argument="shares", value=())
        hold(self, shares=tuple(sorted(set(given))))

    def shorten(self, item: ContextItem, context: ShortenContext, /) -> list[ContextItem]:
        """Make versions, longest first; fewer than `shares` if some would be equal or no shorter."""
        pieces, units = self._analysis(context)[id(item)]
        if len(pieces) <= 1:
            return []
        order = by_density(pieces, units)
        versions: list[ContextItem] = []
        characters = sum([len(piece.text) for piece in pieces])
        for share in reversed(self.shares):
            chosen = fill(pieces, order, int(share * characters))
            if not chosen or len(chosen) == len(pieces):
                continue
            text = join_pieces(pieces, chosen)
            tokens = context.count(item, text)
            if tokens < (versions[-1] if versions else item).tokens:
                held = sum([units[i] for i in chosen])
                made = f"KeyLines, {len(chosen)} of {len(pieces)} lines"
                versions.append(make_version(item, text, tokens, made, held))
        return versions

    def units(self, item: ContextItem, context: ShortenContext, /) -> float:
        """Count the units of the whole item that no newer one has; 1 if there are none."""
        pieces, units = self._analysis(context)[id(item)]
        return sum(units) if pieces else 1.0

    def _analysis(self, context: ShortenContext) -> dict[int, tuple[Sequence[Piece], Sequence[float]]]:
        return analyse(context, pieces_of, lambda pieces: pieces)


def analyse(
    context: ShortenContext, find: Callable[[str], _Form], pieces_in: Callable[[_Form], Sequence[Piece]]
) -> dict[int, tuple[_Form, Sequence[float]]]:
    """Return the form of each item, by its id, and the units of its pieces that no newer item has.

    Done once per context.

    Args:
        context: The items.
        find: Makes the form of a text. Memos use it as their key.
        pieces_in: Returns the pieces of a form.
    """
    made: dict[int, tuple[_Form, Sequence[float]]] | None = context.memo.get((analyse, find))
    if made is None:
        made = context.memo[analyse, find] = {}
        # A caller with one context after another may remember the results for texts that occur in several.
        find_form: Callable[[str], _Form] = context.memo.get(find, find)
        find_units: Callable[[str], Mapping[str, float]] = context.memo.get(units_of, units_of)
        seen: set[str] = set()
        for text in context.kept_texts:
            seen.update(find_units(text))
        for i in _newest_first(context.items):
            item = context.items[i]
            if id(item) not in made:
                form = find_form(item.content)
                made[id(item)] = form, _credited(pieces_in(form), seen, find_units)
    return made


def by_density(pieces: Sequence[Piece], units: Sequence[float]) -> list[int]:
    """Sort the pieces that have units, those with the most units for their length first."""
    found = [i for i, worth in enumerate(units) if worth > 0.0]
    return sorted(found, key=lambda i: -units[i] / (len(pieces[i].text) + _GAP))


def _credited(pieces: Sequence[Piece], seen: set[str], find_units: Callable[[str], Mapping[str, float]]) -> list[float]:
    """Count the units of each piece. A repeated unit counts for the piece with the most units for its length."""
    new_units = [
        {unit: worth for unit, worth in find_units(piece.text).items() if unit not in seen} for piece in pieces
    ]
    density = [sum(units.values()) / (len(piece.text) + _GAP) for units, piece in zip(new_units, pieces, strict=True)]
    credited = [0.0] * len(pieces)
    for i in sorted(range(len(pieces)), key=lambda i: -density[i]):
        credited[i] = sum([worth for unit, worth in new_units[i].items() if unit not in seen])
        seen.update(new_units[i])
    return credited


def _newest_first(items: Sequence[ContextItem]) -> list[int]:
    """Sort items, newest first; those without a timestamp count as older than those with one."""
    times = [float("-inf") if item.timestamp is None else item.timestamp.timestamp() for item in items]
    return sorted(range(len(items)), key=lambda i: (times[i], i), reverse=True)


def fill(pieces: Sequence[Piece], order: Iterable[int], budget: int) -> set[int]:
    """Take pieces in this order while they fit, each with the pieces that it needs."""
    chosen: set[int] = set()
    left = budget
    least = min([len(piece.text) for piece in pieces]) + _GAP
    for i in order:
        if left < least:
            break
        if i in chosen:
            continue
        wanted: list[int] = []
        needed: int | None = i
        while needed is not None and needed not in chosen and len(wanted) < _MAX_NEEDED:
            wanted.append(needed)
            needed = pieces[needed].needs
        cost = sum([len(pieces[each].text) + _GAP for each in wanted])
        if cost <= left:
            left -= cost
            chosen.update(wanted)
    return chosen
