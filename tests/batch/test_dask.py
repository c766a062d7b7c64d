"""A Dask cluster gives the same output, also if a worker dies."""

from __future__ import annotations

import os
import signal
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from distributed import LocalCluster

from pycupel.batch import chunks, run_batch
from tests.batch.requests import content_of, write_log

CLUSTER: Any = LocalCluster


@pytest.fixture
def log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(chunks, "_REQUESTS", 20)
    return write_log(tmp_path / "log.jsonl", 600)


def test_a_cluster_of_its_own(log: Path, tmp_path: Path) -> None:
    """Issue: the same output from local and Dask runs."""
    run_batch([log], "rag", tmp_path / "dask", "dask", workers=1)
    run_batch([log], "rag", tmp_path / "local", workers=1)
    assert content_of(tmp_path / "dask") == content_of(tmp_path / "local")


@pytest.mark.posix
def test_workers_killed_in_the_middle(log: Path, tmp_path: Path) -> None:
    """Issue: a worker killed in the middle of a Dask job gives the exact same output, on a given cluster.

    All are killed, and restarted by the cluster, so that nothing may be kept only on one of them.
    """
    run_batch([log], "rag", tmp_path / "local", workers=1)
    with CLUSTER(n_workers=2, threads_per_worker=1, dashboard_address="127.0.0.1:0", host="127.0.0.1") as cluster:
        victims = [worker.process.pid for worker in cluster.workers.values()]
        out = tmp_path / "dask"

        def kill() -> None:
            while len(list(out.glob("part-*"))) < 3:
                time.sleep(0.005)
            for victim in victims:
                os.kill(victim, signal.SIGKILL)

        killer = threading.Thread(target=kill)
        killer.start()
        run_batch([log], "rag", out, "dask", scheduler=cluster.scheduler_address)
        killer.join()
    assert content_of(out) == content_of(tmp_path / "local")
