"""The Placers chapters, as positions in the merged list."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pycupel import ChronologicalPlacer, UShapedPlacer
from tests.oracle.stages import descending

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pycupel import ContextItem, ScoredItem


def oracle_place(placer: Any, merged: Sequence[ScoredItem]) -> list[int]:
    """Placers: Place(items) of any placer, each item named by its position in the input."""
    match placer:
        case ChronologicalPlacer():
            return chronological([pair.item for pair in merged])
        case UShapedPlacer():
            return u_shaped([pair.score for pair in merged])
        case _:
            raise TypeError(f"no chapter describes the placer {placer!r}")


def chronological(items: Sequence[ContextItem]) -> list[int]:
    """ChronologicalPlacer: CHRONOLOGICAL-PLACE, as an insertion sort, which leaves ties in input order."""
    order: list[int] = []
    for index in range(len(items)):
        position = len(order)
        while position > 0 and earlier(items[index], items[order[position - 1]]):
            position -= 1
        order.insert(position, index)
    return order


def earlier(a: ContextItem, b: ContextItem) -> bool:
    """ChronologicalPlacer: CHRONOLOGICAL-COMPARE without the index."""
    if a.timestamp is not None and b.timestamp is not None:
        return a.timestamp < b.timestamp
    return a.timestamp is not None and b.timestamp is None


def u_shaped(scores: Sequence[float]) -> list[int]:
    """UShapedPlacer: U-SHAPED-PLACE; even ranks to the left edge, odd ranks to the right."""
    result = [0] * len(scores)
    left, right = 0, len(scores) - 1
    for rank, index in enumerate(descending(scores)):
        if rank % 2 == 0:
            result[left] = index
            left += 1
        else:
            result[right] = index
            right -= 1
    return result
