"""ChronologicalPlacer: oldest first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from pycupel.errors import InvalidArgumentError
from pycupel.model import ContextItem
from pycupel.model.checks import checked_name
from pycupel.model.frozen import sealed
from pycupel.model.optionless import short_repr
from pycupel.placers._base import IndexedPlacer

__all__ = ["ChronologicalPlacer"]


@sealed
@dataclass(frozen=True, slots=True, repr=False)
class ChronologicalPlacer(IndexedPlacer):
    """Oldest first, items without a timestamp last. Equal timestamps keep their order; scores do not matter.

    Attributes:
        undated: What to do if no item has a timestamp. "received" keeps the order in which the placer gets them, which
            is pinned items and then by score, as the specification says. "position" puts them into the order of the
            input; in a pipeline, because a call of `place` does not know that order.

    Raises:
        InvalidArgumentError: `undated` is neither "received" nor "position".
    """

    undated: Literal["received", "position"] = "received"

    def __post_init__(self) -> None:
        undated = checked_name("undated", self.undated, ("received", "position"), InvalidArgumentError)
        object.__setattr__(self, "undated", undated)

    def __repr__(self) -> str:
        return short_repr(self)

    def place_indices(self, items: Sequence[ContextItem], scores: Sequence[float], /) -> list[int]:  # noqa: ARG002
        """The order, as indices of `items`."""
        # None does not compare with a datetime.
        stamps = {i: item.timestamp for i, item in enumerate(items) if item.timestamp is not None}
        timed = sorted(stamps, key=stamps.__getitem__)
        return timed + [i for i in range(len(items)) if i not in stamps]

    @property
    def reads_positions(self) -> bool:
        """Whether undated items are placed as in the input."""
        return self.undated == "position"

    def place_positioned(
        self, items: Sequence[ContextItem], scores: Sequence[float], positions: Sequence[int], /
    ) -> list[int]:
        """The order of the input, unless an item has a timestamp."""
        if any(item.timestamp is not None for item in items):
            return self.place_indices(items, scores)
        return sorted(range(len(items)), key=positions.__getitem__)
