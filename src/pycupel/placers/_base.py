"""The common part of the placers. Internally, items are indices; what a custom placer returns is mapped to indices."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Sequence, Set as AbstractSet
from functools import lru_cache
from typing import Any

from pycupel.errors import PlacerContractError
from pycupel.kernels.identity import indices_by_identity
from pycupel.model import ContextItem, ScoredItem
from pycupel.model.checks import checked_iterable
from pycupel.model.item import split_scored


class IndexedPlacer(ABC):
    """The base class of the built-in placers."""

    __slots__ = ()

    def place(self, scored_items: Sequence[ScoredItem], /) -> list[ContextItem]:
        """Put items into order.

        Args:
            scored_items: The items with their scores; any `(item, score)` pairs.

        Returns:
            All the items in their final order.
        """
        items, scores = split_scored(scored_items)
        return [items[i] for i in self._place_indices(items, scores)]

    @abstractmethod
    def _place_indices(
        self, items: Sequence[ContextItem], scores: Sequence[float], positions: Sequence[int] | None = None, /
    ) -> list[int]:
        """Return the order as indices of `items`.

        `positions` are numbers that sort the items as in the input, for a placer that reads them.
        """

    @property
    def _reads_positions(self) -> bool:
        """Whether the order may depend on the order of the input, which `place` does not receive."""
        return False


def reads_positions(placer: Any) -> bool:
    """Whether a placer needs the input order: a built-in one with that option set."""
    return _is_indexed(placer.__class__) and placer._reads_positions


def place_by_index(
    placer: Any, items: Sequence[ContextItem], scores: Sequence[float], positions: Sequence[int] | None = None
) -> list[int]:
    """Run any placer, and return the order as indices.

    A custom placer must return all the objects that it was given, in any order (SL-04).
    """
    if _is_indexed(placer.__class__):
        order: list[int] = placer._place_indices(items, scores, positions)
        return order
    returned: Any = placer.place(tuple(map(ScoredItem, items, scores)))
    try:
        iterable = checked_iterable(f"the order that {type(placer).__name__} returned", "a list of items", returned)
    except TypeError as error:
        raise PlacerContractError(str(error)) from None
    if isinstance(returned, AbstractSet):
        raise PlacerContractError(f"{type(placer).__name__} returned a set, which has no order")
    placed = list(iterable)
    if Counter(map(id, placed)) != Counter(map(id, items)):
        remedy = "a placer returns the items themselves, each as often as it was given"
        if any(isinstance(item, ScoredItem) for item in placed):
            remedy = "return the .item of a ScoredItem"
        raise PlacerContractError(
            f"{type(placer).__name__} was given {len(items)} items and returned {len(placed)}, not the same objects; "
            f"{remedy}"
        )
    indices = indices_by_identity(items)
    return [indices[id(item)].pop() for item in placed]


@lru_cache(maxsize=512)
def _is_indexed(cls: type[object]) -> bool:
    """Whether to call `_place_indices`: not for a subclass that overrides only `place`."""
    for owner in cls.__mro__:
        if "_place_indices" in vars(owner):
            return issubclass(cls, IndexedPlacer)
        if "place" in vars(owner):
            break
    return False
