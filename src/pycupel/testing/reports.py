"""Reports in tests: the error of assertions, a runner that keeps them, differences, and snapshots.

A snapshot is a JSON file to compare reports with: a report in the wire format without its events, which contain
measured times (TV-12). `pycupel.wire.loads` reads it.
"""

from __future__ import annotations

import os
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from difflib import unified_diff
from functools import partial
from itertools import chain, zip_longest
from pathlib import Path
from typing import Any, TypeAlias, TypeVar, cast
from zlib import crc32

from pycupel.codecs.base import format_json, parse_json
from pycupel.diagnostics import ExcludedItem, IncludedItem, SelectionReport
from pycupel.diagnostics.reasons import reason_name
from pycupel.errors import CupelError, DocumentError, InvalidArgumentError
from pycupel.model import ContextBudget, ContextItem
from pycupel.model.checks import checked_str, refuse_class, wrong_type
from pycupel.pipeline import Pipeline, Policy, PresetName
from pycupel.pipeline.policy import as_policy
from pycupel.protocols import Scorer, Shortener
from pycupel.render._layout import clipped, plural
from pycupel.wire import dumps, loads, to_dict

# Makes pytest tracebacks end in the test, not in this module.
__tracebackhide__ = True

_WIDTH = 66
_ONLY_EVENTS = (
    "The selections are the same; only the events differ, which hold",
    "measured times. Compare with left.same_selection(right).",
)


class SelectionReportAssertionError(AssertionError):
    """A report is not what a test expects. It is an `AssertionError`, so test runners count a failure, not an error.

    The text is the specification's message. A note, which every traceback shows, lists the entries concerned; those of
    `include_item_matching` are in the text itself.
    """

    # The public path, short enough for a line of a traceback.
    __module__ = "pycupel.testing"

    assertion: str
    """The assertion's name in the specification, such as `IncludeItemWithKind`."""

    expected: object
    """What the test expects: a kind, a count, or positions, depending on the assertion."""

    actual: object
    """What was found instead."""

    report: SelectionReport | None
    """The report, or None if it is not known."""

    def __init__(
        self,
        message: str,
        *,
        assertion: str = "",
        expected: object = None,
        actual: object = None,
        report: SelectionReport | None = None,
        note: str = "",
    ) -> None:
        super().__init__(message)
        self.assertion = assertion
        self.expected = expected
        self.actual = actual
        self.report = report
        if note:
            self.add_note(note)


# The name in the specification.
SelectionReportAssertionException = SelectionReportAssertionError


_Checked = TypeVar("_Checked")


def hiding(check: Callable[..., _Checked], *arguments: Any) -> _Checked:
    """Run a check so that the traceback of its error ends in the test."""
    try:
        return check(*arguments)
    except (TypeError, ValueError) as error:
        raise error.with_traceback(None) from None


_Choice: TypeAlias = Policy | Scorer | PresetName


class ReportRunner:
    """Runs pipelines without side effects and keeps their reports, so that the plug-in can save them if a test fails.

    Args:
        default: What to run by default: a pipeline, a policy, the name of a preset, or a scorer.
    """

    reports: list[SelectionReport]
    """The reports so far, in the order of the calls."""

    def __init__(self, default: _Choice = "chat") -> None:
        self._default = _pipeline("default", default)
        self.reports = []

    def __call__(
        self,
        items: Iterable[ContextItem],
        budget: ContextBudget | int,
        pipeline: _Choice | None = None,
        *,
        query: str | None = None,
        shorten: Shortener | None = None,
    ) -> SelectionReport:
        """Dry-run a pipeline and return its report.

        `pipeline` is what to run instead of the default: a pipeline, a policy, the name of a preset, or a scorer for a
        pipeline with defaults; `shorten` replaces its own.
        """
        runner = self._default if pipeline is None else hiding(_pipeline, "pipeline", pipeline)
        if shorten is not None:
            runner = hiding(partial(replace, runner, shorten=shorten))
        limits = hiding(ContextBudget.of, budget)
        try:
            report = runner.dry_run(items, limits, query=query)
        except CupelError as error:
            # It says what is wrong. An error of a strategy's own needs its traceback.
            raise error.with_traceback(None)  # noqa: B904
        self.reports.append(report)
        return report

    def __repr__(self) -> str:
        return f"<ReportRunner: {plural(len(self.reports), 'report')}>"


def _pipeline(name: str, choice: Any) -> Pipeline:
    if isinstance(choice, (Policy, str)):
        return Pipeline.from_policy(as_policy(choice, name))
    refuse_class(name, choice)
    if not isinstance(choice, Scorer):
        raise wrong_type(name, "a Policy, a Pipeline, the name of a preset or a scorer", choice)
    return Pipeline(choice)


# What is different about two reports.


# None stands for an item that was not a candidate.
_Entry: TypeAlias = IncludedItem | ExcludedItem | None


def outline(report: SelectionReport) -> Iterator[str]:
    """List a report, a line for each entry, without numbers that depend on other entries."""
    yield "selected:"
    yield from (f"  {_label(entry.item)}, {entry.score!r}, {_reason(entry)}" for entry in report.included)
    yield "left out:"
    for entry in report.excluded:
        # A reason in few characters: `BudgetExceeded(90, 30)`.
        numbers = ", ".join(map(repr, cast(Any, entry.reason)))
        reason = clipped(f"{type(entry.reason).__name__}({numbers})", 32)
        yield f"  {_label(entry.item)}, {entry.score!r}, {reason}"
    yield f"too few: {_shortfalls(report)}"
    yield f"budget: {_budget(report)}"


def explain_inequality(left: SelectionReport, right: SelectionReport) -> list[str]:
    """Explain why `left == right` is false: a summary, then a section for each kind of difference."""
    summaries = [f"<report: {len(each.included)} of {each.total_candidates} items>" for each in (left, right)]
    found: list[str] = []
    for title, lines in _sections(left, right):
        if listed := [f"  {line}" for line in lines]:
            found += [f"{title}:", *listed]
    return [" == ".join(summaries), *(found or _ONLY_EVENTS)]


def _sections(left: SelectionReport, right: SelectionReport) -> Iterator[tuple[str, Iterable[str]]]:
    """Yield the title and the lines of each kind of difference. Equal items are paired in order."""
    here, there = _by_item(left), _by_item(right)
    pairs = [
        (_label(item), a, b)
        for item in dict.fromkeys([*here, *there])
        for a, b in zip_longest(here.get(item, ()), there.get(item, ()))
    ]
    yield "selected on the left only", (_moved(label, b) for label, a, b in pairs if _is_in(a) and not _is_in(b))
    yield "selected on the right only", (_moved(label, a) for label, a, b in pairs if _is_in(b) and not _is_in(a))
    yield "in another order", _order(left.items, right.items)
    scores = [_versus(label, repr(a.score), repr(b.score)) for label, a, b in pairs if a and b]
    yield "with another score", chain(*scores)
    reasons = [_versus(label, _reason(a), _reason(b)) for label, a, b in pairs if _is_in(a) == _is_in(b)]
    yield "with another reason", chain(*reasons)
    left_out = [[entry.item for entry in report.excluded] for report in (left, right)]
    yield "left out in another order", _order(*left_out)
    too_few = _versus("too few", _shortfalls(left), _shortfalls(right))
    yield "besides", [*too_few, *_versus("budget", _budget(left), _budget(right))]


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


def _shortfalls(report: SelectionReport) -> str:
    shortfalls = report.count_requirement_shortfalls
    return ", ".join(f"{found} of {required} {kind}" for kind, required, found, _ in shortfalls) or "none"


def _budget(report: SelectionReport) -> str:
    return dumps(report.budget) if report.budget else "unknown"


def _is_in(entry: _Entry) -> bool:
    return isinstance(entry, IncludedItem)


def _moved(label: str, left_out: _Entry) -> str:
    name = reason_name(left_out.reason) if isinstance(left_out, ExcludedItem) else _reason(left_out)
    return f"{label} ({name})"


def _label(item: ContextItem) -> str:
    return f"{clipped(item.kind.value, 16)} {clipped(item.content, 26)!r}"


def _reason(entry: _Entry) -> str:
    return clipped(str(entry.reason), 56) if entry else "no candidate"


# Save the reports of a failing test as files.


_LONGEST_FILE_NAME = 120


def save_reports(reports: Sequence[SelectionReport], directory: Path, node_id: str) -> list[str]:
    """Write each report in every format, and return a line for each file: its path, or why it was not written."""
    dotted = node_id.replace("::", ".").replace("/", ".").lstrip(".")
    name = re.sub(r"[^\w.\[\]-]", "_", dotted)[:_LONGEST_FILE_NAME]
    if name != dotted:
        # Similar ids must not become the same file.
        name += f"-{crc32(node_id.encode()):08x}"
    lines: list[str] = []
    for i, report in enumerate(reports, 1):
        stem = name if len(reports) == 1 else f"{name}-{i}"
        formats: dict[str, Callable[[], str]] = {
            "json": partial(dumps, report, indent=2, allow_nan=True),
            "txt": report.to_text,
            "html": report.to_html,
        }
        for ending, text in formats.items():
            path = directory / f"{stem}.{ending}"
            # An error here must not hide the test's own failure.
            try:
                content = text()
                directory.mkdir(parents=True, exist_ok=True)
                path.write_text(f"{content}\n", encoding="utf-8", errors="backslashreplace")
                lines.append(str(path))
            except Exception as error:  # noqa: BLE001
                lines.append(f"{path.name} was not written: {error}")
    return lines


# The snapshots used by this process, and whether it wrote each.
USED: dict[Path, bool] = {}

_UPDATE = "If the selection is right, run pytest with --cupel-update-snapshots,\nor set CUPEL_UPDATE_SNAPSHOTS=1."
_NAME_REUSED = "Another test in this run uses a snapshot of the same name: use a different name in each."

# The variables by which pytest recognises CI.
_CI = ("CI", "BUILD_NUMBER")

# Characters that file names may not contain on some systems, and names of devices on Windows.
_NO_FILE_NAME = re.compile(r'[/\\<>:"|?*]|^[. ]|[. ]$|^(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$)', re.IGNORECASE)
_LONGEST_NAME = 200
_LONGEST_LINE = 72
_MAX_LINES = 60


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
    document = hiding(partial(to_dict, report, allow_nan=True))
    # Measured times differ in each run, and notes only explain the selection.
    document["events"] = []
    document.pop("notes", None)
    text = format_json(document, indent=2)
    stored = _read(path)
    if stored == text:
        USED.setdefault(path, False)
    elif (stored is None and not any(map(_is_set, _CI))) or (_is_set("CUPEL_UPDATE_SNAPSHOTS") and path not in USED):
        # Written atomically, even if the process dies or another one writes the same file.
        path.parent.mkdir(parents=True, exist_ok=True)
        draft = path.with_name(f".{path.name}.{os.getpid()}")
        try:
            draft.write_text(f"{text}\n", encoding="utf-8", newline="\n")
            draft.replace(path)
        finally:
            draft.unlink(missing_ok=True)
        USED[path] = True
    else:
        here = Path.cwd()
        shown = path.relative_to(here) if path.is_relative_to(here) else path
        message = (
            f"{shown} does not exist, and snapshots are not written in CI. Run the test locally and commit the file."
            if stored is None
            else _mismatch(report, shown, stored, text)
        )
        raise SelectionReportAssertionError(
            f"MatchSnapshot({name}) failed: {message}",
            assertion="MatchSnapshot",
            expected=stored,
            actual=text,
            report=report,
            note=_NAME_REUSED if path in USED else _UPDATE,
        )


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


def _read(path: Path) -> str | None:
    """Read a snapshot in our own formatting, so that reformatted files still match; unchanged if it is not JSON."""
    if not path.exists():
        return None
    text = path.read_text(encoding="utf-8", errors="replace")
    try:
        return format_json(parse_json(text), indent=2)
    except DocumentError:
        return text


def _mismatch(report: SelectionReport, shown: Path, stored: str, text: str) -> str:
    try:
        before = loads(SelectionReport, stored, allow_nan=True)
    except DocumentError as error:
        problem, lines = f"{shown} does not contain a report: {error}.", list[str]()
    else:
        # The important parts, which may be equal.
        problem = f"the selection differs from {shown}."
        lines = _diff([*outline(before)], [*outline(report)])
    lines = lines or _diff(stored.splitlines(), text.splitlines())
    more = [f"... and {len(lines) - _MAX_LINES} more lines"] if len(lines) > _MAX_LINES else []
    return "\n".join([problem, *lines[:_MAX_LINES], *more])


def _diff(left: list[str], right: list[str]) -> list[str]:
    lines = unified_diff(left, right, "snapshot", "now", lineterm="")
    return [line if len(line) <= _LONGEST_LINE else f"{line[: _LONGEST_LINE - 3]}..." for line in lines]
