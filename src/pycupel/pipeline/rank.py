"""What the first four stages produce: a value that does not depend on the budget and can be sliced many times."""

from __future__ import annotations

from typing import NamedTuple

from pycupel.model import ContextItem
from pycupel.pipeline.classify import Classified

__all__ = ["Ranking"]


class Ranking(NamedTuple):
    """The items that survived deduplication, sorted, with their scores; and the pinned ones, in `classified`."""

    classified: Classified
    items: list[ContextItem]
    scores: list[float]
