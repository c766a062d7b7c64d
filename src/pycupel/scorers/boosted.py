"""BoostedScorer: another scorer, multiplied by boosts. An extension of pycupel.

`MetadataKeyScorer` returns a multiplier, but in a `CompositeScorer`, which averages, it only adds a constant to the
items that match. `BoostedScorer(inner, MetadataKeyScorer("cupel:priority", "high", 1.5))` multiplies.
"""

# CS-03

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from pycupel.kernels.blend import product
from pycupel.model import ContextItem
from pycupel.model.checks import checked_iterable
from pycupel.protocols import Scorer, checked_scorer
from pycupel.scorers._base import WrappingScorer, check_nesting, combined, score_one
from pycupel.values import hold, sealed


@sealed
@dataclass(frozen=True, slots=True, init=False)
class BoostedScorer(WrappingScorer):
    """The score of `inner`, multiplied by the score of each boost, from left to right.

    `BoostedScorer(inner, a, b)` and `BoostedScorer(inner, boosts=[a, b])` are the same.

    Raises:
        TypeError: an argument is not a scorer.
        CycleError: scorers are nested too deeply.
    """

    inner: Scorer
    """The scorer to multiply."""

    boosts: tuple[Scorer, ...]
    """The scorers to multiply it by, usually `MetadataKeyScorer`s."""

    def __init__(self, inner: Scorer, *more: Scorer, boosts: Iterable[Scorer] = ()) -> None:
        given = (*more, *checked_iterable("boosts", "an iterable of scorers", boosts))
        boosts = tuple(checked_scorer(f"boosts[{i}]", boost) for i, boost in enumerate(given))
        hold(self, inner=checked_scorer("inner", inner), boosts=boosts)
        check_nesting(self, "inner", [self.inner])
        check_nesting(self, "boosts", self.boosts)

    @property
    def children(self) -> tuple[Scorer, ...]:
        """Return the inner scorers."""
        return (self.inner, *self.boosts)

    def score(self, item: ContextItem, all_items: Sequence[ContextItem], /) -> float:
        """Return the product of all scores."""
        result = score_one(self.inner, item, all_items)
        for boost in self.boosts:
            result *= score_one(boost, item, all_items)
        return result

    def score_all(self, items: Sequence[ContextItem], /) -> list[float]:
        """Score all items at once; the results equal those of `score` bit for bit."""
        return combined(self, items, {})

    def _combine(self, columns: list[list[float]]) -> list[float]:
        """Multiply the columns."""
        return product(columns)
