"""ReflexiveScorer: your own hint is the score."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite
from typing import ClassVar

from pycupel.model import ContextItem
from pycupel.model.optionless import Optionless

__all__ = ["ReflexiveScorer"]


class ReflexiveScorer(Optionless):
    """The item's `future_relevance_hint`, limited to the range from 0 to 1; 0.0 if it is absent or not finite.

    Use it for scores that you have already: those of a retriever or a reranker, or a model's opinion.
    """

    __slots__ = ()

    reads: ClassVar[str] = "future_relevance_hint"
    """The field of items that the scorer reads."""

    def score(self, item: ContextItem, all_items: Sequence[ContextItem], /) -> float:  # noqa: ARG002 - absolute
        """The item's hint, from 0 to 1."""
        hint = item.future_relevance_hint
        if hint is None or not isfinite(hint):
            return 0.0
        return 0.0 if hint < 0.0 else min(hint, 1.0)

    def score_all(self, items: Sequence[ContextItem], /) -> list[float]:
        """The scores of all items, equal to `score` bit for bit."""
        hints = [item.future_relevance_hint for item in items]
        return [hint if hint is not None and 0.0 <= hint <= 1.0 else _clamped(hint) for hint in hints]


def _clamped(hint: float | None) -> float:
    return 1.0 if hint is not None and 1.0 < hint < float("inf") else 0.0
