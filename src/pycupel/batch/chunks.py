"""Divide the input of a batch into chunks, and run them on the processors of this machine."""

from __future__ import annotations

import json
import os
import signal
import sys
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import cache, partial
from io import BytesIO
from itertools import islice
from multiprocessing import connection, get_context, resource_tracker
from multiprocessing.reduction import ForkingPickler
from pathlib import Path
from threading import Thread
from time import perf_counter
from traceback import format_exc
from typing import Any, NamedTuple

from pycupel.batch import arrow
from pycupel.batch.request import RequestSelector, Tally, messages_of
from pycupel.codecs.base import parse_json
from pycupel.codecs.json_values import decompressed, errors_naming, limited_lines
from pycupel.errors import CupelError, DocumentError, InvalidArgumentError
from pycupel.pipeline import Policy

# A chunk is a part of the output: small enough that losing one costs little, large enough to be worth a file.
_REQUESTS = 500
_BYTES = 2 * 1024 * 1024
# Lines have thousands of bytes, so few would fit into the default buffer.
_BUFFER = 64 * 1024
_LABEL = 80
# Integers with fewer digits fit into 64 bits in every reader.
_TO_ZEROS = bytes.maketrans(b"123456789", b"000000000")
_LONG_NUMBER, _FOUR_DIGITS = b"0" * 19, b"0" * 4


class Chunk(NamedTuple):
    """Some requests of an input file."""

    number: int  # Which chunk of the whole input it is, from 0.
    source: str  # The name of the file.
    first: int  # The line number of the first request, or its row in a Parquet file.
    payload: bytes  # JSON lines, or an Arrow stream.
    is_arrow: bool
    share: float  # How much of the whole input has been read up to its end, from 0 to 1.


class Job(NamedTuple):
    """What to do with each chunk."""

    policy: Policy
    other: Policy | None  # A second policy to compare with.
    to_parquet: bool  # Whether parts are Parquet files instead of JSON lines.


class ChunkResult(NamedTuple):
    """The result of a chunk: a part of the output."""

    number: int  # That of the chunk.
    payload: bytes  # The rows, as they are written.
    tally: Tally  # The counts over the rows.


def read_chunks(inputs: Sequence[Path], max_line: int) -> Iterator[Chunk]:
    """Read the requests of all files, in order."""
    sizes = [path.stat().st_size for path in inputs]
    whole = sum(sizes) or 1
    before = number = 0
    for path, size in zip(inputs, sizes, strict=True):
        is_arrow = arrow.is_parquet(path)
        pieces = arrow.read_pieces(path, _REQUESTS) if is_arrow else _lines(path, max_line)
        for first, payload, share in pieces:
            yield Chunk(number, path.name, first, payload, is_arrow, (before + share * size) / whole)
            number += 1
        before += size


def _lines(path: Path, max_line: int) -> Iterator[tuple[int, bytes, float]]:
    """Read a file of JSON lines in pieces: each has the number of its first line, and how much has been read."""
    whole = path.stat().st_size or 1
    first = 1
    with path.open("rb", _BUFFER) as file, decompressed(file, str(path)) as lines, errors_naming(str(path)):
        while True:
            size = 0
            held: list[bytes] = []
            for line in islice(limited_lines(lines, max_line, first), _REQUESTS):
                held.append(line)
                size += len(line)
                if size >= _BYTES:
                    break
            if not held:
                return
            # The file may have grown since.
            yield first, b"".join(held), min(1.0, file.tell() / whole)
            first += len(held)


def process(chunk: Chunk, job: Job) -> ChunkResult:
    """Select every request of a chunk."""
    tally = Tally()
    if job.to_parquet:
        payload = arrow.to_parquet([*_rows(chunk, job, tally)])
    else:
        # A row is made here and cannot contain itself.
        encode = json.JSONEncoder(separators=(",", ":"), check_circular=False).encode
        payload = "".join([encode(row) + "\n" for row in _rows(chunk, job, tally)]).encode("ascii")
    # Adding it to an empty tally finds the slowest requests of the chunk.
    counted = Tally()
    counted.add(tally)
    return ChunkResult(chunk.number, payload, counted)


def _rows(chunk: Chunk, job: Job, tally: Tally) -> Iterator[dict[str, Any]]:
    """Make and count the row of each request, one by one, because many rows slow the garbage collector down."""
    selector = RequestSelector(job.policy)
    other = None if job.other is None else RequestSelector(job.other)
    for location, request in _requests(chunk):
        start = perf_counter()
        row = selector.row(request)
        tally.add_row(row, perf_counter() - start, location)
        if other is not None:
            tally.add_difference(row, other.row(request), partial(_label, request))
        yield row


def _requests(chunk: Chunk) -> Iterator[tuple[str, Any]]:
    """Return the requests, each after its location, and errors for lines that are not JSON."""
    if chunk.is_arrow:
        for number, request in enumerate(arrow.requests_in(chunk.payload), chunk.first):
            yield f"{chunk.source}, row {number}", request
        return
    loads = fastest_loads()
    may_be_long = loads is not json.loads and _has_long_number(chunk.payload)
    for number, line in enumerate(BytesIO(chunk.payload), chunk.first):
        if line.isspace():
            continue
        location = f"{chunk.source}, line {number}"
        try:
            request = json.loads(line) if may_be_long and _has_long_number(line) else loads(line)
        except (ValueError, RecursionError):
            request = _read_again(line, location)
        yield location, request


def _has_long_number(text: bytes) -> bool:
    """Whether a text has so many digits in a row that orjson may read a float instead of an int.

    In such a run, looking at every fourth byte finds four digits in a row. Times have none, so most texts pass quickly.
    """
    return _FOUR_DIGITS in text[::4].translate(_TO_ZEROS) and _LONG_NUMBER in text.translate(_TO_ZEROS)


def _read_again(line: bytes, location: str) -> Any:
    """Read with the standard library, which accepts more than orjson; if it does not, return the error."""
    with suppress(ValueError, RecursionError):
        return json.loads(line)
    try:
        # With its end, the error of a truncated line would be on the next one.
        return parse_json(line.rstrip())
    except DocumentError as error:
        return DocumentError(str(error), path=location)


@cache
def fastest_loads() -> Callable[[bytes], Any]:
    """Return the fastest JSON reader installed: that of orjson, or of the standard library."""
    try:
        from orjson import loads  # noqa: PLC0415
    except ModuleNotFoundError:
        return json.loads
    fastest: Callable[[bytes], Any] = loads
    return fastest


def _label(request: Any, i: int) -> str:
    """Return the beginning of an item's content, or of a message."""
    if request.get("items") is not None:
        return str(request["items"][i]["content"])[:_LABEL]
    return json.dumps(messages_of(request)[i], default=str, ensure_ascii=False)[:_LABEL]


# Process chunks in this process, or in worker processes.


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


def run_local(chunks: Iterable[Chunk], job: Job, workers: int) -> Generator[ChunkResult]:
    """Yield the parts as they are completed."""
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

    def run(self, chunks: Iterator[Chunk], workers: int) -> Iterator[ChunkResult]:
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
                if isinstance(done, ChunkResult):
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

    def _received(self, pipe: Any, waiting: deque[Chunk]) -> ChunkResult | str | None:
        """Return a part, or that a worker is ready; None if it is dead, and has been replaced."""
        chunk = self._busy.pop(pipe)
        try:
            result = pipe.recv()
        except (EOFError, OSError):
            pipe.close()
            if chunk is None:
                hint = "Call run_batch below `if __name__ == '__main__':`, or pass workers=1."
                raise _with_hint("a worker process ended before it was ready", hint) from None
            # A chunk that ends a second worker would end a third one, too.
            if chunk.number in self._lost:
                raise _with_hint(
                    f"two worker processes ended while they processed {chunk.source}, from "
                    f"{'row' if chunk.is_arrow else 'line'} {chunk.first} on",
                    "Perhaps the memory was full, or a strategy ended the process. The finished parts are kept: "
                    "resume the job with fewer workers; with one, an error names its cause.",
                ) from None
            self._lost.add(chunk.number)
            self._start()
            waiting.appendleft(chunk)
            return None
        if isinstance(result, Exception):
            raise result
        done: ChunkResult | str = result
        return done

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
    # The first process starts it otherwise, and it lets interrupts through again: this worker would get them.
    resource_tracker.ensure_running()
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
            result: ChunkResult | Exception
            try:
                result = process(chunk, job)
            except Exception as error:  # noqa: BLE001 - raised again in the other process
                if not isinstance(error, CupelError):
                    error.add_note(f"In a worker process:\n{format_exc()}")
                result = error
            pipe.send(result)


def _end_with(watched: Any) -> None:
    """End this process with the one that started it, in the middle of a chunk if need be."""
    with suppress(EOFError, OSError):
        watched.recv()
    os._exit(1)
