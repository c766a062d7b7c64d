"""CountConstrainedKnapsackSlice: a minimum and a maximum number of items of a kind, and the best of the rest."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from pycupel.errors import SlicerConfigError
from pycupel.kernels.order import descending
from pycupel.model import CountQuotaEntry, ScarcityBehavior
from pycupel.model.checks import one_of, wrong_type
from pycupel.model.enums import ScarcityLike
from pycupel.protocols import Slicer
from pycupel.slicers._base import IndexedSlicer
from pycupel.slicers._counts import CountingSlicer
from pycupel.slicers._entries import checked_entries
from pycupel.slicers.knapsack import KnapsackSlice
from pycupel.values import brief_repr, check_fields, hold, sealed


@sealed
@dataclass(frozen=True, slots=True, init=False)
class CountConstrainedKnapsackSlice(CountingSlicer):
    """Selects the required number of each kind, adds more with a knapsack, then removes what exceeds a cap.

    Caps keep the highest scores. The tokens of items that a cap removes are not used for others.

    Requirements come before the budget and may exceed it; then the overflow strategy decides. With no candidates at all
    nothing is selected, and the report lists the shortfalls. Pinned items are not counted.

    Raises:
        TypeError: an argument has the wrong type.
        SlicerConfigError: a kind is listed twice, or `scarcity` is unknown.
    """

    entries: tuple[CountQuotaEntry, ...]
    """How many items of a kind are required and allowed; at most one entry for each kind."""

    knapsack: KnapsackSlice
    """The slicer that selects the rest."""

    scarcity: ScarcityBehavior = field(metadata=one_of(ScarcityBehavior))
    """What to do when a kind has fewer candidates than required."""

    _by_key: dict[str, CountQuotaEntry] = field(init=False, repr=False, compare=False)
    """The entries by folded kind."""

    __repr__ = brief_repr

    def __init__(
        self,
        entries: Iterable[CountQuotaEntry],
        knapsack: KnapsackSlice = KnapsackSlice(),
        scarcity: ScarcityLike = ScarcityBehavior.DEGRADE,
    ) -> None:
        by_key = checked_entries(entries, CountQuotaEntry)
        if not isinstance(cast(Any, knapsack), KnapsackSlice):
            raise wrong_type("knapsack", "a KnapsackSlice", knapsack)
        hold(self, entries=tuple(by_key.values()), knapsack=knapsack, scarcity=scarcity, _by_key=by_key)
        check_fields(self, SlicerConfigError)

    @property
    def engine(self) -> Slicer:
        """Return the knapsack."""
        return self.knapsack

    def _cap_walk(self, selected: list[int], scores: Sequence[float]) -> list[int]:
        """Sort by score, descending."""
        # The sort is stable on the knapsack's own order, descending by index, so of equal scores the later comes first
        # (CK-02).
        return descending(scores, selected)

    def _with_entries(self, entries: Iterable[CountQuotaEntry], key: str) -> IndexedSlicer:  # noqa: ARG002
        """Return this slicer with fewer entries."""
        if type(self) is not CountConstrainedKnapsackSlice:
            return self
        return CountConstrainedKnapsackSlice(entries, self.knapsack, self.scarcity)
