"""ScaledScorer: another scorer, stretched so that its scores span the range from 0 to 1."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import isfinite

from pycupel.errors import ScorerConfigError
from pycupel.kernels.scale import min_max
from pycupel.model import ContextItem
from pycupel.model.checks import rule
from pycupel.protocols import Scorer, checked_scorer
from pycupel.scorers._base import WrappingScorer, check_nesting, score_all, score_one
from pycupel.values import check_fields, sealed


@sealed
@dataclass(frozen=True, slots=True)
class ScaledScorer(WrappingScorer):
    """Another scorer, stretched so that the scores of all items range from 0 to 1: `(raw - min) / (max - min)`.

    It is 0.5 where all scores are equal, and for an item whose score is not finite.

    Raises:
        TypeError: `inner` is not a scorer.
        CycleError: scorers are nested too deeply.
    """

    inner: Scorer = field(metadata=rule(checked_scorer))
    """The scorer to stretch."""

    def __post_init__(self) -> None:
        check_fields(self, ScorerConfigError)
        check_nesting(self, "inner", [self.inner])

    @property
    def children(self) -> tuple[Scorer, ...]:
        """Return the inner scorers."""
        return (self.inner,)

    def score(self, item: ContextItem, all_items: Sequence[ContextItem], /) -> float:
        """Scale the item's score to the range of all scores."""
        raw_score = float("nan")
        smallest, largest = float("inf"), float("-inf")
        for other in all_items:
            score = score_one(self.inner, other, all_items)
            if score < smallest:
                smallest = score
            if score > largest:
                largest = score
            if other is item:
                raw_score = score
        if smallest == largest or not isfinite(raw_score):
            return 0.5
        return (raw_score - smallest) / (largest - smallest)

    def score_all(self, items: Sequence[ContextItem], /) -> list[float]:
        """Score all items at once; the results equal those of `score` bit for bit."""
        return self._combine([score_all(self.inner, items)])

    def _combine(self, columns: list[list[float]]) -> list[float]:
        """Scale the only column."""
        return min_max(columns[0])
