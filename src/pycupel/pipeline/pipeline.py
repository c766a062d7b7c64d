"""The pipeline: six stages, always in this order. `_rank` and `_select` are its table of contents."""

from __future__ import annotations

from collections.abc import AsyncIterable, Callable, Iterable
from dataclasses import KW_ONLY, dataclass, field, fields
from functools import lru_cache
from typing import TYPE_CHECKING, Self, cast

from pycupel.diagnostics import CollectorLike, OverflowEvent, SelectionReport
from pycupel.errors import PipelineConfigError
from pycupel.model import ContextBudget, ContextItem, OverflowStrategy
from pycupel.model.checks import function, or_none, wrong_type
from pycupel.pipeline.classify import check_pinned_budget, classify_items
from pycupel.pipeline.deduplicate import deduplicate_items, merge_documents
from pycupel.pipeline.explain import CLASSIFY, DEDUPLICATE, PLACE, SCORE, SLICE
from pycupel.pipeline.notify import run_for
from pycupel.pipeline.place import place_items
from pycupel.pipeline.policy import (
    NORMALIZED,
    OverflowField,
    Policy,
    PresetName,
    as_policy,
    choosing_versions,
    overflow_field,
)
from pycupel.pipeline.record import Ranking, Run, Selection, Strategies
from pycupel.pipeline.score import score_items
from pycupel.pipeline.slice import slice_items
from pycupel.pipeline.sort import sort_items
from pycupel.placers import placer_for
from pycupel.scorers._base import bind_query
from pycupel.values import hold, sealed

if TYPE_CHECKING:
    from pycupel.pipeline.stream import Stream


@sealed
@dataclass(frozen=True, slots=True, repr=False)
class Pipeline(Policy):
    """Selects and orders context items: a scorer ranks, a slicer drops, a placer positions.

    A pipeline is a `Policy` that can run. It is immutable and keeps no state between runs, so threads may share it.
    """

    _: KW_ONLY
    # Inherited; mypy reads the type of such a field from the class itself.
    overflow_strategy: OverflowField = overflow_field()  # noqa: RUF009 - makes a field
    """What happens if pinned and selected items together exceed the target: raise, drop the lowest scores, or accept.
    """

    on_overflow: Callable[[OverflowEvent], object] | None = field(
        default=None, metadata=or_none(function("a function that takes an OverflowEvent"))
    )
    """Called with an `OverflowEvent` after a run that exceeds the budget; only for `OverflowStrategy.PROCEED`."""

    _strategies: Strategies = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        Policy.__post_init__(self)
        slicer = self.slicer if self.shortener is None else choosing_versions(self.slicer)
        hold(self, _strategies=Strategies(self.scorer, slicer, self.placer))
        if self.on_overflow is not None and self.overflow_strategy is not OverflowStrategy.PROCEED:
            message = f"on_overflow requires overflow_strategy='proceed', not {self.overflow_strategy.value!r}"
            raise PipelineConfigError(message, argument="on_overflow")

    @classmethod
    def from_policy(cls, policy: Policy | PresetName) -> Self:
        """Make a pipeline from a policy or the name of a preset; a pipeline is returned as it is."""
        if type(policy) is str:
            return cast(Self, _of_preset(cls, policy))
        choices = as_policy(policy)
        if isinstance(choices, cls):
            return choices
        # A subclass of Policy may have fields that a pipeline does not know.
        own = {each.name for each in fields(cls) if each.init}
        return cls(**{each.name: getattr(choices, each.name) for each in fields(choices) if each.name in own})

    def run(
        self,
        items: Iterable[ContextItem],
        budget: ContextBudget | int,
        *,
        query: str | None = None,
        collector: CollectorLike | None = None,
    ) -> list[ContextItem]:
        """Select and order items: return what the model should see, in that order.

        Args:
            items: The candidates, in any iterable.
            budget: The limits of this run, or just a number of tokens.
            query: The question that the selection should be relevant to, for scorers that take one.
            collector: Observer of the run: a `TraceCollector`, or any object with some of its methods. If one of them
                raises, that is logged, and the run continues.

        Raises:
            InvalidBudgetError: the budget is negative.
            PinnedExceedsBudgetError: the pinned items alone do not fit.
            BudgetOverflowError: the selection does not fit, and the strategy is Throw.
            CupelError: a strategy fails, such as a `RelevanceScorer` without a query.
        """
        limits = ContextBudget.of(budget)
        return self._finish(self._run(items, limits, run_for(self._bound(query), limits, collector)))

    async def run_stream(
        self,
        source: AsyncIterable[ContextItem],
        budget: ContextBudget | int,
        *,
        query: str | None = None,
        collector: CollectorLike | None = None,
    ) -> list[ContextItem]:
        """Select from items as they arrive, without waiting for all of them.

        Each batch of the pipeline's `StreamSlice` is selected by score. When the budget is full, the source is
        closed; with `StreamSlice(replace=True)` it is read to the end, and better items replace others. Scorers that
        compare items with each other see one batch. Without a collector, only the selection and one batch are held.

        Args:
            source: The candidates as they arrive; `merge_sources` makes one of several.
            budget: As for `run`.
            query: As for `run`.
            collector: Observer of the run. It is notified of the stages at the end.

        Raises:
            PipelineConfigError: the slicer has quotas.
            BaseException: what the source raises, unchanged. Every exception during the run has an attribute
                `selected_so_far` with the items selected so far.
        """
        from pycupel.pipeline.stream import pull_async  # noqa: PLC0415 - most programs have no streams

        return self._finish(await pull_async(self._stream(budget, query, collector), source))

    def run_stream_sync(
        self,
        source: Iterable[ContextItem],
        budget: ContextBudget | int,
        *,
        query: str | None = None,
        collector: CollectorLike | None = None,
    ) -> list[ContextItem]:
        """Select from a plain iterable, such as a generator, as `run_stream` does from an async one.

        It takes the same arguments, and raises the same errors.
        """
        from pycupel.pipeline.stream import pull  # noqa: PLC0415 - see above

        return self._finish(pull(self._stream(budget, query, collector), source))

    def dry_run(
        self, items: Iterable[ContextItem], budget: ContextBudget | int, *, query: str | None = None
    ) -> SelectionReport:
        """Report what `run` would select, and why, with an event for every decision. Does not call `on_overflow`.

        The arguments and errors are those of `run`. The report is lazy: it builds its lists when they are first read.
        """
        strategies = self._bound(query)
        return self._run(items, ContextBudget.of(budget), Run(strategies)).report

    def dry_run_with_policy(
        self,
        items: Iterable[ContextItem],
        budget: ContextBudget | int,
        policy: Policy | PresetName,
        *,
        query: str | None = None,
    ) -> SelectionReport:
        """Report what another policy would select: `Pipeline.from_policy(policy).dry_run(items, budget)`.

        This pipeline's own settings are not used.
        """
        return Pipeline.from_policy(policy).dry_run(items, budget, query=query)

    def rank(self, items: Iterable[ContextItem], *, query: str | None = None) -> Ranking:
        """Run the stages that do not depend on the budget. The ranking may be passed to `select` many times."""
        return self._rank(items, Run(self._bound(query)))

    def select(self, ranking: Ranking, budget: ContextBudget | int) -> Selection:
        """Run the stages that depend on the budget, with the errors of `run`. Does not call `on_overflow`."""
        if not isinstance(ranking, Ranking):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise wrong_type("ranking", "a Ranking, which Pipeline.rank returns", ranking)
        limits = ContextBudget.of(budget)
        check_pinned_budget(ranking.classified.pinned_tokens, limits)
        run = Run(self._strategies)
        # The ranking keeps its own notes.
        run.laps += ranking.run.laps[:SLICE]
        return self._select(ranking, limits, run)

    def _bound(self, query: str | None) -> Strategies:
        """Return the strategies of a run, with the scorer bound to the question if there is one."""
        if query is None:
            return self._strategies
        scorer, count = bind_query(self.scorer, query)
        placer = placer_for(self.placer, query)
        return Strategies(scorer, self._strategies.slicer, placer, query, ignores_query=not count)

    def _run(self, items: Iterable[ContextItem], budget: ContextBudget, run: Run) -> Selection:
        try:
            return self._select(self._rank(items, run, budget), budget, run)
        except BaseException as error:
            run.failed(error)
            raise

    def _rank(self, items: Iterable[ContextItem], run: Run, budget: ContextBudget | None = None) -> Ranking:
        """Run the stages that do not depend on the budget. If it is known, pinned items that exceed it end the run."""
        ranking = Ranking(run)
        ranking.classified = classified = classify_items(items)
        if budget is not None:
            # Before anything is scored, and before the first event (CL-02).
            check_pinned_budget(classified.pinned_tokens, budget)
        scoreable = classified.scoreable
        run.completed(CLASSIFY, ranking, len(classified.pinned) + len(scoreable))

        ranking.all_scores = scores = score_items(scoreable, run.strategies.scorer, run.columns)
        run.completed(SCORE, ranking, len(scores))

        # Pinned items are no candidates, so they are not deduplicated themselves.
        taken = {item.content for item in classified.pinned} if self.dedupe_against_pinned else ()
        kept, duplicates = deduplicate_items(scoreable, scores, enabled=bool(self.deduplication), taken=taken)
        if self.deduplication == NORMALIZED:
            pinned = classified.pinned if taken else ()
            kept, duplicates, ranking.copies = merge_documents(scoreable, scores, kept, duplicates, pinned)
        ranking.duplicates = duplicates
        run.completed(DEDUPLICATE, ranking, len(kept))

        ranking.order = order = sort_items(scores, kept)
        ranking.items = [scoreable[i] for i in order]
        ranking.scores = [scores[i] for i in order]
        return ranking

    def _select(self, ranking: Ranking, budget: ContextBudget, run: Run) -> Selection:
        """Run the stages that depend on the budget."""
        selection = Selection(ranking, budget, run)
        slicer = self.slicer
        if self.shortener is not None:
            from pycupel.pipeline.shorten import version_slicer  # noqa: PLC0415 - most programs shorten nothing

            slicer = version_slicer(slicer, self.shortener, ranking, budget)
        selection.sliced = sliced = slice_items(ranking, budget, slicer, deduplicated=bool(self.deduplication))
        run.completed(SLICE, selection, len(sliced.selected))

        placer = placer_for(self.placer, ranking.run.strategies.query)
        selection.placement = placement = place_items(selection, self.overflow_strategy, placer)
        run.completed(PLACE, selection, len(placement.order))
        return selection

    def _finish(self, selection: Selection) -> list[ContextItem]:
        selection.run.finished(selection)
        overflow = selection.placement.overflow
        if self.on_overflow is not None and overflow is not None:
            self.on_overflow(overflow)
        return selection.items

    def _stream(self, budget: ContextBudget | int, query: str | None, collector: CollectorLike | None) -> Stream:
        from pycupel.pipeline.stream import Stream, streaming_strategies  # noqa: PLC0415 - see above

        if self.shortener is not None:
            raise PipelineConfigError(
                "a stream cannot be shortened, because versions are chosen among all items; collect the items and use "
                "run, or use a policy with shorten=None",
                argument="shorten",
            )
        limits = ContextBudget.of(budget)
        strategies = streaming_strategies(self._bound(query))
        return Stream(self, limits, run_for(strategies, limits, collector))


def select_once(
    pipeline: Pipeline,
    items: Iterable[ContextItem],
    budget: ContextBudget,
    query: str | None = None,
    *,
    recorded: bool = True,
    with_items: bool = False,
    collector: CollectorLike | None = None,
) -> Selection:
    """Run a pipeline once, and return the record of the run. Does not call `on_overflow`.

    `recorded` is False if neither notes nor the parts of scores will be read, and nobody observes the run.
    """
    # Not part of the public API, so not a method.
    strategies = pipeline._bound(query)  # noqa: SLF001 # pyright: ignore[reportPrivateUsage]
    if recorded:
        run = run_for(strategies, budget, collector, recorded=True, with_items=with_items)
    else:
        run = Run(strategies, recorded=False)
    selection = pipeline._run(items, budget, run)  # noqa: SLF001 # pyright: ignore[reportPrivateUsage]
    run.finished(selection)
    return selection


@lru_cache(maxsize=64)
def _of_preset(cls: type[Pipeline], name: str) -> Pipeline:
    """Return the pipeline of a preset. Both are immutable, so all calls share one."""
    return cls.from_policy(as_policy(name))
