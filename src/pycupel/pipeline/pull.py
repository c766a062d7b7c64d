"""Feed a stream from its source, batch by batch, and close the source whatever happens."""

from __future__ import annotations

from collections.abc import AsyncIterable, AsyncIterator, Iterable, Iterator
from contextlib import suppress
from itertools import islice
from sys import maxsize
from typing import Any

from pycupel.model import ContextItem
from pycupel.model.checks import checked_iterable, wrong_type
from pycupel.pipeline.selection import Selection
from pycupel.pipeline.stream import Stream

__all__ = ["close", "close_async", "pull", "pull_async"]


def pull(stream: Stream, source: Iterable[ContextItem]) -> Selection:
    """Feed the stream until it has enough, and close the source."""
    iterator: Iterator[ContextItem] | None = None
    # The largest number that islice accepts.
    size = min(stream.batch_size, maxsize)
    try:
        iterator = iter(checked_iterable("source", "an iterable of ContextItem", source))
        while (batch := list(islice(iterator, size))) and stream.take(batch):
            pass
        selection = stream.finish()
    except BaseException as error:
        stream.failed(error)
        with suppress(Exception):
            close(iterator)
        raise
    close(iterator)
    return selection


async def pull_async(stream: Stream, source: AsyncIterable[ContextItem]) -> Selection:
    """Feed the stream until it has enough, and close the source."""
    iterator: Any = None
    try:
        iterator = _iterate(source)
        while (batch := await _batch(iterator, stream.batch_size)) and stream.take(batch):
            pass
        selection = stream.finish()
    except BaseException as error:
        stream.failed(error)
        with suppress(Exception):
            await close_async(iterator)
        raise
    await close_async(iterator)
    return selection


def _iterate(source: Any) -> AsyncIterator[ContextItem]:
    if not isinstance(source, AsyncIterable):
        raise wrong_type("source", "an async iterable; run_stream_sync takes a plain one", source)
    return source.__aiter__()  # pyright: ignore[reportUnknownVariableType] - from outside


async def _batch(iterator: AsyncIterator[ContextItem], size: int) -> list[ContextItem]:
    batch: list[ContextItem] = []
    while len(batch) < size:
        try:
            batch.append(await iterator.__anext__())
        except StopAsyncIteration:
            break
    return batch


def close(iterator: Any) -> None:
    """Close an iterator, if it can be closed."""
    method = getattr(iterator, "close", None)
    if method is not None:
        method()


async def close_async(iterator: Any) -> None:
    """Close an async iterator, if it can be closed."""
    method = getattr(iterator, "aclose", None)
    if method is not None:
        await method()
