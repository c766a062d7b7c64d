"""Arrow record batches and Parquet files, through pyarrow."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import datetime
from io import BytesIO
from pathlib import Path
from typing import Any

from pycupel.batch.request import RequestSelector, is_array
from pycupel.codecs.base import format_json, parse_json
from pycupel.errors import DocumentError
from pycupel.extras import load_extra
from pycupel.fields import MESSAGE_KEYS, is_mapping
from pycupel.model.checks import wrong_type
from pycupel.pipeline import Policy, PresetName

# Columns that may hold JSON text instead of lists and structs.
_NESTED = ("items", *MESSAGE_KEYS, "budget", "tools", "system", "toolConfig", "system_instruction")


def _pyarrow(module: str = "pyarrow") -> Any:
    return load_extra(module, extra="batch", package="pyarrow", purpose="reading and writing Arrow and Parquet")


def select_batch(record_batch: Any, policy: Policy | PresetName) -> Any:
    """Run `select_request` on an Arrow record batch: a row for each request, in the same order.

    Args:
        record_batch: A `pyarrow.RecordBatch` with the columns `id`, `budget`, and `items` or `messages`, perhaps
            `query`, `provider`, `model`, `system` and `tools`. Nested values may also be JSON strings.
        policy: A policy, a pipeline, or the name of a preset.

    Returns:
        A `pyarrow.RecordBatch` with the columns of a row. An `id` that is not a string is written as JSON.
    """
    selector = RequestSelector(policy)
    pa = _pyarrow()
    if not isinstance(record_batch, (pa.RecordBatch, pa.Table)):
        raise wrong_type("record_batch", "a pyarrow.RecordBatch", record_batch)
    return _to_batch([selector.row(request) for request in _to_requests(record_batch)])


def is_parquet(path: Path) -> bool:
    """Whether a file is a Parquet file, by its name."""
    return path.suffix.lower() in (".parquet", ".pq")


def read_pieces(path: Path, size: int) -> Iterator[tuple[int, bytes, float]]:
    """Read a Parquet file in pieces: each is an Arrow stream, with its first row and how much has been read."""
    pa, parquet = _pyarrow(), _pyarrow("pyarrow.parquet")
    try:
        with parquet.ParquetFile(path) as file:
            first, whole = 1, file.metadata.num_rows
            for batch in file.iter_batches(size):
                sink = BytesIO()
                with pa.ipc.new_stream(sink, batch.schema) as writer:
                    writer.write_batch(batch)
                yield first, sink.getvalue(), (first + batch.num_rows - 1) / whole
                first += batch.num_rows
    except pa.ArrowInvalid as error:
        raise DocumentError(f"{path}: cannot be read as Parquet: {error}") from None


def requests_in(payload: bytes) -> Iterator[dict[str, Any]]:
    """Return the requests in an Arrow stream."""
    with _pyarrow().ipc.open_stream(payload) as reader:
        for batch in reader:
            yield from _to_requests(batch)


def to_parquet(rows: list[dict[str, Any]]) -> bytes:
    """Write rows as a Parquet file."""
    pa, parquet = _pyarrow(), _pyarrow("pyarrow.parquet")
    sink = BytesIO()
    parquet.write_table(pa.Table.from_batches([_to_batch(rows)]), sink)
    return sink.getvalue()


def _to_batch(rows: list[dict[str, Any]]) -> Any:
    for row in rows:
        if row["id"] is not None and not isinstance(row["id"], str):
            row["id"] = format_json(row["id"])
    pa = _pyarrow()
    excluded = pa.struct([("index", pa.int64()), ("reason", pa.string())])
    columns = [
        ("id", pa.string()),
        ("selected", pa.list_(pa.int64())),
        ("excluded", pa.list_(excluded)),
        ("shortened", pa.list_(pa.int64())),
        ("tokens", pa.int64()),
        ("utilization", pa.float64()),
        ("policy_hash", pa.string()),
        ("counter", pa.string()),
        ("error", pa.string()),
    ]
    return pa.RecordBatch.from_pylist(rows, schema=pa.schema(columns))


def _to_requests(record_batch: Any) -> Iterator[dict[str, Any]]:
    """Turn the rows of a batch into requests. Null means absent."""
    names = record_batch.schema.names
    for row in range(record_batch.num_rows):
        values = {name: record_batch.column(i)[row].as_py(maps_as_pydicts="lossy") for i, name in enumerate(names)}
        yield {name: _plain(name, value) for name, value in values.items() if value is not None}


def _plain(name: str, value: Any) -> Any:
    """Convert a value to what it would be in JSON."""
    if name in _NESTED and isinstance(value, str):
        try:
            parsed = parse_json(value)
        except DocumentError:
            # The reader of requests reports it.
            return value
        # A system prompt is text unless it is a list of blocks: "12" is one, too.
        return parsed if name != "system" or is_array(parsed) or is_mapping(parsed) else value
    if name == "id" and not isinstance(value, (str, int, float)):
        # A time, a UUID or anything else: it is written in the row.
        return json.loads(json.dumps(value, default=str))
    return _without_types(value) if name in _NESTED else value


def _without_types(value: Any) -> Any:
    """Convert nested values: times become texts, and nulls are removed."""
    if isinstance(value, datetime):
        return value.isoformat()
    if is_mapping(value):
        return {key: _without_types(each) for key, each in value.items() if each is not None}
    if is_array(value):
        return [_without_types(each) for each in value]
    return value
