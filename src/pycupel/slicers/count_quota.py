"""CountQuotaSlice: a minimum and a maximum number of items of a kind."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Literal

from pycupel.errors import SlicerConfigError
from pycupel.kernels.order import descending
from pycupel.model import CountQuotaEntry, ScarcityBehavior
from pycupel.model.checks import one_of, rule
from pycupel.model.enums import ScarcityLike
from pycupel.protocols import Slicer, checked_slicer
from pycupel.slicers._base import IndexedSlicer, check_nesting, restricted
from pycupel.slicers._counts import CountingSlicer
from pycupel.slicers._entries import checked_entries
from pycupel.slicers.greedy import GreedySlice
from pycupel.slicers.knapsack import KnapsackSlice
from pycupel.values import brief_repr, check_fields, hold, sealed

_CapOrder = Literal["inner", "score"]


@sealed
@dataclass(frozen=True, slots=True, init=False)
class CountQuotaSlice(CountingSlicer):
    """Selects the required number of each kind, adds more with `inner`, then removes what exceeds a cap.

    The tokens of items that a cap removes are not used for others.

    Requirements come before the budget and may exceed it; then the overflow strategy decides. With no candidates at all
    nothing is selected, and the report lists the shortfalls. Pinned items are not counted.

    Raises:
        TypeError: an argument has the wrong type.
        SlicerConfigError: a kind is listed twice, an option is unknown, or `inner` is a `KnapsackSlice`.
    """

    # CQ-07, CQ-17

    entries: tuple[CountQuotaEntry, ...]
    """How many items of a kind are required and allowed; at most one entry for each kind."""

    inner: Slicer = field(metadata=rule(checked_slicer))
    """The slicer that selects the rest; not a `KnapsackSlice`."""

    scarcity: ScarcityBehavior = field(metadata=one_of(ScarcityBehavior))
    """What to do when a kind has fewer candidates than required."""

    cap_order: _CapOrder = field(metadata=one_of(_CapOrder))
    """Which items of a kind a cap keeps: with `"inner"` those that the inner slicer selected first (with `GreedySlice`
    those with the most score per token), with `"score"` those with the highest scores.
    """

    _by_key: dict[str, CountQuotaEntry] = field(init=False, repr=False, compare=False)
    """The entries by folded kind."""

    __repr__ = brief_repr

    def __init__(
        self,
        entries: Iterable[CountQuotaEntry],
        inner: Slicer = GreedySlice(),
        scarcity: ScarcityLike = ScarcityBehavior.DEGRADE,
        *,
        cap_order: _CapOrder = "inner",
    ) -> None:
        by_key = checked_entries(entries, CountQuotaEntry)
        if isinstance(inner, KnapsackSlice):
            raise SlicerConfigError(
                "CountQuotaSlice does not support KnapsackSlice as its inner slicer. "
                "Use GreedySlice inside, or CountConstrainedKnapsackSlice instead of CountQuotaSlice.",
                argument="inner",
                value=inner,
            )
        entries = tuple(by_key.values())
        hold(self, entries=entries, inner=inner, scarcity=scarcity, cap_order=cap_order, _by_key=by_key)
        check_fields(self, SlicerConfigError)
        check_nesting(self)

    def _cap_walk(self, selected: list[int], scores: Sequence[float]) -> list[int]:
        """Sort as `cap_order` says."""
        return descending(scores, selected) if self.cap_order == "score" else selected

    def _with_entries(self, entries: Iterable[CountQuotaEntry], key: str) -> IndexedSlicer:
        """Return this slicer with fewer entries."""
        if type(self) is not CountQuotaSlice:
            return self
        return CountQuotaSlice(entries, restricted(self.inner, key), self.scarcity, cap_order=self.cap_order)
