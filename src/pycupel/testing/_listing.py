"""List the kinds, reasons and entries of a report in failure messages."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from pycupel.diagnostics import ExcludedItem, IncludedItem
from pycupel.diagnostics.reasons import reason_name
from pycupel.model import ContextKind
from pycupel.render._layout import Row, Span, Table, clipped, count, finish

# Test runners indent what they show.
_WIDTH = 72
_MAX_ROWS = 5


def kinds_of(included: Iterable[IncludedItem]) -> tuple[ContextKind, ...]:
    """Return each kind once, in order of first appearance (TV-03)."""
    return tuple(dict.fromkeys(entry.item.kind for entry in included))


def reasons_of(excluded: Iterable[ExcludedItem]) -> tuple[str, ...]:
    """Return the name of each reason once, in order of first appearance (TV-03)."""
    return tuple(dict.fromkeys(reason_name(entry.reason) for entry in excluded))


def comma_separated(values: Iterable[object]) -> str:
    return ", ".join(map(str, values))


def listing(title: str, entries: Sequence[IncludedItem | ExcludedItem], indices: Sequence[int] | None = None) -> str:
    """Format the first few entries, or those with the given indices, as a table; empty if there are none."""
    chosen = range(len(entries)) if indices is None else indices
    if not chosen:
        return ""
    rows = [_row(i, entries[i]) for i in chosen[:_MAX_ROWS]]
    table = Table((">idx", "<kind", ">tokens", ">score", "<reason"), rows, _WIDTH)
    lines = [[Span(f"{title}:")], *table.titles("content"), *table.lines(rows)]
    if len(chosen) > _MAX_ROWS:
        lines.append([Span(f"  ... and {len(chosen) - _MAX_ROWS} more")])
    return finish(lines, _WIDTH, color=False)


def _row(index: int, entry: IncludedItem | ExcludedItem) -> Row:
    item, reason = entry.item, entry.reason
    name = reason if isinstance(reason, str) else reason_name(reason)
    cells = (str(index), clipped(item.kind.value, 16), count(item.tokens), f"{entry.score:.6g}", clipped(name, 24))
    return Row([Span(cell) for cell in cells], item.content)
