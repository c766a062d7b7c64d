"""CountQuotaSlice: a minimum and a maximum number of items of a kind."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Literal

from pycupel.errors import SlicerConfigError
from pycupel.kernels.order import descending
from pycupel.model import CountQuotaEntry, ScarcityBehavior
from pycupel.model.checks import checked_choice
from pycupel.protocols import Slicer, checked_slicer
from pycupel.slicers._base import IndexedSlicer, restricted
from pycupel.slicers._counts import CountingSlicer
from pycupel.slicers._entries import checked_entries
from pycupel.slicers.greedy import GreedySlice
from pycupel.slicers.knapsack import KnapsackSlice

__all__ = ["CountQuotaSlice"]


@dataclass(frozen=True, slots=True, init=False)
class CountQuotaSlice(CountingSlicer):
    """Commits the best items of kinds that require some, fills up through `inner`, and removes what exceeds a cap.

    Caps are enforced in the order of the inner selection. With `GreedySlice` that is by density, so that of one kind
    the densest items stay, not those with the highest score (CQ-07). `cap_order="score"` keeps the latter. The tokens
    of removed items are not filled again (CQ-17).
    """

    entries: tuple[CountQuotaEntry, ...]
    inner: Slicer
    scarcity: ScarcityBehavior
    cap_order: Literal["inner", "score"]
    by_key: dict[str, CountQuotaEntry] = field(init=False, repr=False, compare=False)

    def __init__(
        self,
        entries: Iterable[CountQuotaEntry],
        inner: Slicer = GreedySlice(),
        scarcity: ScarcityBehavior | str = ScarcityBehavior.DEGRADE,
        *,
        cap_order: Literal["inner", "score"] = "inner",
    ) -> None:
        by_key = checked_entries(entries, CountQuotaEntry)
        object.__setattr__(self, "entries", tuple(by_key.values()))
        object.__setattr__(self, "by_key", by_key)
        if isinstance(inner, KnapsackSlice):
            raise SlicerConfigError(
                "CountQuotaSlice does not support KnapsackSlice as its inner slicer. "
                "Use GreedySlice inside, or CountConstrainedKnapsackSlice instead of CountQuotaSlice.",
                argument="inner",
                value=inner,
            )
        object.__setattr__(self, "inner", checked_slicer("inner", inner))
        object.__setattr__(self, "scarcity", checked_choice("scarcity", scarcity, ScarcityBehavior, SlicerConfigError))
        if cap_order not in ("inner", "score"):
            raise SlicerConfigError(f"cap_order must be 'inner' or 'score', not {cap_order!r}", argument="cap_order")
        object.__setattr__(self, "cap_order", cap_order)

    @property
    def engine(self) -> Slicer:
        return self.inner

    def cap_walk(self, selected: list[int], scores: Sequence[float]) -> list[int]:
        return descending(scores, selected) if self.cap_order == "score" else selected

    def with_entries(self, entries: Iterable[CountQuotaEntry], key: str) -> IndexedSlicer:
        if type(self) is not CountQuotaSlice:
            return self
        return CountQuotaSlice(entries, restricted(self.inner, key), self.scarcity, cap_order=self.cap_order)
