"""Format a comparison of policies for a terminal: a row for each difference, a column for each variant."""

from __future__ import annotations

from collections.abc import Container, Sequence
from typing import Any, NamedTuple, cast

from pycupel.analytics.measures import ItemStatus, PolicySensitivityReport
from pycupel.diagnostics import Deduplicated, SelectionReport
from pycupel.model.checks import wrong_type
from pycupel.render._layout import HEADING, QUIET, Line, Row, Span, Table, clipped, not_shown, plural, share
from pycupel.render.text import Page, cause_of

# The width of tokens and contents beside the variants. In less than 24 characters, contents are hard to recognise.
_REST = 34


class _Verdict(NamedTuple):
    """Whether a variant selects a content, and the reason if not."""

    word: Span
    reason: str = ""


_IN, _OUT = _Verdict(Span("in", HEADING)), _Verdict(Span("out", QUIET))


class _Grid(NamedTuple):
    """A column for each variant, named by its label or by a number, and a row for each difference that is shown."""

    names: Sequence[str]
    verdicts: Sequence[Sequence[_Verdict]]

    @property
    def width(self) -> int:
        columns = zip(self.names, *([verdict.word.text for verdict in row] for row in self.verdicts), strict=True)
        return sum(2 + max(map(len, column)) for column in columns)


def render_sensitivity(
    report: PolicySensitivityReport,
    *,
    width: int = 80,
    color: bool = False,
    limit: int | None = 40,
    unicode: bool = True,
) -> str:
    """Format a comparison: the differences, and what each variant selects.

    Columns have the variants' labels, or numbers if the labels do not fit. If the reasons do not fit either, a cell
    just says `out`.

    Args:
        report: The comparison.
        width: The maximum length of a line, at least 40.
        color: Whether to use ANSI colours.
        limit: How many differences are shown; None for all.
        unicode: False shows a `?` for each character beyond ASCII.

    Raises:
        InvalidArgumentError: the width is less than 40, or the limit is negative.
    """
    if not isinstance(cast(Any, report), PolicySensitivityReport):
        raise wrong_type("report", "a PolicySensitivityReport", report)
    page = Page.of(width, limit)
    grid = _grid(report, page)
    sections = [_headline(report, page), _differences(report, grid, page), _variants(report, grid.names, page)]
    return page.text(sections, color=color, unicode=unicode)


def _headline(report: PolicySensitivityReport, page: Page) -> list[Line]:
    number = len(report.variants)
    if report.diffs:
        candidates = plural(report.variants[0][1].total_candidates, "item")
        return page.heading(f"{plural(len(report.diffs), 'difference')} between {number} variants, among {candidates}")
    selections = {tuple(dict.fromkeys(item.content for item in each.items)) for _, each in report.variants}
    all_variants = "both variants" if number == 2 else f"all {number} variants"
    order = "" if len(selections) == 1 else ", in another order"
    return page.heading(f"No difference: {all_variants} select the same contents{order}.")


def _differences(report: PolicySensitivityReport, grid: _Grid, page: Page) -> list[Line]:
    if not report.diffs:
        return []
    sizes = {item.content: item.tokens for _, each in reversed(report.variants) for item in reversed(each.items)}
    rows = [
        Row((page.count(sizes[diff.content]), *(verdict.word for verdict in verdicts)), diff.content)
        for diff, verdicts in zip(report.diffs, grid.verdicts, strict=False)
    ]
    table = Table((">tokens", *(f"<{name}" for name in grid.names)), rows, page.width)
    lines = [
        *page.heading("DIFFERENCES"),
        *table.titles("content"),
        *table.lines(rows),
        *not_shown(report.diffs, page.limit),
    ]
    reasons = {verdict.word: verdict.reason for row in grid.verdicts for verdict in row if verdict.reason}
    legend = [Row((word,), reason) for word, reason in reasons.items() if reason != word.text]
    return [*lines, [], *Table(("<",), legend, page.width).lines(legend)] if legend else lines


def _variants(report: PolicySensitivityReport, names: Sequence[str], page: Page) -> list[Line]:
    """List the totals of the variants, with their labels if the columns above are numbered."""
    rows: list[Row] = []
    for name, (label, each) in zip(names, report.variants, strict=True):
        tokens, target = each.included_tokens, 0 if each.budget is None else each.budget.target_tokens
        totals = (page.count(len(each.included)), page.count(tokens), Span(share(tokens, target)))
        rows.append(Row((Span(name), *totals), "" if name == label else label))
    # Ignore the limit: a number is useless without its label.
    return [*page.heading("VARIANTS"), *page.table(("<", ">items", ">tokens", ">of target"), (), rows)]


def _grid(report: PolicySensitivityReport, page: Page) -> _Grid:
    """Return the most detailed grid that leaves room for the contents."""
    labels = [label for label, _ in report.variants]
    numbers = [f"#{i}" for i in range(1, len(labels) + 1)]
    # Labels are titles only if all of them fit as they are, and are different.
    titles = {label for label in labels if label.isascii() and clipped(label, page.width // 4) == label}
    names = (labels, numbers) if len(titles) == len(labels) else (numbers,)
    shown = report.diffs[: page.limit]
    contents = {diff.content for diff in shown}
    causes = [_causes(each, contents, page) for _, each in report.variants]
    detailed = [
        [
            _IN if status == ItemStatus.INCLUDED else known.get(diff.content, _OUT)
            for (_, status), known in zip(diff.statuses, causes, strict=True)
        ]
        for diff in shown
    ]
    brief = [[verdict if verdict is _IN else _OUT for verdict in row] for row in detailed]
    grids = [_Grid(each, verdicts) for verdicts in (detailed, brief) for each in names]
    return next((grid for grid in grids if not shown or grid.width <= page.width - _REST), grids[-1])


def _causes(report: SelectionReport, contents: Container[str], page: Page) -> dict[str, _Verdict]:
    """Find why contents are out. Of several items with the same content, the best counts, but not a duplicate."""
    asked = [excluded for excluded in report.excluded if excluded.item.content in contents]
    by_weight = sorted(asked, key=lambda excluded: isinstance(excluded.reason, Deduplicated))
    causes = {each.item.content: cause_of(each, {}, page.digits) for each in reversed(by_weight)}
    return {content: _Verdict(Span(cause.word, QUIET), cause.title) for content, cause in causes.items()}
