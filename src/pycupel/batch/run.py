"""`run_batch`: files of requests in, a directory of rows out."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Literal

from pycupel.batch.arrow import is_parquet
from pycupel.batch.chunks import Chunk, Job, Part, read_chunks
from pycupel.batch.output import Output
from pycupel.batch.tally import BatchSummary, Tally
from pycupel.errors import InvalidArgumentError
from pycupel.model.checks import checked_name, checked_positive
from pycupel.pipeline import Policy, PresetName
from pycupel.pipeline.policy import as_policy

__all__ = ["EngineName", "run_batch"]

EngineName = Literal["local", "dask"]


def run_batch(
    inputs: Iterable[str | os.PathLike[str]],
    policy: Policy | PresetName,
    output: str | os.PathLike[str],
    engine: EngineName = "local",
    workers: int | None = None,
    *,
    scheduler: str | None = None,
    resume: bool = False,
    compare: Policy | PresetName | None = None,
    progress: Callable[[int, float], object] | None = None,
) -> BatchSummary:
    """Select the context of every logged request in some files.

    The output is a directory with parts, whose rows are those of `select_request` in input order, and a manifest. It
    holds no times, and it is the same for every engine and number of workers, byte for byte.

    Args:
        inputs: Files of JSON lines, one request a line, or Parquet files.
        policy: A policy, a pipeline, or the name of a preset.
        output: A directory, which is made. Its parts are Parquet files if all inputs are, else JSON lines.
        engine: "local" for processes on this machine, "dask" for a Dask cluster.
        workers: How many processes; as many as there are processors, unless given. One works in this process.
        scheduler: The address of a Dask scheduler; a cluster on this machine, unless given.
        resume: Go on with an output that was not completed, without repeating a request.
        compare: A second policy; the summary tells what it would select differently.
        progress: Called with the number of requests that are done, and how much of the input that is, from 0 to 1.

    Returns:
        The figures of the whole output.

    Raises:
        InvalidArgumentError: there are no inputs, the output is not empty or of another job, or an option is unknown.
        OSError: a file cannot be read or written.
        MissingExtraError: pyarrow or Dask is needed and not installed.
    """
    paths = [Path(each) for each in inputs]
    if not paths:
        raise InvalidArgumentError("inputs must name at least one file", argument="inputs")
    job = Job(
        as_policy(policy), None if compare is None else as_policy(compare, "compare"), all(map(is_parquet, paths))
    )
    out = Output(Path(output), paths, job)
    run = _engine(engine, scheduler, workers)
    done = out.open(resume=resume)
    whole = Tally()
    for tally in done.values():
        whole.add(tally)
    numbers: set[int] = set()
    for part in run((chunk for chunk in _counted(read_chunks(paths), numbers) if chunk.number not in done), job):
        out.write(part)
        whole.add(part.tally)
        if progress is not None:
            progress(whole.counts["requests"], part.share)
    summary = out.counted(len(numbers), whole.slowest).summary()
    out.finish(len(numbers), summary)
    return summary


def _counted(chunks: Iterable[Chunk], numbers: set[int]) -> Iterator[Chunk]:
    for chunk in chunks:
        numbers.add(chunk.number)
        yield chunk


def _engine(name: str, scheduler: str | None, workers: int | None) -> Callable[[Iterable[Chunk], Job], Iterator[Part]]:
    """The engine of that name, ready to run."""
    chosen = checked_name("engine", name, ("local", "dask"), InvalidArgumentError)
    from pycupel.batch.local import available_workers, run_local  # noqa: PLC0415 - processes are loaded when needed

    count = available_workers() if workers is None else checked_positive("workers", workers, InvalidArgumentError)
    if chosen == "local":
        if scheduler is not None:
            raise InvalidArgumentError("scheduler is for the engine dask only", argument="scheduler")
        return lambda chunks, job: run_local(chunks, job, count)
    from pycupel.batch.dask import run_dask  # noqa: PLC0415

    return lambda chunks, job: run_dask(chunks, job, count, scheduler)
