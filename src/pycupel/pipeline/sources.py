"""Merge several sources of items: retrievers that return at different times, or not at all."""

from __future__ import annotations

from collections.abc import AsyncIterable, AsyncIterator, Awaitable, Iterable
from contextlib import suppress
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from pycupel.errors import InvalidArgumentError
from pycupel.model import ContextItem
from pycupel.model.checks import as_float, wrong_type
from pycupel.pipeline.stream import close, close_async

if TYPE_CHECKING:
    import asyncio

Source: TypeAlias = "AsyncIterable[ContextItem] | Iterable[ContextItem] | Awaitable[Iterable[ContextItem]]"

# How long sources may take to close after the timeout.
_GRACE_SECONDS = 0.1


def merge_sources(*sources: Source, timeout: float | None = None, source_timeout: float | None = None) -> MergedSources:
    """Merge several sources into one that yields each item as it arrives.

    A source that fails or is late does not stop the others; see `failed` and `late` of the result.

    Args:
        sources: Async iterables of items, plain iterables, or awaitables of plain iterables, such as retriever calls.
        timeout: How many seconds to wait for all sources together; None waits until all have ended. Closing the
            sources counts, too, but may always take a tenth of a second.
        source_timeout: How many seconds to wait for the next item of a source.

    Returns:
        An async iterable of items, for `Pipeline.run_stream` or `async for`. It can be iterated only once.
    """
    return MergedSources(sources, timeout, source_timeout)


class MergedSources:
    """Several sources as one async iterable. Made by `merge_sources`.

    Its lists have the caller's own objects, in the order of the arguments.
    """

    def __init__(self, sources: tuple[Source, ...], timeout: float | None, source_timeout: float | None) -> None:
        for i, source in enumerate(cast("tuple[Any, ...]", sources)):
            if isinstance(source, str | bytes) or not isinstance(source, AsyncIterable | Iterable | Awaitable):
                raise wrong_type(
                    f"sources[{i}]", "an async iterable of items, an iterable, or an awaitable of one", source
                )
        self._sources = sources
        self._timeout = _checked_seconds("timeout", timeout)
        self._source_timeout = _checked_seconds("source_timeout", source_timeout)
        self._is_started = False
        self._late: set[int] = set()
        self._errors: dict[int, BaseException] = {}

    @property
    def late(self) -> list[Source]:
        """The sources that timed out."""
        return [self._sources[i] for i in sorted(self._late)]

    @property
    def failed(self) -> list[Source]:
        """The sources that raised."""
        return [self._sources[i] for i in sorted(self._errors)]

    @property
    def errors(self) -> list[BaseException]:
        """The exception of each source in `failed`."""
        return [self._errors[i] for i in sorted(self._errors)]

    def __aiter__(self) -> AsyncIterator[ContextItem]:
        """Start all sources. They are closed when the iteration ends."""
        if self._is_started:
            raise RuntimeError("merged sources can be iterated only once; call merge_sources again")
        self._is_started = True
        # Do not keep the iterator: a caller that stops early drops it, which closes the sources.
        return self._merged()

    async def _merged(self) -> AsyncIterator[ContextItem]:
        import asyncio  # noqa: PLC0415 - it takes longer to load than pycupel, and its users have loaded it

        # At most one waiting item per source, so that a slow consumer slows the sources down.
        arrived: asyncio.Queue[ContextItem] = asyncio.Queue(max(1, len(self._sources)))
        tasks = {asyncio.ensure_future(self._read(i, arrived)): i for i in range(len(self._sources))}
        clock = asyncio.get_running_loop().time
        end = None if self._timeout is None else clock() + self._timeout
        running = set(tasks)
        try:
            while running or not arrived.empty():
                if not arrived.empty():
                    yield arrived.get_nowait()
                else:
                    item = asyncio.ensure_future(arrived.get())
                    remaining = None if end is None else max(0.0, end - clock())
                    try:
                        done, _ = await asyncio.wait(
                            {item, *running}, timeout=remaining, return_when=asyncio.FIRST_COMPLETED
                        )
                    finally:
                        if not item.done():
                            item.cancel()
                    running -= done
                    if item in done:
                        yield item.result()
                # A steady flow of items must not delay the timeout.
                if end is not None and clock() >= end:
                    self._late.update(tasks[task] for task in running if not task.done())
                    for waiting in [arrived.get_nowait() for _ in range(arrived.qsize())]:
                        yield waiting
                    break
        finally:
            for task in running:
                task.cancel()
            if running:
                remaining = None if end is None else max(_GRACE_SECONDS, end - clock())
                await asyncio.wait(running, timeout=remaining)

    async def _read(self, i: int, arrived: asyncio.Queue[ContextItem]) -> None:
        """Pass on the items of one source."""
        import asyncio  # noqa: PLC0415 - see above

        try:
            source: Any = self._sources[i]
            iterator = source.__aiter__() if hasattr(source, "__aiter__") else _iterate_plain(source)
            try:
                while True:
                    waiting = asyncio.timeout(self._source_timeout)
                    try:
                        async with waiting:
                            item = await iterator.__anext__()
                    except TimeoutError:
                        if not waiting.expired():
                            raise
                        self._late.add(i)
                        return
                    await arrived.put(item)
            finally:
                with suppress(Exception):
                    await close_async(iterator)
        except StopAsyncIteration:
            return
        except asyncio.CancelledError as error:
            if cast("asyncio.Task[None]", asyncio.current_task()).cancelling():
                raise
            # This task was not cancelled, so the source was: it has failed.
            self._errors[i] = error
        except Exception as error:  # noqa: BLE001 - one source must not end the others
            self._errors[i] = error


async def _iterate_plain(
    source: Iterable[ContextItem] | Awaitable[Iterable[ContextItem]],
) -> AsyncIterator[ContextItem]:
    iterator = iter((await source) if isinstance(source, Awaitable) else source)
    try:
        for item in iterator:
            yield item
    finally:
        close(iterator)


def _checked_seconds(name: str, value: Any) -> float | None:
    if value is None:
        return None
    seconds = as_float(name, value)
    if not seconds >= 0.0:
        raise InvalidArgumentError(f"{name} must be at least 0, not {seconds}", argument=name, value=value)
    return seconds
