"""Advisory notes about items without a timestamp among those that have one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from pycupel.model import ContextItem
from pycupel.placers import ChronologicalPlacer, FramedPlacer
from pycupel.scorers import RecencyScorer
from pycupel.scorers._base import CONVERSATION

if TYPE_CHECKING:
    from pycupel.pipeline.selection import Selection

__all__ = ["undated_notes"]


def undated_notes(selection: Selection, left_out: Sequence[ContextItem]) -> Iterator[str]:
    """Note items without a timestamp among those that have one: messages that lose by it, and what is placed last."""
    unscored, unplaced = _undated_and_scored(selection, left_out), _undated_and_placed(selection)
    if unscored:
        place = ", and are placed after those that have one" if unplaced else ""
        yield f"items without a timestamp score 0 for recency ({unscored}){place}; set it on all items"
    elif unplaced:
        yield (
            f"items without a timestamp are placed after those that have one ({unplaced}); "
            "set it, or list their kinds in FramedPlacer(first=...)"
        )


def _undated_and_scored(selection: Selection, left_out: Sequence[ContextItem]) -> int:
    """Count undated messages, if some were left out, while a dated item was selected by its recency."""
    ranking = selection.ranking
    shares = (ranking.trace.traits or ranking.trace.sources.traits).shares
    if not any(type(scorer) is RecencyScorer for scorer, _ in shares):
        return 0
    if all(ranking.items[i].timestamp is None for i in selection.sliced.selected) or not _undated_messages(left_out):
        return 0
    return len(_undated_messages(ranking.items))


def _undated_messages(items: Sequence[ContextItem]) -> list[ContextItem]:
    """Return the messages and outputs of tools without a timestamp. Other items have no order."""
    return [item for item in items if item.timestamp is None and item.kind.key in CONVERSATION]


def _undated_and_placed(selection: Selection) -> int:
    """Count undated items that chronological order puts last, perhaps a system prompt."""
    placer: Any = selection.trace.sources.placer
    framed: set[str] = set()
    while type(placer) is FramedPlacer:
        if callable(placer.first) or callable(placer.last):
            return 0
        framed.update(kind.key for kind in (*placer.first, *placer.last))
        placer = placer.inner
    if type(placer) is not ChronologicalPlacer:
        return 0
    items, order = selection.placement.items, selection.placement.order
    first, last = _first(items, order, framed), _first(items, order[::-1], framed)
    if first is None or last is None or first.timestamp is None or last.timestamp is not None:
        return 0
    return len([i for i in order if items[i].timestamp is None and items[i].kind.key not in framed])


def _first(items: Sequence[ContextItem], order: Sequence[int], framed: set[str]) -> ContextItem | None:
    return next((items[i] for i in order if items[i].kind.key not in framed), None)
