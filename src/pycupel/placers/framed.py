"""FramedPlacer: some items at the start, some at the end, the rest as another placer says. An extension of pycupel."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from pycupel.errors import InvalidArgumentError
from pycupel.model import ContextItem, ContextKind
from pycupel.model.checks import check_inner, checked_iterable
from pycupel.placers._base import IndexedPlacer, place_by_index, reads_positions
from pycupel.placers.chronological import ChronologicalPlacer
from pycupel.protocols import Placer, checked_placer
from pycupel.text import quoted
from pycupel.values import hold, sealed

Picks = Callable[[ContextItem], object]


@sealed
@dataclass(frozen=True, slots=True, init=False)
class FramedPlacer(IndexedPlacer):
    """Puts some items first and some last, whatever their timestamps and scores; `inner` orders the rest.

    Both keep the order in which the placer receives them: pinned items, then by score.

    Raises:
        TypeError: an argument has the wrong type.
        InvalidArgumentError: a kind is both first and last, or placers are nested too deeply.
    """

    inner: Placer
    """The placer for the rest."""

    first: tuple[ContextKind, ...] | Picks
    """The kinds at the start, or a function that says whether an item belongs there."""

    last: tuple[ContextKind, ...] | Picks
    """The kinds at the end, or a function that says whether an item belongs there. `first` takes precedence."""

    _picks_first: frozenset[str] | Picks = field(init=False, repr=False, compare=False)
    _picks_last: frozenset[str] | Picks = field(init=False, repr=False, compare=False)

    def __init__(
        self,
        inner: Placer = ChronologicalPlacer(),
        first: Iterable[ContextKind | str] | Picks = (ContextKind.SYSTEM_PROMPT,),
        last: Iterable[ContextKind | str] | Picks = (),
    ) -> None:
        hold(self, inner=checked_placer("inner", inner))
        check_inner("placers", self, FramedPlacer, InvalidArgumentError)
        start, end = _kinds_or_function("first", first), _kinds_or_function("last", last)
        hold(self, first=start, last=end, _picks_first=_keys_or_function(start), _picks_last=_keys_or_function(end))
        for kind in _kinds(end):
            if kind in _kinds(start):
                raise InvalidArgumentError(
                    f"kind {quoted(kind.value)} cannot be both first and last", argument="last", value=kind
                )

    @property
    def _reads_positions(self) -> bool:
        """Whether the inner placer depends on the order of the input."""
        return reads_positions(self.inner)

    def _place_indices(
        self, items: Sequence[ContextItem], scores: Sequence[float], positions: Sequence[int] | None = None, /
    ) -> list[int]:
        """Put the first ones, then the rest as the inner placer says, then the last ones."""
        first, others = _picked(self._picks_first, items, range(len(items)))
        last, rest = _picked(self._picks_last, items, others)
        if len(rest) == len(items):
            return place_by_index(self.inner, items, scores, positions)
        rest_positions = None if positions is None else [positions[i] for i in rest]
        placed = place_by_index(self.inner, [items[i] for i in rest], [scores[i] for i in rest], rest_positions)
        return [*first, *(rest[i] for i in placed), *last]


def _kinds_or_function(name: str, value: Any) -> tuple[ContextKind, ...] | Picks:
    if callable(value):
        picks: Picks = value
        return picks
    kinds = checked_iterable(name, "an iterable of kinds, or a function that takes an item", value)
    return tuple(dict.fromkeys(ContextKind.of(kind, f"{name}[{i}]") for i, kind in enumerate(kinds)))


def _keys_or_function(picks: tuple[ContextKind, ...] | Picks) -> frozenset[str] | Picks:
    """Return the kinds as a set of keys, or the function as it is."""
    return picks if callable(picks) else frozenset(kind.key for kind in picks)


def _kinds(picks: tuple[ContextKind, ...] | Picks) -> tuple[ContextKind, ...]:
    return () if callable(picks) else picks


def _picked(
    picks: frozenset[str] | Picks, items: Sequence[ContextItem], among: Sequence[int]
) -> tuple[list[int], Sequence[int]]:
    """Split the indices into picked and other items."""
    if callable(picks):
        picked = [i for i in among if picks(items[i])]
    else:
        picked = [i for i in among if items[i].kind.key in picks] if picks else []
    if not picked:
        return picked, among
    out = set(picked)
    return picked, [i for i in among if i not in out]
