"""TagScorer: the weight of the tags that match, as a share of all configured weights."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import isfinite
from typing import ClassVar

from pycupel.errors import ScorerConfigError
from pycupel.model import ContextItem
from pycupel.model.checks import checked_bool, checked_str, inside
from pycupel.model.names import fold
from pycupel.scorers._weights import checked_weight, weight_items
from pycupel.text import quoted
from pycupel.values import FrozenDict, hold, record_repr, sealed


@sealed
@dataclass(frozen=True, slots=True, init=False)
class TagScorer:
    """The weight of the item's tags, divided by the weight of all tags; at most 1.0.

    A tag that an item has twice counts twice.

    Raises:
        TypeError: an argument has the wrong type.
        ScorerConfigError: a weight is negative or not finite, or a tag is listed twice in different case.
    """

    reads: ClassVar[str] = "tags"
    """The field of items that the scorer reads."""

    tag_weights: Mapping[str, float] = field(metadata=inside(low=0.0))
    """A weight of 0 or more for each tag. Tags without a weight do not count."""

    case_insensitive: bool
    """Whether tags are compared without regard to ASCII case."""

    _lookup: dict[str, float] = field(init=False, repr=False, compare=False)
    _total: float = field(init=False, repr=False, compare=False)

    __repr__ = record_repr

    def __init__(self, tag_weights: Mapping[str, float], *, case_insensitive: bool = False) -> None:
        folds = checked_bool("case_insensitive", case_insensitive)
        weights: dict[str, float] = {}
        lookup: dict[str, float] = {}
        total = 0.0
        for name, value in weight_items("tag_weights", tag_weights):
            tag = checked_str("tag_weights: tag", name)
            weight = checked_weight("Tag weight", f"tag_weights[{quoted(tag)}]", value)
            key = fold(tag) if folds else tag
            if key in lookup:
                raise ScorerConfigError(
                    f"tag_weights: duplicate tag {quoted(tag)} (with case_insensitive=True)",
                    argument="tag_weights",
                    value=tag,
                )
            weights[tag] = lookup[key] = weight
            total += weight
        if not isfinite(total):
            raise ScorerConfigError("the sum of tag_weights must be finite", argument="tag_weights")
        hold(self, tag_weights=FrozenDict(weights), case_insensitive=folds, _lookup=lookup, _total=total)

    def score(self, item: ContextItem, all_items: Sequence[ContextItem], /) -> float:  # noqa: ARG002 - absolute
        """Return the weight of the item's tags as a share of all weights."""
        if self._total == 0.0 or len(item.tags) == 0:
            return 0.0
        matched_sum = 0.0
        for tag in item.tags:
            key = fold(tag) if self.case_insensitive else tag
            if key in self._lookup:
                matched_sum += self._lookup[key]
        return min(matched_sum / self._total, 1.0)

    def score_all(self, items: Sequence[ContextItem], /) -> list[float]:
        """Score all items at once; the results equal those of `score` bit for bit."""
        return [self.score(item, items) if item.tags else 0.0 for item in items]
