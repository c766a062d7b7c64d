"""Convert a report to JSON data for the page: rows, names and numbers, and what other budgets select.

Data that would make the page too large is cut, and the page says so.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from graphlib import CycleError, TopologicalSorter
from itertools import chain, pairwise
from math import isfinite
from typing import Any, NamedTuple, TypeAlias

from pycupel.analytics import BudgetPoint, sweep_budgets
from pycupel.analytics.budgets import first_budgets
from pycupel.diagnostics import (
    Deduplicated,
    ExcludedItem,
    ExclusionReason,
    IncludedItem,
    InclusionReason,
    PinnedOverride,
    SelectionReport,
)
from pycupel.diagnostics.explanation import scorer_name
from pycupel.diagnostics.reasons import EXCLUSION_REASONS, pinned_tokens
from pycupel.diagnostics.report import score_parts, slicer_notes
from pycupel.errors import CupelError
from pycupel.model import ContextBudget, ContextItem
from pycupel.model.budget import enlarged
from pycupel.model.item import origin_key, version_mark
from pycupel.pipeline import Policy, PresetName
from pycupel.render._layout import clipped, color_of, count
from pycupel.render.text import cause_of, held_tokens, short_name
from pycupel.text import shortened

Entry: TypeAlias = IncludedItem | ExcludedItem

# How many rows a page has.
_MAX_ROWS = 10_000


def entries_of(report: SelectionReport) -> list[Entry]:
    """Return the selected items, then the excluded ones."""
    return [*report.included, *report.excluded]


class RowIndex:
    """Finds the rows of items by identity, or else, for a report read from a file, by content and kind.

    An item and its shorter versions have one row.
    """

    def __init__(self, items: Sequence[ContextItem]) -> None:
        self._items = items
        self._by_id: dict[int, list[int]] = {}
        for row, item in enumerate(items):
            self._by_id.setdefault(id(item), []).append(row)

    @cached_property
    def _by_key(self) -> dict[tuple[str, str], list[int]]:
        rows: dict[tuple[str, str], list[int]] = {}
        for row, item in enumerate(self._items):
            rows.setdefault(_row_key(item), []).append(row)
        return rows

    def find(self, items: Iterable[ContextItem]) -> list[int | None]:
        """Return the row of each item; None if no unused row matches."""
        used: dict[int, int] = {}
        found: list[int | None] = []
        for item in items:
            rows = self._by_id.get(id(item)) or self._by_key.get(_row_key(item), [])
            turn = used.get(id(rows), 0)
            used[id(rows)] = turn + 1
            found.append(rows[turn] if turn < len(rows) else None)
        return found


def _row_key(item: ContextItem) -> tuple[str, str]:
    return origin_key(item), item.kind.key


class PageRows(NamedTuple):
    """The rows of a page: each item with its entry in the report, and in each of the others beside it."""

    items: list[ContextItem]
    entries: list[Entry | None]
    others: list[list[Entry | None]]
    orders: list[list[int]]
    hidden: int
    skipped: int
    """How many selected items have no row: the numbers of the excluded ones go on after those of all selected ones."""

    def number(self, row: int) -> int:
        """Return the number of a row's item in the report, from 1: selected items come first."""
        entry = self.entries[row]
        return row + 1 + (self.skipped if entry is None or isinstance(entry, ExcludedItem) else 0)

    @classmethod
    def of(cls, report: SelectionReport, others: Sequence[SelectionReport]) -> PageRows:
        # At least a quarter of the rows is for excluded items, if there are so many.
        left_out = min(len(report.excluded), max(_MAX_ROWS - len(report.included), _MAX_ROWS // 4))
        shown: list[Entry] = [*report.included[: _MAX_ROWS - left_out], *report.excluded[:left_out]]
        hidden = report.total_candidates - len(shown)
        items = [entry.item for entry in shown]
        found: list[dict[int, Entry]] = []
        for other in others:
            theirs = entries_of(other)
            placed: dict[int, Entry] = {}
            for entry, row in zip(theirs, RowIndex([*items]).find([entry.item for entry in theirs]), strict=True):
                if row is not None:
                    placed[row] = entry
                elif len(items) < _MAX_ROWS:
                    # An item that only the other has.
                    placed[len(items)] = entry
                    items.append(entry.item)
            found.append(placed)
        size = range(len(items))
        entries: list[Entry | None] = [*shown, *[None] * (len(items) - len(shown))]
        # The selected items of a report come in the order in which the model reads them.
        orders = [[row for row, entry in placed.items() if isinstance(entry, IncludedItem)] for placed in found]
        theirs_by_row = [[placed.get(row) for row in size] for placed in found]
        return cls(items, entries, theirs_by_row, orders, hidden, max(0, len(report.included) + left_out - _MAX_ROWS))


# Names, numbers and columns of rows.


Data: TypeAlias = dict[str, Any]

# How many kinds have a colour, and how many characters of a text are in the page.
_MAX_KINDS = 11
_LONGEST_TEXT = 4_000
# How many bytes the data of a page may take: its texts have what the rest leaves of them, but at least so many.
_ALL_DATA, _LEAST_TEXTS = 4_700_000, 400_000
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
    """The kinds of the candidates, the largest first; only the first few have a colour, the same everywhere."""

    def __init__(self, items: Iterable[ContextItem]) -> None:
        tokens: dict[str, int] = {}
        names: dict[str, str] = {}
        for item in items:
            key = item.kind.key
            names.setdefault(key, item.kind.value)
            tokens[key] = tokens.get(key, 0) + item.tokens
        order = sorted(tokens, key=lambda key: tokens[key], reverse=True)
        self.names = [clipped(names[key], _LONGEST_NAME) for key in order]
        # The others share the last colour.
        self.colors = [color_of(key) for key in order[:_MAX_KINDS]]
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
    report: SelectionReport, others: Sequence[SelectionReport], table: PageRows, kinds: Kinds, *, text: bool
) -> Data:
    """Convert one report; the rows also have the entries of the others beside it."""
    reasons = _Reasons(table, text=text)
    columns = _columns(table, kinds, text=text)
    columns |= reasons.columns(table.entries, slicer_notes(report), "")
    for number, (other, entries) in enumerate(zip(others, table.others, strict=True)):
        columns |= reasons.columns(entries, slicer_notes(other), f"other{number}_")
    scorers, columns["parts"] = _parts(report, table.items)
    return {
        **_summary(report, kinds),
        "kinds": kinds.names,
        "colors": kinds.colors,
        "hidden": table.hidden,
        "skipped": table.skipped,
        "text": text,
        "scorers": scorers,
        "reasons": reasons.titles,
        "size": len(table.items),
        "rows": _filled(columns),
        "others": [_summary(other, kinds) for other in others],
        "orders": table.orders,
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
            for kind, required, found, _ in report.count_requirement_shortfalls
        ],
        "times": [
            [clipped(stage, _LONGEST_NAME), script_number(items), script_number(duration)]
            for stage, duration, items, message in report.events
            if message is None
        ],
    }


def _columns(table: PageRows, kinds: Kinds, *, text: bool) -> dict[str, list[Any]]:
    items = table.items
    columns: dict[str, list[Any]] = {
        "kind": [kinds.index(item) for item in items],
        "source": [clipped(item.source.value, _LONGEST_NAME) for item in items],
        "tokens": [script_number(item.tokens) for item in items],
        "original": [None if item.original_tokens is None else script_number(item.original_tokens) for item in items],
        "time": [None if item.timestamp is None else item.timestamp.isoformat() for item in items],
    }
    if text:
        columns["tags"] = [clipped(", ".join(item.tags), _LONGEST_VALUE) if item.tags else None for item in items]
        columns["metadata"] = [
            [[clipped(key, _LONGEST_NAME), shortened(value, _LONGEST_VALUE)] for key, value in item.metadata.items()]
            or None
            for item in items
        ]
    return columns


def _filled(columns: Mapping[str, list[Any]]) -> dict[str, list[Any]]:
    return {name: column for name, column in columns.items() if any(value is not None for value in column)}


def add_texts(data: Data, items: Sequence[ContextItem]) -> None:
    """Add the contents to the rows of a page, cut to what its other data leave; long texts are cut first."""
    # JSON in ASCII needs up to six bytes for any other character.
    sizes = [(len(item.content), 1 if item.content.isascii() else 6) for item in items]
    longest, room = _LONGEST_TEXT, _LEAST_TEXTS

    def needed() -> int:
        return sum([min(size, longest) * width for size, width in sizes])

    if needed() > room:
        room = max(room, _ALL_DATA - len(json.dumps(data, separators=(",", ":"))))
    while longest > 1 and needed() > room:
        longest = longest * 4 // 5
    texts: list[Any] = [item.content[:longest] for item in items]
    more = [max(0, len(item.content) - longest) or None for item in items]
    data["report"]["rows"] |= _filled({"text": texts, "more": more})


def _parts(report: SelectionReport, items: Sequence[ContextItem]) -> tuple[list[list[Any]], list[Any]]:
    """Return the scorers with their weights, and their scores for each row; empty if the report has none."""
    parts = score_parts(report)
    if parts is None:
        return [], []
    found = RowIndex(parts.items).find(items)
    scorers = [[scorer_name(scorer), weight] for scorer, weight, _ in parts.columns]
    scores = [column for _, _, column in parts.columns]
    return scorers, [None if row is None else [script_number(column[row]) for column in scores] for row in found]


class _Reasons:
    """Why items are in or out, as titles that many rows share and a few words for each row."""

    def __init__(self, table: PageRows, *, text: bool) -> None:
        self.titles: list[str] = []
        self._indices: dict[str, int] = {}
        self._text = text
        # A duplicate refers to the row that is not itself a duplicate.
        self._numbers: dict[str, int] = {}
        for row, (item, entry) in enumerate(zip(table.items, table.entries, strict=True)):
            if entry is None or not isinstance(entry.reason, Deduplicated):
                self._numbers.setdefault(item.content, table.number(row))

    def columns(self, entries: Sequence[Entry | None], notes: Mapping[int, str], prefix: str) -> dict[str, list[Any]]:
        texts = [
            None if entry is None else self._title_and_why(entry, notes.get(id(entry.item), "")) for entry in entries
        ]
        return {
            f"{prefix}in": [
                None if entry is None else int(not isinstance(entry.reason, ExclusionReason)) for entry in entries
            ],
            f"{prefix}score": [None if entry is None else script_number(entry.score) for entry in entries],
            f"{prefix}reason": [None if each is None else each[0] for each in texts],
            f"{prefix}why": [None if each is None else each[1] or None for each in texts],
        }

    def _title_and_why(self, entry: Entry, note: str) -> tuple[int, str]:
        reason = entry.reason
        if not isinstance(reason, ExclusionReason):
            return self._title(_INCLUDED_TITLES.get(reason) or clipped(reason, _LONGEST_NAME)), ""
        if not self._text and not isinstance(reason, _KNOWN):
            # Its fields may quote anything.
            return self._title(short_name(reason)), ""
        excluded = ExcludedItem(entry.item, entry.score, reason if self._text else self._without_text(reason))
        cause = cause_of(excluded, self._numbers, 13, note)
        return self._title(cause.title), cause.details

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


# Encode the selections of other budgets, compact enough to be part of a page.


MOST_POINTS = 64
# This many of them lie between 0 and twice the target, the range that matters most.
_NEAR = 40


def sweep_data(
    policy: Policy | PresetName,
    items: Sequence[ContextItem],
    budget: ContextBudget | None,
    rows: Sequence[ContextItem],
    kinds: Kinds,
) -> Data:
    """Return the points, each with the rows that change from the point before it.

    The target and the maximum move together, so that the distance between them stays the same.
    """
    base = budget or ContextBudget(all_tokens(items))
    # The largest target holds everything, unless the safety margin leaves nothing.
    needed = enlarged(all_tokens(items) + sum(base.reserved_slots.values()), base.estimation_safety_margin_percent)
    targets = _targets(base.target_tokens, needed + max(0, base.target_tokens - base.available_tokens))
    shift = base.max_tokens - base.target_tokens
    try:
        points = sweep_budgets(policy, items, [base.resized(target + shift, target) for target in targets])
        first = first_budgets(policy, items, base, targets[-1])
    except CupelError as error:
        return {"failed": str(error)}
    index = RowIndex(rows)
    selected = [[row for row in index.find(point.items) if row is not None] for point in points]
    placed = dict(zip(index.find(items), items, strict=True))
    enters = [first.get(id(placed.get(row))) for row in range(len(rows))]
    flips: list[list[int]] = []
    for before, after in pairwise([[], *selected]):
        # Each row as its distance from the one before it, which needs few digits.
        rows_changed = sorted(set(before) ^ set(after))
        flips.append([second - first for first, second in pairwise([0, *rows_changed])])
    return {
        "points": [_point(point, kinds) for point in points],
        "flips": flips,
        "enters": enters if first else None,
        "start": targets.index(base.target_tokens),
        "order": _common_order(selected),
    }


def all_tokens(items: Iterable[ContextItem]) -> int:
    """Sum the tokens of the items. Negative counts, which are invalid, do not count."""
    return sum([max(0, item.tokens) for item in items])


def _targets(target: int, top: int) -> list[int]:
    """Return at most 64 targets from 0 on, including the given one: evenly spaced at first, then in growing steps."""
    near = max(1, min(2 * target, top) if target else top)
    spread = MOST_POINTS - 1 if near >= top else _NEAR
    targets = {near * i // (spread - 1) for i in range(spread)}
    steps = MOST_POINTS - 1 - spread
    if steps:
        # With integers, because token counts may be larger than any float.
        targets |= {near + (top - near) * i * i // (steps * steps) for i in range(1, steps + 1)}
    return sorted(targets | {target})


def _point(point: BudgetPoint, kinds: Kinds) -> Data:
    budget, items = point.budget, point.items
    pinned = sum([item.tokens for item in items if item.pinned])
    use = use_data(items, pinned, budget, kinds)
    target, limit = script_number(budget.target_tokens), script_number(budget.max_tokens)
    return {"target": target, "max": limit, "ok": point.feasible, "score": script_number(point.score), "use": use}


def _common_order(selections: Sequence[Sequence[int]]) -> list[int] | None:
    """Find an order of all rows that agrees with each selection; None if two rows change order with the budget."""
    predecessors: dict[int, set[int]] = {}
    for rows in selections:
        for first, second in pairwise(rows):
            predecessors.setdefault(second, set()).add(first)
    graph = {**dict.fromkeys(chain.from_iterable(selections), ()), **predecessors}
    try:
        return [*TopologicalSorter(graph).static_order()]
    except CycleError:
        return None
