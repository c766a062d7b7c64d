"""CompositeScorer: the weighted average of other scorers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from math import isfinite
from typing import Any

from pycupel.errors import ScorerConfigError
from pycupel.kernels.blend import weighted_sum
from pycupel.model import ContextItem
from pycupel.model.checks import as_float, checked_pairs
from pycupel.protocols import Scorer, checked_scorer
from pycupel.scorers._base import Batch, WrappingScorer, batches, check_nesting, combined, score_one
from pycupel.scorers._weights import bad_weight
from pycupel.values import hold, sealed


@sealed
@dataclass(frozen=True, slots=True, init=False)
class CompositeScorer(WrappingScorer):
    """The weighted average of other scorers.

    Raises:
        TypeError: an entry is not a pair of a scorer and a number.
        ScorerConfigError: there are no entries, or a weight is not positive and finite.
        CycleError: scorers are nested too deeply.
    """

    entries: tuple[tuple[Scorer, float], ...]
    """Pairs of a scorer and its weight. Weights are relative: 3 and 1 mean 0.75 and 0.25."""

    _normalized: tuple[float, ...] = field(init=False, repr=False, compare=False)
    _batches: tuple[tuple[Scorer, Batch], ...] = field(init=False, repr=False, compare=False)

    def __init__(self, entries: Iterable[tuple[Scorer, float]]) -> None:
        checked: list[tuple[Scorer, float]] = []
        total_weight = 0.0
        for i, (scorer, weight) in enumerate(checked_pairs("entries", "(scorer, weight)", entries)):
            checked.append((_scorer(i, scorer), _weight(i, weight)))
            total_weight += checked[-1][1]
        if not checked:
            raise ScorerConfigError("At least one scorer entry is required", argument="entries")
        if not isfinite(total_weight):
            raise ScorerConfigError("the sum of all weights must be finite", argument="entries")
        hold(self, _normalized=tuple(weight / total_weight for _, weight in checked))
        self._hold(checked)
        check_nesting(self, "entries", self.children)

    def _hold(self, entries: Iterable[tuple[Scorer, float]]) -> None:
        hold(self, entries=tuple(entries))
        hold(self, _batches=batches(self.children))

    @property
    def children(self) -> tuple[Scorer, ...]:
        """Return the inner scorers."""
        return tuple([scorer for scorer, _ in self.entries])

    def score(self, item: ContextItem, all_items: Sequence[ContextItem], /) -> float:
        """Return the weighted average of the scores of one item."""
        result = 0.0
        for (scorer, _), weight in zip(self.entries, self._normalized, strict=True):
            result += score_one(scorer, item, all_items) * weight
        return result

    def score_all(self, items: Sequence[ContextItem], /) -> list[float]:
        """Score all items at once; the results equal those of `score` bit for bit."""
        if self._batches:
            # No child occurs twice, so no scores have to be remembered.
            return self._combine([batch(items) for _, batch in self._batches])
        return combined(self, items, {})

    def _score_columns(self, items: Sequence[ContextItem], known: dict[int, list[float]]) -> list[list[float]]:
        """Return the scores of each child, and add those of every scorer inside to `known`, by id."""
        if known or not self._batches:
            return WrappingScorer._score_columns(self, items, known)
        for scorer, batch in self._batches:
            known[id(scorer)] = batch(items)
        return list(known.values())

    def _combine(self, columns: list[list[float]]) -> list[float]:
        """Average the columns by weight."""
        return weighted_sum(columns, self._normalized)


def _scorer(i: int, value: Any) -> Scorer:
    if value is None:
        raise ScorerConfigError("Scorer must not be null", argument="entries", hint=f"entries[{i}]: scorer is None")
    return checked_scorer(f"entries[{i}]: scorer", value)


def _weight(i: int, value: Any) -> float:
    where = f"entries[{i}]: weight"
    weight = as_float(where, value)
    if weight <= 0.0:
        raise bad_weight("Weight must be positive", where, weight)
    if not isfinite(weight):
        raise bad_weight("Weight must be finite", where, weight)
    return weight
