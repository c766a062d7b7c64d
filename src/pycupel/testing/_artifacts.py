"""Save the reports of a failing test as files."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from zlib import crc32

from pycupel.diagnostics import SelectionReport
from pycupel.wire import dumps

_LONGEST_NAME = 120


def save_reports(reports: Sequence[SelectionReport], directory: Path, node_id: str) -> list[str]:
    """Write each report in every format, and return a line for each file: its path, or why it was not written."""
    name = _file_name(node_id)
    stems = [name] if len(reports) == 1 else [f"{name}-{i}" for i in range(1, len(reports) + 1)]
    return [
        _save(directory / f"{stem}.{ending}", text)
        for stem, report in zip(stems, reports, strict=True)
        for ending, text in _formats(report)
    ]


def _formats(report: SelectionReport) -> Iterator[tuple[str, Callable[[], str]]]:
    yield "json", lambda: dumps(report, indent=2, allow_nan=True)
    yield "txt", report.to_text
    yield "html", report.to_html


def _save(path: Path, text: Callable[[], str]) -> str:
    # An error here must not hide the test's own failure.
    try:
        content = text()
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{content}\n", encoding="utf-8", errors="backslashreplace")
    except Exception as error:  # noqa: BLE001
        return f"{path.name} was not written: {error}"
    return str(path)


def _file_name(node_id: str) -> str:
    """Turn a node id into a file name. If characters are lost, a checksum distinguishes similar ids."""
    dotted = node_id.replace("::", ".").replace("/", ".").lstrip(".")
    name = re.sub(r"[^\w.\[\]-]", "_", dotted)[:_LONGEST_NAME]
    return name if name == dotted else f"{name}-{crc32(node_id.encode()):08x}"
