"""Stage 3, Deduplicate: keep only the best of several items with the same content."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import NamedTuple

from pycupel.kernels.records import maker
from pycupel.model import ContextItem

__all__ = ["Deduplicated", "beats", "deduplicate_items"]


class Deduplicated(NamedTuple):
    """Indices in the scored list, both ascending."""

    kept: Sequence[int]
    dropped: list[int]


_deduplicated = maker(Deduplicated)


def deduplicate_items(
    items: Sequence[ContextItem], scores: Sequence[float], *, enabled: bool, taken: Collection[str] = ()
) -> Deduplicated:
    """Find the items with equal contents, compared character by character.

    The highest score stays, or the first of equal scores. Items whose content is in `taken` never stay.
    """
    everything = range(len(items))
    if not enabled:
        return _deduplicated((everything, []))
    best: dict[str, int] = {}
    losers: set[int] = set()
    best_so_far = best.setdefault
    for i, item in enumerate(items):
        winner = best_so_far(item.content, i)
        if winner is not i:
            if beats(scores[i], scores[winner]):
                best[item.content] = i
                losers.add(winner)
            else:
                losers.add(i)
    if taken:
        losers.update(i for i, item in enumerate(items) if item.content in taken)
    if not losers:
        return _deduplicated((everything, []))
    return _deduplicated(([i for i in everything if i not in losers], sorted(losers)))


def beats(challenger: float, holder: float) -> bool:
    """Whether a score is strictly greater; any number beats NaN (DD-02)."""
    return challenger > holder or (holder != holder and challenger == challenger)  # noqa: PLR0124
