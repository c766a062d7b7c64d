"""The record of a run: what its stages left, and what only the run itself can tell.

The pipeline fills in a `Ranking`, then a `Selection`, one attribute for each stage. Both are plain objects. Reasons,
events and notes are made from them when they are first read; no scorer, slicer or placer is called again for that.
Two things cannot be made afterwards, so a `Run` takes them down while the stages complete: how long each stage took,
and what custom strategies have to say, because nobody knows whether they would say the same later.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property, lru_cache
from time import perf_counter
from typing import TYPE_CHECKING, Any, TypeVar

from pycupel.diagnostics import ExcludedItem, IncludedItem, SelectionReport, TraceEvent
from pycupel.diagnostics.reasons import CountRequirementShortfall
from pycupel.diagnostics.report import considered_tokens, report_over
from pycupel.model import ContextBudget, ContextItem
from pycupel.model.item import Shortened
from pycupel.pipeline import explain
from pycupel.pipeline.classify import Classified
from pycupel.pipeline.explain import SCORE, SLICE
from pycupel.pipeline.place import Placement
from pycupel.pipeline.slice import Sliced
from pycupel.protocols import Placer, Scorer, Slicer
from pycupel.scorers._base import ScorerTraits, Shares, parts_of, scorer_notes, traits_of
from pycupel.text import quantity
from pycupel.values import FrozenDict

if TYPE_CHECKING:
    from pycupel.diagnostics.explanation import ScoreParts
    from pycupel.pipeline.notify import Notifier, StageNotifier

_Part = TypeVar("_Part")


class Strategies:
    """The strategies of a run, and what is known about them. A pipeline keeps one for all its runs without a question.

    Args:
        scorer: The scorer, with the question if there is one.
        slicer: The slicer.
        placer: The placer.
        query: The question of the run, for a placer that takes one.
        ignores_query: Whether there is a question that no scorer reads.
        remarks: Further notes.

    Attributes:
        has_custom_scorer: Whether the scorer or one inside it is custom code.
        has_custom_slicer: Whether the slicer or one inside it is custom code.
    """

    def __init__(
        self,
        scorer: Scorer,
        slicer: Slicer,
        placer: Placer,
        query: str | None = None,
        *,
        ignores_query: bool = False,
        remarks: tuple[str, ...] = (),
    ) -> None:
        self.scorer = scorer
        self.slicer = slicer
        self.placer = placer
        self.query = query
        self.ignores_query = ignores_query
        self.remarks = remarks
        self.has_custom_scorer = not _is_built_in(scorer)
        self.has_custom_slicer = not _is_built_in(slicer)

    @cached_property
    def traits(self) -> ScorerTraits:
        """The traits of the scorer, for notes."""
        return traits_of(self.scorer)

    @cached_property
    def parts(self) -> Shares:
        """The scorers whose weighted sum is the score."""
        return parts_of(self.scorer)


class Run:
    """Takes down what cannot be made after the run, and notifies the collectors.

    With `recorded=False`, for a run that nobody asks about, it takes nothing down and reads no clock.
    """

    def __init__(self, strategies: Strategies, *, recorded: bool = True, with_items: bool = True) -> None:
        self.strategies = strategies
        self.recorded = recorded
        # A run that takes nothing down has no events.
        self.with_items = recorded and with_items
        # Those to tell how the run ends, and those of them to tell of each stage.
        self.notifiers: Sequence[Notifier] = ()
        self.listeners: Sequence[StageNotifier] = ()
        # The traits of a custom scorer (those of a built-in one are always the same), its notes, and the notes of a
        # custom slicer, one for each item that it left out.
        self.traits: ScorerTraits | None = None
        self.scorer_notes: tuple[str, ...] | None = None
        self.slice_notes: Sequence[str] | None = None
        # For each completed stage, its duration in seconds and how many items came out.
        self.laps: list[tuple[float, int]] = []
        # The scores of each scorer, by its id; None if they are not recorded.
        self.columns: dict[int, list[float]] | None = {} if recorded else None
        # When the stage that is running began.
        self.mark = perf_counter() if recorded else 0.0

    def completed(self, stage: int, record: Any, count: int) -> None:
        """Note that a stage has completed, with so many items.

        `record` is what the stages have left so far: the `Ranking` or, from Slice on, the `Selection`.
        """
        if not self.recorded:
            return
        now = perf_counter()
        lap = (now - self.mark, count)
        self.laps.append(lap)
        self.mark = now
        strategies = self.strategies
        if stage == SCORE and strategies.has_custom_scorer:
            self.traits = traits_of(strategies.scorer)
            self.scorer_notes = scorer_notes(self.traits, record.classified.scoreable)
        elif stage == SLICE and self.with_items and strategies.has_custom_slicer:
            self.slice_notes = explain.slice_notes(record, strategies.slicer)
        elif not self.listeners:
            return
        for listener in self.listeners:
            listener.stage_completed(stage, record, lap)
        # What custom code and collectors take is no part of the next stage.
        self.mark = perf_counter()

    def backdate(self, seconds: float) -> None:
        """Start the next stage in the past: a stream has spent this time on it, batch by batch."""
        if self.recorded:
            self.mark = perf_counter() - seconds

    def finished(self, selection: Selection) -> None:
        """Note that the run has completed."""
        # A collector may keep the report, which refers to this run: without a way back, there is no cycle.
        notifiers, self.notifiers, self.listeners = self.notifiers, (), ()
        for notifier in notifiers:
            notifier.completed(selection)

    def failed(self, error: BaseException) -> None:
        """Note that the run has raised."""
        for notifier in self.notifiers:
            notifier.failed(error, self.laps)

    def __getstate__(self) -> dict[str, Any]:
        """Pair the columns with their scorers, because a copy of a scorer has another id."""
        # Only the parts of the score are read later, not the scorers inside them.
        columns = self.columns and [(scorer, self.columns[id(scorer)]) for scorer, _ in self.strategies.parts]
        return {**vars(self), "columns": columns, "notifiers": (), "listeners": ()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self.columns = {id(scorer): column for scorer, column in state["columns"] or ()}


_NO_COPIES: Mapping[str, str] = FrozenDict()


class Ranking:
    """The ranked candidates, from `Pipeline.rank`. Pass it to `Pipeline.select` for as many budgets as needed.

    It is the result of the first four stages, which do not depend on the budget. Rankings are compared by identity.
    """

    __slots__ = ("all_scores", "classified", "copies", "duplicates", "items", "order", "run", "scores")

    run: Run
    """What the run itself has to tell."""

    classified: Classified
    """The result of the Classify stage: the `pinned`, `scoreable` and `invalid` items."""

    all_scores: Sequence[float]
    """The scores of `classified.scoreable`, in that order."""

    duplicates: Sequence[int]
    """The indices in `classified.scoreable` of the items that Deduplicate dropped."""

    copies: Mapping[str, str]
    """The contents of documents that were dropped as copies although they differ, and the content that was kept."""

    order: Sequence[int]
    """The indices in `classified.scoreable` of the items that compete for the budget, best score first."""

    items: Sequence[ContextItem]
    """The items that compete for the budget, best score first; without duplicates and pinned items."""

    scores: Sequence[float]
    """Their scores."""

    def __init__(self, run: Run) -> None:
        self.run = run
        self.copies = _NO_COPIES

    @property
    def pinned(self) -> Sequence[ContextItem]:
        """The pinned items, in input order. They are part of every selection."""
        return self.classified.pinned

    @property
    def parts(self) -> list[tuple[Scorer, float, Sequence[float]]]:
        """The parts of the scores: each scorer, its weight, and its scores for `classified.scoreable`."""
        columns = self.run.columns
        if not columns:
            return []
        return [(scorer, share, columns[id(scorer)]) for scorer, share in self.run.strategies.parts]

    @property
    def notes(self) -> tuple[str, ...]:
        """Advisory notes, for example that no item sets the field that a scorer reads."""
        from pycupel.pipeline.notes import ranking_notes  # noqa: PLC0415 - as in Selection

        return ranking_notes(self)

    def __repr__(self) -> str:
        return f"<Ranking: {quantity(len(self.items), 'item')}, {len(self.pinned)} pinned>"


class Selection:
    """The result of `Pipeline.select` for one budget, with reasons.

    Reasons and the report are made when they are first read, from the results of the stages: no scorer, slicer or
    placer is called again, and several threads may read them at once. Selections are compared by identity.
    """

    __slots__ = ("budget", "made", "placement", "ranking", "run", "sliced")

    ranking: Ranking
    """The ranking that was sliced."""

    budget: ContextBudget
    """The budget in force."""

    run: Run
    """What the run itself has to tell."""

    sliced: Sliced
    """The result of the Slice stage: the `selected` indices in `ranking.items`, and the `shortfalls`."""

    placement: Placement
    """The result of the Place stage."""

    made: dict[Callable[..., Any], Any]
    """What has been made from this record, by the function that makes it."""

    def __init__(self, ranking: Ranking, budget: ContextBudget, run: Run) -> None:
        self.ranking = ranking
        self.budget = budget
        self.run = run
        self.made = {}

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
        versions = self.sliced.versions
        if not versions:
            return ()
        # Pinned items are first in the placement, and are never shortened.
        first = len(self.ranking.pinned)
        chosen = [self.sliced.selected[i - first] for i in self.placement.order if i >= first]
        return tuple(Shortened(self.ranking.items[i], versions[i]) for i in chosen if i in versions)

    @property
    def reasons(self) -> tuple[ExcludedItem, ...]:
        """The items that were left out, each with its score and reason, best score first: `report.excluded`."""
        return self.excluded

    @property
    def notes(self) -> tuple[str, ...]:
        """Advisory notes, for example that no item sets the field that a scorer reads."""
        # Few programs read notes, and what they are about takes longer to import than a small selection.
        from pycupel.pipeline.notes import selection_notes  # noqa: PLC0415

        return self._once(selection_notes)

    @property
    def report(self) -> SelectionReport:
        """The full report: included and excluded items with scores and reasons, and events with durations."""
        return report_over(self)

    # The other fields of the report, which reads them here by their names.

    @property
    def included(self) -> tuple[IncludedItem, ...]:
        """The selection, in placed order, with reasons: `report.included`."""
        return self._once(explain.included)

    @property
    def excluded(self) -> tuple[ExcludedItem, ...]:
        """The rest, best score first, with reasons: `report.excluded`."""
        return self._once(explain.excluded)

    @property
    def excluded_by_stage(self) -> list[Sequence[ExcludedItem]]:
        """What each stage has excluded, in the order of exclusion."""
        return self._once(explain.excluded_by_stage)

    @property
    def events(self) -> tuple[TraceEvent, ...]:
        """The events of the run: `report.events`."""
        return self._once(explain.events)

    @property
    def total_candidates(self) -> int:
        """How many items there were."""
        return sum(map(len, self.ranking.classified[:3]))

    @property
    def total_tokens_considered(self) -> int:
        """Their tokens, negative counts included. A shorter version counts as a whole (SR-04)."""
        candidates = [item for part in self.ranking.classified[:3] for item in part]
        if self.sliced.versions or any(item.original_tokens is not None for item in candidates):
            # Candidates may be versions themselves, from an earlier selection, and versions may have no mark.
            return considered_tokens([*self.included, *self.excluded])
        return sum([item.tokens for item in candidates])

    @property
    def count_requirement_shortfalls(self) -> tuple[CountRequirementShortfall, ...]:
        """The count requirements that could not be met."""
        return self.sliced.shortfalls

    @property
    def score_parts(self) -> ScoreParts:
        """The scores that the run kept, by scorer."""
        from pycupel.diagnostics.explanation import ScoreParts  # noqa: PLC0415 - as in `SelectionReport.why`

        return ScoreParts(self.ranking.classified.scoreable, self.ranking.parts)

    @property
    def slicer_notes(self) -> dict[int, str]:
        """What the slicer says about excluded items, by the id of the item."""
        return self._once(explain.slicer_notes)

    def _once(self, make: Callable[[Selection], _Part]) -> _Part:
        """Make a part when it is first read. If two threads make it at once, both get what was kept first."""
        made = self.made
        part: _Part = made[make] if make in made else made.setdefault(make, make(self))
        return part

    def __repr__(self) -> str:
        selected, candidates = len(self.placement.order), self.total_candidates
        return f"<Selection: {selected} of {quantity(candidates, 'item')}, {quantity(self.total_tokens, 'token')}>"


def _is_built_in(strategy: Any) -> bool:
    """Whether a scorer or slicer and everything in it is built in, so its notes can be made at any time."""
    # A scorer may occur many times, even at every level of a deep nesting.
    known = {id(strategy)}
    pending = [strategy]
    while pending:
        strategy = pending.pop()
        cls = strategy.__class__
        if not cls.__module__.startswith("pycupel."):
            return False
        name = _inner_name(cls)
        inner: Any = getattr(strategy, name) if name else None
        for each in inner if name == "children" else (inner,):
            if each is not None and id(each) not in known:
                known.add(id(each))
                pending.append(each)
    return True


@lru_cache(maxsize=512)
def _inner_name(cls: type[object]) -> str | None:
    """Return the attribute in which a built-in strategy has its inner ones; None if it has none."""
    return next((name for name in ("children", "engine", "inner") if hasattr(cls, name)), None)
