"""Arrow record batches and Parquet files, with the real pyarrow."""

from __future__ import annotations

import json
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyarrow import parquet

from pycupel.batch import chunks, run_batch, select_batch, select_request
from pycupel.errors import DocumentError
from tests.batch.requests import content_of, request, write_log


def as_texts(asked: dict[str, Any]) -> dict[str, Any]:
    """A request as logs in tables have it: nested values as JSON."""
    return {
        "id": str(asked["id"]),
        "items": json.dumps(asked["items"]) if "items" in asked else None,
        "messages": json.dumps(asked["messages"]) if "messages" in asked else None,
        "budget": json.dumps(asked["budget"]),
        "query": asked.get("query"),
    }


def test_rows_equal_those_of_select_request() -> None:
    """Issue: `select_batch` is the same over an Arrow record batch."""
    asked = [request(n) for n in range(10)]
    rows = select_batch(pa.RecordBatch.from_pylist([as_texts(each) for each in asked]), "rag").to_pylist()
    assert rows == [{**select_request(each, "rag"), "id": str(each["id"])} for each in asked]


def test_lists_and_structs() -> None:
    """Items as columns have them: times, maps and nulls."""
    when = datetime(2026, 1, 5, 12, tzinfo=UTC)
    item = pa.struct(
        [
            ("content", pa.string()),
            ("tokens", pa.int64()),
            ("timestamp", pa.timestamp("us", tz="UTC")),
            ("metadata", pa.map_(pa.string(), pa.string())),
            ("tags", pa.list_(pa.string())),
            ("priority", pa.int64()),
        ]
    )
    items = [
        {"content": "old", "tokens": 10, "timestamp": when, "metadata": [("a", "b")], "tags": ["x"], "priority": None},
        {"content": "new", "tokens": 10, "timestamp": None, "metadata": [], "tags": [], "priority": 3},
    ]
    batch = pa.RecordBatch.from_arrays(
        [pa.array([7]), pa.array([items], pa.list_(item)), pa.array([15])], names=["id", "items", "budget"]
    )
    (row,) = select_batch(batch, "rag").to_pylist()
    plain = [
        {"content": "old", "tokens": 10, "timestamp": "2026-01-05T12:00:00Z", "metadata": {"a": "b"}, "tags": ["x"]},
        {"content": "new", "tokens": 10, "priority": 3},
    ]
    assert row == {**select_request({"items": plain, "budget": 15}, "rag"), "id": "7"}
    assert row["error"] is None


@pytest.mark.parametrize("system", ["Be brief.", "7", '"quoted"', [{"type": "text", "text": "Be brief."}]])
def test_tools_and_system_prompts_count_as_in_select_request(system: Any) -> None:
    """As JSON, and as structs, whose nulls Arrow has added; a system prompt that is text stays as it is."""
    tools = [
        {"name": "find", "description": "Finds.", "input_schema": {"type": "object"}},
        {"name": "stop", "input_schema": {"type": "object", "required": ["why"]}},
    ]
    asked = {**request(4), "budget": 900, "provider": "anthropic", "tools": tools, "system": system}
    expected = select_request(asked, "chat")
    assert expected["error"] is None
    texts = {name: value if isinstance(value, str) else json.dumps(value) for name, value in asked.items()}
    for batch in (pa.RecordBatch.from_pylist([asked]), pa.RecordBatch.from_pylist([texts])):
        assert select_batch(batch, "chat").to_pylist() == [expected]


def test_errors_are_rows() -> None:
    batch = pa.RecordBatch.from_pylist(
        [
            {"id": None, "items": "not json", "budget": "5"},
            {"id": "b", "items": json.dumps([{"content": "x", "tokens": 2**63}]), "budget": None},
            {"id": "c", "items": json.dumps([{"content": "x", "tokens": 2**63, "pinned": True}]), "budget": "9" * 30},
        ],
        schema=pa.schema([("id", pa.string()), ("items", pa.string()), ("budget", pa.string())]),
    )
    rows = select_batch(batch, "rag").to_pylist()
    assert [row["id"] for row in rows] == [None, "b", "c"]
    assert "items: must be an array" in rows[0]["error"]
    assert rows[1]["error"] == "DocumentError: budget: is missing"
    assert rows[2]["error"] == "OverflowError: tokens exceed 64 bits"


def test_parquet_in_parquet_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Issue: Parquet through the extra `batch`; JSON lines and Parquet give equal rows."""
    monkeypatch.setattr(chunks, "_REQUESTS", 8)
    log = tmp_path / "log.parquet"
    parquet.write_table(pa.Table.from_pylist([as_texts(request(n)) for n in range(20)]), log)
    told: list[float] = []
    summary = run_batch([log], "rag", tmp_path / "out", workers=1, progress=lambda _, share: told.append(share))
    assert (summary.requests, told) == (20, [0.4, 0.8, 1.0])
    rows = [row for n in range(3) for row in parquet.read_table(tmp_path / "out" / f"part-{n:06}.parquet").to_pylist()]
    assert rows == [{**select_request(request(n), "rag"), "id": str(request(n)["id"])} for n in range(20)]
    assert run_batch([log], "rag", tmp_path / "two", workers=2) == summary
    assert content_of(tmp_path / "two") == content_of(tmp_path / "out")


def test_a_mixed_input_has_lines_as_its_output(tmp_path: Path) -> None:
    log = tmp_path / "log.pq"
    parquet.write_table(pa.Table.from_pylist([as_texts(request(0))]), log)
    run_batch([log, write_log(tmp_path / "log.jsonl", 1)], "rag", tmp_path / "out", workers=1)
    first, second = (json.loads((tmp_path / "out" / f"part-00000{n}.jsonl").read_text()) for n in (0, 1))
    assert {**first, "id": 0} == second


def test_what_is_no_parquet_file_is_named(tmp_path: Path) -> None:
    """Issue: pyarrow's own error, without the name of the file, ended in a traceback."""
    log = tmp_path / "log.parquet"
    log.write_text("not a table\n", encoding="utf-8")
    with pytest.raises(DocumentError, match=r"log\.parquet: cannot be read as Parquet: Parquet magic bytes not found"):
        run_batch([log], "rag", tmp_path / "out", workers=1)


def test_any_type_may_be_an_id() -> None:
    """Issue: never a failed job."""
    ids = [datetime(2026, 1, 5, tzinfo=UTC), b"\x01", Decimal("1.5"), [date(2026, 1, 5)], 7, "seven"]
    for each, expected in zip(
        ids, ["2026-01-05 00:00:00+00:00", "b'\\x01'", "1.5", '["2026-01-05"]', "7", "seven"], strict=True
    ):
        batch = pa.RecordBatch.from_pylist([{"id": each, "items": "[]", "budget": "5"}])
        assert select_batch(batch, "rag").to_pylist()[0]["id"] == expected


@pytest.mark.parametrize("value", [None, 7, [{"budget": 10, "items": []}]])
def test_only_a_record_batch_is_selected_from(value: Any) -> None:
    with pytest.raises(TypeError, match=r"^record_batch must be a pyarrow.RecordBatch, not "):
        select_batch(value, "rag")


def test_a_table_is_as_good_as_a_record_batch() -> None:
    batch = pa.RecordBatch.from_pylist([{"id": "a", "budget": 10, "items": "[]"}])
    assert select_batch(pa.Table.from_batches([batch]), "rag") == select_batch(batch, "rag")
