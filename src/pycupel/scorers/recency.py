"""RecencyScorer: newer items score higher, by their rank among the items that have a timestamp."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from pycupel.kernels.ranks import rank_shares
from pycupel.model import ContextItem
from pycupel.model.optionless import Optionless

__all__ = ["RecencyScorer"]


class RecencyScorer(Optionless):
    """The rank of the timestamp: the newest item scores 1.0, the oldest 0.0, and items without a timestamp 0.0.

    Equal timestamps have equal scores. Only the order counts, not the time between items; for that, use `DecayScorer`.
    """

    __slots__ = ()

    reads: ClassVar[str] = "timestamp"
    """The field of items that the scorer reads."""

    def score(self, item: ContextItem, all_items: Sequence[ContextItem], /) -> float:
        """The rank of the item's timestamp, from 0 to 1."""
        if item.timestamp is None:
            return 0.0
        count_with_timestamp = 0
        rank = 0
        for other in all_items:
            if other.timestamp is None:
                continue
            count_with_timestamp += 1
            if other.timestamp < item.timestamp:
                rank += 1
        if count_with_timestamp <= 1:
            return 1.0
        return rank / (count_with_timestamp - 1)

    def score_all(self, items: Sequence[ContextItem], /) -> list[float]:
        """The scores of all items, equal to `score` bit for bit."""
        return rank_shares([item.timestamp for item in items])
