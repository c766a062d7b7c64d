"""Stage 2, Score: a number for every scoreable item."""

from __future__ import annotations

from pycupel.model import ContextItem
from pycupel.protocols import Scorer
from pycupel.scorers._base import score_all, score_once


def score_items(
    scoreable: tuple[ContextItem, ...], scorer: Scorer, columns: dict[int, list[float]] | None = None
) -> list[float]:
    """Score the items, in order. If `columns` is given, the scores of each scorer are added to it, by the scorer's id.

    The scorer receives all scoreable items as a tuple, and is not called if there are none.
    """
    if not scoreable:
        return []
    if columns is None:
        return score_all(scorer, scoreable)
    scores = columns[id(scorer)] = score_once(scorer, scoreable, columns)
    return scores
