"""Process chunks on a Dask cluster: a given one, or one on this machine."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any

from pycupel.batch.chunks import Chunk, ChunkResult, Job, process
from pycupel.extras import load_extra


def run_dask(chunks: Iterable[Chunk], job: Job, workers: int, scheduler: str | None) -> Iterator[ChunkResult]:
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
