"""ChronologicalPlacer: oldest first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from pycupel.errors import InvalidArgumentError
from pycupel.model import ContextItem
from pycupel.model.checks import one_of
from pycupel.placers._base import IndexedPlacer
from pycupel.values import brief_repr, check_fields, sealed

_Undated = Literal["received", "position"]


@sealed
@dataclass(frozen=True, slots=True, repr=False)
class ChronologicalPlacer(IndexedPlacer):
    """Oldest first, items without a timestamp last. Equal timestamps keep their order; scores do not matter.

    Raises:
        InvalidArgumentError: `undated` is neither "received" nor "position".
    """

    undated: _Undated = field(default="received", metadata=one_of(_Undated))
    """What to do if no item has a timestamp.

    "received" keeps the order in which the placer gets them, pinned items and then by score, as the specification says.
    "position" restores the order of the input; only in a pipeline, because `place` does not know that order.
    """

    def __post_init__(self) -> None:
        check_fields(self, InvalidArgumentError)

    __repr__ = brief_repr

    @property
    def _reads_positions(self) -> bool:
        """Whether undated items are placed as in the input."""
        return self.undated == "position"

    def _place_indices(
        self,
        items: Sequence[ContextItem],
        scores: Sequence[float],  # noqa: ARG002 - only time counts
        positions: Sequence[int] | None = None,
        /,
    ) -> list[int]:
        """Return the order as indices of `items`: by time or, if no item has a timestamp, by position."""
        stamps = [item.timestamp for item in items]
        if positions is None or any(stamps):
            return _by_time(stamps)
        return sorted(range(len(items)), key=positions.__getitem__)


def _by_time(stamps: list[Any]) -> list[int]:
    if all(stamps):
        return sorted(range(len(stamps)), key=stamps.__getitem__)
    # None does not compare with a datetime.
    timed = [i for i, stamp in enumerate(stamps) if stamp is not None]
    return sorted(timed, key=stamps.__getitem__) + [i for i, stamp in enumerate(stamps) if stamp is None]
