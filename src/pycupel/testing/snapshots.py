"""Snapshots of selections: JSON files to compare reports with.

A snapshot is a report in the wire format without its events, which contain measured times (TV-12). `pycupel.wire.loads`
reads it.
"""

from __future__ import annotations

import os
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from difflib import unified_diff
from itertools import chain, zip_longest
from pathlib import Path
from typing import Any, TypeAlias
from zlib import crc32

from pycupel.codecs.base import format_json, parse_json
from pycupel.diagnostics import ExcludedItem, ExclusionReason, IncludedItem, SelectionReport
from pycupel.diagnostics.reasons import reason_name
from pycupel.errors import DocumentError, InvalidArgumentError
from pycupel.model import ContextItem
from pycupel.model.checks import checked_str
from pycupel.render._layout import clipped
from pycupel.testing.runs import SelectionReportAssertionError, hiding
from pycupel.wire import dumps, loads, to_dict

_WIDTH = 66
_ONLY_EVENTS = (
    "The selections are the same; only the events differ, which hold",
    "measured times. Compare with left.same_selection(right).",
)

# None stands for an item that was not a candidate.
_Entry: TypeAlias = IncludedItem | ExcludedItem | None


def outline(report: SelectionReport) -> Iterator[str]:
    """List a report, a line for each entry, without numbers that depend on other entries."""
    yield "selected:"
    yield from (f"  {_label(entry.item)}, {entry.score!r}, {_reason(entry)}" for entry in report.included)
    yield "left out:"
    yield from (f"  {_label(entry.item)}, {entry.score!r}, {_numbers(entry.reason)}" for entry in report.excluded)
    yield f"too few: {_shortfalls(report)}"
    yield f"budget: {_budget(report)}"


def explain_inequality(left: SelectionReport, right: SelectionReport) -> list[str]:
    """Explain why `left == right` is false: a summary, then a section for each kind of difference."""
    found = [line for title, lines in _sections(left, right) for line in _section(title, [*lines])]
    return [f"{_summary(left)} == {_summary(right)}", *(found or _ONLY_EVENTS)]


def _sections(left: SelectionReport, right: SelectionReport) -> Iterator[tuple[str, Iterable[str]]]:
    pairs = _pairs(left, right)
    yield "selected on the left only", (_moved(item, b) for item, a, b in pairs if _is_in(a) and not _is_in(b))
    yield "selected on the right only", (_moved(item, a) for item, a, b in pairs if _is_in(b) and not _is_in(a))
    yield "in another order", _order(left.items, right.items)
    scores = [_versus(_label(item), repr(a.score), repr(b.score)) for item, a, b in pairs if a and b]
    yield "with another score", chain(*scores)
    reasons = [_versus(_label(item), _reason(a), _reason(b)) for item, a, b in pairs if _is_in(a) == _is_in(b)]
    yield "with another reason", chain(*reasons)
    yield "left out in another order", _order(_left_out(left), _left_out(right))
    too_few = _versus("too few", _shortfalls(left), _shortfalls(right))
    yield "besides", [*too_few, *_versus("budget", _budget(left), _budget(right))]


def _section(title: str, lines: Sequence[str]) -> list[str]:
    return [f"{title}:", *(f"  {line}" for line in lines)] if lines else []


def _summary(report: SelectionReport) -> str:
    return f"<report: {len(report.included)} of {report.total_candidates} items>"


def _pairs(left: SelectionReport, right: SelectionReport) -> list[tuple[ContextItem, _Entry, _Entry]]:
    """Pair the entries for each item, left and right. Equal items are paired in order."""
    here, there = _by_item(left), _by_item(right)
    return [
        (item, a, b)
        for item in dict.fromkeys([*here, *there])
        for a, b in zip_longest(here.get(item, ()), there.get(item, ()))
    ]


def _by_item(report: SelectionReport) -> dict[ContextItem, list[_Entry]]:
    entries: dict[ContextItem, list[_Entry]] = {}
    both: list[IncludedItem | ExcludedItem] = [*report.included, *report.excluded]
    for entry in both:
        entries.setdefault(entry.item, []).append(entry)
    return entries


def _versus(what: str, left: str, right: str) -> list[str]:
    """Show two different texts, on one line if they fit."""
    if left == right:
        return []
    line = f"{what}: {left} != {right}"
    return [line] if len(line) <= _WIDTH else [f"{what}:", f"  {left}", f"  != {right}"]


def _order(left: Sequence[ContextItem], right: Sequence[ContextItem]) -> list[str]:
    """Show the first index at which the same items are in a different order."""
    if Counter(left) == Counter(right):
        for i, (a, b) in enumerate(zip(left, right, strict=True)):
            if a != b:
                return _versus(f"at {i}", _label(a), _label(b))
    return []


def _left_out(report: SelectionReport) -> list[ContextItem]:
    return [entry.item for entry in report.excluded]


def _shortfalls(report: SelectionReport) -> str:
    shortfalls = report.count_requirement_shortfalls
    return ", ".join(f"{found} of {required} {kind}" for kind, required, found in shortfalls) or "none"


def _budget(report: SelectionReport) -> str:
    return dumps(report.budget) if report.budget else "unknown"


def _is_in(entry: _Entry) -> bool:
    return isinstance(entry, IncludedItem)


def _moved(item: ContextItem, left_out: _Entry) -> str:
    name = reason_name(left_out.reason) if isinstance(left_out, ExcludedItem) else _reason(left_out)
    return f"{_label(item)} ({name})"


def _label(item: ContextItem) -> str:
    return f"{clipped(item.kind.value, 16)} {clipped(item.content, 26)!r}"


def _numbers(reason: ExclusionReason) -> str:
    """Show a reason in few characters: `BudgetExceeded(90, 30)`."""
    fields: Any = reason
    return clipped(f"{type(reason).__name__}({', '.join(map(repr, fields))})", 32)


def _reason(entry: _Entry) -> str:
    return clipped(str(entry.reason), 56) if entry else "no candidate"


# Save the reports of a failing test as files.


_LONGEST_FILE_NAME = 120


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
    name = re.sub(r"[^\w.\[\]-]", "_", dotted)[:_LONGEST_FILE_NAME]
    return name if name == dotted else f"{name}-{crc32(node_id.encode()):08x}"


# The snapshots used by this process, and whether it wrote each.
USED: dict[Path, bool] = {}

_UPDATE = "If the selection is right, run pytest with --cupel-update-snapshots,\nor set CUPEL_UPDATE_SNAPSHOTS=1."
_NAME_REUSED = "Another test in this run uses a snapshot of the same name: use a different name in each."

# Characters that file names may not contain on some systems, and names of devices on Windows.
_NO_FILE_NAME = re.compile(r'[/\\<>:"|?*]|^[. ]|[. ]$|^(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$)', re.IGNORECASE)
_LONGEST_NAME = 200
_LONGEST_LINE = 72
_MAX_LINES = 60

__tracebackhide__ = True


def directory_of(file: str) -> Path:
    """The directory of a test's file."""
    path = Path(file).absolute()
    if not path.is_file():
        raise InvalidArgumentError(
            f"{file} is not a file, so there is no directory for snapshots beside it; pass directory=",
            argument="directory",
        )
    return path.parent


def check_snapshot(report: SelectionReport, name: str, directory: str | os.PathLike[str]) -> None:
    """Compare the report with its snapshot, or write the snapshot if it is missing or should be updated."""
    path = Path(directory).absolute() / "__snapshots__" / f"{_checked_name(name)}.json"
    text = hiding(_without_times, report)
    stored = _read(path)
    if stored == text:
        USED.setdefault(path, False)
    elif (stored is None and not _in_ci()) or (_is_set("CUPEL_UPDATE_SNAPSHOTS") and path not in USED):
        _write(path, f"{text}\n")
        USED[path] = True
    else:
        message = _missing(path) if stored is None else _mismatch(report, path, stored, text)
        raise SelectionReportAssertionError(
            f"MatchSnapshot({name}) failed: {message}",
            assertion="MatchSnapshot",
            expected=stored,
            actual=text,
            report=report,
            note=_NAME_REUSED if path in USED else _UPDATE,
        )


def _without_times(report: SelectionReport) -> str:
    """Remove measured times and notes from a report."""
    document = to_dict(report, allow_nan=True)
    document["events"] = []
    document.pop("notes", None)
    return format_json(document, indent=2)


def _checked_name(name: str) -> str:
    composed = unicodedata.normalize("NFC", hiding(checked_str, "name", name))
    if not composed.isprintable() or not 0 < len(composed.encode()) <= _LONGEST_NAME or _NO_FILE_NAME.search(composed):
        raise InvalidArgumentError(
            f"{name!r} cannot be used as a file name",
            argument="name",
            value=name,
            hint="Use letters, digits, spaces, '-', '_' and '.', as in 'refund request'.",
        )
    return composed


def _is_set(variable: str) -> bool:
    return os.environ.get(variable, "").strip().lower() not in {"", "0", "false", "no", "off"}


def _in_ci() -> bool:
    """Whether this is CI, by the variables that pytest uses."""
    return _is_set("CI") or _is_set("BUILD_NUMBER")


def _read(path: Path) -> str | None:
    """Read a snapshot in our own formatting, so that reformatted files still match; unchanged if it is not JSON."""
    if not path.exists():
        return None
    text = path.read_text(encoding="utf-8", errors="replace")
    try:
        return format_json(parse_json(text), indent=2)
    except DocumentError:
        return text


def _write(path: Path, text: str) -> None:
    """Write atomically, even if the process dies or another one writes the same file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        draft.write_text(text, encoding="utf-8", newline="\n")
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)


def _missing(path: Path) -> str:
    return (
        f"{_shown(path)} does not exist, and snapshots are not written in CI. Run the test locally and commit the file."
    )


def _mismatch(report: SelectionReport, path: Path, stored: str, text: str) -> str:
    try:
        before = loads(SelectionReport, stored, allow_nan=True)
    except DocumentError as error:
        problem, lines = f"{_shown(path)} does not contain a report: {error}.", list[str]()
    else:
        # The important parts, which may be equal.
        problem = f"the selection differs from {_shown(path)}."
        lines = _diff([*outline(before)], [*outline(report)])
    lines = lines or _diff(stored.splitlines(), text.splitlines())
    more = [f"... and {len(lines) - _MAX_LINES} more lines"] if len(lines) > _MAX_LINES else []
    return "\n".join([problem, *lines[:_MAX_LINES], *more])


def _diff(left: list[str], right: list[str]) -> list[str]:
    lines = unified_diff(left, right, "snapshot", "now", lineterm="")
    return [line if len(line) <= _LONGEST_LINE else f"{line[: _LONGEST_LINE - 3]}..." for line in lines]


def _shown(path: Path) -> Path:
    here = Path.cwd()
    return path.relative_to(here) if path.is_relative_to(here) else path
