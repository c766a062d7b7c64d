"""ReflexiveScorer: the caller's own hint is the score."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite
from typing import ClassVar

from pycupel.model import ContextItem
from pycupel.model.optionless import Optionless

__all__ = ["ReflexiveScorer"]


class ReflexiveScorer(Optionless):
    """`future_relevance_hint`, clamped to [0, 1]; 0.0 if it is absent or not finite."""

    __slots__ = ()

    reads: ClassVar[str] = "future_relevance_hint"

    def score(self, item: ContextItem, all_items: Sequence[ContextItem], /) -> float:  # noqa: ARG002 - absolute
        hint = item.future_relevance_hint
        if hint is None or not isfinite(hint):
            return 0.0
        return 0.0 if hint < 0.0 else min(hint, 1.0)

    def score_all(self, items: Sequence[ContextItem], /) -> list[float]:
        hints = [item.future_relevance_hint for item in items]
        return [hint if hint is not None and 0.0 <= hint <= 1.0 else _clamped(hint) for hint in hints]


def _clamped(hint: float | None) -> float:
    return 1.0 if hint is not None and 1.0 < hint < float("inf") else 0.0
