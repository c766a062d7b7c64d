"""Select the context of many logged requests, on one machine or on Dask.

    from pycupel.batch import run_batch

    summary = run_batch(["requests.jsonl"], "rag", "selected")

| module    | contents                                                                |
|-----------|-------------------------------------------------------------------------|
| `request` | `select_request`: one request gives one row; counts over all rows       |
| `arrow`   | `select_batch`: the same over an Arrow record batch; Parquet files      |
| `chunks`  | input files in chunks, the work on one chunk, and a pool of processes   |
| `run`     | `run_batch`, with the pool or a Dask cluster; parts, manifest, resuming |
"""

from __future__ import annotations

from pycupel.lazy import load_when_used

__all__, __getattr__, __dir__ = load_when_used(__name__)
