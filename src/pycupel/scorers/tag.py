"""TagScorer: the weight of the tags that match, as a share of all configured weights."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import isfinite
from types import MappingProxyType
from typing import Any, ClassVar

from pycupel.errors import ScorerConfigError
from pycupel.model import ContextItem
from pycupel.model.checks import checked_bool, checked_str
from pycupel.model.names import fold
from pycupel.scorers._weights import checked_weight, weight_items

__all__ = ["TagScorer"]


@dataclass(frozen=True, slots=True, init=False)
class TagScorer:
    """Matched weight divided by total weight, at most 1.0. Every occurrence of a tag on an item counts.

    Tags are compared as they are spelled, unless `case_insensitive` asks for ASCII folding (DM-03).
    """

    reads: ClassVar[str] = "tags"

    tag_weights: Mapping[str, float]
    case_insensitive: bool
    _lookup: dict[str, float] = field(init=False, repr=False, compare=False)
    _total: float = field(init=False, repr=False, compare=False)

    def __init__(self, tag_weights: Mapping[str, float], *, case_insensitive: bool = False) -> None:
        folds = checked_bool("case_insensitive", case_insensitive)
        weights: dict[str, float] = {}
        lookup: dict[str, float] = {}
        total = 0.0
        for name, value in weight_items("tag_weights", tag_weights):
            tag = checked_str("every tag in tag_weights", name)
            weight = checked_weight("Tag weight", f"tag_weights[{tag!r}]", value)
            key = fold(tag) if folds else tag
            if key in lookup:
                raise ScorerConfigError(
                    f"tag_weights names the tag {tag!r} twice, in different case", argument="tag_weights"
                )
            weights[tag] = lookup[key] = weight
            total += weight
        if not isfinite(total):
            raise ScorerConfigError("the sum of tag_weights must be finite", argument="tag_weights")
        object.__setattr__(self, "tag_weights", MappingProxyType(weights))
        object.__setattr__(self, "case_insensitive", folds)
        object.__setattr__(self, "_lookup", lookup)
        object.__setattr__(self, "_total", total)

    def score(self, item: ContextItem, all_items: Sequence[ContextItem], /) -> float:  # noqa: ARG002 - absolute
        if self._total == 0.0 or len(item.tags) == 0:
            return 0.0
        matched_sum = 0.0
        for tag in item.tags:
            key = fold(tag) if self.case_insensitive else tag
            if key in self._lookup:
                matched_sum += self._lookup[key]
        return min(matched_sum / self._total, 1.0)

    def score_all(self, items: Sequence[ContextItem], /) -> list[float]:
        return [self.score(item, items) if item.tags else 0.0 for item in items]

    def __hash__(self) -> int:
        return hash((frozenset(self.tag_weights.items()), self.case_insensitive))

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuild, (type(self), dict(self.tag_weights), self.case_insensitive)


def _rebuild(cls: type[TagScorer], tag_weights: dict[str, float], case_insensitive: bool) -> TagScorer:  # noqa: FBT001
    return cls(tag_weights, case_insensitive=case_insensitive)
