"""FrequencyScorer: the share of the other items that have a tag in common."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from pycupel.kernels.overlap import overlap_counts
from pycupel.model import ContextItem
from pycupel.model.checks import fold

__all__ = ["FrequencyScorer"]


@dataclass(frozen=True, slots=True)
class FrequencyScorer:
    """1.0 if every other item shares a tag with this one, 0.0 if none does or it has no tags. Tags fold ASCII case."""

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
        others = len(items) - 1
        if others <= 0:
            return [0.0] * len(items)
        folded: dict[tuple[str, ...], frozenset[str]] = {}
        groups: dict[frozenset[str], list[int]] = {}
        for i, item in enumerate(items):
            tags = item.tags
            if tags:
                labels = folded.get(tags)
                if labels is None:
                    labels = folded[tags] = frozenset(map(fold, tags))
                    groups.setdefault(labels, [])
                groups[labels].append(i)
        counts = overlap_counts(groups, len(items))
        # An item is no peer of itself, in however many places it stands.
        standing = Counter(map(id, items))
        scores = [0.0] * len(items)
        for labels, members in groups.items():
            count = counts[labels]
            for i in members:
                scores[i] = (count - standing[id(items[i])]) / others
        return scores


def _shares_any_tag(tags_a: Iterable[str], tags_b: Iterable[str]) -> bool:
    return any(fold(a) == fold(b) for a in tags_a for b in tags_b)
