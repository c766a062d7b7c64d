"""Show how the target is used: a bar, and a line for each kind, for pinned items and for what is left."""

from __future__ import annotations

from typing import NamedTuple

from pycupel.diagnostics import IncludedItem, InclusionReason, SelectionReport
from pycupel.diagnostics.reasons import pinned_tokens
from pycupel.model import ContextBudget, ContextKind
from pycupel.render._layout import ALARM, QUIET, Line, Row, Span, bar, share
from pycupel.render._page import Page

_COLUMNS = ("<", "<kind", ">tokens", ">share", ">items")
_SYMBOLS = "#=+*o%@x&$"


class _Part(NamedTuple):
    """A segment of the bar, and its line in the legend."""

    label: Span
    symbol: str
    tokens: int
    items: Span = Span("")
    note: str = ""


def share_lines(report: SelectionReport, page: Page) -> list[Line]:
    used, unused = _used(report, page), _unused(report)
    if not used and not unused:
        return []
    whole, title = report.included_tokens, "TOKENS, as shares of the selection"
    if report.budget is not None:
        whole, title = report.budget.target_tokens, "TOKENS, as shares of the target"
    segments = [(max(0, part.tokens), Span(part.symbol, part.label.code)) for part in (*used, *unused) if part.symbol]
    rows, last = ([_row(part, whole, page) for part in parts] for parts in (used, unused))
    return [*page.heading(title), bar(segments, page.width - 4), *page.table(_COLUMNS, rows, last)]


def _row(part: _Part, whole: int, page: Page) -> Row:
    numbers = (page.count(part.tokens), Span(share(part.tokens, whole)), part.items)
    return Row((Span(part.symbol, part.label.code), part.label, *numbers), part.note)


def _used(report: SelectionReport, page: Page) -> list[_Part]:
    """List pinned items first, then the kinds by their tokens."""
    groups: dict[tuple[bool, ContextKind], list[IncludedItem]] = {}
    for included in report.included:
        is_pinned = included.reason == InclusionReason.PINNED
        groups.setdefault((is_pinned, included.item.kind), []).append(included)
    sizes = {group: sum(each.item.tokens for each in items) for group, items in groups.items()}
    order = sorted(groups, key=lambda group: (not group[0], -sizes[group]))
    return [
        _Part(
            page.kind(kind),
            _SYMBOLS[i % len(_SYMBOLS)],
            sizes[is_pinned, kind],
            page.count(len(groups[is_pinned, kind])),
            "pinned" if is_pinned else "",
        )
        for i, (is_pinned, kind) in enumerate(order)
    ]


def _unused(report: SelectionReport) -> list[_Part]:
    """Show the rest of the target, held back or free, or by how much the target is exceeded."""
    budget = report.budget
    if budget is None:
        return []
    left = budget.target_tokens - report.included_tokens
    if left < 0:
        # The kinds fill the bar already, so this has a line but no segment.
        return [_Part(Span("(over)", ALARM), "", -left)]
    held = held_tokens(budget, report.included_tokens, pinned_tokens(report.included))
    free = _Part(Span("(free)", QUIET), ".", left - held)
    return [_Part(Span("(held)", QUIET), "-", held, note=_holders(budget)), free] if held else [free]


def held_tokens(budget: ContextBudget, used: int, pinned: int) -> int:
    """Return the unused tokens of the target that reserves and the margin hold back from the slicer."""
    withheld = budget.target_tokens - pinned - budget.effective(pinned).target_tokens
    return max(0, min(budget.target_tokens - used, withheld))


def _holders(budget: ContextBudget) -> str:
    holders = {
        "output reserve": budget.target_tokens > budget.available_tokens,
        "reserved slots": any(budget.reserved_slots.values()),
        "margin": budget.estimation_safety_margin_percent > 0,
    }
    return ", ".join(name for name, holds in holders.items() if holds)
