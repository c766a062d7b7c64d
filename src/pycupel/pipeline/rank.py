"""What the first four stages produce: a value that does not depend on the budget and can be sliced many times."""

from __future__ import annotations

from typing import NamedTuple

from pycupel.model import ContextItem
from pycupel.pipeline.classify import Classified

__all__ = ["Ranking"]


class Ranking(NamedTuple):
    """The sorted items with their scores, and what is needed to explain the rest.

    `raw_scores` belong to `classified.scoreable`, and `duplicates` are positions in it.
    """

    classified: Classified
    raw_scores: list[float]
    duplicates: list[int]
    items: list[ContextItem]
    scores: list[float]
