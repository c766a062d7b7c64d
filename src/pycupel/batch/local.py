"""Process chunks in this process, or in a pool of processes."""

from __future__ import annotations

import os
import pickle
import signal
import sys
from collections.abc import Generator, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from contextlib import contextmanager
from itertools import islice
from multiprocessing import get_context

from pycupel.batch.chunks import Chunk, Job, Part, process
from pycupel.errors import InvalidArgumentError

__all__ = ["MAX_WORKERS", "available_workers", "check_sendable", "run_local"]

MAX_WORKERS = 61 if sys.platform == "win32" else 1_000
"""The maximum number of processes. Windows cannot wait for more; elsewhere, more would only fill the memory."""


def available_workers() -> int:
    """Return how many processors this process may use, at most `MAX_WORKERS`."""
    try:
        processors = len(os.sched_getaffinity(0))
    except AttributeError:  # pragma: no cover - not on Linux
        processors = os.cpu_count() or 1
    return min(processors, MAX_WORKERS)


def check_sendable(job: Job) -> None:
    """Check that the policies can be sent to other processes."""
    for name, policy in (("policy", job.policy), ("compare", job.other)):
        try:
            pickle.dumps(policy)
        except Exception as error:
            raise InvalidArgumentError(
                f"{name} cannot be sent to worker processes: {error}",
                argument=name,
                hint="Define its classes and functions at the top of a module, or pass workers=1.",
            ) from error


def run_local(chunks: Iterable[Chunk], job: Job, workers: int) -> Iterator[Part]:
    """Yield the parts as they are completed. At most two chunks for each worker are in memory."""
    if workers == 1:
        for chunk in chunks:
            yield process(chunk, job)
        return
    # Spawned processes inherit nothing, so they behave the same everywhere and are safe beside threads.
    pool = ProcessPoolExecutor(workers, get_context("spawn"), _end_on_interrupt)
    try:
        yield from _run_in(pool, iter(chunks), job, 2 * workers)
    except BaseException:
        # Such as Ctrl-C: do not wait for what the workers are still doing.
        pool.shutdown(wait=False, cancel_futures=True)
        raise
    pool.shutdown()


def _run_in(pool: ProcessPoolExecutor, chunks: Iterator[Chunk], job: Job, most: int) -> Iterator[Part]:
    """Yield the parts as they are completed, with this many chunks in the pool."""
    running: set[Future[Part]] = set()
    while True:
        for chunk in islice(chunks, most - len(running)):
            with _interrupts(held=True):
                running.add(pool.submit(_process, chunk, job))
        if not running:
            return
        done, running = wait(running, return_when=FIRST_COMPLETED)
        for future in done:
            yield future.result()


# Ctrl-C in a terminal goes to the workers, too. Each would print a traceback, though this process says what happened.
# An interrupt may end a worker only while it processes a chunk: this process would wait forever for the rest of a
# result that is half sent.


@contextmanager
def _interrupts(*, held: bool) -> Generator[None]:
    """Hold interrupts until the end of the block, or let them through in the block. A new process starts likewise."""
    if sys.platform == "win32":  # pragma: no cover - it cannot hold them
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK if held else signal.SIG_UNBLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _end_on_interrupt() -> None:
    """Make an interrupt end this worker silently, unless interrupts are ignored, as in a background job."""
    if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.SIG_DFL)


def _process(chunk: Chunk, job: Job) -> Part:
    with _interrupts(held=False):
        return process(chunk, job)
