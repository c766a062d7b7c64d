"""Streams: within the budget for any order and batch size, equal to `run` in one batch, and always closed."""

from __future__ import annotations

import asyncio
import dataclasses
from collections.abc import AsyncIterator, Iterator
from typing import Any

from hypothesis import given, strategies as st

from pycupel import ContextBudget, ContextItem, DiagnosticTraceCollector, Pipeline, RelevanceScorer
from pycupel.diagnostics import InclusionReason
from pycupel.errors import CupelError
from pycupel.pipeline.stream import Stream
from pycupel.slicers import StreamSlice
from tests import strategies
from tests.examples import examples

BATCH_SIZES = st.sampled_from((1, 2, 3, 5, 32))


class Source:
    """Items one by one, plain or async, that notices whether it was closed."""

    def __init__(self, items: list[ContextItem]) -> None:
        self.items = items
        self.pulled = 0
        self.closed = False

    def __iter__(self) -> Iterator[ContextItem]:
        try:
            for item in self.items:
                self.pulled += 1
                yield item
        finally:
            self.closed = True

    async def __aiter__(self) -> AsyncIterator[ContextItem]:
        for item in self:
            await asyncio.sleep(0)
            yield item


def streaming(pipeline: Pipeline, slicer: StreamSlice) -> Pipeline:
    return dataclasses.replace(pipeline, slicer=slicer)


def outcome(call: Any, *arguments: Any, **options: Any) -> Any:
    """What a run returns, or the error that it raises."""
    try:
        return list(map(id, call(*arguments, **options)))
    except CupelError as error:
        return str(error)


@examples(200)
@given(strategies.pipelines(), st.booleans(), strategies.item_lists(), strategies.budgets())
def test_one_batch_equals_a_run(
    pipeline: Pipeline, replace: bool, items: list[ContextItem], budget: ContextBudget
) -> None:
    """Issue: with one batch as large as the input a stream equals the offline selection by score, report included."""
    stream = streaming(pipeline, StreamSlice(1000, replace=replace))
    offline, online = DiagnosticTraceCollector("Item"), DiagnosticTraceCollector("Item")
    expected = outcome(stream.run, items, budget, collector=offline)
    assert outcome(stream.run_stream_sync, items, budget) == expected
    assert outcome(stream.run_stream_sync, items, budget, collector=online) == expected
    assert outcome(lambda: asyncio.run(stream.run_stream(Source(items), budget))) == expected
    if isinstance(expected, list):
        one, other = offline.build_report(), online.build_report()
        # NaN is not equal to itself, but is written in the same way.
        assert repr((one.included, one.excluded, one.notes)) == repr((other.included, other.excluded, other.notes))
        assert [(e.stage, e.message, e.item_count) for e in one.events] == [
            (e.stage, e.message, e.item_count) for e in other.events
        ]
        assert (one.total_candidates, one.total_tokens_considered) == (
            other.total_candidates,
            other.total_tokens_considered,
        )


@examples(300)
@given(
    strategies.pipelines(), st.builds(StreamSlice, BATCH_SIZES, replace=st.booleans()), st.data(), strategies.budgets()
)
def test_any_arrival_order_and_batch_size(
    pipeline: Pipeline, slicer: StreamSlice, data: st.DataObject, budget: ContextBudget
) -> None:
    """Issue: a subset within the budget, in bounded memory, each item in or out exactly once, the source closed."""
    items = data.draw(strategies.item_lists(max_size=25))
    stream, source = streaming(pipeline, slicer), Source(items)
    collector = DiagnosticTraceCollector("Item")
    expected = outcome(stream.run_stream_sync, source, budget)
    assert source.closed or not source.pulled
    assert outcome(stream.run_stream_sync, items, budget, collector=collector) == expected
    if not isinstance(expected, list):
        return
    report = collector.build_report()
    pulled = items[: source.pulled]
    given_ids = sorted(map(id, pulled))
    assert (
        sorted([id(each.item) for each in report.included] + [id(each.item) for each in report.excluded]) == given_ids
    )
    pinned = [item for item in pulled if item.pinned and item.tokens >= 0]
    selected = [each.item for each in report.included if each.reason is not InclusionReason.PINNED]
    target = budget.effective(sum(item.tokens for item in pinned)).target_tokens
    assert sum(item.tokens for item in selected) <= max(0, target)
    if not slicer.replace and source.pulled < len(items):
        assert source.pulled % slicer.batch_size == 0
        assert sum(item.tokens for item in selected) >= target


@examples(60)
@given(
    st.builds(StreamSlice, BATCH_SIZES, replace=st.booleans()),
    st.lists(strategies.items(), max_size=40),
    strategies.budgets(),
)
def test_nothing_but_the_selection_is_held(
    slicer: StreamSlice, items: list[ContextItem], budget: ContextBudget
) -> None:
    """Issue: without a collector memory is bounded by the selection and one batch."""
    pipeline = Pipeline(RelevanceScorer("alpha", optional=True), slicer)
    stream: Stream = pipeline._stream(budget, None, None)
    for start in range(0, len(items), slicer.batch_size):
        try:
            more = stream.take(items[start : start + slicer.batch_size])
        except CupelError:
            return
        held = len(stream._selected)
        assert len(stream._items) == len(stream._scores) == held
        assert set(stream._holders.values()) <= set(stream._selected)
        assert [*stream._duplicates, *stream._displaced, *stream._invalid] == []
        if not more:
            return
