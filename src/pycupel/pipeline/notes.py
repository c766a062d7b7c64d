"""Advisory notes about a run: one sentence for each likely mistake, with a remedy. Made when they are first read.

A note on a run where nothing is wrong would be a defect, so uncertain cases are left out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import compress
from typing import TYPE_CHECKING, Any

from pycupel.model import ContextItem, ContextKind
from pycupel.model.checks import shortened
from pycupel.placers import ChronologicalPlacer, FramedPlacer
from pycupel.protocols import Scorer
from pycupel.scorers import KindScorer, ReflexiveScorer
from pycupel.scorers._notes import clamping_notes, scorer_notes
from pycupel.slicers import GreedySlice, KnapsackSlice, MinScoreSlice
from pycupel.slicers._base import advice_of

if TYPE_CHECKING:
    from pycupel.pipeline.rank import Ranking
    from pycupel.pipeline.selection import Selection

Parts = Sequence[tuple[Scorer, float, Sequence[float]]]

__all__ = ["IGNORED_QUERY", "ranking_notes", "selection_notes"]

IGNORED_QUERY = "no scorer of the policy reads the query; add a RelevanceScorer, or choose a policy that has one"

# With fewer items, equal hints may be a coincidence.
_MIN_HINTS = 5
_NEARLY_EQUAL = 0.01
_MAX_KINDS = 3


def ranking_notes(ranking: Ranking, *, fields: bool = True) -> tuple[str, ...]:
    """Make the notes that do not depend on the budget: fields, hints, the query, and duplicates.

    Args:
        ranking: The ranking.
        fields: Whether to note that no item sets a field.
    """
    sources, items, notes = ranking.trace.sources, ranking.classified.scoreable, ranking.trace.scorer_notes
    traits = ranking.trace.traits or sources.traits
    if notes is None:
        notes = scorer_notes(traits, items)
    return (
        *(notes if fields else ()),
        *((IGNORED_QUERY,) if sources.ignores_query else ()),
        *sources.remarks,
        *clamping_notes(traits, items),
        *_repeated_messages(ranking, in_order=traits.is_conversational),
    )


def selection_notes(selection: Selection) -> tuple[str, ...]:
    """Make the notes about a selection: those about its ranking, and those that depend on the budget."""
    notes = [*selection.ranking.notes, *_slice_notes(selection)]
    if not any("timestamp" in note for note in notes):
        notes += _undated(selection)
    return tuple(notes)


def _repeated_messages(ranking: Ranking, *, in_order: bool) -> Iterator[str]:
    """Note chat messages that were dropped because an earlier one has the same content."""
    if not ranking.duplicates:
        return
    items = ranking.classified.scoreable
    kept = {item.content: item for item in ranking.items}
    dropped = 0
    for i in ranking.duplicates:
        item, other = items[i], kept.get(items[i].content)
        dropped += other is not None and _is_repeated_on_purpose(item, other, in_order=in_order)
    if dropped:
        messages = "1 message was" if dropped == 1 else f"{dropped} messages were"
        yield (
            f"{messages} dropped because another has the same text; use deduplication=False to keep repeated messages"
        )


def _is_repeated_on_purpose(item: ContextItem, other: ContextItem, *, in_order: bool) -> bool:
    if item is other or item.kind != ContextKind.MESSAGE or other.kind != ContextKind.MESSAGE:
        return False
    if item.timestamp is None or other.timestamp is None:
        return in_order and item.timestamp is other.timestamp
    return item.timestamp != other.timestamp


def _slice_notes(selection: Selection) -> Iterator[str]:
    ranking, sliced, sources = selection.ranking, selection.sliced, selection.trace.sources
    slicer: Any = sources.slicer
    yield from sliced.notes
    if not sources.has_custom_slicer:
        yield from advice_of(slicer, ranking.items, ranking.scores, sliced.effective, sliced.is_selected)
    if len(sliced.selected) < len(ranking.items):
        yield from _best_left_out(selection, slicer.inner if isinstance(slicer, MinScoreSlice) else slicer)
        parts = ranking.parts
        yield from _equal_hints(ranking, parts)
        yield from _unknown_kinds(selection, parts)


def _best_left_out(selection: Selection, slicer: Any) -> Iterator[str]:
    """Note that the best item that fits alone is out, and one with a lower score is in."""
    ranking, sliced = selection.ranking, selection.sliced
    cause = _CAUSES.get(slicer.__class__)
    target = sliced.effective.target_tokens
    best = next((i for i, item in enumerate(ranking.items) if item.tokens <= target), None)
    if cause is None or best is None or sliced.is_selected[best] or not sliced.selected:
        return
    score = ranking.scores[best]
    # With a knapsack, the buckets may be the cause.
    together = sum([ranking.scores[i] for i in sliced.selected]) if type(slicer) is KnapsackSlice else score
    if ranking.scores[sliced.selected[0]] < score <= together:
        yield (
            f"the best item that fits was left out (score {score:.3g}, {ranking.items[best].tokens} tokens), because "
            f"{cause}; use GreedySlice(best_first=True)"
        )


_CAUSES: dict[type[object], str] = {
    GreedySlice: "others have more score per token",
    KnapsackSlice: "others together score more",
}


def _equal_hints(ranking: Ranking, parts: Parts) -> Iterator[str]:
    """Note hints that have most of the weight but decide nothing."""
    if len(ranking.all_scores) < _MIN_HINTS:
        return
    for scorer, _, column in parts:
        if type(scorer) is not ReflexiveScorer or abs(column[0] - column[-1]) > _NEARLY_EQUAL:
            continue
        low, high = min(column), max(column)
        shares = (ranking.trace.traits or ranking.trace.sources.traits).shares
        own = sum([share for each, share in shares if each is scorer])
        decides = 2.0 * own >= sum([share for _, share in shares])
        # As the only scorer, hints that differ at all give an order.
        if decides and 0.0 < low < 1.0 and high - low <= _NEARLY_EQUAL and (len(shares) > 1 or low == high):
            yield (
                f"all hints lie between {low:.3g} and {high:.3g}, so other scores and the tokens decide; "
                "use ScaledScorer(ReflexiveScorer()), or hints that differ"
            )


def _unknown_kinds(selection: Selection, parts: Parts) -> Iterator[str]:
    """Note excluded items whose kind has no weight."""
    ranking = selection.ranking
    for scorer, weight, column in parts:
        if type(scorer) is not KindScorer or 0.0 not in column:
            continue
        out = compress(ranking.items, [not selected for selected in selection.sliced.is_selected])
        unknown = Counter(item.kind for item in out if item.kind not in scorer.weights)
        if unknown and (weight >= 0.5 or any(column)):
            names = ", ".join(shortened(kind.value) for kind, _ in unknown.most_common(_MAX_KINDS))
            yield (
                f"KindScorer has no weight for the kind of items that were left out ({unknown.total()}), so it gives "
                f"them 0; add a weight for {names}"
            )


def _undated(selection: Selection) -> Iterator[str]:
    """Note items without a timestamp that chronological order puts last, perhaps a system prompt."""
    placer: Any = selection.trace.sources.placer
    framed: set[str] = set()
    while type(placer) is FramedPlacer:
        if callable(placer.first) or callable(placer.last):
            return
        framed.update(kind.key for kind in (*placer.first, *placer.last))
        placer = placer.inner
    if type(placer) is not ChronologicalPlacer:
        return
    items, order = selection.placement.items, selection.placement.order
    first, last = _first(items, order, framed), _first(items, order[::-1], framed)
    if first is None or last is None or first.timestamp is None or last.timestamp is not None:
        return
    undated = [i for i in order if items[i].timestamp is None and items[i].kind.key not in framed]
    yield (
        f"items without a timestamp are placed after those that have one ({len(undated)}); "
        "set it, or list their kinds in FramedPlacer(first=...)"
    )


def _first(items: Sequence[ContextItem], order: Sequence[int], framed: set[str]) -> ContextItem | None:
    return next((items[i] for i in order if items[i].kind.key not in framed), None)
