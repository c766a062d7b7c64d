"""`GreedySlice` takes items by score per token; `MinScoreSlice` lets another slicer see only good scores."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from pycupel.diagnostics import ScoredTooLow
from pycupel.errors import SlicerConfigError
from pycupel.kernels.order import best_fitting, by_density, fill
from pycupel.model import ContextBudget, ContextItem
from pycupel.model.checks import BOOLEAN, number, rule
from pycupel.protocols import Slicer, checked_slicer
from pycupel.slicers._base import (
    NO_VERSIONS,
    DelegatingSlicer,
    IndexedSlicer,
    IndexSlice,
    check_slicer_nesting,
    index_slice,
    restricted,
)
from pycupel.values import brief_repr, check_fields, record_repr, sealed


@sealed
@dataclass(frozen=True, slots=True, repr=False)
class GreedySlice(IndexedSlicer):
    """Takes items by `score / tokens**cost_exponent`, highest first, as long as they fit.

    The default is the specification's score per token: a long top hit can lose to many short, weak items. Items
    without tokens always fit. Ties go to the earlier item.

    Raises:
        TypeError: an argument has the wrong type.
        SlicerConfigError: `cost_exponent` is not a number from 0 to 2.
    """

    cost_exponent: float = field(default=1.0, metadata=number(low=0.0, high=2.0))
    """How much the tokens count, from 0 to 2: 1 is score per token, 0 is the order of the scores alone."""

    best_first: bool = field(default=False, metadata=BOOLEAN)
    """Whether the item with the highest score that fits is taken before anything else."""

    def __post_init__(self) -> None:
        check_fields(self, SlicerConfigError)

    __repr__ = brief_repr

    def _slice_indices(
        self, items: Sequence[ContextItem], scores: Sequence[float], budget: ContextBudget, /
    ) -> IndexSlice:
        if not items or budget.target_tokens <= 0:
            return IndexSlice([])
        tokens = [item.tokens for item in items]
        order = by_density(scores, tokens, self.cost_exponent)
        # By score alone, the best item comes first anyway, unless there are items without tokens.
        if self.best_first and (self.cost_exponent or min(tokens) <= 0):
            order = best_fitting(scores, tokens, budget.target_tokens, order)
        return index_slice((fill(order, tokens, budget.target_tokens), (), (), NO_VERSIONS, ()))


@sealed
@dataclass(frozen=True, slots=True)
class MinScoreSlice(DelegatingSlicer):
    """Lets `inner` select only among items that score at least `min_score`, even if there is room for more.

    The others are excluded as `ScoredTooLow`, whatever their tokens. NaN is below every minimum. Scores depend on the
    scorer: those of `RelevanceScorer` are shares of the best item's, so a minimum for them is relative.

    Raises:
        TypeError: an argument has the wrong type.
        SlicerConfigError: `min_score` is not finite, or slicers are nested too deeply.
    """

    inner: Slicer = field(metadata=rule(checked_slicer))
    """The slicer that selects among the rest."""

    min_score: float = field(metadata=number())
    """The lowest score that may be selected."""

    __repr__ = record_repr

    def __post_init__(self) -> None:
        check_fields(self, SlicerConfigError)
        check_slicer_nesting(self)

    @property
    def supports_marginal_items(self) -> bool:  # type: ignore[override] # pyright: ignore[reportIncompatibleVariableOverride]
        """Whether the inner slicer allows the analysis of marginal items."""
        return bool(getattr(self.inner, "supports_marginal_items", True))

    @property
    def supports_min_budget(self) -> bool:  # type: ignore[override] # pyright: ignore[reportIncompatibleVariableOverride]
        """Whether the inner slicer allows the search for a minimum budget."""
        return bool(getattr(self.inner, "supports_min_budget", True))

    def _slice_indices(
        self, items: Sequence[ContextItem], scores: Sequence[float], budget: ContextBudget, /
    ) -> IndexSlice:
        """Let the inner slicer select among the items that score high enough."""
        outcome = self._offer(self._kept(scores), items, scores, budget).slice()
        low = [
            (i, ScoredTooLow(score, self.min_score)) for i, score in enumerate(scores) if not score >= self.min_score
        ]
        return outcome._replace(cap_excluded=(*outcome.cap_excluded, *low))

    def _notes(self, items: Sequence[ContextItem], scores: Sequence[float], budget: ContextBudget) -> dict[int, str]:
        """The notes of the inner slicer about the items that it was given."""
        return self._offer(self._kept(scores), items, scores, budget).notes()

    def _advice(
        self, items: Sequence[ContextItem], scores: Sequence[float], budget: ContextBudget, is_selected: Sequence[int]
    ) -> Iterable[str]:
        """The notes of the inner slicer about the items that it was given."""
        return self._offer(self._kept(scores), items, scores, budget).advice(is_selected)

    def _for_group(self, key: str | None) -> IndexedSlicer:
        """Return this slicer with only the inner slicer's entries of one kind."""
        return replace(self, inner=restricted(self.inner, key)) if type(self) is MinScoreSlice else self

    def _kept(self, scores: Sequence[float]) -> list[int]:
        return [i for i, score in enumerate(scores) if score >= self.min_score]
