"""FrequencyScorer: the share of the other items that have a tag in common."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from pycupel.kernels.overlap import overlap_counts
from pycupel.model import ContextItem
from pycupel.model.checks import fold
from pycupel.model.optionless import Optionless

__all__ = ["FrequencyScorer"]


class FrequencyScorer(Optionless):
    """1.0 if every other item shares a tag with this one, 0.0 if none does or it has no tags. Tags fold ASCII case."""

    __slots__ = ()

    def score(self, item: ContextItem, all_items: Sequence[ContextItem], /) -> float:
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
        scores = [0.0] * len(items)
        others = len(items) - 1
        if others <= 0:
            return scores
        groups: dict[tuple[str, ...], list[int]] = {}
        for i, item in enumerate(items):
            tags = item.tags
            if tags in groups:
                groups[tags].append(i)
            else:
                groups[tags] = [i]
        groups.pop((), None)
        # An item is no peer of itself, in however many places it stands.
        standing = Counter(map(id, items)) if len(set(map(id, items))) < len(items) else None
        for members, count in zip(groups.values(), overlap_counts(groups, len(items), fold), strict=True):
            share = (count - 1) / others
            for i in members:
                scores[i] = share if standing is None else (count - standing[id(items[i])]) / others
        return scores


def _shares_any_tag(tags_a: Iterable[str], tags_b: Iterable[str]) -> bool:
    return any(fold(a) == fold(b) for a in tags_a for b in tags_b)
