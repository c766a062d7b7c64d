"""Snapshots of selections: JSON files to compare reports with.

A snapshot is a report in the wire format without its events, which contain measured times (TV-12). `pycupel.wire.loads`
reads it.
"""

from __future__ import annotations

import os
import re
import unicodedata
from difflib import unified_diff
from pathlib import Path

from pycupel.codecs.jsontext import format_json, parse_json
from pycupel.diagnostics import SelectionReport
from pycupel.errors import DocumentError, InvalidArgumentError
from pycupel.model.checks import checked_str
from pycupel.testing._arguments import hiding
from pycupel.testing._difference import outline
from pycupel.testing.errors import SelectionReportAssertionError
from pycupel.wire import loads, to_dict

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
