"""Several sources as one."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest

from pycupel import ContextItem, Pipeline, ReflexiveScorer
from pycupel.errors import InvalidArgumentError
from pycupel.pipeline import merge_sources
from pycupel.pipeline.sources import MergedSources
from pycupel.slicers import StreamSlice
from tests import virtual_time


async def retriever(name: str, *delays: float, error: Exception | None = None) -> AsyncIterator[ContextItem]:
    for n, delay in enumerate(delays):
        await asyncio.sleep(delay)
        yield ContextItem(f"{name}{n}", 1)
    if error is not None:
        raise error


def collect(merged: MergedSources) -> list[str]:
    async def read() -> list[str]:
        return [item.content async for item in merged]

    return virtual_time.run(read())


def test_items_come_as_they_arrive() -> None:
    """Issue: merges retrievers as they answer."""
    merged = merge_sources(retriever("slow", 0.2, 0.2), retriever("fast", 0.0, 0.01, 0.01))
    assert collect(merged) == ["fast0", "fast1", "fast2", "slow0", "slow1"]
    assert (merged.late, merged.failed, merged.errors) == ([], [], [])


def test_coroutines_and_lists_are_sources() -> None:
    async def search() -> list[ContextItem]:
        await asyncio.sleep(0.01)
        return [ContextItem("found", 1)]

    assert collect(merge_sources(search(), [ContextItem("known", 1)])) == ["known", "found"]
    assert collect(merge_sources()) == []


def test_a_source_that_fails_does_not_end_the_others() -> None:
    """Issue: failed sources are in `.failed`, not raised."""
    error = ValueError("no index")
    broken, fine = retriever("broken", 0.0, error=error), retriever("fine", 0.02)

    async def refused() -> list[ContextItem]:
        raise OSError

    call = refused()
    merged = merge_sources(broken, fine, call)
    assert sorted(collect(merged)) == ["broken0", "fine0"]
    assert (merged.failed, merged.late) == ([broken, call], [])
    assert merged.errors[0] is error
    assert isinstance(merged.errors[1], OSError)


def test_late_sources_are_not_waited_for() -> None:
    """Issue: late sources are in `.late`."""
    closed: list[str] = []

    async def slow() -> AsyncIterator[ContextItem]:
        try:
            await asyncio.sleep(60)
            yield ContextItem("never", 1)
        finally:
            closed.append("yes")

    late = slow()
    merged = merge_sources(late, retriever("fast", 0.0), timeout=0.1)
    assert (collect(merged), merged.late, closed) == (["fast0"], [late], ["yes"])


async def endless_async() -> AsyncIterator[ContextItem]:
    while True:
        await asyncio.sleep(0)
        yield ContextItem("again", 1)


def endless_plain() -> Iterator[ContextItem]:
    while True:
        yield ContextItem("again", 1)


@pytest.mark.parametrize("endless", [endless_async, endless_plain])
def test_the_timeout_ends_sources_whose_items_keep_coming(endless: Any) -> None:
    source = endless()
    merged = merge_sources(source, [ContextItem("known", 1)], timeout=0.1)

    async def read() -> set[str]:
        return {item.content async for item in merged}

    found = virtual_time.run(asyncio.wait_for(read(), 60), step=0.01)
    assert (found, merged.late) == ({"again", "known"}, [source])


def test_what_has_arrived_when_the_time_is_over_is_passed_on() -> None:
    sources = [[ContextItem(name, 1)] for name in "abc"]
    merged = merge_sources(*sources, timeout=0.05)

    async def read_slowly() -> list[str]:
        found: list[str] = []
        async for item in merged:
            found.append(item.content)
            await asyncio.sleep(0.06)
        return found

    assert (virtual_time.run(read_slowly()), merged.late) == (["a", "b", "c"], [])


def test_a_source_that_is_cancelled_has_failed() -> None:
    """Issue: what fails is in `.failed`; a source that somebody else cancels is not late and has not ended."""

    async def search() -> list[ContextItem]:
        await asyncio.sleep(60)
        return []

    async def awaiting(task: asyncio.Task[Any]) -> AsyncIterator[ContextItem]:
        yield ContextItem("first", 1)
        await task

    async def read() -> None:
        task, inner = asyncio.ensure_future(search()), asyncio.ensure_future(search())
        source = awaiting(inner)
        merged = merge_sources(task, [ContextItem("known", 1)], source, source_timeout=30)
        task.cancel()
        inner.cancel()
        assert sorted([item.content async for item in merged]) == ["first", "known"]
        assert (merged.failed, merged.late) == ([task, source], [])
        assert all(isinstance(error, asyncio.CancelledError) for error in merged.errors)

    virtual_time.run(read())


def test_one_source_may_be_late_before_the_others() -> None:
    """`source_timeout` is about the next item of one source."""
    slow, steady = retriever("slow", 0.0, 60.0), retriever("steady", *[0.06] * 4)
    merged = merge_sources(slow, steady, source_timeout=0.2)
    assert collect(merged) == ["slow0", "steady0", "steady1", "steady2", "steady3"]
    assert (merged.late, merged.failed) == ([slow], [])


def test_a_timeout_of_the_sources_own_is_a_failure() -> None:
    async def own() -> AsyncIterator[ContextItem]:
        raise TimeoutError("the database")
        yield

    source = own()
    merged = merge_sources(source, source_timeout=5)
    assert (collect(merged), merged.late, merged.failed) == ([], [], [source])


def test_a_source_that_refuses_to_end_is_not_waited_for() -> None:
    async def stubborn() -> AsyncIterator[ContextItem]:
        for _ in range(2):
            try:
                await asyncio.sleep(0.3)
            except asyncio.CancelledError:
                continue
        yield ContextItem("never", 1)

    source = stubborn()
    merged = merge_sources(source, timeout=0.01)
    assert (collect(merged), merged.late) == ([], [source])


def test_a_full_budget_ends_all_sources() -> None:
    """Together with `run_stream`: nothing stays open."""
    closed: list[str] = []

    async def endless(name: str) -> AsyncIterator[ContextItem]:
        try:
            n = 0
            while True:
                await asyncio.sleep(0)
                n += 1
                yield ContextItem(f"{name}{n}", 1)
        finally:
            closed.append(name)

    merged = merge_sources(endless("a"), endless("b"))
    selected = virtual_time.run(Pipeline(ReflexiveScorer(), StreamSlice(4)).run_stream(merged, 8))
    assert (len(selected), sorted(closed), merged.late) == (8, ["a", "b"], [])


def test_a_full_budget_closes_plain_generators_and_waits_for_slow_ones() -> None:
    closed: list[str] = []

    def plain() -> Iterator[ContextItem]:
        try:
            yield from endless_plain()
        finally:
            closed.append("plain")

    async def slow(name: str) -> AsyncIterator[ContextItem]:
        try:
            async for item in endless_async():
                yield item
        finally:
            await asyncio.sleep(0.3)
            closed.append(name)

    async def found() -> Any:
        return awaited

    known, awaited = plain(), plain()
    pipeline = Pipeline(ReflexiveScorer(), StreamSlice(4), deduplication=False)
    virtual_time.run(pipeline.run_stream(merge_sources(known, slow("slow"), found()), 8))
    virtual_time.run(pipeline.run_stream(merge_sources(slow("in time"), timeout=20), 8))
    assert closed == ["plain", "plain", "slow", "in time"]


def test_a_slow_consumer_holds_the_sources_back() -> None:
    pulled: list[int] = []

    async def counting() -> AsyncIterator[ContextItem]:
        for n in range(100):
            pulled.append(n)
            yield ContextItem(f"{n}", 1)

    async def read_one() -> None:
        iterator = merge_sources(counting()).__aiter__()
        await iterator.__anext__()
        await asyncio.sleep(0.02)
        await iterator.aclose()  # type: ignore[attr-defined]

    virtual_time.run(read_one())
    assert len(pulled) <= 4


def test_leaving_the_loop_early_closes_the_sources() -> None:
    closed: list[str] = []

    async def ticker(name: str) -> AsyncIterator[ContextItem]:
        try:
            while True:
                await asyncio.sleep(0.001)
                yield ContextItem(name, 1)
        finally:
            closed.append(name)

    async def read() -> int:
        merged = merge_sources(ticker("a"), ticker("b"))
        async for _ in merged:
            break
        await asyncio.sleep(0.05)
        return len(asyncio.all_tasks())

    assert virtual_time.run(read()) == 1
    assert sorted(closed) == ["a", "b"]


def test_merged_sources_can_be_iterated_once() -> None:
    merged = merge_sources([ContextItem("a", 1)])
    assert collect(merged) == ["a"]
    with pytest.raises(RuntimeError, match="can be iterated only once; call merge_sources again"):
        collect(merged)


def test_wrong_arguments() -> None:
    anything: Any = merge_sources
    for wrong in (1, "text", b"bytes"):
        with pytest.raises(TypeError, match=r"sources\[1\] must be an async iterable of items"):
            anything([], wrong)
    for name in ("timeout", "source_timeout"):
        for value in (-1, float("nan")):
            with pytest.raises(InvalidArgumentError, match=f"^{name} must be at least 0, not {float(value)}$"):
                anything([], **{name: value})
        with pytest.raises(TypeError, match=name):
            anything([], **{name: "1"})
