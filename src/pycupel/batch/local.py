"""Process chunks in this process, or in worker processes."""

from __future__ import annotations

import os
import signal
import sys
from collections import deque
from collections.abc import Generator, Iterable, Iterator
from contextlib import contextmanager, suppress
from itertools import islice
from multiprocessing import connection, get_context
from multiprocessing.reduction import ForkingPickler
from threading import Thread
from traceback import format_exc
from typing import Any

from pycupel.batch.chunks import Chunk, Job, Part, process
from pycupel.errors import CupelError, InvalidArgumentError

__all__ = ["MAX_WORKERS", "available_workers", "check_sendable", "run_local"]

MAX_WORKERS = 61 if sys.platform == "win32" else 1_000
"""The maximum number of processes. Windows cannot wait for more; elsewhere, more would only fill the memory."""

_READY = "ready"
_INTERRUPTS = {signal.SIGINT, signal.SIGTERM}


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
            ForkingPickler.dumps(policy)
        except Exception as error:
            raise InvalidArgumentError(
                f"{name} cannot be sent to worker processes: {error}",
                argument=name,
                hint="Define its classes and functions at the top of a module, or pass workers=1.",
            ) from error


def run_local(chunks: Iterable[Chunk], job: Job, workers: int) -> Iterator[Part]:
    """Yield the parts as they are completed.

    Raises:
        CupelError: a chunk ended two worker processes, or a worker could not start.
    """
    if workers == 1:
        for chunk in chunks:
            yield process(chunk, job)
        return
    pool = _Pool(job)
    try:
        yield from pool.run(iter(chunks), workers)
    finally:
        pool.end()


class _Pool:
    """Worker processes, each with a pipe of its own.

    A worker that dies, even while it sends a result, is an end of file on its pipe. So it is known which chunk is lost,
    and the other workers go on. With the one queue of `ProcessPoolExecutor`, all of them would end, or none ever.
    """

    def __init__(self, job: Job) -> None:
        self._job = job
        # Spawned processes inherit nothing, so they behave the same everywhere and are safe beside threads.
        self._context = get_context("spawn")
        # Nothing is ever sent through it. It closes when this process ends, even if it is killed.
        self._watched, self._life = self._context.Pipe(duplex=False)
        self._processes: list[Any] = []
        # The workers that have something to do, and what: None while they start.
        self._busy: dict[Any, Chunk | None] = {}
        self._lost: set[int] = set()

    def run(self, chunks: Iterator[Chunk], workers: int) -> Iterator[Part]:
        """Yield the parts as they are completed, and end the workers when they have nothing left to do."""
        # A worker takes a while to start. Until then, the first chunks wait here.
        waiting = deque(islice(chunks, workers))
        for _ in range(len(waiting)):
            self._start()
        while self._busy:
            for pipe in connection.wait([*self._busy]):
                done = self._received(pipe, waiting)
                if done is not None:
                    # The worker gets its next chunk first: it need not wait until the part is written.
                    self._send(pipe, waiting.popleft() if waiting else next(chunks, None))
                if isinstance(done, Part):
                    yield done
        for each in self._processes:
            each.join()

    def _start(self) -> None:
        ours, theirs = self._context.Pipe()
        worker = self._context.Process(target=_serve, args=(theirs, self._watched, self._job))
        with _interrupts_held():
            worker.start()
            self._processes.append(worker)
        theirs.close()
        self._busy[ours] = None

    def _send(self, pipe: Any, chunk: Chunk | None) -> None:
        """Give a worker a chunk; or, if there is none, tell it to end."""
        # If it has been killed in the meantime, receiving its result fails.
        with suppress(OSError):
            pipe.send(chunk)
        if chunk is None:
            pipe.close()
        else:
            self._busy[pipe] = chunk

    def _received(self, pipe: Any, waiting: deque[Chunk]) -> Part | str | None:
        """Return a part, or that a worker is ready; None if it is dead, and has been replaced."""
        chunk = self._busy.pop(pipe)
        try:
            result = pipe.recv()
        except (EOFError, OSError):
            pipe.close()
            waiting.appendleft(self._replaced(chunk))
            return None
        if isinstance(result, Exception):
            raise result
        done: Part | str = result
        return done

    def _replaced(self, chunk: Chunk | None) -> Chunk:
        """Start another worker for a chunk. One that ends a second worker would end a third one, too."""
        if chunk is None:
            raise _with_hint(
                "a worker process ended before it was ready",
                "Call run_batch below `if __name__ == '__main__':`, or pass workers=1.",
            )
        if chunk.number in self._lost:
            raise _with_hint(
                f"two worker processes ended while they processed {chunk.source}, from "
                f"{'row' if chunk.is_arrow else 'line'} {chunk.first} on",
                "Perhaps the memory was full, or a strategy ended the process. The finished parts are kept: resume the "
                "job with fewer workers; with one, an error names its cause.",
            )
        self._lost.add(chunk.number)
        self._start()
        return chunk

    def end(self) -> None:
        """End all workers, whatever they do: after an error or Ctrl-C, nobody waits for them."""
        for pipe in self._busy:
            pipe.close()
        for each in self._processes:
            each.kill()
            each.join()
        self._life.close()
        self._watched.close()


def _with_hint(message: str, hint: str) -> CupelError:
    error = CupelError(message)
    error.add_note(hint)
    return error


@contextmanager
def _interrupts_held() -> Generator[None]:
    """Hold interrupts until the end of the block. A process that starts in it does not get any until it is ready."""
    if sys.platform == "win32":  # pragma: no cover - it cannot hold them
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, _INTERRUPTS)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _serve(pipe: Any, watched: Any, job: Job) -> None:
    """Process chunks until there are no more. This is what a worker does."""
    # Ctrl-C in a terminal goes to the workers, too. They leave it to the process that ends them and says what happened.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if sys.platform != "win32":  # pragma: no branch
        signal.pthread_sigmask(signal.SIG_UNBLOCK, _INTERRUPTS)
    Thread(target=_end_with, args=(watched,), daemon=True).start()
    # Without the other process, there is nobody to read a result.
    with suppress(EOFError, OSError):
        pipe.send(_READY)
        while (chunk := pipe.recv()) is not None:
            pipe.send(_result(chunk, job))


def _result(chunk: Chunk, job: Job) -> Part | Exception:
    try:
        return process(chunk, job)
    except Exception as error:  # noqa: BLE001 - raised again in the other process
        if not isinstance(error, CupelError):
            error.add_note(f"In a worker process:\n{format_exc()}")
        return error


def _end_with(watched: Any) -> None:
    """End this process with the one that started it, in the middle of a chunk if need be."""
    with suppress(EOFError, OSError):
        watched.recv()
    os._exit(1)
