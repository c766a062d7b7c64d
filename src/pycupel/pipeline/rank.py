"""What the first four stages produce: a value that does not depend on the budget and can be sliced many times."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from pycupel.model import ContextItem
from pycupel.pipeline.classify import Classified
from pycupel.pipeline.trace import Trace
from pycupel.scorers._notes import scorer_notes

__all__ = ["Ranking"]


class Ranking:
    """The candidates, ranked: what `Pipeline.rank` returns and `Pipeline.select` takes, for as many budgets as needed.

    Rankings are compared by identity.

    Attributes:
        items: The items that compete for the budget, best score first; without duplicates and pinned items.
        scores: Their scores.
        classified: What the Classify stage left: the `pinned`, `scoreable` and `invalid` items.
        all_scores: The scores of `classified.scoreable`, in that order.
        duplicates: The indices in `classified.scoreable` of the items that Deduplicate dropped.
    """

    __slots__ = ("all_scores", "classified", "duplicates", "items", "scores", "trace")

    def __init__(
        self,
        classified: Classified,
        items: Sequence[ContextItem],
        scores: Sequence[float],
        all_scores: Sequence[float],
        duplicates: Sequence[int],
        trace: Trace,
    ) -> None:
        # Every run makes one of these, and a frozen dataclass would take five times as long.
        self.classified: Final = classified
        self.items: Final = items
        self.scores: Final = scores
        self.all_scores: Final = all_scores
        self.duplicates: Final = duplicates
        self.trace: Final = trace

    @property
    def pinned(self) -> Sequence[ContextItem]:
        """The pinned items, in input order. They are part of every selection."""
        return self.classified.pinned

    @property
    def notes(self) -> tuple[str, ...]:
        """Advisory notes, for example that no item sets the field that a scorer reads."""
        gathered = self.trace.scorer_notes
        return scorer_notes(self.trace.sources.scorer, self.classified.scoreable) if gathered is None else gathered

    def __repr__(self) -> str:
        return f"<Ranking: {len(self.items)} items, {len(self.pinned)} pinned>"
