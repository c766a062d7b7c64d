"""ChronologicalPlacer: oldest first."""

from __future__ import annotations

from collections.abc import Sequence

from pycupel.model import ContextItem
from pycupel.model.optionless import Optionless
from pycupel.placers._base import IndexedPlacer

__all__ = ["ChronologicalPlacer"]


class ChronologicalPlacer(Optionless, IndexedPlacer):
    """By timestamp ascending, then what has none. Equal ones keep their order; scores do not matter."""

    __slots__ = ()

    def place_indices(self, items: Sequence[ContextItem], scores: Sequence[float], /) -> list[int]:  # noqa: ARG002
        # None never reaches a comparison.
        timestamps = [item.timestamp for item in items]
        timed = sorted((i for i, stamp in enumerate(timestamps) if stamp is not None), key=timestamps.__getitem__)  # type: ignore[arg-type]
        return timed + [i for i, stamp in enumerate(timestamps) if stamp is None]
