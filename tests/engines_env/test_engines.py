"""The same rows from local, Dask, Spark and Ray runs on 20,000 requests; and DuckDB over the results.

`make test-engines` runs this, where the engines are. The recipes are those in `docs/many-requests.md`.
"""

from __future__ import annotations

import json
import re
import sys
from hashlib import sha256
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyarrow import parquet

from pycupel.batch import run_batch
from pycupel.pipeline import PresetName
from tests.batch.requests import request

REQUESTS = 20_000
POLICY: PresetName = "rag"
PAGE = Path(__file__).parents[2] / "docs" / "many-requests.md"


def recipe(word: str, **names: Any) -> dict[str, Any]:
    """The names that the page's recipe with this word defines, when it runs with these."""
    blocks = re.findall(r"^```py\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    found = {"__name__": "__main__", **names}
    exec(next(block for block in blocks if word in block), found)  # noqa: S102 - our own page
    return found


def checksum(rows: list[dict[str, Any]]) -> str:
    """Over rows sorted by id."""
    assert len(rows) == REQUESTS
    lines = [json.dumps(row, sort_keys=True) for row in sorted(rows, key=lambda row: str(row["id"]))]
    return sha256("\n".join(lines).encode()).hexdigest()


@pytest.fixture(scope="session")
def log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A Parquet file. One request is poisoned."""
    rows: list[dict[str, Any]] = []
    for n in range(REQUESTS):
        asked = request(n)
        rows.append(
            {
                "id": str(asked["id"]),
                "items": json.dumps(asked["items"]) if "items" in asked else None,
                "messages": json.dumps(asked["messages"]) if "messages" in asked else None,
                "budget": json.dumps(asked["budget"]) if n != 1234 else "-1",
                "query": asked.get("query"),
            }
        )
    path = tmp_path_factory.mktemp("log") / "requests.parquet"
    parquet.write_table(pa.Table.from_pylist(rows), path, row_group_size=2000)
    return path


@pytest.fixture(scope="session")
def local(log: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The output of a local run."""
    out = tmp_path_factory.mktemp("local") / "selected"
    summary = run_batch([log], POLICY, out, workers=2)
    assert (summary.requests, summary.errors) == (REQUESTS, 1)
    return out


@pytest.fixture(scope="session")
def expected(local: Path) -> str:
    """The checksum of the local run."""
    return checksum(rows_of(local))


def rows_of(out: Path) -> list[dict[str, Any]]:
    return [row for part in sorted(out.glob("part-*.parquet")) for row in parquet.read_table(part).to_pylist()]


def test_dask(log: Path, expected: str, tmp_path: Path) -> None:
    run_batch([log], POLICY, tmp_path / "out", engine="dask", workers=2)
    assert checksum(rows_of(tmp_path / "out")) == expected


def test_spark(log: Path, expected: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from pyspark.sql import SparkSession  # noqa: PLC0415

    # Its workers are started as python3, which need not be this one.
    monkeypatch.setenv("PYSPARK_PYTHON", sys.executable)
    monkeypatch.chdir(log.parent)
    spark = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false").getOrCreate()
    try:
        rows = [row.asDict(recursive=True) for row in recipe("mapInArrow", spark=spark)["rows"].collect()]
    finally:
        spark.stop()
    assert checksum(rows) == expected


def test_ray(log: Path, expected: str, monkeypatch: pytest.MonkeyPatch) -> None:
    import ray  # noqa: PLC0415

    monkeypatch.chdir(log.parent)
    ray.init(num_cpus=2, include_dashboard=False, configure_logging=False)
    try:
        rows = recipe("map_batches")["rows"].take_all()
    finally:
        ray.shutdown()
    assert checksum([_plain(row) for row in rows]) == expected


def _plain(row: dict[str, Any]) -> dict[str, Any]:
    """Ray may give arrays where a list was written."""
    return {key: value.tolist() if hasattr(value, "tolist") else value for key, value in row.items()}


def test_duckdb_reads_the_output(local: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(local.parent)
    manifest = json.loads((local / "manifest.json").read_text())
    assert dict(recipe("duckdb")["reasons"].fetchall()) == manifest["summary"]["reasons"]
