"""The selection of a run. Reasons, events and the report are made when they are first read."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from math import isnan
from operator import attrgetter, itemgetter
from typing import Any, Self

from pycupel.diagnostics import ExcludedItem, IncludedItem, SelectionReport, TraceEvent
from pycupel.diagnostics.explanation import ScoreParts
from pycupel.diagnostics.report import considered_tokens, deferred_report
from pycupel.kernels.order import descending
from pycupel.model import ContextBudget, ContextItem
from pycupel.model.brief import quantity
from pycupel.model.frozen import draft_of, sealed
from pycupel.model.version import Shortened
from pycupel.pipeline import events, explain
from pycupel.pipeline.notes import selection_notes
from pycupel.pipeline.place import Placement
from pycupel.pipeline.rank import Ranking
from pycupel.pipeline.slice import Sliced
from pycupel.pipeline.trace import Trace

__all__ = ["Selection", "keep_part"]


_score = itemgetter(1)


@sealed
@dataclass(frozen=True, slots=True, init=False, repr=False, eq=False)
class Selection:
    """The result of `Pipeline.select` for one budget, with reasons.

    Reasons and the report are made when they are first read, from the results of the stages: no scorer, slicer or
    placer is called again, and several threads may read them at once. Selections are compared by identity.
    """

    ranking: Ranking
    """The ranking that was sliced."""

    sliced: Sliced
    """The result of the Slice stage: the `selected` indices in `ranking.items`, and the `shortfalls`."""

    placement: Placement
    """The result of the Place stage."""

    budget: ContextBudget
    """The budget in force."""

    trace: Trace
    """The observer of the run."""

    _parts: dict[str, Any] = field(init=False)

    def __new__(  # noqa: D102 - editors then show the docstring of the class
        cls,
        ranking: Ranking,
        sliced: Sliced,
        placement: Placement,
        budget: ContextBudget,
        trace: Trace,
    ) -> Self:
        # Every run makes one of these.
        draft = _Draft()
        draft.ranking = ranking
        draft.sliced = sliced
        draft.placement = placement
        draft.budget = budget
        draft.trace = trace
        draft._parts = {}  # noqa: SLF001 - its own
        draft.__class__ = cls
        selection: Self = draft
        return selection

    @property
    def items(self) -> list[ContextItem]:
        """The selected items, in the order in which the model should see them. A new list each time."""
        items = self.placement.items
        return [items[i] for i in self.placement.order]

    @property
    def scores(self) -> list[float]:
        """The scores of `items`, in the same order; 1.0 for a pinned item."""
        scores = self.placement.scores
        return [scores[i] for i in self.placement.order]

    @property
    def total_tokens(self) -> int:
        """The tokens of the selected items."""
        tokens = self.placement.tokens
        return sum([tokens[i] for i in self.placement.order])

    @property
    def shortened(self) -> tuple[Shortened, ...]:
        """The items that were selected in a shorter version, in the order of `items`."""
        versions, first = self.sliced.versions, len(self.ranking.pinned)
        if not versions:
            return ()
        chosen = [self.sliced.selected[i - first] for i in self.placement.order if i >= first]
        return tuple(Shortened(self.ranking.items[i], versions[i]) for i in chosen if i in versions)

    @property
    def reasons(self) -> tuple[ExcludedItem, ...]:
        """The items that were left out, each with its score and reason, best score first: `report.excluded`."""
        reasons: tuple[ExcludedItem, ...] = self._part("excluded")
        return reasons

    @property
    def notes(self) -> tuple[str, ...]:
        """Advisory notes, for example that no item sets the field that a scorer reads."""
        notes: tuple[str, ...] = self._part("notes")
        return notes

    @property
    def report(self) -> SelectionReport:
        """The full report: included and excluded items with scores and reasons, and events with durations."""
        return deferred_report(self._part)

    def _part(self, name: str) -> Any:
        """Return a part of the report, by the name of its field.

        If two threads make it at once, only one result is kept, and both get that one.
        """
        parts = self._parts
        return parts[name] if name in parts else parts.setdefault(name, _MAKERS[name](self))

    def __repr__(self) -> str:
        selected, candidates = len(self.placement.order), self._part("total_candidates")
        return f"<Selection: {selected} of {quantity(candidates, 'item')}, {quantity(self.total_tokens, 'token')}>"


_Draft: Any = draft_of(Selection)

# Not part of the public API.
_part = Selection._part  # noqa: SLF001 # pyright: ignore[reportPrivateUsage]


def keep_part(selection: Selection, name: str, part: object) -> None:
    """Keep a part of the report that was made during the run, for a collector."""
    selection._parts[name] = part  # noqa: SLF001 # pyright: ignore[reportPrivateUsage]


def _excluded_by_stage(selection: Selection) -> list[Sequence[ExcludedItem]]:
    ranking, placement, budget = selection.ranking, selection.placement, selection.budget
    classified, duplicates, sliced = ranking.classified, ranking.duplicates, selection.sliced
    available = sliced.effective.target_tokens + classified.pinned_tokens - sum(placement.tokens)
    return [
        explain.excluded_by_classify(classified) if classified.invalid else (),
        explain.excluded_by_deduplicate(classified.scoreable, ranking.all_scores, duplicates) if duplicates else (),
        explain.excluded_by_slice(ranking, sliced, budget, available),
        explain.excluded_by_place(classified, placement, budget) if len(placement.kept) < len(placement.items) else (),
    ]


def _excluded(selection: Selection) -> tuple[ExcludedItem, ...]:
    """Sort by score, highest first; ties stay in the order of exclusion (SR-07)."""
    invalid, duplicates, unselected, truncated = _part(selection, "excluded_by_stage")
    if not (invalid or duplicates or truncated):
        return tuple(unselected)
    excluded = [*invalid, *duplicates, *unselected, *truncated]
    if isnan(sum(selection.ranking.all_scores)):
        return tuple([excluded[i] for i in descending([each.score for each in excluded])])
    excluded.sort(key=_score, reverse=True)
    return tuple(excluded)


def _events(selection: Selection) -> tuple[TraceEvent, ...]:
    trace, ranking, sliced = selection.trace, selection.ranking, selection.sliced
    if not trace.with_items:
        return events.stage_events(trace)
    invalid, duplicates, unselected, truncated = _part(selection, "excluded_by_stage")
    notes = trace.slice_notes
    if notes is None:
        notes = explain.slice_notes(ranking, sliced, trace.sources.slicer)
    messages = (
        events.exclusion_messages(invalid),
        events.score_messages(ranking.all_scores),
        events.exclusion_messages(duplicates),
        events.slice_messages(unselected, notes, sliced.shortfalls),
        events.place_messages(truncated, _part(selection, "included")),
    )
    return events.trace_events(trace, messages)


def _included(selection: Selection) -> tuple[IncludedItem, ...]:
    return explain.included(selection.ranking.classified, selection.placement)


def _candidates(selection: Selection) -> int:
    return sum(map(len, selection.ranking.classified[:3]))


def _tokens(selection: Selection) -> int:
    candidates = [item for part in selection.ranking.classified[:3] for item in part]
    if selection.sliced.versions or any(item.original_tokens is not None for item in candidates):
        # Candidates may be versions themselves, from an earlier selection, and versions may have no mark.
        return considered_tokens([*_part(selection, "included"), *_part(selection, "excluded")])
    return sum([item.tokens for item in candidates])


def _score_parts(selection: Selection) -> ScoreParts:
    ranking = selection.ranking
    return ScoreParts(ranking.classified.scoreable, ranking.parts)


_MAKERS: dict[str, Callable[[Selection], Any]] = {
    "events": _events,
    "included": _included,
    "excluded": _excluded,
    "excluded_by_stage": _excluded_by_stage,
    "total_candidates": _candidates,
    "total_tokens_considered": _tokens,
    "count_requirement_shortfalls": attrgetter("sliced.shortfalls"),
    "budget": attrgetter("budget"),
    "_score_parts": _score_parts,
    "notes": selection_notes,
}
