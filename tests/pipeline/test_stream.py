"""Selecting while items arrive."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest

from pycupel import (
    ChronologicalPlacer,
    ContextBudget,
    ContextItem,
    CountQuotaSlice,
    DiagnosticTraceCollector,
    GreedySlice,
    KnapsackSlice,
    OverflowStrategy,
    Pipeline,
    PriorityScorer,
    QuotaSlice,
    ReflexiveScorer,
    RelevanceScorer,
)
from pycupel.diagnostics import BudgetExceeded, Deduplicated, NegativeTokens, OverflowEvent, PinnedOverride
from pycupel.errors import PinnedExceedsBudgetError, PipelineConfigError
from pycupel.model import CountQuotaEntry
from pycupel.scorers import CompositeScorer
from pycupel.slicers import CountConstrainedKnapsackSlice, MinScoreSlice, StreamSlice
from tests import virtual_time


def hinted(content: str, tokens: int, hint: float, **fields: Any) -> ContextItem:
    return ContextItem(content, tokens, future_relevance_hint=hint, **fields)


def by_hint(slicer: Any, **options: Any) -> Pipeline:
    return Pipeline(ReflexiveScorer(), slicer, **options)


def contents(items: list[ContextItem]) -> list[str]:
    return sorted(item.content for item in items)


class Endless:
    """More items than anybody wants."""

    def __init__(self) -> None:
        self.pulled = 0
        self.closed = False

    def __iter__(self) -> Iterator[ContextItem]:
        try:
            while True:
                self.pulled += 1
                yield hinted(f"{self.pulled}", 10, 0.5)
        finally:
            self.closed = True

    async def __aiter__(self) -> AsyncIterator[ContextItem]:
        try:
            for item in self:
                await asyncio.sleep(0)
                yield item
        finally:
            self.closed = True


@pytest.mark.proves("S-SC-S4")
def test_the_source_is_read_until_the_budget_is_full_and_closed() -> None:
    """Issue: stops when the remaining budget is 0, and closes the source (REFERENCE-FACTS 4)."""
    source = Endless()
    selected = by_hint(StreamSlice(4)).run_stream_sync(source, 100)
    assert (len(selected), source.pulled, source.closed) == (10, 12, True)
    source = Endless()
    selected = asyncio.run(by_hint(StreamSlice(4)).run_stream(source, 100))
    assert (len(selected), source.pulled, source.closed) == (10, 12, True)


def test_earlier_batches_win_unless_the_slicer_replaces() -> None:
    """Issue: with replace it reads to the end, and the selection is that of the order by score."""
    items = [hinted("early", 10, 0.1), hinted("late", 10, 0.9)]
    assert contents(by_hint(StreamSlice(1)).run_stream_sync(items, 10)) == ["early"]
    assert contents(by_hint(StreamSlice(1, replace=True)).run_stream_sync(items, 10)) == ["late"]


def test_another_slicer_streams_with_a_stream_slice_and_says_so() -> None:
    """Issue: a pipeline whose slicer is no StreamSlice streams with `StreamSlice()` and a note."""
    items = [hinted("light", 10, 0.2), hinted("heavy", 100, 1.0)]
    for slicer in (GreedySlice(), KnapsackSlice(), MinScoreSlice(GreedySlice(), 0.5)):
        collector = DiagnosticTraceCollector()
        assert contents(by_hint(slicer).run_stream_sync(items, 105, collector=collector)) == ["heavy"]
        (note,) = collector.build_report().notes
        assert note.startswith(f"{type(slicer).__name__} must see all items")
    collector = DiagnosticTraceCollector()
    by_hint(StreamSlice()).run_stream_sync(items, 105, collector=collector)
    assert collector.build_report().notes == ()


@pytest.mark.parametrize(
    "slicer",
    [
        QuotaSlice([]),
        CountQuotaSlice([CountQuotaEntry("Document", cap_count=1)]),
        CountConstrainedKnapsackSlice([CountQuotaEntry("Document", cap_count=1)]),
        MinScoreSlice(QuotaSlice([], StreamSlice()), 0.1),
    ],
)
def test_quotas_are_refused(slicer: Any) -> None:
    """Issue: quotas and count quotas are refused, before anything is read."""
    source = Endless()
    with pytest.raises(PipelineConfigError, match=r"a stream cannot use a .*Slice, because") as info:
        by_hint(slicer).run_stream_sync(source, 10)
    assert (info.value.argument, source.pulled) == ("slicer", 0)


@pytest.mark.parametrize("replace", [False, True])
def test_a_pinned_item_that_comes_late_displaces_the_lowest_scores(replace: bool) -> None:
    """Issue: displaced by PinnedOverride; what costs nothing need not go."""
    items = [
        hinted("high", 10, 0.9),
        hinted("low", 10, 0.2),
        hinted("free", 0, 0.1),
        hinted("middle", 8, 0.5),
        ContextItem("pinned", 8, pinned=True),
    ]
    collector = DiagnosticTraceCollector()
    pipeline = by_hint(StreamSlice(1, replace=replace))
    assert contents(pipeline.run_stream_sync(items, 30)) == ["free", "high", "middle", "pinned"]
    assert contents(pipeline.run_stream_sync(items, 30, collector=collector)) == ["free", "high", "middle", "pinned"]
    (excluded,) = collector.build_report().excluded
    assert (excluded.item.content, excluded.reason) == ("low", PinnedOverride("pinned"))


def test_pinned_items_that_do_not_fit_are_an_error_when_they_arrive() -> None:
    items = [hinted("a", 3, 0.5), ContextItem("p", 6, pinned=True), ContextItem("q", 6, pinned=True), hinted("b", 1, 1)]
    with pytest.raises(PinnedExceedsBudgetError) as info:
        by_hint(StreamSlice(1)).run_stream_sync(items, 10)
    # What was selected before, which fits.
    assert [item.content for item in info.value.selected_so_far] == ["p", "a"]  # type: ignore[attr-defined]


def test_negative_tokens_are_excluded() -> None:
    """Issue: unlike the references."""
    collector = DiagnosticTraceCollector()
    selected = by_hint(StreamSlice()).run_stream_sync([ContextItem("broken", -1)], 10, collector=collector)
    (excluded,) = collector.build_report().excluded
    assert (selected, excluded.reason) == ([], NegativeTokens(-1))


def test_duplicates_are_known_against_the_selection_and_the_batch() -> None:
    """Issue: exact duplicates among what was pulled."""
    items = [hinted("same", 5, 0.5), hinted("same", 5, 0.9), hinted("other", 5, 0.1), hinted("same", 5, 1.0)]
    collector = DiagnosticTraceCollector()
    (_, kept) = sorted(
        by_hint(StreamSlice(2)).run_stream_sync(items, 100, collector=collector), key=lambda item: item.content
    )
    assert kept is items[1], "the best of its batch; once selected it stays"
    assert {id(each.item) for each in collector.build_report().excluded} == {id(items[0]), id(items[3])}
    assert {each.reason for each in collector.build_report().excluded} == {Deduplicated("same")}
    (_, kept) = sorted(by_hint(StreamSlice(2, replace=True)).run_stream_sync(items, 100), key=lambda item: item.content)
    assert kept is items[3], "with replace, the best of all"
    assert len(by_hint(StreamSlice(2), deduplication=False).run_stream_sync(items, 100)) == 4


def test_what_was_dropped_is_no_duplicate() -> None:
    """Issue: duplicates are known against the selection, not against everything that was pulled."""
    items = [hinted("large", 100, 0.9), hinted("large", 10, 0.1)]
    assert by_hint(StreamSlice(1)).run_stream_sync(items, 50) == [items[1]]


def test_contents_of_pinned_items_may_be_duplicates() -> None:
    pinned = ContextItem("same", 5, pinned=True)
    for items in ([hinted("same", 5, 0.5), pinned], [pinned, hinted("same", 5, 0.5)]):
        pipeline = by_hint(StreamSlice(1), dedupe_against_pinned=True)
        assert pipeline.run_stream_sync(items, 100) == [pinned]
        assert len(by_hint(StreamSlice(1)).run_stream_sync(items, 100)) == 2


def test_the_overflow_strategy_applies() -> None:
    """Issue: applies the overflow strategy; the observer is told as by `run`."""
    items = [ContextItem("p", 8, pinned=True), hinted("a", 0, 0.5)]
    seen: list[OverflowEvent] = []
    pipeline = by_hint(StreamSlice(), overflow_strategy=OverflowStrategy.PROCEED, on_overflow=seen.append)
    assert len(pipeline.run_stream_sync(items, ContextBudget(10, 5))) == len(pipeline.run(items, ContextBudget(10, 5)))
    assert [event.tokens_over_budget for event in seen] == [3, 3]


def test_relevance_counts_the_words_of_all_that_was_pulled() -> None:
    """Issue: relevance counts words over all that was pulled so far."""
    common = [ContextItem(f"common word number {n}", 5, kind="Document") for n in range(9)]
    last = [ContextItem("common", 5, kind="Document"), ContextItem("rare", 5, kind="Document")]
    collector = DiagnosticTraceCollector()
    Pipeline(CompositeScorer([(RelevanceScorer(), 1.0)]), StreamSlice(11)).run(
        [*common, *last], 1000, query="common rare", collector=collector
    )
    offline = {each.item.content: each.score for each in collector.build_report().included}
    pipeline = Pipeline(CompositeScorer([(RelevanceScorer(), 1.0)]), StreamSlice(9))
    for _ in range(2):  # a stream leaves nothing behind in the scorer
        pipeline.run_stream_sync([*common, *last], 1000, query="common rare", collector=collector)
        online = {each.item.content: each.score for each in collector.build_report().included}
        assert online["rare"] == offline["rare"] == 1.0
        assert online["common"] == offline["common"]
    explained = collector.build_report().why(last[0])
    assert "RelevanceScorer" in str(explained)


def test_the_best_score_of_an_earlier_batch_is_the_measure_of_later_ones() -> None:
    """Issue: scores of batches can be compared."""
    items = [
        ContextItem("alpha beta", 5, kind="Document"),
        ContextItem("alpha x", 5, kind="Document"),
        ContextItem("gamma", 5, kind="Document"),
        ContextItem("alpha y", 5, kind="Document"),
    ]
    collector = DiagnosticTraceCollector()
    Pipeline(RelevanceScorer(), StreamSlice(2)).run_stream_sync(items, 100, query="alpha beta", collector=collector)
    scores = {each.item.content: each.score for each in collector.build_report().included}
    assert scores["alpha beta"] == 1.0
    assert 0.0 == scores["gamma"] < scores["alpha y"] < 1.0


def test_relative_scorers_see_one_batch() -> None:
    items = [ContextItem(f"{n}", 5, priority=n) for n in range(4)]
    collector = DiagnosticTraceCollector()
    Pipeline(PriorityScorer(), StreamSlice(2)).run_stream_sync(items, 100, collector=collector)
    assert sorted(each.score for each in collector.build_report().included) == [0.0, 0.0, 1.0, 1.0]


def test_a_placer_that_reads_no_positions_gets_the_best_first() -> None:
    """As in `run`: without timestamps, the order of scores; or that of the input, if the placer asks for it."""
    items = [hinted("low", 1, 0.1), hinted("high", 1, 0.9)]
    for placer in (ChronologicalPlacer(), ChronologicalPlacer(undated="position")):
        pipeline = by_hint(StreamSlice(), placer=placer)
        assert pipeline.run_stream_sync(items, 10) == pipeline.run(items, 10)


def test_what_does_not_fit_is_explained() -> None:
    collector = DiagnosticTraceCollector("Item")
    by_hint(StreamSlice(1)).run_stream_sync([hinted("a", 5, 0.5), hinted("b", 7, 1.0)], 10, collector=collector)
    report = collector.build_report()
    (excluded,) = report.excluded
    assert excluded.reason == BudgetExceeded(7, 5)
    assert all(event.duration_ms >= 0.0 for event in report.events)
    assert "BudgetExceeded: 7 tokens requested, 5 available" in [event.message for event in report.events]


class SourceError(Exception):
    """What a retriever raises."""


async def broken() -> AsyncIterator[ContextItem]:
    for n in range(5):
        yield hinted(f"{n}", 1, n / 10)
    raise SourceError("gone")


def test_an_error_of_the_source_has_what_was_selected_so_far() -> None:
    """Issue: the error propagates unchanged; a collector is told."""

    class Watching:
        def on_pipeline_failed(self, error: BaseException, *_: object) -> None:
            failures.append(error)

    failures: list[BaseException] = []
    with pytest.raises(SourceError, match="gone") as info:
        asyncio.run(by_hint(StreamSlice(2)).run_stream(broken(), 100, collector=Watching()))
    assert [item.content for item in info.value.selected_so_far] == ["3", "2", "1", "0"]  # type: ignore[attr-defined]
    assert failures == [info.value]


class Unreadable:
    def __iter__(self) -> Iterator[ContextItem]:
        raise SourceError("gone")

    def __aiter__(self) -> AsyncIterator[ContextItem]:
        raise SourceError("gone")


@pytest.mark.parametrize("source", [Unreadable(), 5])
def test_a_source_that_cannot_be_read_at_all_is_a_failed_run(source: Any) -> None:
    """A collector that was told of the start is told of the end."""

    class Watching:
        def on_pipeline_started(self, budget: ContextBudget) -> None:
            calls.append("started")

        def on_pipeline_failed(self, error: BaseException, *_: object) -> None:
            calls.append(error)

    pipeline, calls = by_hint(StreamSlice()), list[object]()
    with pytest.raises((SourceError, TypeError)) as plain:
        pipeline.run_stream_sync(source, 100, collector=Watching())
    with pytest.raises((SourceError, TypeError)) as awaited:
        asyncio.run(pipeline.run_stream(source, 100, collector=Watching()))
    assert calls == ["started", plain.value, "started", awaited.value]
    assert plain.value.selected_so_far == awaited.value.selected_so_far == []  # type: ignore[attr-defined]


def test_a_batch_may_be_larger_than_any_list() -> None:
    source = [hinted("a", 1, 0.7), hinted("b", 1, 0.5)]
    assert by_hint(StreamSlice(10**30)).run_stream_sync(source, 10) == source


def test_an_error_without_room_for_attributes_is_passed_on() -> None:
    class Slotted(Exception):  # noqa: N818
        def __setattr__(self, name: str, value: object) -> None:
            raise AttributeError(name)

    def source() -> Iterator[ContextItem]:
        raise Slotted("as it is")
        yield

    with pytest.raises(Slotted, match="as it is"):
        by_hint(StreamSlice()).run_stream_sync(source(), 10)


def test_cancellation_leaves_nothing_open() -> None:
    """Issue: cancellation closes the source, and has what was selected so far."""
    closed: list[str] = []

    async def slow() -> AsyncIterator[ContextItem]:
        try:
            yield hinted("first", 1, 1.0)
            await asyncio.sleep(60)
        finally:
            closed.append("yes")

    async def cancelled() -> BaseException:
        task = asyncio.ensure_future(by_hint(StreamSlice(1)).run_stream(slow(), 100))
        await asyncio.sleep(0.01)
        task.cancel()
        try:
            await task
        except asyncio.CancelledError as error:
            return error
        raise AssertionError("it was not cancelled")

    error = virtual_time.run(cancelled())
    assert closed == ["yes"]
    assert [item.content for item in error.selected_so_far] == ["first"]  # type: ignore[attr-defined]


class BadToClose:
    """An iterator, plain and async, that cannot be closed."""

    def __init__(self, items: list[Any]) -> None:
        self._items = iter(items)

    def __iter__(self) -> BadToClose:
        return self

    def __next__(self) -> Any:
        return next(self._items)

    def close(self) -> None:
        raise SourceError("cannot close")

    def __aiter__(self) -> BadToClose:
        return self

    async def __anext__(self) -> Any:
        for item in self._items:
            return item
        raise StopAsyncIteration

    async def aclose(self) -> None:
        raise SourceError("cannot close")


def test_a_source_that_cannot_be_closed() -> None:
    """An error while closing is passed on, but never in the place of the run's own."""
    pipeline = by_hint(StreamSlice())
    for items, error in (([], SourceError), (["no item"], TypeError)):
        with pytest.raises(error):
            pipeline.run_stream_sync(BadToClose(items), 10)
        with pytest.raises(error):
            asyncio.run(pipeline.run_stream(BadToClose(items), 10))


def test_an_async_iterator_need_not_be_closable() -> None:
    class Plain:
        def __aiter__(self) -> Plain:
            return self

        async def __anext__(self) -> ContextItem:
            raise StopAsyncIteration

    assert asyncio.run(by_hint(StreamSlice()).run_stream(Plain(), 10)) == []


def test_wrong_sources() -> None:
    """A plain iterable for `run_stream`, an async one for `run_stream_sync`, and what is no item."""
    pipeline: Any = by_hint(StreamSlice(2))
    with pytest.raises(TypeError, match="source must be an async iterable; run_stream_sync takes a plain one"):
        asyncio.run(pipeline.run_stream([], 10))
    with pytest.raises(TypeError, match="source must be an iterable of ContextItem"):
        pipeline.run_stream_sync(broken(), 10)
    with pytest.raises(TypeError, match=r"^source\[2\] must be a ContextItem"):
        pipeline.run_stream_sync([hinted("a", 1, 1.0), hinted("b", 1, 1.0), "text"], 10)
