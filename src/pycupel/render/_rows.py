"""The rows of a page: the selected items in order, then those left out, best score first.

A row's number is its index plus 1.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import NamedTuple, TypeAlias

from pycupel.diagnostics import ExcludedItem, IncludedItem, SelectionReport
from pycupel.model import ContextItem
from pycupel.model.version import origin_key

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


class Table(NamedTuple):
    """The rows of a page: each item with its entry in the report, and in the other one if there are two."""

    items: list[ContextItem]
    entries: list[Entry | None]
    others: list[Entry | None]
    hidden: int

    @classmethod
    def of(cls, report: SelectionReport, other: SelectionReport | None) -> Table:
        shown, hidden = _shown(report)
        items = [entry.item for entry in shown]
        entries: list[Entry | None] = [*shown]
        others: list[Entry | None] = [None] * len(items)
        if other is not None:
            theirs = entries_of(other)
            rows = RowIndex(items).find([entry.item for entry in theirs])
            for entry, row in zip(theirs, rows, strict=True):
                if row is not None:
                    others[row] = entry
                elif len(items) < _MAX_ROWS:
                    items.append(entry.item)
                    entries.append(None)
                    others.append(entry)
        return cls(items, entries, others, hidden)


def _shown(report: SelectionReport) -> tuple[list[Entry], int]:
    """Return the entries that get a row, and how many do not. A quarter of the rows is for excluded items."""
    included, excluded = report.included, report.excluded
    left_out = min(len(excluded), max(_MAX_ROWS - len(included), _MAX_ROWS // 4))
    shown: list[Entry] = [*included[: _MAX_ROWS - left_out], *excluded[:left_out]]
    return shown, report.total_candidates - len(shown)
