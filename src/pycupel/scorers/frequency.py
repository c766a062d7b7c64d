"""FrequencyScorer: the share of the other items that have a tag in common."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import ClassVar

from pycupel.kernels.overlap import overlap_counts
from pycupel.model import ContextItem
from pycupel.model.names import fold
from pycupel.values import sealed


@sealed
@dataclass(frozen=True, slots=True)
class FrequencyScorer:
    """The share of the other items that have a tag in common: 1.0 if all have, 0.0 if none has or there are no tags.

    Tags are compared without regard to ASCII case.
    """

    reads: ClassVar[str] = "tags"
    """The field of items that the scorer reads."""

    def score(self, item: ContextItem, all_items: Sequence[ContextItem], /) -> float:
        """Return the share of the other items that have a tag in common with this one."""
        if len(item.tags) == 0 or len(all_items) <= 1:
            return 0.0
        matching_items = 0
        for other in all_items:
            if other is item:
                continue
            if len(other.tags) == 0:
                continue
            if _shares_any_tag(item.tags, other.tags):
                matching_items += 1
        return matching_items / (len(all_items) - 1)

    def score_all(self, items: Sequence[ContextItem], /) -> list[float]:
        """Score all items at once; the results equal those of `score` bit for bit."""
        others = len(items) - 1
        if others <= 0:
            return [0.0] * len(items)
        counts = overlap_counts([item.tags for item in items], fold)
        # An item does not count as its own peer, however often it occurs.
        if len(set(map(id, items))) == len(items):
            return [(count - 1) / others if count else 0.0 for count in counts]
        occurrences = Counter(map(id, items))
        return [
            (count - occurrences[id(item)]) / others if count else 0.0
            for item, count in zip(items, counts, strict=True)
        ]


def _shares_any_tag(tags_a: Iterable[str], tags_b: Iterable[str]) -> bool:
    return any(fold(a) == fold(b) for a in tags_a for b in tags_b)
