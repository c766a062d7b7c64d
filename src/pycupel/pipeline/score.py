"""Stage 2, Score: a number for every scoreable item."""

from __future__ import annotations

from pycupel.model import ContextItem
from pycupel.protocols import Scorer
from pycupel.scorers._base import score_all

__all__ = ["score_items"]


def score_items(scoreable: tuple[ContextItem, ...], scorer: Scorer) -> list[float]:
    """Scores in the order of the items.

    The scorer sees all scoreable items, as a tuple, and is not asked if there are none.
    """
    return score_all(scorer, scoreable) if scoreable else []
