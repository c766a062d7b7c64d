"""UShapedPlacer: the highest scores at both edges, where models pay most attention."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pycupel.kernels.order import descending, u_shaped
from pycupel.model import ContextItem
from pycupel.placers._base import IndexedPlacer
from pycupel.values import sealed


@sealed
@dataclass(frozen=True, slots=True)
class UShapedPlacer(IndexedPlacer):
    """Puts the best item first, the second best last, and so on towards the middle.

    Models pay most attention to both ends. Pinned items have a score of 1.0 and are treated like any other.
    """

    def _place_indices(
        self,
        items: Sequence[ContextItem],  # noqa: ARG002 - only scores count
        scores: Sequence[float],
        positions: Sequence[int] | None = None,  # noqa: ARG002
        /,
    ) -> list[int]:
        """Return the order as indices of `items`."""
        return u_shaped(descending(scores))
