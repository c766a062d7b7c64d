"""The result of the first four stages, which does not depend on the budget and can be sliced many times."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from pycupel.model import ContextItem
from pycupel.pipeline.classify import Classified
from pycupel.pipeline.notes import ranking_notes
from pycupel.pipeline.trace import Trace
from pycupel.protocols import Scorer

__all__ = ["Ranking", "input_positions"]


class Ranking:
    """The candidates, ranked: what `Pipeline.rank` returns and `Pipeline.select` takes, for as many budgets as needed.

    Rankings are compared by identity.

    Attributes:
        items: The items that compete for the budget, best score first; without duplicates and pinned items.
        scores: Their scores.
        classified: The result of the Classify stage: the `pinned`, `scoreable` and `invalid` items.
        all_scores: The scores of `classified.scoreable`, in that order.
        order: The index in `classified.scoreable` of each of the items.
        duplicates: The indices in `classified.scoreable` of the items that Deduplicate dropped.
    """

    __slots__ = ("all_scores", "classified", "duplicates", "items", "order", "scores", "trace")

    def __init__(
        self,
        classified: Classified,
        items: Sequence[ContextItem],
        scores: Sequence[float],
        all_scores: Sequence[float],
        order: Sequence[int],
        duplicates: Sequence[int],
        trace: Trace,
    ) -> None:
        # Every run makes one of these, and a frozen dataclass would take five times as long.
        self.classified: Final = classified
        self.items: Final = items
        self.scores: Final = scores
        self.all_scores: Final = all_scores
        self.order: Final = order
        self.duplicates: Final = duplicates
        self.trace: Final = trace

    @property
    def pinned(self) -> Sequence[ContextItem]:
        """The pinned items, in input order. They are part of every selection."""
        return self.classified.pinned

    @property
    def parts(self) -> list[tuple[Scorer, float, Sequence[float]]]:
        """The parts of the scores: each scorer, its weight, and its scores of `classified.scoreable`."""
        columns = self.trace.columns
        if not columns:
            return []
        return [(scorer, share, columns[id(scorer)]) for scorer, share in self.trace.sources.parts]

    @property
    def notes(self) -> tuple[str, ...]:
        """Advisory notes, for example that no item sets the field that a scorer reads."""
        return ranking_notes(self)

    def __repr__(self) -> str:
        return f"<Ranking: {len(self.items)} items, {len(self.pinned)} pinned>"


def input_positions(ranking: Ranking, chosen: Sequence[int]) -> list[int]:
    """Numbers that sort the pinned items and the chosen ones, which are indices of `ranking.items`, as in the input."""
    pinned = [2 * before for before in ranking.classified.pinned_after]
    return [*pinned, *(2 * ranking.order[i] + 1 for i in chosen)]
