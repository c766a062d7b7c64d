"""The pipeline: six stages, always in this order."""

from __future__ import annotations

from collections.abc import AsyncIterable, Callable, Iterable
from dataclasses import KW_ONLY, dataclass, field, fields, replace
from functools import lru_cache
from itertools import compress
from typing import TYPE_CHECKING, Any, Self, cast

from pycupel.diagnostics import CollectorLike, OverflowEvent, SelectionReport
from pycupel.errors import PipelineConfigError
from pycupel.model import ContextBudget, ContextItem, OverflowStrategy
from pycupel.model.checks import wrong_type
from pycupel.pipeline.classify import Classified, check_pinned_budget, classify_items
from pycupel.pipeline.collect import trace_for
from pycupel.pipeline.deduplicate import deduplicate_items
from pycupel.pipeline.place import place_items
from pycupel.pipeline.policy import OverflowField, Policy, PresetName, as_policy
from pycupel.pipeline.rank import Ranking, input_positions
from pycupel.pipeline.score import score_items
from pycupel.pipeline.selection import Selection
from pycupel.pipeline.shorten import versions_of
from pycupel.pipeline.slice import slice_items
from pycupel.pipeline.sort import sort_items
from pycupel.pipeline.trace import UNTRACED, NoteSources, TimedTrace, Trace
from pycupel.placers._base import reads_positions
from pycupel.protocols import Scorer, Shortener, Slicer
from pycupel.scorers._query import bind_query, scores_relevance
from pycupel.slicers._versions import VersionSlice, with_versions
from pycupel.values import sealed

if TYPE_CHECKING:
    from pycupel.pipeline.stream import Stream

__all__ = ["Pipeline", "select_untimed"]


@sealed
@dataclass(frozen=True, slots=True, repr=False)
class Pipeline(Policy):
    """Selects and orders context items: a scorer ranks, a slicer drops, a placer positions.

    A pipeline is a `Policy` that can run. It is immutable and keeps no state between runs, so threads may share it.

    Attributes:
        scorer: Ranks the items.
        slicer: Decides which items are selected, by their scores, tokens and the budget.
        placer: Orders the selection.
        deduplication: Whether only the best of several items with the same content is kept. Pinned items are not
            compared, unless `dedupe_against_pinned` is set.
        overflow_strategy: What happens if pinned and selected items together exceed the target: raise, drop the
            lowest scores, or accept.
        dedupe_against_pinned: Whether an item is dropped if a pinned one has the same content.
        shorten: Makes shorter versions of the items, for the selection to choose from; None to select only whole
            items. It replaces `GreedySlice` or `KnapsackSlice`, also inside quotas.
        name: A display name.
        description: What the policy is for.
        models: The limits of models by name, for calls with this policy; they go before known and registered ones.
        on_overflow: Called with an `OverflowEvent` after a run that exceeds the budget; only for
            `OverflowStrategy.PROCEED`.

    Raises:
        TypeError: an argument has the wrong type.
        PipelineConfigError: the options are incompatible.
        InvalidArgumentError: a limit of a model is wrong.
    """

    _: KW_ONLY
    # Inherited; mypy reads the type of such a field from the class itself.
    overflow_strategy: OverflowField = cast("OverflowField", OverflowStrategy.THROW)  # noqa: RUF009 - a constant
    """What happens if pinned and selected items together exceed the target: raise, drop the lowest scores, or accept.
    """

    on_overflow: Callable[[OverflowEvent], object] | None = None
    """Called with an `OverflowEvent` after a run that exceeds the budget; only for `OverflowStrategy.PROCEED`."""

    _note_sources: NoteSources = field(init=False, repr=False, compare=False)
    _reads_positions: bool = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        Policy.__post_init__(self)
        slicer = self.slicer if self.shorten is None else with_versions(self.slicer, VersionSlice({}))
        object.__setattr__(self, "_note_sources", NoteSources(self.scorer, slicer, self.placer))
        object.__setattr__(self, "_reads_positions", reads_positions(self.placer))
        if self.on_overflow is not None:
            if not callable(cast(Any, self.on_overflow)):
                raise wrong_type("on_overflow", "a function that takes an OverflowEvent", self.on_overflow)
            if self.overflow_strategy is not OverflowStrategy.PROCEED:
                raise PipelineConfigError(
                    f"on_overflow requires overflow_strategy='proceed', not {self.overflow_strategy.value!r}",
                    argument="on_overflow",
                )

    @classmethod
    def from_policy(cls, policy: Policy | PresetName) -> Self:
        """Make a pipeline from a policy or the name of a preset; a pipeline is returned as it is.

        Raises:
            TypeError: it is none of these.
            InvalidArgumentError: there is no such preset.
        """
        if type(policy) is str:
            return cast(Self, _of_preset(cls, policy))
        choices = as_policy(policy)
        if isinstance(choices, cls):
            return choices
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
            TypeError: an argument has the wrong type.
            InvalidBudgetError: the budget is negative.
            PinnedExceedsBudgetError: the pinned items alone do not fit.
            BudgetOverflowError: the selection does not fit, and the strategy is Throw.
            CupelError: a strategy fails, such as a `RelevanceScorer` without a query.
        """
        limits = ContextBudget.of(budget)
        sources = self._sources(query)
        trace = UNTRACED if collector is None else trace_for(sources, limits, collector)
        return self._completed(self._run(items, limits, sources.scorer, trace))

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
            budget: The limits of this run, or just a number of tokens.
            query: The question that the selection should be relevant to, for scorers that take one.
            collector: Observer of the run. It is notified of the stages at the end.

        Returns:
            The selected items, in the order in which the model should see them.

        Raises:
            TypeError: an argument has the wrong type, or the source gives something other than a `ContextItem`.
            InvalidBudgetError: the budget is negative.
            PipelineConfigError: the slicer has quotas.
            PinnedExceedsBudgetError: the pinned items alone do not fit.
            BudgetOverflowError: the selection does not fit, and the strategy is Throw.
            BaseException: what the source raises, unchanged. Every exception during the run has an attribute
                `selected_so_far` with the items selected so far.
        """
        from pycupel.pipeline.pull import pull_async  # noqa: PLC0415 - most programs have no streams

        return self._completed(await pull_async(self._stream(budget, query, collector), source))

    def run_stream_sync(
        self,
        source: Iterable[ContextItem],
        budget: ContextBudget | int,
        *,
        query: str | None = None,
        collector: CollectorLike | None = None,
    ) -> list[ContextItem]:
        """Select from a plain iterable, such as a generator, as `run_stream` does from an async one.

        Args:
            source: The candidates as they arrive.
            budget: The limits of this run, or just a number of tokens.
            query: The question that the selection should be relevant to, for scorers that take one.
            collector: Observer of the run. It is notified of the stages at the end.

        Returns:
            The selected items, in the order in which the model should see them.

        Raises:
            BaseException: what `run_stream` raises.
        """
        from pycupel.pipeline.pull import pull  # noqa: PLC0415 - see above

        return self._completed(pull(self._stream(budget, query, collector), source))

    def dry_run(
        self, items: Iterable[ContextItem], budget: ContextBudget | int, *, query: str | None = None
    ) -> SelectionReport:
        """Report what `run` would select, and why, with an event for every decision. Does not call `on_overflow`.

        The report is lazy: it builds its lists when they are first read.

        Args:
            items: The candidates, in any iterable.
            budget: The limits of this run, or just a number of tokens.
            query: The question that the selection should be relevant to, for scorers that take one.

        Raises:
            TypeError: an argument has the wrong type.
            InvalidBudgetError: the budget is negative.
            PinnedExceedsBudgetError: the pinned items alone do not fit.
            BudgetOverflowError: the selection does not fit, and the strategy is Throw.
            CupelError: a strategy fails, such as a `RelevanceScorer` without a query.
        """
        sources = self._sources(query)
        return self._run(items, ContextBudget.of(budget), sources.scorer, TimedTrace(sources)).report

    def dry_run_with_policy(
        self,
        items: Iterable[ContextItem],
        budget: ContextBudget | int,
        policy: Policy | PresetName,
        *,
        query: str | None = None,
    ) -> SelectionReport:
        """Report what another policy would select: `Pipeline.from_policy(policy).dry_run(items, budget)`.

        Args:
            items: The candidates, in any iterable.
            budget: The limits of this run, or just a number of tokens.
            policy: A policy, a pipeline, or the name of a preset. This pipeline's own settings are not used.
            query: The question that the selection should be relevant to, for scorers that take one.

        Raises:
            InvalidArgumentError: there is no such preset.
            CupelError: what `dry_run` raises.
        """
        return Pipeline.from_policy(policy).dry_run(items, budget, query=query)

    def rank(self, items: Iterable[ContextItem], *, query: str | None = None) -> Ranking:
        """Run the stages that do not depend on the budget. The ranking may be passed to `select` many times.

        Args:
            items: The candidates, in any iterable.
            query: The question that the selection should be relevant to, for scorers that take one.

        Raises:
            TypeError: `items` contains something other than a `ContextItem`.
            CupelError: a strategy fails, such as a `RelevanceScorer` without a query.
        """
        sources = self._sources(query)
        trace = TimedTrace(sources)
        classified = classify_items(items)
        trace.classified(classified)
        return self._rank(classified, sources.scorer, trace)

    def select(self, ranking: Ranking, budget: ContextBudget | int) -> Selection:
        """Run the stages that depend on the budget. Does not call `on_overflow`.

        Args:
            ranking: The result of `rank`.
            budget: The limits of this selection, or just a number of tokens.

        Raises:
            TypeError: an argument has the wrong type.
            InvalidBudgetError: the budget is negative.
            PinnedExceedsBudgetError: the pinned items alone do not fit.
            BudgetOverflowError: the selection does not fit, and the strategy is Throw.
            CupelError: a strategy fails, such as a `RelevanceScorer` without a query.
        """
        if not isinstance(ranking, Ranking):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise wrong_type("ranking", "a Ranking, which Pipeline.rank returns", ranking)
        limits = ContextBudget.of(budget)
        check_pinned_budget(ranking.classified.pinned_tokens, limits)
        trace = TimedTrace(self._note_sources)
        trace.continue_from(ranking.trace)
        return self._select(ranking, limits, trace)

    def _stream(self, budget: ContextBudget | int, query: str | None, collector: CollectorLike | None) -> Stream:
        from pycupel.pipeline.stream import Stream, streaming_sources  # noqa: PLC0415 - see above

        if self.shorten is not None:
            raise PipelineConfigError(
                "a stream cannot be shortened, because versions are chosen among all items; collect the items and use "
                "run, or use a policy with shorten=None",
                argument="shorten",
            )
        limits = ContextBudget.of(budget)
        sources = streaming_sources(self._sources(query))
        trace = UNTRACED if collector is None else trace_for(sources, limits, collector)
        return Stream(self, limits, trace, sources)

    def _completed(self, selection: Selection) -> list[ContextItem]:
        selection.trace.completed(selection)
        overflow = selection.placement.overflow
        if self.on_overflow is not None and overflow is not None:
            self.on_overflow(overflow)
        return selection.items

    def _sources(self, query: str | None) -> NoteSources:
        """Return the sources of notes about a run, with the scorer bound to the question if there is one."""
        if query is None:
            return self._note_sources
        scorer, count = bind_query(self.scorer, query)
        return replace(self._note_sources, scorer=scorer, ignores_query=not count)

    def _run(self, items: Iterable[ContextItem], budget: ContextBudget, scorer: Scorer, trace: Trace) -> Selection:
        try:
            classified = classify_items(items)
            check_pinned_budget(classified.pinned_tokens, budget)
            trace.classified(classified)
            return self._select(self._rank(classified, scorer, trace), budget, trace)
        except BaseException as error:
            trace.failed(error)
            raise

    def _rank(self, classified: Classified, scorer: Scorer, trace: Trace) -> Ranking:
        scoreable = classified.scoreable
        scores = score_items(scoreable, scorer, trace.columns)
        trace.scored(classified, scores)
        pinned_contents = {item.content for item in classified.pinned} if self.dedupe_against_pinned else ()
        kept, duplicates = deduplicate_items(scoreable, scores, enabled=self.deduplication, taken=pinned_contents)
        trace.deduplicated(classified, scores, duplicates)
        order = sort_items(scores, kept)
        ranked, ranked_scores = [scoreable[i] for i in order], [scores[i] for i in order]
        return Ranking(classified, ranked, ranked_scores, scores, order, duplicates, trace, scorer)

    def _select_untimed(self, items: list[ContextItem], budget: ContextBudget, query: str | None) -> Selection:
        ranking = self._rank(classify_items(items), self._sources(query).scorer, UNTRACED)
        check_pinned_budget(ranking.classified.pinned_tokens, budget)
        return self._select(ranking, budget, UNTRACED)

    def _select(self, ranking: Ranking, budget: ContextBudget, trace: Trace) -> Selection:
        classified, items, scores = ranking.classified, ranking.items, ranking.scores
        slicer = self.slicer if self.shorten is None else self._version_slicer(self.shorten, ranking, budget)
        sliced = slice_items(items, scores, budget, classified.pinned_tokens, slicer, deduplicated=self.deduplication)
        trace.sliced(ranking, sliced)
        chosen, is_selected, versions = sliced.selected, sliced.is_selected, sliced.versions
        placement = place_items(
            classified.pinned,
            [versions.get(i, items[i]) for i in chosen] if versions else list(compress(items, is_selected)),
            list(compress(scores, is_selected)),
            budget,
            self.overflow_strategy,
            self.placer,
            input_positions(ranking, chosen) if self._reads_positions else None,
        )
        trace.placed(ranking, placement)
        return Selection(ranking, sliced, placement, budget, trace)

    def _version_slicer(self, shortener: Shortener, ranking: Ranking, budget: ContextBudget) -> Slicer:
        """Return a slicer that chooses among versions. No versions are made if everything fits."""
        target = budget.effective(ranking.classified.pinned_tokens).target_tokens
        fits = sum([item.tokens for item in ranking.items]) <= target
        by_id = {} if fits else versions_of(shortener, ranking)
        versions = VersionSlice(by_id, by_score=scores_relevance(ranking.scorer, ranking.items))
        slicer: Slicer = with_versions(self.slicer, versions)
        return slicer


def select_untimed(
    pipeline: Pipeline, items: list[ContextItem], budget: ContextBudget, query: str | None = None
) -> Selection:
    """Run `rank` and `select` without recording times, notes or parts of scores."""
    # Not part of the public API.
    return pipeline._select_untimed(items, budget, query)  # noqa: SLF001 # pyright: ignore[reportPrivateUsage]


@lru_cache(maxsize=64)
def _of_preset(cls: type[Pipeline], name: str) -> Pipeline:
    """Return the pipeline of a preset. Both are immutable, so all calls share one."""
    return cls.from_policy(as_policy(name))
