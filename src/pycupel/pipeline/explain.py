"""Why every item is in or out, and the events that tell it, from the record of a run. Runs only when a report is read.

Messages of events contain numbers, but never content, because events are logged (EV-01).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import compress
from math import isnan
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from pycupel.diagnostics import (
    BudgetExceeded,
    CountCapExceeded,
    Deduplicated,
    ExcludedItem,
    ExclusionReason,
    IncludedItem,
    InclusionReason,
    NegativeTokens,
    PinnedOverride,
    PipelineStage,
    TraceEvent,
)
from pycupel.kernels.order import descending, maker, records
from pycupel.pipeline.place import truncate
from pycupel.pipeline.slice import Sliced
from pycupel.protocols import Slicer
from pycupel.slicers._base import SliceOffer, exclusion_notes, has_notes
from pycupel.text import number_text

if TYPE_CHECKING:
    from pycupel.pipeline.record import Ranking, Selection

# Looking up an enum member takes longer than the rest of an included item.
_SCORED, _PINNED, _ZERO_TOKEN = InclusionReason.SCORED, InclusionReason.PINNED, InclusionReason.ZERO_TOKEN

STAGES = tuple(PipelineStage)
# Their indices.
CLASSIFY, SCORE, DEDUPLICATE, SLICE, PLACE = range(5)

_INVERT = bytes([1, 0]) + bytes(254)

_included_item = maker(IncludedItem)
_excluded_item = maker(ExcludedItem)
_exceeded = maker(BudgetExceeded)
_deduplicated = maker(Deduplicated)
_event = maker(TraceEvent)
_score = itemgetter(1)

# A reason is a tuple of the numbers in its message.
_TEXTS: dict[type[ExclusionReason], str] = {
    BudgetExceeded: "BudgetExceeded: %d tokens requested, %d available",
    NegativeTokens: "NegativeTokens: %d tokens",
}


def included(selection: Selection) -> tuple[IncludedItem, ...]:
    """List the selected items in placed order. `PINNED` takes precedence over other reasons (ER-07)."""
    items, scores, tokens, _, order, _ = selection.placement
    pinned = len(selection.ranking.classified.pinned)
    if not pinned and 0 not in tokens:
        return tuple([_included_item((items[i], scores[i], _SCORED)) for i in order])
    reasons = [_PINNED if i < pinned else _SCORED if tokens[i] else _ZERO_TOKEN for i in range(len(tokens))]
    return tuple([_included_item((items[i], scores[i], reasons[i])) for i in order])


def excluded(selection: Selection) -> tuple[ExcludedItem, ...]:
    """List the items that were left out by score, highest first; ties stay in the order of exclusion (SR-07)."""
    invalid, _, duplicates, unselected, truncated = selection.excluded_by_stage
    if not (invalid or duplicates or truncated):
        return tuple(unselected)
    entries = [*invalid, *duplicates, *unselected, *truncated]
    if isnan(sum(selection.ranking.all_scores)):
        return tuple([entries[i] for i in descending([each.score for each in entries])])
    entries.sort(key=_score, reverse=True)
    return tuple(entries)


def excluded_by_stage(selection: Selection) -> list[Sequence[ExcludedItem]]:
    """List what each stage has excluded, in the order of exclusion."""
    return [exclude(selection.ranking if i < SLICE else selection) for i, exclude in enumerate(EXCLUDED_BY)]


def _excluded_by_classify(ranking: Ranking) -> list[ExcludedItem]:
    """List the invalid items. They were never scored, so their score is 0.0 (SR-02)."""
    return [ExcludedItem(item, 0.0, NegativeTokens(item.tokens)) for item in ranking.classified.invalid]


def _excluded_by_deduplicate(ranking: Ranking) -> list[ExcludedItem]:
    """List the duplicates. The reason names the content of the item that was kept, mostly the same (ER-06)."""
    items, scores, copies = ranking.classified.scoreable, ranking.all_scores, ranking.copies
    return [
        _excluded_item((items[i], scores[i], _deduplicated((copies.get(items[i].content, items[i].content),))))
        for i in ranking.duplicates
    ]


def _excluded_by_slice(selection: Selection) -> list[ExcludedItem]:
    """List what the slicer left out, in sorted order."""
    ranking, sliced = selection.ranking, selection.sliced
    items, scores = ranking.items, ranking.scores
    pinned_tokens, capped = ranking.classified.pinned_tokens, sliced.cap_excluded
    available = _available_tokens(ranking, sliced)
    entries: list[ExcludedItem] = []
    if not (pinned_tokens or capped):
        for i in _excluded_indices(sliced):
            item = items[i]
            entries.append(_excluded_item((item, scores[i], _exceeded((item.tokens, available)))))
        return entries
    target = whole_target = sliced.effective.target_tokens
    displaced: ExclusionReason | None = None
    if pinned_tokens:
        whole_target = selection.budget.effective().target_tokens
        displaced = PinnedOverride(ranking.classified.pinned[0].content)
    for i in _excluded_indices(sliced):
        tokens = items[i].tokens
        # A cap takes precedence (ER-03).
        reason = capped.get(i)
        if reason is None and target < tokens <= whole_target:
            # Items that would fit without the pinned ones were displaced by them (PL-04).
            reason = displaced
        if reason is None:
            reason = _exceeded((tokens, available))
        entries.append(_excluded_item((items[i], scores[i], reason)))
    return entries


def _excluded_by_place(selection: Selection) -> Sequence[ExcludedItem]:
    """List the items that truncation removed, in merged order."""
    placement, classified = selection.placement, selection.ranking.classified
    if len(placement.kept) == len(placement.items):
        return ()
    limit = selection.budget.selection_limit
    kept = set(placement.kept)
    pinned, tokens = classified.pinned, placement.tokens
    available = limit - sum([tokens[i] for i in kept])
    # Items that would have been kept without the tokens of the pinned ones (PL-04).
    without_pins = set(truncate([0] * len(pinned) + tokens[len(pinned) :], len(pinned), limit))
    entries: list[ExcludedItem] = []
    for i, item in enumerate(placement.items):
        if i not in kept:
            displaced = classified.pinned_tokens > 0 and i in without_pins
            reason = PinnedOverride(pinned[0].content) if displaced else BudgetExceeded(item.tokens, available)
            entries.append(ExcludedItem(item, placement.scores[i], reason))
    return entries


# What each stage has excluded, from the `Ranking` or, from Slice on, the `Selection`. Score excludes nothing.
EXCLUDED_BY: tuple[Callable[[Any], Sequence[ExcludedItem]], ...] = (
    _excluded_by_classify,
    lambda _: (),
    _excluded_by_deduplicate,
    _excluded_by_slice,
    _excluded_by_place,
)


def events(selection: Selection) -> tuple[TraceEvent, ...]:
    """List the events: for each stage, its decisions about items, then the stage itself."""
    run, ranking = selection.run, selection.ranking
    if not run.with_items:
        return stage_events(run.laps)
    rows: list[tuple[object, ...]] = []
    for i, ((seconds, count), entries) in enumerate(zip(run.laps, selection.excluded_by_stage, strict=True)):
        stage, record = STAGES[i], ranking if i < SLICE else selection
        rows += [(stage, 0.0, 1, text) for text in item_messages(i, record, entries)]
        rows.append((stage, seconds * 1e3, count, None))
    return tuple(records(TraceEvent, rows))


def stage_events(laps: Iterable[tuple[float, int]]) -> tuple[TraceEvent, ...]:
    """Make an event for each stage that has completed. A failed run has fewer laps than stages."""
    # For so few, a loop is faster than a comprehension.
    made: list[TraceEvent] = []
    for stage, (seconds, count) in zip(STAGES, laps):  # noqa: B905
        made.append(_event((stage, seconds * 1e3, count, None)))
    return tuple(made)


def item_messages(stage: int, record: Any, excluded: Sequence[ExcludedItem]) -> list[str]:
    """Tell each decision of a stage, in numbers; `excluded` is what it excluded."""
    if stage == SCORE:
        return ["Score: %.6g" % score for score in record.all_scores]  # noqa: UP031 - half the time of an f-string
    # Most stages exclude nothing, and most exclusions need no note.
    texts = _exclusion_messages(excluded) if excluded else []
    if stage == SLICE:
        notes = _kept_notes(record)
        if any(notes):
            texts = [f"{text} ({note})" if note else text for text, note in zip(texts, notes, strict=True)]
        texts += [
            f"CountRequirementShortfall: {by} {kind.value!r}, {number_text(required)} required, "
            f"{number_text(satisfied)} satisfied"
            for kind, required, satisfied, by in record.sliced.shortfalls
        ]
    elif stage == PLACE:
        texts += ["%s: %.6g" % (reason, score) for _, score, reason in record.included]  # noqa: UP031 - as above
    return texts


def slicer_notes(selection: Selection) -> dict[int, str]:
    """Return what the slicer says about excluded items, by the id of the item; only where it says something."""
    items, out = selection.ranking.items, _excluded_indices(selection.sliced)
    return {id(items[i]): note for i, note in zip(out, _kept_notes(selection), strict=True) if note}


def _kept_notes(selection: Selection) -> Sequence[str]:
    """Return the notes that a custom slicer gave during the run; a built-in one can be asked at any time."""
    notes = selection.run.slice_notes
    return slice_notes(selection, selection.run.strategies.slicer) if notes is None else notes


def slice_notes(selection: Selection, slicer: Slicer) -> list[str]:
    """Return the true cause of each exclusion whose reason alone would mislead (ER-05), and empty strings otherwise."""
    ranking, sliced = selection.ranking, selection.sliced
    if not has_notes(slicer):
        return [""] * (len(sliced.is_selected) - len(sliced.selected))
    out = list(_excluded_indices(sliced))
    available = _available_tokens(ranking, sliced)
    fitting = {i for i in out if ranking.items[i].tokens <= available and i not in sliced.cap_excluded}
    if not fitting:
        return [""] * len(out)
    notes = exclusion_notes(slicer, SliceOffer(ranking.items, ranking.scores, sliced.effective))
    return [notes.get(i, "") if i in fitting else "" for i in out]


def _excluded_indices(sliced: Sliced) -> Iterator[int]:
    """The indices of the items that Slice excluded, ascending."""
    return compress(range(len(sliced.is_selected)), sliced.is_selected.translate(_INVERT))


def _available_tokens(ranking: Ranking, sliced: Sliced) -> int:
    """Return how many tokens of the target the selected items leave."""
    items, versions = ranking.items, sliced.versions
    if versions:
        chosen = [versions.get(i, items[i]).tokens for i in sliced.selected]
    else:
        chosen = [item.tokens for item in compress(items, sliced.is_selected)]
    return sliced.effective.target_tokens - sum(chosen)


def _exclusion_messages(entries: Sequence[ExcludedItem]) -> list[str]:
    """Make a message with the reason and its numbers for each item."""
    text_of = _TEXTS.get
    try:
        return [
            _message(item.tokens, score, reason) if (text := text_of(type(reason))) is None else text % reason
            for item, score, reason in entries
        ]
    except ValueError:
        # Python raises when it formats an int with too many digits.
        return [_message(item.tokens, score, reason) for item, score, reason in entries]


def _message(tokens: int, score: float, reason: object) -> str:
    name = type(reason).__name__
    if isinstance(reason, CountCapExceeded):
        return (
            f"{name}: {reason.by} {reason.kind!r}, cap {number_text(reason.cap)}, {number_text(reason.count)} selected"
        )
    if isinstance(reason, (BudgetExceeded, NegativeTokens)):
        return _TEXTS[type(reason)].replace("%d", "%s") % tuple(map(number_text, reason))
    if isinstance(reason, PinnedOverride):
        return f"{name}: {number_text(tokens)} tokens requested, no room beside the pinned items"
    return f"{name}: score {score:.6g}"
