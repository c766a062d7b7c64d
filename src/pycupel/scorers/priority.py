"""PriorityScorer: a higher priority scores higher, by its rank among the items that have one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from pycupel.kernels.ranks import integer_rank_shares
from pycupel.model import ContextItem
from pycupel.values import sealed


@sealed
@dataclass(frozen=True, slots=True)
class PriorityScorer:
    """The rank of the priority: the highest scores 1.0, the lowest 0.0, and items without a priority 0.0.

    Equal priorities have equal scores.
    """

    reads: ClassVar[str] = "priority"
    """The field of items that the scorer reads."""

    def score(self, item: ContextItem, all_items: Sequence[ContextItem], /) -> float:
        """Return the rank of the item's priority, from 0 to 1."""
        if item.priority is None:
            return 0.0
        count_with_priority = 0
        rank = 0
        for other in all_items:
            if other.priority is None:
                continue
            count_with_priority += 1
            if other.priority < item.priority:
                rank += 1
        if count_with_priority <= 1:
            return 1.0
        return rank / (count_with_priority - 1)

    def score_all(self, items: Sequence[ContextItem], /) -> list[float]:
        """Score all items at once; the results equal those of `score` bit for bit."""
        return integer_rank_shares([item.priority for item in items])
