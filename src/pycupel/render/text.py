"""Format a report for a terminal: what is in, what is out and why, and where the tokens and the time went.

Bars are drawn in ASCII, which works in every terminal, log and bug report. Contents and names are shown as they are,
but with a `?` for each control character.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from pycupel.diagnostics import ExcludedItem, IncludedItem, InclusionReason, SelectionReport
from pycupel.diagnostics.report import checked_report
from pycupel.kernels.order import descending
from pycupel.model import ContextBudget, ContextItem
from pycupel.model.checks import checked_bool
from pycupel.model.version import version_mark
from pycupel.render._layout import (
    HEADING,
    Line,
    Row,
    Span,
    Table,
    clipped,
    count,
    finish,
    listed,
    milliseconds,
    number,
    paragraph,
    plural,
    share,
)
from pycupel.render._page import Page
from pycupel.render._reasons import explain, name_of
from pycupel.render._rows import entries_of
from pycupel.render._shares import share_lines

__all__ = ["render_report", "render_summary"]

_SUMMARY_WIDTH = 80
_BEST = 10


def render_report(
    report: SelectionReport,
    *,
    color: bool = False,
    width: int = 80,
    limit: int | None = 40,
    parts: bool = False,
    unicode: bool = True,
) -> str:
    """Format the whole report.

    Args:
        report: The report.
        color: Whether to use ANSI colours.
        width: The maximum length of a line, at least 40.
        limit: How many rows of each list are shown; None for all.
        parts: Whether to show the scores of the best items by scorer, if the report has them.
        unicode: False shows a `?` for each character beyond ASCII.

    Raises:
        InvalidArgumentError: the width is less than 40, or the limit is negative.
    """
    page = Page.of(checked_report("report", report), width, limit)
    sections = [
        _headline(report, page.width),
        share_lines(report, page),
        _selected(report, page),
        _left_out(report, page),
        _parts(report, page) if checked_bool("parts", parts) else [],
        _shortfalls(report, page),
        _times(report, page),
    ]
    return page.text(sections, color=color, unicode=unicode)


def render_summary(report: SelectionReport) -> str:
    """Format a summary: the numbers of items and tokens, the budget, and the exclusions by reason."""
    lines = _headline(checked_report("report", report), _SUMMARY_WIDTH)
    names = Counter(name_of(excluded.reason) for excluded in report.excluded)
    if names:
        reasons = listed(f"{count(items)} {name}" for name, items in names.items())
        lines += paragraph(f"left out: {reasons}", _SUMMARY_WIDTH)
    missing = [
        f"{count(found)} of {count(required)} {clipped(kind.value, 40)}"
        for kind, required, found in report.count_requirement_shortfalls
    ]
    if missing:
        lines += paragraph(f"too few: {listed(missing)}", _SUMMARY_WIDTH)
    return finish(lines, _SUMMARY_WIDTH, color=False)


def _headline(report: SelectionReport, width: int) -> list[Line]:
    items = f"{count(len(report.included))} of {plural(report.total_candidates, 'item')} selected"
    tokens = f"{count(report.included_tokens)} of {plural(report.total_tokens_considered, 'token')}"
    lines = paragraph(listed((items, tokens, *_shortened(report))), width, code=HEADING)
    if report.budget is not None:
        lines += paragraph(f"budget: {_budget(report.budget, report.included_tokens)}", width)
    for note in report.notes:
        lines += paragraph(f"note: {note}", width)
    return lines


def _shortened(report: SelectionReport) -> list[str]:
    return [f"{count(len(report.shortened))} shortened"] if report.shortened else []


def _budget(budget: ContextBudget, used: int) -> str:
    target, slots = budget.target_tokens, sum(budget.reserved_slots.values())
    parts = [f"target {count(target)} ({share(used, target)} used)" if target else "target 0"]
    if used > target:
        parts.append(f"exceeded by {count(used - target)}")
    parts += [f"max {count(budget.max_tokens)}", f"output reserve {count(budget.output_reserve)}"]
    if slots:
        parts.append(f"reserved slots {count(slots)}")
    if budget.estimation_safety_margin_percent:
        parts.append(f"safety margin {budget.estimation_safety_margin_percent:g}%")
    return listed(parts)


def _selected(report: SelectionReport, page: Page) -> list[Line]:
    included = report.included
    if not included:
        return page.heading("SELECTED: nothing")
    rows = [
        Row(
            (page.count(i), page.kind(item.kind), _tokens(item, page), Span(number(score)), Span(reason)),
            item.content,
        )
        for i, (item, score, reason) in enumerate(included, start=1)
    ]
    table = page.table((">#", "<kind", ">tokens", ">score", "<reason"), rows, text="content")
    return [*page.heading("SELECTED, in the order in which the model reads it"), *table]


def _tokens(item: ContextItem, page: Page) -> Span:
    """Format the tokens; `120 of 900` for a shorter version."""
    if version_mark(item) is None or item.original_tokens is None:
        return page.count(item.tokens)
    return Span(f"{page.count(item.tokens).text} of {page.count(item.original_tokens).text}")


def _left_out(report: SelectionReport, page: Page) -> list[Line]:
    excluded = report.excluded
    if not excluded:
        return page.heading("LEFT OUT: nothing")
    tokens = sum(each.item.tokens for each in excluded)
    heading = page.heading(f"LEFT OUT: {plural(len(excluded), 'item')}, {plural(tokens, 'token')}")
    groups = _groups(report.included, excluded, page)
    shown = [row for rows in groups.values() for row in rows[: page.limit]]
    table = Table(("<kind", ">score", "<why"), shown, page.width, indent="  ")
    lines = [*heading, *table.titles("content")]
    for title, rows in groups.items():
        lines += [[], *paragraph(f"{title}: {plural(len(rows), 'item')}", page.width, indent="  ")]
        lines += [*table.lines(rows[: page.limit]), *page.rest(rows)]
    return lines


def _groups(included: Sequence[IncludedItem], excluded: Sequence[ExcludedItem], page: Page) -> dict[str, list[Row]]:
    """Group by reason, in order of first appearance; within each group, the best score comes first."""
    positions = {each.item.content: i for i, each in reversed([*enumerate(included, start=1)])}
    explanations = [explain(each, positions, page.digits) for each in excluded]
    groups: dict[str, list[Row]] = {explanation.title: [] for explanation in explanations}
    for i in descending([each.score for each in excluded]):
        item, score, _ = excluded[i]
        cells = (page.kind(item.kind), Span(number(score)), Span(explanations[i].why))
        groups[explanations[i].title].append(Row(cells, item.content))
    return groups


def _parts(report: SelectionReport, page: Page) -> list[Line]:
    """List the best items with their scores by scorer."""
    entries = [each for each in entries_of(report) if each.reason != InclusionReason.PINNED]
    best = [report.why(entries[i].item) for i in descending([each.score for each in entries])[:_BEST]]
    scored = [each for each in best if each.parts]
    if not scored:
        return []
    names = [f"{clipped(part.scorer.removesuffix('Scorer'), 16)} {part.weight:.2f}" for part in scored[0].parts]
    rows = [
        Row((Span(number(each.score)), *(Span(number(part.score)) for part in each.parts)), each.item.content)
        for each in scored
    ]
    heading = page.heading("SCORES of the best items, by scorer and weight")
    return [*heading, *page.table((">score", *(f">{name}" for name in names)), rows, text="content")]


def _shortfalls(report: SelectionReport, page: Page) -> list[Line]:
    shortfalls = report.count_requirement_shortfalls
    if not shortfalls:
        return []
    rows = [Row((page.kind(kind), page.count(required), page.count(found))) for kind, required, found in shortfalls]
    return [*page.heading("TOO FEW to meet a count requirement"), *page.table(("<kind", ">required", ">found"), rows)]


def _times(report: SelectionReport, page: Page) -> list[Line]:
    """List the stages with their durations. An event with a message is about one item, and has no duration."""
    events = report.events
    stages = [event for event in events if event.message is None]
    about_items = plural(len(events) - len(stages), "item event")
    if not events:
        return []
    if not stages:
        return page.heading(f"EVENTS: {about_items}")
    total = milliseconds(sum(event.duration_ms for event in stages))
    rows = [
        Row((Span(clipped(stage, page.width // 5)), page.count(items), Span(milliseconds(duration))))
        for stage, duration, items, _ in stages
    ]
    heading = page.heading(f"TIME: {total} ms in {plural(len(stages), 'stage')}, {about_items}")
    return [*heading, *page.table(("<stage", ">items", ">ms"), rows)]
