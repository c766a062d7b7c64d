"""Advisory notes about a run: one sentence for each likely mistake, with a remedy. Made when they are first read.

A note on a run where nothing is wrong would be a defect, so uncertain cases are left out. Nothing here calls custom
code: what that has to say was taken down during the run.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import compress
from math import inf
from operator import attrgetter, eq, not_
from typing import TYPE_CHECKING, Any

from pycupel.model import ContextItem, ContextKind
from pycupel.placers import ChronologicalPlacer, FramedPlacer
from pycupel.protocols import Scorer
from pycupel.scorers import KindScorer, RecencyScorer, ReflexiveScorer, RelevanceScorer
from pycupel.scorers._base import CONVERSATION, ScorerTraits, clamping_notes, fusing_notes, scorer_notes
from pycupel.slicers import GreedySlice, KnapsackSlice, MinScoreSlice
from pycupel.slicers._base import SliceOffer, advice_of
from pycupel.text import number_text, shortened

if TYPE_CHECKING:
    from pycupel.pipeline.record import Ranking, Selection

Parts = Sequence[tuple[Scorer, float, Sequence[float]]]

IGNORED_QUERY = "no scorer of the policy reads the query; add a RelevanceScorer, or choose a policy that has one"

# With fewer items, equal hints may be a coincidence.
_MIN_HINTS = 5
_NEARLY_EQUAL = 0.01
_MAX_KINDS = 3

# The fields that only a scorer of this class reads, and a preset that has one.
_HINT = "future_relevance_hint"
_READERS = {_HINT: ("ReflexiveScorer", "rag"), "priority": ("PriorityScorer", "tool-use")}


def ranking_notes(ranking: Ranking, *, fields: bool = True) -> tuple[str, ...]:
    """Make the notes that do not depend on the budget: fields that no item sets, hints, the query, and duplicates."""
    items, strategies, notes = ranking.classified.scoreable, ranking.run.strategies, ranking.run.scorer_notes
    traits = _traits(ranking)
    if notes is None:
        notes = scorer_notes(traits, items)
    return (
        *(notes if fields else ()),
        *((IGNORED_QUERY,) if strategies.ignores_query else ()),
        *strategies.remarks,
        *clamping_notes(traits, items),
        *fusing_notes(traits, items),
        *(_repeated_messages(ranking, in_order=traits.is_conversational) if ranking.duplicates else ()),
    )


def selection_notes(selection: Selection) -> tuple[str, ...]:
    """Make the notes about a selection: those about its ranking, and those that depend on the budget."""
    ranking, sliced = selection.ranking, selection.sliced
    traits = _traits(ranking)
    left_out = list(compress(ranking.items, map(not_, sliced.is_selected)))
    notes = [*ranking_notes(ranking), *_slice_notes(selection, traits, left_out)]
    if not notes or not any("timestamp" in note for note in notes):
        notes += _undated_notes(selection, traits, left_out)
    return tuple(notes)


def _traits(ranking: Ranking) -> ScorerTraits:
    return ranking.run.traits or ranking.run.strategies.traits


def _repeated_messages(ranking: Ranking, *, in_order: bool) -> Iterator[str]:
    """Note chat messages that were dropped because an earlier one has the same content."""
    items = ranking.classified.scoreable
    kept = {item.content: item for item in ranking.items}
    dropped = 0
    for i in ranking.duplicates:
        item, other = items[i], kept.get(items[i].content)
        if other is None or item is other or not item.kind == other.kind == ContextKind.MESSAGE:
            continue
        # Said at different times, it was repeated on purpose. Without times, that can be told only of a conversation.
        if item.timestamp is None or other.timestamp is None:
            dropped += in_order and item.timestamp is other.timestamp
        else:
            dropped += item.timestamp != other.timestamp
    if dropped:
        messages = "1 message was" if dropped == 1 else f"{dropped} messages were"
        yield (
            f"{messages} dropped because another has the same text; use deduplication=False to keep repeated messages"
        )


def _slice_notes(selection: Selection, traits: ScorerTraits, left_out: Sequence[ContextItem]) -> Iterator[str]:
    ranking, sliced, strategies = selection.ranking, selection.sliced, selection.run.strategies
    slicer: Any = strategies.slicer
    yield from sliced.notes
    if not strategies.has_custom_slicer:
        yield from advice_of(slicer, SliceOffer(ranking.items, ranking.scores, sliced.effective), sliced.is_selected)
    if not left_out:
        return
    if not sliced.selected:
        yield from _nothing_fits(selection)
    yield from _best_left_out(selection, slicer.inner if isinstance(slicer, MinScoreSlice) else slicer)
    parts = ranking.parts
    yield from _equal_hints(traits, parts)
    # No item has a word of the question, or the question has only stop words.
    if any(type(scorer) is RelevanceScorer and scorer.query and not any(column) for scorer, _, column in parts):
        yield "no item contains a word of the query, so it has no effect; rephrase it, or use a SimilarityScorer"
    yield from _unknown_kinds(left_out, parts)
    if not strategies.has_custom_slicer:
        if not ranking.run.strategies.has_custom_scorer:
            yield from _unread_fields(selection, traits, left_out)
        yield from _unpinned_prompt(selection, left_out)


def _nothing_fits(selection: Selection) -> Iterator[str]:
    """Note that the budget is too small for every item; a budget of 0 asks for nothing."""
    budget, effective = selection.budget, selection.sliced.effective
    smallest = min([item.tokens for item in selection.ranking.items])
    if smallest <= effective.target_tokens or not budget.max_tokens:
        return
    pinned, margin = selection.ranking.classified.pinned_tokens, budget.estimation_safety_margin_percent
    taken = [
        f"{number_text(n)} {why}" for n, why in ((budget.total_reserved, "reserved"), (pinned, "for pinned items")) if n
    ]
    if budget.target_tokens < budget.available_tokens:
        taken.append(f"target {number_text(budget.target_tokens)}")
    if margin:
        taken.append(f"safety margin {margin:g} percent")
    whole, listed = (f" of {number_text(budget.max_tokens)}", f" ({', '.join(taken)})") if taken else ("", "")
    yield (
        f"nothing fits: the smallest item has {number_text(smallest)} tokens, but only "
        f"{number_text(effective.target_tokens)}{whole} are available{listed}; use a larger budget, or smaller items"
    )


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
            f"the best item that fits was left out (score {score:.3g}, {number_text(ranking.items[best].tokens)} "
            f"tokens), because {cause}; use GreedySlice(best_first=True)"
        )


_CAUSES: dict[type[object], str] = {
    GreedySlice: "others have more score per token",
    KnapsackSlice: "others together score more",
}


def _equal_hints(traits: ScorerTraits, parts: Parts) -> Iterator[str]:
    """Note hints that have most of the weight but decide nothing."""
    shares = traits.shares
    for scorer, _, column in parts:
        if type(scorer) is not ReflexiveScorer or len(column) < _MIN_HINTS:
            continue
        # Comparing two of them first spares most runs the search.
        if abs(column[0] - column[-1]) > _NEARLY_EQUAL:
            continue
        low, high = min(column), max(column)
        own = sum([share for each, share in shares if each is scorer])
        decides = 2.0 * own >= sum([share for _, share in shares])
        # As the only scorer, hints that differ at all give an order.
        if decides and 0.0 < low < 1.0 and high - low <= _NEARLY_EQUAL and (len(shares) > 1 or low == high):
            yield (
                f"all hints lie between {low:.3g} and {high:.3g}, so other scores and the tokens decide; "
                "use ScaledScorer(ReflexiveScorer()), or hints that differ"
            )


def _unknown_kinds(left_out: Sequence[ContextItem], parts: Parts) -> Iterator[str]:
    """Note excluded items whose kind has no weight."""
    for scorer, weight, column in parts:
        if type(scorer) is not KindScorer or 0.0 not in column:
            continue
        unknown = Counter(item.kind for item in left_out if item.kind not in scorer.weights)
        if unknown and (weight >= 0.5 or any(column)):
            names = ", ".join(shortened(kind.value) for kind, _ in unknown.most_common(_MAX_KINDS))
            yield (
                f"KindScorer has no weight for the kind of items that were left out ({unknown.total()}), so it gives "
                f"them 0; add a weight for {names}"
            )


def _unread_fields(selection: Selection, traits: ScorerTraits, left_out: Sequence[ContextItem]) -> Iterator[str]:
    """Note fields that no scorer reads, although they would have chosen better."""
    if not any(item.future_relevance_hint is not None or item.priority is not None for item in left_out):
        return
    for field, (scorer, preset) in _READERS.items():
        if field not in traits.reads and _chooses_better(field, selection, traits):
            setting = [item for item in selection.ranking.items if getattr(item, field) is not None]
            yield (
                f"items set {field} ({len(setting)}), which no scorer of the policy reads; "
                f"add a {scorer}, or choose a policy that has one, such as {preset!r}"
            )


def _chooses_better(field: str, selection: Selection, traits: ScorerTraits) -> bool:
    """Whether an item that was left out has a larger value than a selected one with the same score.

    Hints are made for scoring, so it is also enough that the largest was left out, unless there is a question to go by,
    or only one scorer, which is the order that was asked for.
    """
    ranking, sliced = selection.ranking, selection.sliced
    items, scores, target = ranking.items, ranking.scores, sliced.effective.target_tokens
    values = [-inf if value is None else value for value in map(attrgetter(field), items)]
    if field == _HINT and len(traits.shares) > 1 and not traits.has_query:
        largest = max(compress(values, sliced.is_selected), default=inf)
        if any(item.tokens <= target for item, value in zip(items, values, strict=True) if value > largest):
            return True
    # They are sorted, so equal ones are neighbours.
    if not any(map(eq, scores, scores[1:])):
        return False
    smallest: dict[float, float] = {}
    for i in sliced.selected:
        smallest[scores[i]] = min(smallest.get(scores[i], inf), values[i])
    return any(
        not selected and value > smallest.get(score, inf) and item.tokens <= target
        for item, score, value, selected in zip(items, scores, values, sliced.is_selected, strict=True)
    )


def _unpinned_prompt(selection: Selection, left_out: Sequence[ContextItem]) -> Iterator[str]:
    """Note that there are system prompts, but none was selected. If one was, the others may be a choice of prompts."""
    key, target = ContextKind.SYSTEM_PROMPT.key, selection.sliced.effective.target_tokens
    fitting = [item for item in left_out if item.kind.key == key and item.tokens <= target]
    if fitting and all(item.kind.key != key for item in selection.placement.items):
        yield "no SystemPrompt was selected, although there is one that fits; set pinned=True to always select it"


def _undated_notes(selection: Selection, traits: ScorerTraits, left_out: Sequence[ContextItem]) -> Iterator[str]:
    """Note items without a timestamp among those that have one: messages that lose by it, and what is placed last."""
    unscored, unplaced = _undated_and_scored(selection, traits, left_out), _undated_and_placed(selection)
    if unscored:
        place = ", and are placed after those that have one" if unplaced else ""
        yield f"items without a timestamp score 0 for recency ({unscored}){place}; set it on all items"
    elif unplaced:
        yield (
            f"items without a timestamp are placed after those that have one ({unplaced}); "
            "set it, or list their kinds in FramedPlacer(first=...)"
        )


def _undated_and_scored(selection: Selection, traits: ScorerTraits, left_out: Sequence[ContextItem]) -> int:
    """Count undated messages, if some were left out, while a dated item was selected by its recency."""
    # Most programs date all items or none, so most runs end here.
    if not _undated_messages(left_out) or RecencyScorer not in {type(scorer) for scorer, _ in traits.shares}:
        return 0
    items = selection.ranking.items
    if all(items[i].timestamp is None for i in selection.sliced.selected):
        return 0
    return len(_undated_messages(items))


def _undated_messages(items: Sequence[ContextItem]) -> list[ContextItem]:
    """Return the messages and outputs of tools without a timestamp. Other items have no order."""
    return [item for item in items if item.timestamp is None and item.kind.key in CONVERSATION]


def _undated_and_placed(selection: Selection) -> int:
    """Count undated items that chronological order puts last, perhaps a system prompt."""
    placer: Any = selection.run.strategies.placer
    framed: set[str] = set()
    while type(placer) is FramedPlacer:
        if callable(placer.first) or callable(placer.last):
            return 0
        framed.update(kind.key for kind in (*placer.first, *placer.last))
        placer = placer.inner
    if type(placer) is not ChronologicalPlacer:
        return 0
    items, order = selection.placement.items, selection.placement.order
    dated = [items[i].timestamp is not None for i in order if items[i].kind.key not in framed]
    # Without a dated item before them, the undated ones are not last.
    return dated.count(False) if dated and dated[0] and not dated[-1] else 0
