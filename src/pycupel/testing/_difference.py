"""The differences between two reports, the most important first, because test runners cut long texts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, zip_longest
from typing import Any, TypeAlias

from pycupel.diagnostics import ExcludedItem, ExclusionReason, IncludedItem, SelectionReport
from pycupel.diagnostics.reasons import reason_name
from pycupel.model import ContextItem
from pycupel.render._layout import clipped
from pycupel.wire import dumps

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
