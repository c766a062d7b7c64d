"""What a run selected. Reasons, events and the report are made when they are first read."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from math import isnan
from operator import attrgetter
from typing import Any, Self

from pycupel.diagnostics import ExcludedItem, IncludedItem, SelectionReport, TraceEvent
from pycupel.diagnostics.explanation import ScoreParts
from pycupel.diagnostics.report import deferred_report
from pycupel.errors import digits
from pycupel.kernels.order import descending
from pycupel.model import ContextBudget, ContextItem
from pycupel.model.frozen import draft_of, sealed
from pycupel.model.version import Shortened
from pycupel.pipeline import events, explain
from pycupel.pipeline.notes import selection_notes
from pycupel.pipeline.place import Placement
from pycupel.pipeline.rank import Ranking
from pycupel.pipeline.slice import Sliced
from pycupel.pipeline.trace import Trace

__all__ = ["Selection"]


_score = attrgetter("score")


@sealed
@dataclass(frozen=True, slots=True, init=False, repr=False, eq=False)
class Selection:
    """What `Pipeline.select` chose from a ranking for one budget, and why.

    Reasons and the report are made when they are first looked at, from what the stages left behind: that calls no
    scorer, slicer or placer again, and several threads may do it together. Selections are compared by identity.

    Attributes:
        budget: The budget in force.
        ranking: What the selection was made from.
        sliced: What the Slice stage left: the `selected` indices in `ranking.items`, and the `shortfalls`.
        placement: What the Place stage left.
    """

    ranking: Ranking
    sliced: Sliced
    placement: Placement
    budget: ContextBudget
    trace: Trace
    _made: dict[str, Any] = field(init=False)

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
        draft._made = {}  # noqa: SLF001 - its own
        draft.__class__ = cls
        selection: Self = draft
        return selection

    @property
    def items(self) -> list[ContextItem]:
        """The selected items, in the order in which the model should see them. A new list each time."""
        return list(map(self.placement.items.__getitem__, self.placement.order))

    @property
    def scores(self) -> list[float]:
        """The scores of `items`, in the same order; 1.0 for a pinned item."""
        return list(map(self.placement.scores.__getitem__, self.placement.order))

    @property
    def total_tokens(self) -> int:
        """The tokens of the selected items."""
        return sum([item.tokens for item in self.items])

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
        reasons: tuple[ExcludedItem, ...] = self.part("excluded")
        return reasons

    @property
    def notes(self) -> tuple[str, ...]:
        """Advisory notes, for example that no item sets the field that a scorer reads."""
        notes: tuple[str, ...] = self.part("notes")
        return notes

    @property
    def report(self) -> SelectionReport:
        """The complete account: included and excluded items with scores and reasons, and events with durations."""
        return deferred_report(self.part)

    def part(self, name: str) -> Any:
        """A part of the report, by the name of its field.

        Threads that get here at the same time may both make it, but one of the two is kept, and both get that.
        """
        made = self._made
        return made[name] if name in made else made.setdefault(name, _MAKERS[name](self))

    def keep(self, name: str, part: object) -> None:
        """Keep a part that was made during the run, for a collector."""
        self._made[name] = part

    def __repr__(self) -> str:
        selected, candidates = len(self.placement.order), self.part("total_candidates")
        return f"<Selection: {selected} of {candidates} items, {digits(self.total_tokens)} tokens>"


_Draft: Any = draft_of(Selection)


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
    """The highest score first; at equal scores, what was excluded earlier (SR-07)."""
    invalid, duplicates, unselected, truncated = selection.part("excluded_by_stage")
    if not (invalid or duplicates or truncated):
        return tuple(unselected)
    excluded = [*invalid, *duplicates, *unselected, *truncated]
    if isnan(sum(selection.ranking.all_scores)):
        return tuple([excluded[i] for i in descending([each.score for each in excluded])])
    return tuple(sorted(excluded, key=_score, reverse=True))


def _events(selection: Selection) -> tuple[TraceEvent, ...]:
    trace, ranking, sliced = selection.trace, selection.ranking, selection.sliced
    if not trace.with_items:
        return events.stage_events(trace)
    invalid, duplicates, unselected, truncated = selection.part("excluded_by_stage")
    notes = trace.slice_notes
    if notes is None:
        notes = explain.slice_notes(ranking, sliced, trace.sources.slicer)
    messages = (
        events.exclusion_messages(invalid),
        events.score_messages(ranking.all_scores),
        events.exclusion_messages(duplicates),
        events.slice_messages(unselected, notes, sliced.shortfalls),
        events.place_messages(truncated, selection.part("included")),
    )
    return events.trace_events(trace, messages)


def _included(selection: Selection) -> tuple[IncludedItem, ...]:
    return explain.included(selection.ranking.classified, selection.placement)


def _candidates(selection: Selection) -> int:
    return sum(map(len, selection.ranking.classified[:3]))


def _tokens(selection: Selection) -> int:
    return sum([item.tokens for part in selection.ranking.classified[:3] for item in part])


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
