"""Select the context of many logged requests, on one machine or on Dask.

    from pycupel.batch import run_batch

    summary = run_batch(["requests.jsonl"], "rag", "selected")

| module    | contents                                                                |
|-----------|-------------------------------------------------------------------------|
| `request` | `select_request`: one request and a policy give one row                 |
| `arrow`   | `select_batch`: the same over an Arrow record batch; Parquet files      |
| `chunks`  | input files in chunks, the work on one chunk, and a pool of processes   |
| `tally`   | counts over all rows: utilization, reasons, the slowest, differences    |
| `output`  | parts with atomic renames, the manifest, resuming                       |
| `run`     | `run_batch`, with the pool or a Dask cluster                            |
"""

from __future__ import annotations

from pycupel.batch.arrow import select_batch
from pycupel.batch.request import select_request
from pycupel.batch.run import run_batch
from pycupel.batch.tally import BatchSummary, ItemDifference

__all__ = ["BatchSummary", "ItemDifference", "run_batch", "select_batch", "select_request"]
