"""Convert a report to JSON data for the page: names, numbers and columns of rows.

Data that would make the page too large is cut, and the page says so.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import isfinite
from typing import Any, TypeAlias

from pycupel.diagnostics import (
    Deduplicated,
    ExcludedItem,
    ExclusionReason,
    InclusionReason,
    PinnedOverride,
    SelectionReport,
)
from pycupel.diagnostics.reasons import EXCLUSION_REASONS, pinned_tokens
from pycupel.diagnostics.report import score_parts
from pycupel.model import ContextBudget, ContextItem
from pycupel.model.version import version_mark
from pycupel.render._layout import clipped, count
from pycupel.render._reasons import explain, name_of
from pycupel.render._rows import Entry, RowIndex, Table
from pycupel.render._shares import held_tokens
from pycupel.text import shortened

Data: TypeAlias = dict[str, Any]

# How many kinds have a colour, and how many characters of a text are in the page.
_MAX_KINDS = 11
_LONGEST_TEXT = 4_000
_LONGEST_NAME = 60
_LONGEST_VALUE = 200

_UNNAMED = "another item"

_KNOWN = tuple(EXCLUSION_REASONS.values())
_INCLUDED_TITLES: Mapping[str, str] = {
    InclusionReason.SCORED: "Selected by score (Scored)",
    InclusionReason.PINNED: "Always selected (Pinned)",
    InclusionReason.ZERO_TOKEN: "Costs nothing (ZeroToken)",
}


def script_number(value: float) -> float | str:
    """Convert a number for JavaScript; to a text if it is too large or not finite."""
    if isinstance(value, int):
        return value if value.bit_length() < 64 else count(value)
    return value if isfinite(value) else str(value)


class Kinds:
    """The kinds of the candidates, the largest first; only the first few have a colour of their own.

    The order is that of all candidates, so that a kind keeps its colour when the selection changes.
    """

    def __init__(self, items: Iterable[ContextItem]) -> None:
        tokens: dict[str, int] = {}
        names: dict[str, str] = {}
        for item in items:
            key = item.kind.key
            names.setdefault(key, item.kind.value)
            tokens[key] = tokens.get(key, 0) + item.tokens
        order = sorted(tokens, key=lambda key: tokens[key], reverse=True)
        self.names = [clipped(names[key], _LONGEST_NAME) for key in order]
        self._indices = {key: i for i, key in enumerate(order)}

    def index(self, item: ContextItem) -> int:
        """Return the index of the item's kind in `names`."""
        return self._indices[item.kind.key]

    def shares(self, items: Iterable[ContextItem]) -> list[list[float | str]]:
        """Return the tokens and the number of items for each colour; the last colour is that of all other kinds."""
        colors = min(len(self.names), _MAX_KINDS + 1)
        tokens, numbers = [0] * colors, [0] * colors
        for item in items:
            color = min(self.index(item), _MAX_KINDS)
            tokens[color] += item.tokens
            numbers[color] += 1
        return [[script_number(each), number] for each, number in zip(tokens, numbers, strict=True)]


def budget_data(budget: ContextBudget) -> Data:
    return {
        "max": script_number(budget.max_tokens),
        "target": script_number(budget.target_tokens),
        "reserve": script_number(budget.output_reserve),
        "slots": script_number(sum(budget.reserved_slots.values())),
        "margin": budget.estimation_safety_margin_percent,
    }


def use_data(items: Sequence[ContextItem], pinned: int, budget: ContextBudget | None, kinds: Kinds) -> Data:
    """Describe how much of its budget a selection uses."""
    used = sum([item.tokens for item in items])
    return {
        "items": len(items),
        "shortened": sum([version_mark(item) is not None for item in items]),
        "tokens": script_number(used),
        "pinned": script_number(pinned),
        "held": 0 if budget is None else script_number(held_tokens(budget, used, pinned)),
        "kinds": kinds.shares(items),
    }


def report_data(
    report: SelectionReport, other: SelectionReport | None, table: Table, kinds: Kinds, *, text: bool
) -> Data:
    """Convert one report; the rows also have the entries of a second one."""
    reasons = _Reasons(table, text=text)
    columns = _columns(table, kinds, text=text)
    columns |= reasons.columns(table.entries, "")
    if other is not None:
        columns |= reasons.columns(table.others, "other_")
    scorers, columns["parts"] = _parts(report, table.items)
    return {
        **_summary(report, kinds),
        "kinds": kinds.names,
        "hidden": table.hidden,
        "text": text,
        "scorers": scorers,
        "reasons": reasons.titles,
        "size": len(table.items),
        "rows": {name: column for name, column in columns.items() if any(value is not None for value in column)},
        "other": None if other is None else _summary(other, kinds),
    }


def _summary(report: SelectionReport, kinds: Kinds) -> Data:
    return {
        "candidates": report.total_candidates,
        "considered": script_number(report.total_tokens_considered),
        "budget": None if report.budget is None else budget_data(report.budget),
        "use": use_data(report.items, pinned_tokens(report.included), report.budget, kinds),
        "notes": [*report.notes],
        "shortfalls": [
            [clipped(kind.value, _LONGEST_NAME), script_number(required), script_number(found)]
            for kind, required, found in report.count_requirement_shortfalls
        ],
        "times": [
            [clipped(stage, _LONGEST_NAME), script_number(items), script_number(duration)]
            for stage, duration, items, message in report.events
            if message is None
        ],
    }


def _columns(table: Table, kinds: Kinds, *, text: bool) -> dict[str, list[Any]]:
    items = table.items
    columns: dict[str, list[Any]] = {
        "kind": [kinds.index(item) for item in items],
        "source": [clipped(item.source.value, _LONGEST_NAME) for item in items],
        "tokens": [script_number(item.tokens) for item in items],
        "original": [None if item.original_tokens is None else script_number(item.original_tokens) for item in items],
        "time": [None if item.timestamp is None else item.timestamp.isoformat() for item in items],
    }
    if text:
        columns["text"] = [item.content[:_LONGEST_TEXT] for item in items]
        columns["more"] = [max(0, len(item.content) - _LONGEST_TEXT) or None for item in items]
        columns["tags"] = [clipped(", ".join(item.tags), _LONGEST_VALUE) if item.tags else None for item in items]
        columns["metadata"] = [_metadata(item.metadata) or None for item in items]
    return columns


def _metadata(metadata: Mapping[str, Any]) -> list[list[str]]:
    return [[clipped(key, _LONGEST_NAME), shortened(value, _LONGEST_VALUE)] for key, value in metadata.items()]


def _parts(report: SelectionReport, items: Sequence[ContextItem]) -> tuple[list[list[Any]], list[Any]]:
    """Return the scorers with their weights, and their scores for each row; empty if the report has none."""
    parts = score_parts(report)
    if parts is None:
        return [], []
    found = RowIndex(parts.items).find(items)
    scorers = [[type(scorer).__name__, weight] for scorer, weight, _ in parts.columns]
    scores = [column for _, _, column in parts.columns]
    return scorers, [None if row is None else [script_number(column[row]) for column in scores] for row in found]


class _Reasons:
    """Why items are in or out, as titles that many rows share and a few words for each row."""

    def __init__(self, table: Table, *, text: bool) -> None:
        self.titles: list[str] = []
        self._indices: dict[str, int] = {}
        self._text = text
        # A duplicate refers to the row that is not itself a duplicate.
        self._numbers: dict[str, int] = {}
        for row, (item, entry) in enumerate(zip(table.items, table.entries, strict=True)):
            if entry is None or not isinstance(entry.reason, Deduplicated):
                self._numbers.setdefault(item.content, row + 1)

    def columns(self, entries: Sequence[Entry | None], prefix: str) -> dict[str, list[Any]]:
        texts = [None if entry is None else self._title_and_why(entry) for entry in entries]
        return {
            f"{prefix}in": [
                None if entry is None else int(not isinstance(entry.reason, ExclusionReason)) for entry in entries
            ],
            f"{prefix}score": [None if entry is None else script_number(entry.score) for entry in entries],
            f"{prefix}reason": [None if each is None else each[0] for each in texts],
            f"{prefix}why": [None if each is None else each[1] or None for each in texts],
        }

    def _title_and_why(self, entry: Entry) -> tuple[int, str]:
        reason = entry.reason
        if not isinstance(reason, ExclusionReason):
            return self._title(_INCLUDED_TITLES.get(reason) or clipped(reason, _LONGEST_NAME)), ""
        if not self._text and not isinstance(reason, _KNOWN):
            # Its fields may quote anything.
            return self._title(name_of(reason)), ""
        excluded = ExcludedItem(entry.item, entry.score, reason if self._text else self._without_text(reason))
        title, why = explain(excluded, self._numbers, 13)
        return self._title(title), why

    def _title(self, title: str) -> int:
        if title not in self._indices:
            self._indices[title] = len(self.titles)
            self.titles.append(title)
        return self._indices[title]

    def _without_text(self, reason: ExclusionReason) -> ExclusionReason:
        """Hide the content that a reason quotes, unless a row has it: a row is named by its number."""
        match reason:
            case Deduplicated(deduplicated_against=content) if content not in self._numbers:
                return Deduplicated(_UNNAMED)
            case PinnedOverride(displaced_by=content) if content not in self._numbers:
                return PinnedOverride(_UNNAMED)
            case _:
                return reason
