"""ChronologicalPlacer: oldest first."""

from __future__ import annotations

from collections.abc import Sequence

from pycupel.model import ContextItem
from pycupel.model.optionless import Optionless
from pycupel.placers._base import IndexedPlacer

__all__ = ["ChronologicalPlacer"]


class ChronologicalPlacer(Optionless, IndexedPlacer):
    """Oldest first, items without a timestamp last. Equal timestamps keep their order; scores do not matter."""

    __slots__ = ()

    def place_indices(self, items: Sequence[ContextItem], scores: Sequence[float], /) -> list[int]:  # noqa: ARG002
        """The order, as indices of `items`."""
        # None does not compare with a datetime.
        stamps = {i: item.timestamp for i, item in enumerate(items) if item.timestamp is not None}
        timed = sorted(stamps, key=stamps.__getitem__)
        return timed + [i for i in range(len(items)) if i not in stamps]
