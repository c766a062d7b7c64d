"""Scorers made of other scorers: a weighted average, a stretched one, and one multiplied by others."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from copy import copy
from dataclasses import dataclass, field
from math import isfinite
from typing import ClassVar

from pycupel.errors import ScorerConfigError
from pycupel.kernels.scores import min_max, product, weighted_sum
from pycupel.model import ContextItem
from pycupel.model.checks import checked_iterable, checked_pairs, rule
from pycupel.protocols import Scorer, checked_scorer
from pycupel.scorers._base import WrappingScorer, check_nesting, combined, score_all, score_one
from pycupel.scorers.fields import checked_weight
from pycupel.values import check_fields, hold, sealed


@sealed
@dataclass(frozen=True, slots=True, init=False)
class CompositeScorer(WrappingScorer):
    """The weighted average of other scorers."""

    _is_sum: ClassVar[bool] = True

    entries: tuple[tuple[Scorer, float], ...]
    """Pairs of a scorer and its weight. Weights are relative: 3 and 1 mean 0.75 and 0.25."""

    _shares: tuple[float, ...] = field(init=False, repr=False, compare=False)  # pyright: ignore[reportIncompatibleMethodOverride]

    def __init__(self, entries: Iterable[tuple[Scorer, float]]) -> None:
        checked: list[tuple[Scorer, float]] = []
        total_weight = 0.0
        for i, (scorer, weight) in enumerate(checked_pairs("entries", "(scorer, weight)", entries)):
            where = f"entries[{i}]: scorer"
            if scorer is None:
                raise ScorerConfigError("Scorer must not be null", argument="entries", hint=f"{where} is None")
            checked_scorer(where, scorer)
            share = checked_weight("Weight", f"entries[{i}]: weight", weight, "positive")
            checked.append((scorer, share))
            total_weight += share
        if not checked:
            raise ScorerConfigError("At least one scorer entry is required", argument="entries")
        if not isfinite(total_weight):
            raise ScorerConfigError("the sum of all weights must be finite", argument="entries")
        hold(self, entries=tuple(checked), _shares=tuple([weight / total_weight for _, weight in checked]))
        check_nesting(self, "entries", self.children)

    @property
    def children(self) -> tuple[Scorer, ...]:
        """Return the inner scorers."""
        return tuple([scorer for scorer, _ in self.entries])

    def _with_children(self, children: tuple[Scorer, ...]) -> Scorer:
        new = copy(self)
        hold(new, entries=tuple(zip(children, [weight for _, weight in self.entries], strict=True)))
        return new

    def score(self, item: ContextItem, all_items: Sequence[ContextItem], /) -> float:
        """Return the weighted average of the scores of one item."""
        result = 0.0
        for (scorer, _), weight in zip(self.entries, self._shares, strict=True):
            result += score_one(scorer, item, all_items) * weight
        return result

    def score_all(self, items: Sequence[ContextItem], /) -> list[float]:
        """Score all items at once; the results equal those of `score` bit for bit."""
        return combined(self, items, {})

    def _combine(self, columns: list[list[float]]) -> list[float]:
        return weighted_sum(columns, self._shares)


@sealed
@dataclass(frozen=True, slots=True)
class ScaledScorer(WrappingScorer):
    """Another scorer, stretched so that the scores of all items range from 0 to 1: `(raw - min) / (max - min)`.

    It is 0.5 where all scores are equal, and for an item whose score is not finite.
    """

    inner: Scorer = field(metadata=rule(checked_scorer))
    """The scorer to stretch."""

    def __post_init__(self) -> None:
        check_fields(self, ScorerConfigError)
        check_nesting(self, "inner", [self.inner])

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
        return min_max(columns[0])


@sealed
@dataclass(frozen=True, slots=True, init=False)
class BoostedScorer(WrappingScorer):  # CS-03
    """The score of `inner`, multiplied by the score of each boost, from left to right.

    `BoostedScorer(inner, a, b)` and `BoostedScorer(inner, boosts=[a, b])` are the same.
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

    @property
    def _shares(self) -> Sequence[float]:
        """The share of each child in the score: boosts, which only multiply, have none."""
        return [1.0] + [0.0] * len(self.boosts)

    def _with_children(self, children: tuple[Scorer, ...]) -> Scorer:
        new = copy(self)
        hold(new, inner=children[0], boosts=children[1:])
        return new

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
        return product(columns)
