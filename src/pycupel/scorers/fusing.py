"""Scores of several retrievers: hints of different scales, fused by their ranks.

A cosine, a BM25 score and a reranker's logit cannot be compared, but their ranks can: reciprocal rank fusion.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from math import isfinite
from typing import Any, ClassVar

from pycupel.errors import InvalidArgumentError
from pycupel.kernels.scores import min_max
from pycupel.model import ContextItem
from pycupel.model.checks import COUNT, checked_bool
from pycupel.model.item import checked_items
from pycupel.model.quota import NONE, By, checked_by, grouping
from pycupel.scorers._base import CheckedScorer, score_of
from pycupel.scorers.fields import hint_range, rescaled
from pycupel.text import shortened
from pycupel.values import brief_repr, sealed

Keys = Sequence[str | None]
Hints = Sequence[float | None]

# How slowly the ranks of a retriever lose weight; 60 is usual.
DEFAULT_K = 60
_FIELDS = ("retriever", "source")
# Sources are often no retrievers. A few of them with some hints each are.
_MOST_SOURCES, _LEAST_HINTS = 5, 3


def finite_hints(items: Sequence[ContextItem]) -> list[float | None]:
    """Return the hint of each item; None if it is absent or not finite."""
    hints = [item.future_relevance_hint for item in items]
    return [hint if hint is not None and isfinite(hint) else None for hint in hints]


def _retrievers_of(items: Sequence[ContextItem], hints: Hints) -> Keys | None:
    """Return which retriever each item is from; None if nothing says that there are several with different scales.

    `metadata["retriever"]` says it. Where no item with a hint has that, it is the source, if those items have two to
    five sources with at least three hints each.
    """
    hinted = [item for item, hint in zip(items, hints, strict=True) if hint is not None]
    keys = None
    if any("retriever" in item.metadata for item in hinted):
        keys = list(map(grouping("retriever"), items))
    else:
        counts = Counter([item.source.key for item in hinted])
        if 1 < len(counts) <= _MOST_SOURCES and min(counts.values()) >= _LEAST_HINTS:
            keys = [item.source.key for item in items]
    return keys if keys is not None and _has_scales(keys, hints) else None


def _scale(hints: Sequence[float]) -> str:
    low, high = min(hints), max(hints)
    if low >= -1.0 and high <= 1.0:
        return "within -1 and 1"
    return "0 or more" if low >= 0.0 else "any"


def _by_group(keys: Keys, hints: Hints) -> dict[str | None, list[float]]:
    """Return the finite hints of each group, the groups in order of first appearance."""
    groups: dict[str | None, list[float]] = {}
    for key, hint in zip(keys, hints, strict=True):
        if hint is not None:
            groups.setdefault(key, []).append(hint)
    return groups


def _has_scales(keys: Keys, hints: Hints) -> bool:
    """Whether the groups have different scales, so that their hints cannot be compared."""
    return len({_scale(group) for group in _by_group(keys, hints).values()}) > 1


def fused_hints(items: Sequence[ContextItem], hints: Hints) -> list[float] | None:
    """Return scores by rank if the items are from retrievers with different scales; otherwise None."""
    keys = _retrievers_of(items, hints)
    return None if keys is None else fuse(items, keys, hints, DEFAULT_K)


def fuse(items: Sequence[ContextItem], keys: Keys, hints: Hints, k: int) -> list[float]:
    """Fuse the ranks of all groups, and scale the sums to the range from 0 to 1; 0 for an item without a hint.

    An item gets `1 / (k + rank)` from every group that holds its content, added in order of the groups.
    """
    # Ascending and negative, so that the number of strictly larger hints is a position.
    ordered = {key: sorted([-hint for hint in group]) for key, group in _by_group(keys, hints).items()}
    best: dict[str | None, dict[str, float]] = {key: {} for key in ordered}
    for item, key, hint in zip(items, keys, hints, strict=True):
        if hint is not None:
            contents = best[key]
            contents[item.content] = max(hint, contents.get(item.content, hint))
    sums: dict[str, float] = {}
    for key, contents in best.items():
        for content, hint in contents.items():
            rank = 1 + bisect_left(ordered[key], -hint)
            sums[content] = sums.get(content, 0.0) + 1 / (k + rank)
    hinted = [i for i, hint in enumerate(hints) if hint is not None]
    scores = [0.0] * len(items)
    for i, score in zip(hinted, min_max([sums[items[i].content] for i in hinted]), strict=True):
        scores[i] = score
    return scores


def scales_note(items: Sequence[ContextItem]) -> str | None:
    """Say that retrievers have different scales, and what was done; None if they have not."""
    hints = finite_hints(items)
    keys = _retrievers_of(items, hints)
    if keys is None:
        return None
    groups = _by_group(keys, hints)
    ranges = [
        f"{NONE if key is None else shortened(key)} {min(each):.3g} to {max(each):.3g}" for key, each in groups.items()
    ]
    more = f" and {len(ranges) - _MOST_SOURCES} more" if len(ranges) > _MOST_SOURCES else ""
    return (
        f"the hints of {len(ranges)} retrievers have different scales ({', '.join(ranges[:_MOST_SOURCES])}{more}), so "
        'they were fused by rank; to compare them as they are, use ReflexiveScorer("auto", by=None)'
    )


def _checked_by(name: str, value: Any, error: Any) -> By:
    return checked_by(name, value, _FIELDS, error)


@sealed
@dataclass(frozen=True, slots=True, repr=False)
class FusedScorer(CheckedScorer):
    """The ranks of the hints in each group, fused: for scores of several retrievers, whatever their scales.

    An item gets `1 / (k + rank)` from every group that holds its content, where the largest hint has rank 1. The sums
    are scaled to the range from 0 to 1. Without a finite hint the score is 0.0.
    """

    reads: ClassVar[str] = "future_relevance_hint"

    _rescale: ClassVar[str] = "auto"
    """Hints of any scale will do."""

    by: By = field(default="retriever", metadata={"check": _checked_by})
    """What the hints are grouped by: "retriever", which is `metadata["retriever"]`, "source", "metadata:KEY", or a
    function that takes an item. Items without a value are one group.
    """

    k: int = field(default=DEFAULT_K, metadata=COUNT)
    """How slowly lower ranks lose weight, 0 or more."""

    __repr__ = brief_repr

    def score(self, item: ContextItem, all_items: Sequence[ContextItem], /) -> float:
        """Return the fused ranks of one item, from 0 to 1."""
        return score_of(item, all_items, FusedScorer.score_all(self, all_items))

    def score_all(self, items: Sequence[ContextItem], /) -> list[float]:
        """Score all items at once; the results equal those of `score` bit for bit."""
        return fuse(items, list(map(grouping(self.by), items)), finite_hints(items), self.k)


def rescale_hints(
    items: Iterable[ContextItem], by: By | None = None, *, lower_is_better: bool = False
) -> list[ContextItem]:
    """Scale the hints of items to the range from 0 to 1, if any hint is outside it.

    For hints of any scale, where larger is better: raw BM25, cosines, logits. The smallest becomes 0 and the largest
    1; if all are equal, 0.5. Hints that are absent or not finite are left out of the scaling and stay as they are.
    Items whose hint does not change are returned as they are.

    Args:
        items: The items, in any iterable.
        by: What the hints are grouped by, if they come from several retrievers: "retriever", which is
            `metadata["retriever"]`, "source", "metadata:KEY", or a function that takes an item. If the groups have
            different scales, their ranks are fused, as by a `FusedScorer`.
        lower_is_better: Whether the hints are distances, which are turned round: the smallest becomes the largest.

    Raises:
        TypeError: `items` is not an iterable of ContextItem, or another argument has the wrong type.
        InvalidArgumentError: `by` is unknown.
    """
    given = checked_items(items)
    hints = [item.future_relevance_hint for item in given]
    if checked_bool("lower_is_better", lower_is_better):
        low, high = hint_range(hints)
        # Distances from 0 to 1 stay in that range.
        largest = 1.0 if low >= 0.0 and high <= 1.0 else 0.0
        hints = [hint if hint is None or not isfinite(hint) else largest - hint for hint in hints]
    keys = None if by is None else list(map(grouping(checked_by("by", by, _FIELDS, InvalidArgumentError)), given))
    finite = [hint if hint is not None and isfinite(hint) else None for hint in hints]
    new = rescaled(hints, *hint_range(hints))
    if keys is not None and _has_scales(keys, finite):
        fused = fuse(given, keys, finite, DEFAULT_K)
        new = [old if hint is None else score for old, hint, score in zip(hints, finite, fused, strict=True)]
    return [
        item if item.future_relevance_hint is hint else replace(item, future_relevance_hint=hint)
        for item, hint in zip(given, new, strict=True)
    ]
