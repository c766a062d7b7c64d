"""`run_batch`: read files of requests, and write a directory of rows."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Generator, Iterable, Iterator, Mapping
from contextlib import closing
from itertools import islice
from pathlib import Path
from typing import Any, Literal

from pycupel.batch.arrow import is_parquet
from pycupel.batch.chunks import (
    MAX_WORKERS,
    Chunk,
    ChunkResult,
    Job,
    available_workers,
    check_sendable,
    process,
    read_chunks,
    run_local,
)
from pycupel.batch.output import Output
from pycupel.batch.tally import BatchSummary, Tally
from pycupel.codecs.json_values import MAX_LINE
from pycupel.errors import InvalidArgumentError
from pycupel.extras import load_extra
from pycupel.model.checks import (
    checked_bool,
    checked_callable,
    checked_iterable,
    checked_name,
    checked_path,
    checked_positive,
)
from pycupel.pipeline import Policy, PresetName
from pycupel.pipeline.policy import as_policy
from pycupel.text import number_text

EngineName = Literal["local", "dask"]


def run_batch(
    inputs: Iterable[str | os.PathLike[str]],
    policy: Policy | PresetName,
    output: str | os.PathLike[str],
    engine: EngineName = "local",
    workers: int | None = None,
    resume: bool = False,  # noqa: FBT001, FBT002 - as documented, by position, too
    *,
    scheduler: str | None = None,
    compare: Policy | PresetName | None = None,
    progress: Callable[[int, float], object] | None = None,
    max_line: int = MAX_LINE,
) -> BatchSummary:
    """Select the context of every logged request in some files.

    The output is a directory with a manifest and parts, whose rows are those of `select_request` in input order. It
    contains no times, and is the same for every engine and number of workers, byte for byte.

    Args:
        inputs: Files of JSON lines, one request per line, which may be compressed (.gz, .bz2, .xz), or Parquet files.
        policy: A policy, a pipeline, or the name of a preset.
        output: The output directory, created if missing. Its parts are Parquet files if all inputs are, otherwise
            JSON lines.
        engine: "local" for processes on this machine, "dask" for a Dask cluster.
        workers: The number of processes, at most 1,000; by default one per processor. With 1, everything runs in this
            process.
        resume: Whether to continue an interrupted job, without repeating a request.
        scheduler: The address of a Dask scheduler; by default, a cluster is started on this machine.
        compare: A second policy; the summary says what it would select differently.
        progress: Called with the number of requests done, and how much of the input that is, from 0 to 1.
            Neither ever goes back. After `resume`, a first call has the requests that were done before, and 0.
        max_line: The most bytes of a line in a file of JSON lines, decompressed.

    Raises:
        InvalidArgumentError: there are no inputs, an option is unknown, the output has files, is another job's or is
            being written by another process, or the policy cannot be sent to other processes.
        DocumentError: a compressed or Parquet file or a tally is damaged, or a line is too long.
        CupelError: a chunk ended two worker processes, or a worker could not start. Finished parts are kept.
    """
    paths = [
        Path(checked_path(f"inputs[{i}]", each))
        for i, each in enumerate(checked_iterable("inputs", "an iterable of paths", inputs))
    ]
    if not paths:
        raise InvalidArgumentError("inputs must contain at least one path", argument="inputs")
    job = Job(
        as_policy(policy), None if compare is None else as_policy(compare, "compare"), all(map(is_parquet, paths))
    )
    checked_bool("resume", resume)
    longest = checked_positive("max_line", max_line, InvalidArgumentError)
    if progress is not None:
        checked_callable("progress", "a function that takes two numbers", progress)
    out = Output(Path(checked_path("output", output)), paths, job)
    run = _engine(engine, scheduler, workers, job)
    with out.locked():
        return _write_rows(out, out.open(resume=resume), run, read_chunks(paths, longest), progress)


def _write_rows(
    out: Output,
    done: Mapping[int, Tally],
    run: Callable[[Iterable[Chunk]], Generator[ChunkResult]],
    chunks: Iterable[Chunk],
    progress: Callable[[int, float], object] | None,
) -> BatchSummary:
    whole = Tally()
    for tally in done.values():
        whole.add(tally)

    def tell(share: float) -> None:
        if progress is not None:
            progress(whole.counts["requests"], share)

    remaining = _Remaining(chunks, done, tell)
    # However this ends, workers end with it.
    with closing(run(remaining)) as results:
        for part in results:
            out.write(part)
            whole.add(part.tally)
            remaining.finish(part.number)
    summary = out.counted(remaining.parts, whole.slowest).summary()
    out.finish(remaining.parts, summary)
    return summary


class _Remaining:
    """The chunks that are still to do, and how much of the input is done.

    Parts are done in any order, so progress is what has been read, without the pending chunks.
    """

    def __init__(self, chunks: Iterable[Chunk], done: Collection[int], tell: Callable[[float], object]) -> None:
        self._chunks, self._done, self._tell = chunks, done, tell
        self._read = self._share = 0.0
        self._pending: dict[int, float] = {}
        self.parts = 0

    def __iter__(self) -> Iterator[Chunk]:
        if self._done:
            self._tell(0.0)
        for chunk in self._chunks:
            self.parts += 1
            size, self._read = chunk.share - self._read, chunk.share
            if chunk.number in self._done:
                self._progressed()
            else:
                self._pending[chunk.number] = size
                yield chunk

    def finish(self, number: int) -> None:
        """Mark a part as done."""
        del self._pending[number]
        self._progressed()

    def _progressed(self) -> None:
        # Sums of floats differ slightly from call to call, but progress must not go back.
        self._share = max(self._share, self._read - sum(self._pending.values()))
        self._tell(self._share)


def _engine(
    name: str, scheduler: str | None, workers: int | None, job: Job
) -> Callable[[Iterable[Chunk]], Generator[ChunkResult]]:
    """Return the engine of that name, ready to run the job."""
    chosen = checked_name("engine", name, ("local", "dask"), InvalidArgumentError)
    count = available_workers() if workers is None else checked_positive("workers", workers, InvalidArgumentError)
    if count > MAX_WORKERS:
        raise InvalidArgumentError(
            f"workers must be at most {MAX_WORKERS:,}, not {number_text(count)}", argument="workers", value=count
        )
    if chosen == "local":
        if scheduler is not None:
            raise InvalidArgumentError('scheduler requires engine="dask"', argument="scheduler")
        if count > 1:
            check_sendable(job)
        return lambda chunks: run_local(chunks, job, count)
    return lambda chunks: run_dask(chunks, job, count, scheduler)


def run_dask(chunks: Iterable[Chunk], job: Job, workers: int, scheduler: str | None) -> Generator[ChunkResult]:
    """Yield the parts as they are completed. If a worker dies, another one gets its chunk."""
    distributed = load_extra("distributed", extra="dask", package="dask[distributed]", purpose="the engine dask")
    cluster: Any = None
    if scheduler is None:
        # Use any free port for the dashboard: the default may be taken by another cluster.
        cluster = distributed.LocalCluster(
            n_workers=workers, threads_per_worker=1, dashboard_address="127.0.0.1:0", host="127.0.0.1"
        )
    client = distributed.Client(scheduler if cluster is None else cluster)
    try:
        remaining = iter(chunks)
        most = 2 * max(workers, len(client.scheduler_info()["workers"]))
        # Dask runs equal tasks once, but each of several equal chunks needs its own part.
        running = distributed.as_completed(_submitted(client, islice(remaining, most), job))
        for future in running:
            part: ChunkResult = future.result()
            running.update(_submitted(client, islice(remaining, 1), job))
            yield part
    finally:
        client.close()
        if cluster is not None:
            cluster.close()


def _submitted(client: Any, chunks: Iterable[Chunk], job: Job) -> list[Any]:
    # The job is part of each task: scattered data would be lost with the worker that holds it.
    return [client.submit(process, chunk, job, pure=False) for chunk in chunks]
