"""Stage 2, Score: a number for every scoreable item."""

from __future__ import annotations

from collections.abc import Sequence

from pycupel.model import ContextItem
from pycupel.protocols import Scorer
from pycupel.scorers._base import score_all
from pycupel.scorers.composite import score_in_parts

__all__ = ["score_items"]


def score_items(
    scoreable: tuple[ContextItem, ...],
    scorer: Scorer,
    parts: list[tuple[Scorer, float, Sequence[float]]] | None = None,
) -> list[float]:
    """Scores in the order of the items; and in `parts`, if it is given, what they are made of.

    The scorer sees all scoreable items, as a tuple, and is not asked if there are none.
    """
    if not scoreable:
        return []
    return score_all(scorer, scoreable) if parts is None else score_in_parts(scorer, scoreable, parts)
