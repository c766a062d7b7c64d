"""What the placers share. Inside, items are indices: only a custom placer has to be asked which objects it meant."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from functools import lru_cache
from typing import Any

from pycupel.errors import PlacerContractError
from pycupel.kernels.identity import places_by_identity
from pycupel.model import ContextItem, ScoredItem
from pycupel.model.checks import checked_iterable
from pycupel.model.item import split_scored

__all__ = ["IndexedPlacer", "place_by_index"]


class IndexedPlacer(ABC):
    """The base of the built-in placers."""

    __slots__ = ()

    def place(self, scored_items: Sequence[ScoredItem], /) -> list[ContextItem]:
        items, scores = split_scored(scored_items)
        return [items[i] for i in self.place_indices(items, scores)]

    @abstractmethod
    def place_indices(self, items: Sequence[ContextItem], scores: Sequence[float], /) -> list[int]: ...


def place_by_index(placer: Any, items: Sequence[ContextItem], scores: Sequence[float]) -> list[int]:
    """Ask any placer.

    What a custom one returns has to be what it was given, object for object, in whatever order (SL-04).
    """
    if _is_indexed(placer.__class__):
        order: list[int] = placer.place_indices(items, scores)
        return order
    returned: Any = placer.place(tuple(map(ScoredItem, items, scores)))
    try:
        iterable = checked_iterable(f"what {type(placer).__name__} returns", "a list of items", returned)
    except TypeError as error:
        raise PlacerContractError(str(error)) from None
    if isinstance(returned, AbstractSet):
        raise PlacerContractError(f"{type(placer).__name__} returned a set, which has no order")
    placed = list(iterable)
    if Counter(map(id, placed)) != Counter(map(id, items)):
        raise PlacerContractError(
            f"{type(placer).__name__} was given {len(items)} items and returned {len(placed)}, not the same objects; "
            "a placer returns all the items themselves, each as often as it got it"
        )
    places = places_by_identity(items)
    return [places[id(item)].pop() for item in placed]


@lru_cache(maxsize=512)
def _is_indexed(cls: type[object]) -> bool:
    """Whether `place_indices` speaks for the class. In a subclass that overrides `place` alone, it does not."""
    for owner in cls.__mro__:
        if "place_indices" in vars(owner):
            return issubclass(cls, IndexedPlacer)
        if "place" in vars(owner):
            break
    return False
