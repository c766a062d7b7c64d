"""The result of the first four stages, which does not depend on the budget and can be sliced many times."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

from pycupel.model import ContextItem
from pycupel.pipeline.classify import Classified
from pycupel.pipeline.notes import ranking_notes
from pycupel.pipeline.trace import Trace
from pycupel.protocols import Scorer
from pycupel.text import quantity
from pycupel.values import draft_of, sealed

__all__ = ["Ranking", "input_positions"]


@sealed
@dataclass(frozen=True, slots=True, init=False, repr=False, eq=False)
class Ranking:
    """The ranked candidates, from `Pipeline.rank`. Pass it to `Pipeline.select` for as many budgets as needed.

    Rankings are compared by identity.
    """

    classified: Classified
    """The result of the Classify stage: the `pinned`, `scoreable` and `invalid` items."""

    items: Sequence[ContextItem]
    """The items that compete for the budget, best score first; without duplicates and pinned items."""

    scores: Sequence[float]
    """Their scores."""

    all_scores: Sequence[float]
    """The scores of `classified.scoreable`, in that order."""

    order: Sequence[int]
    """The index of each item in `classified.scoreable`."""

    duplicates: Sequence[int]
    """The indices in `classified.scoreable` of the items that Deduplicate dropped."""

    trace: Trace
    """The observer of the run."""

    scorer: Scorer
    """The scorer, with the question if there is one."""

    def __new__(  # noqa: D102 - editors then show the docstring of the class
        cls,
        classified: Classified,
        items: Sequence[ContextItem],
        scores: Sequence[float],
        all_scores: Sequence[float],
        order: Sequence[int],
        duplicates: Sequence[int],
        trace: Trace,
        scorer: Scorer,
    ) -> Self:
        # Every run makes one of these.
        draft = _Draft()
        draft.classified = classified
        draft.items = items
        draft.scores = scores
        draft.all_scores = all_scores
        draft.order = order
        draft.duplicates = duplicates
        draft.trace = trace
        draft.scorer = scorer
        draft.__class__ = cls
        ranking: Self = draft
        return ranking

    @property
    def pinned(self) -> Sequence[ContextItem]:
        """The pinned items, in input order. They are part of every selection."""
        return self.classified.pinned

    @property
    def parts(self) -> list[tuple[Scorer, float, Sequence[float]]]:
        """The parts of the scores: each scorer, its weight, and its scores for `classified.scoreable`."""
        columns = self.trace.columns
        if not columns:
            return []
        return [(scorer, share, columns[id(scorer)]) for scorer, share in self.trace.sources.parts]

    @property
    def notes(self) -> tuple[str, ...]:
        """Advisory notes, for example that no item sets the field that a scorer reads."""
        return ranking_notes(self)

    def __repr__(self) -> str:
        return f"<Ranking: {quantity(len(self.items), 'item')}, {len(self.pinned)} pinned>"


_Draft: Any = draft_of(Ranking)


def input_positions(ranking: Ranking, chosen: Sequence[int]) -> list[int]:
    """Return sort keys that put the pinned items and the chosen indices of `ranking.items` into input order."""
    pinned = [2 * before for before in ranking.classified.pinned_after]
    return [*pinned, *(2 * ranking.order[i] + 1 for i in chosen)]
