"""MinScoreSlice: nothing below a minimum score. An extension of pycupel."""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass, field, replace

from pycupel.diagnostics import CountRequirementShortfall, ScoredTooLow
from pycupel.errors import SlicerConfigError
from pycupel.model import ContextBudget, ContextItem, QuotaConstraint
from pycupel.model.checks import number, rule
from pycupel.protocols import Slicer, checked_slicer
from pycupel.slicers._base import (
    IndexedSlicer,
    IndexSlice,
    advice_of,
    check_nesting,
    delegate,
    exclusion_notes,
    judge_absent,
    restricted,
)
from pycupel.slicers.constraints import quota_constraints_of
from pycupel.values import check_fields, record_repr, sealed


@sealed
@dataclass(frozen=True, slots=True)
class MinScoreSlice(IndexedSlicer):
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
        check_nesting(self)

    @property
    def supports_marginal_items(self) -> bool:  # type: ignore[override] # pyright: ignore[reportIncompatibleVariableOverride]
        """Whether the inner slicer allows the analysis of marginal items."""
        return bool(getattr(self.inner, "supports_marginal_items", True))

    @property
    def supports_min_budget(self) -> bool:  # type: ignore[override] # pyright: ignore[reportIncompatibleVariableOverride]
        """Whether the inner slicer allows the search for a minimum budget."""
        return bool(getattr(self.inner, "supports_min_budget", True))

    def quota_constraints(self) -> tuple[QuotaConstraint, ...]:
        """Return the quotas of the inner slicer."""
        return quota_constraints_of(self.inner)

    def _slice_indices(
        self, items: Sequence[ContextItem], scores: Sequence[float], budget: ContextBudget, /
    ) -> IndexSlice:
        """Let the inner slicer select among the items that score high enough."""
        kept = self._kept(scores)
        outcome = delegate(self.inner, [items[i] for i in kept], [scores[i] for i in kept], budget).at(kept)
        keeps = set(kept)
        low = [(i, ScoredTooLow(scores[i], self.min_score)) for i in range(len(items)) if i not in keeps]
        return outcome._replace(cap_excluded=(*outcome.cap_excluded, *low))

    def _notes(self, items: Sequence[ContextItem], scores: Sequence[float], budget: ContextBudget) -> dict[int, str]:
        """The notes of the inner slicer about the items that it was given."""
        kept = self._kept(scores)
        notes = exclusion_notes(self.inner, [items[i] for i in kept], [scores[i] for i in kept], budget)
        return {kept[i]: note for i, note in notes.items()}

    def _advice(
        self, items: Sequence[ContextItem], scores: Sequence[float], budget: ContextBudget, is_selected: Sequence[int]
    ) -> Iterable[str]:
        """The notes of the inner slicer about the items that it was given."""
        kept = self._kept(scores)
        given, rated = [items[i] for i in kept], [scores[i] for i in kept]
        return advice_of(self.inner, given, rated, budget, [is_selected[i] for i in kept])

    def _for_kind(self, key: str) -> IndexedSlicer:
        """Return this slicer with only the inner slicer's entries of one kind."""
        return replace(self, inner=restricted(self.inner, key)) if type(self) is MinScoreSlice else self

    def _judge_absent(self, present: Container[str]) -> tuple[CountRequirementShortfall, ...]:
        """Report the inner slicer's requirements for kinds without candidates."""
        return judge_absent(self.inner, present)

    def _kept(self, scores: Sequence[float]) -> list[int]:
        return [i for i, score in enumerate(scores) if score >= self.min_score]
