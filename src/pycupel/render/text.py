"""Format a report, or the explanation of one item, for a terminal.

Bars are drawn in ASCII, which works in every terminal, log and bug report. Contents and names are shown as they are,
but with a `?` for each control character.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from pycupel.diagnostics import (
    BudgetExceeded,
    CountCapExceeded,
    Deduplicated,
    ExcludedItem,
    ExclusionReason,
    Explanation,
    IncludedItem,
    InclusionReason,
    NegativeTokens,
    PinnedOverride,
    SelectionReport,
    UnknownReason,
)
from pycupel.diagnostics.reasons import pinned_tokens, reason_name
from pycupel.diagnostics.report import are_of_history, checked_report, slicer_notes
from pycupel.errors import InvalidArgumentError
from pycupel.kernels.order import descending
from pycupel.model import ContextBudget, ContextItem, ContextKind
from pycupel.model.checks import checked_bool, checked_count, checked_int
from pycupel.model.item import version_mark
from pycupel.render._layout import (
    ALARM,
    HEADING,
    QUIET,
    SYMBOLS,
    Line,
    Row,
    Span,
    Table,
    ansi_of,
    bar,
    clipped,
    count,
    finish,
    listed,
    milliseconds,
    not_shown,
    number,
    paragraph,
    plural,
    share,
)
from pycupel.values import sealed

_MIN_WIDTH = 40


@sealed
@dataclass(frozen=True, slots=True)
class Page:
    """The settings of one report's text, and the parts that depend on them."""

    width: int
    limit: int | None

    @classmethod
    def of(cls, width: int, limit: int | None) -> Page:
        """Check the settings."""
        columns = checked_int("width", width)
        if columns < _MIN_WIDTH:
            raise InvalidArgumentError(
                f"width must be at least {_MIN_WIDTH}, not {columns}", argument="width", value=columns
            )
        rows = limit if limit is None else checked_count("limit", limit, InvalidArgumentError)
        return cls(columns, rows)

    @property
    def digits(self) -> int:
        """The room for a number: 13 characters, enough for 9,999,999,999; less on a narrow page."""
        return 13 if self.width >= 60 else 9

    def count(self, value: int) -> Span:
        """Format a number for a cell."""
        return Span(count(value, self.digits))

    def kind(self, kind: ContextKind) -> Span:
        """Format a kind for a cell, in its colour."""
        return Span(clipped(kind.value, self.width // 5), ansi_of(kind.key))

    def text(self, sections: Iterable[list[Line]], *, color: bool, unicode: bool) -> str:
        """Join the sections that are not empty, with a blank line between them."""
        checked_bool("color", color)
        checked_bool("unicode", unicode)
        shown = (section for section in sections if section)
        return "\n\n".join(finish(section, self.width, color=color, unicode=unicode) for section in shown)

    def heading(self, text: str) -> list[Line]:
        """Format the heading of a section."""
        return paragraph(text, self.width, code=HEADING)

    def table(
        self, columns: Sequence[str], rows: Sequence[Row], last: Sequence[Row] = (), *, text: str = ""
    ) -> list[Line]:
        """Show the rows up to the limit, and always the `last` ones."""
        shown = rows[: self.limit]
        table = Table(columns, [*shown, *last], self.width)
        return [*table.titles(text), *table.lines(shown), *not_shown(rows, self.limit), *table.lines(last)]


# Say in words and numbers why an item was left out.


_LONGEST_NAME = 40
_LONGEST_QUOTE = 24
_LONGEST_WORD = 12
_MAX_NAMED = 3


class Cause(NamedTuple):
    """Why an item was left out."""

    title: str  # The reason in words, the same for all items with it.
    why: str  # What is particular to this item.
    rest: str = ""  # What else decided, the same for many items: what the selection left free, or which quota was full.
    word: str = ""  # The title in a word, for a narrow column.

    @property
    def details(self) -> str:
        """What is particular to the item, and what else decided."""
        return "; ".join(filter(None, (self.why, self.rest)))


def short_name(reason: ExclusionReason) -> str:
    """Return the reason's name in the wire format, shortened, since it may be any string."""
    return clipped(reason_name(reason), _LONGEST_NAME)


def cause_of(excluded: ExcludedItem, positions: Mapping[str, int], digits: int, note: str = "") -> Cause:
    """Explain an exclusion.

    `positions` are the numbers by which selected contents are referred to, and `note` is what the slicer says about an
    item that would have fitted.
    """
    reason = excluded.reason
    match reason:
        case BudgetExceeded(item_tokens=needed, available_tokens=left):
            # A quota or a bucket of a knapsack can be full while the budget is not (ER-05).
            title, word = ("Did not fit", "no room") if needed > left else ("Would fit, but was not chosen", "skipped")
            rest = f"left {count(left, digits)} free" if left >= 0 else f"exceeds the target by {count(-left, digits)}"
            # What is left is that of the final selection, and not what was left when the item was considered. The cut
            # of a history keeps room to grow, which is free as well.
            is_cut = are_of_history([excluded.item])
            rest = f"the cut left {plural(left, 'token')} for more" if is_cut else f"the selection {rest}"
            return Cause(f"{title} ({short_name(reason)})", f"{count(needed, digits)} tokens", note or rest, word)
        case Deduplicated(deduplicated_against=content):
            title, word = "Same text as another candidate", "copy"
            itself = "an excluded item" if content == excluded.item.content else _quoted(content)
            why = f"copy of {_row_number(content, positions) or itself}"
        case NegativeTokens(tokens=tokens):
            title, word, why = "Negative token count", "invalid", f"counted as {count(tokens)}"
        case PinnedOverride(displaced_by=content):
            title, word = "Would fit without the pinned items", "displaced"
            why = f"displaced by {_row_number(content, positions) or _quoted(content)}"
        case CountCapExceeded(kind=kind, cap=cap, count=chosen, by=by):
            title, word = "Enough of its kind" if by == "kind" else f"Enough of one {by}", "capped"
            of_kind = "" if by == "kind" and excluded.item.kind == kind else f" of {by} {_quoted(kind)}"
            why = f"capped at {count(cap)}, {count(chosen)} selected{of_kind}"
        case _:
            # A reason that this module does not know: its fields say what is particular.
            names = getattr(reason, "__match_args__", ())
            own = {name: getattr(reason, name) for name in names}
            fields = reason.fields if isinstance(reason, UnknownReason) else own
            texts = [f"{clipped(name, _LONGEST_QUOTE)} {_value(value)}" for name, value in fields.items()]
            why = clipped(", ".join(texts), _LONGEST_NAME) if texts else ""
            return Cause(short_name(reason), why, word=clipped(short_name(reason), _LONGEST_WORD))
    return Cause(f"{title} ({short_name(reason)})", why, word=word)


def _row_number(content: str, positions: Mapping[str, int]) -> str:
    return f"#{positions[content]}" if content in positions else ""


def _quoted(text: str) -> str:
    return f"'{clipped(text, _LONGEST_QUOTE)}'"


def _value(value: object) -> str:
    if isinstance(value, bool):
        return str(value)
    if isinstance(value, int):
        return count(value)
    return number(value) if isinstance(value, float) else _quoted(str(value))


def name_pinned(items: Iterable[ContextItem]) -> str:
    """Name the pinned items, the largest first, for the advice about a budget that is too small for them."""
    pinned = sorted((item for item in items if item.pinned), key=lambda item: -item.tokens)
    named = [f"{_quoted(item.content)} ({plural(item.tokens, 'token')})" for item in pinned[:_MAX_NAMED]]
    return ", ".join([*named, f"{count(len(pinned) - _MAX_NAMED)} more"] if len(pinned) > _MAX_NAMED else named)


# Show how the target is used: a bar, and a line for each kind, for pinned items and for what is left.


_COLUMNS = ("<", "<kind", ">tokens", ">share", ">items")


class _Part(NamedTuple):
    """A segment of the bar, and its line in the legend."""

    label: Span
    symbol: str
    tokens: int
    items: Span = Span("")
    note: str = ""


def share_lines(report: SelectionReport, page: Page) -> list[Line]:
    """Draw the bar and its legend."""
    used, unused = _used(report, page), _unused(report)
    if not used and not unused:
        return []
    whole, title = report.included_tokens, "TOKENS, as shares of the selection"
    if report.budget is not None:
        whole, title = report.budget.target_tokens, "TOKENS, as shares of the target"
    segments = [(max(0, part.tokens), Span(part.symbol, part.label.code)) for part in (*used, *unused) if part.symbol]
    rows = [
        Row((Span(symbol, label.code), label, page.count(tokens), Span(share(tokens, whole)), items), note)
        for label, symbol, tokens, items, note in (*used, *unused)
    ]
    table = page.table(_COLUMNS, rows[: len(used)], rows[len(used) :])
    return [*page.heading(title), bar(segments, page.width - 4), *table]


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
            SYMBOLS[i % len(SYMBOLS)],
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
    if not held:
        return [free]
    holders = {
        "output reserve": budget.target_tokens > budget.available_tokens,
        "reserved slots": any(budget.reserved_slots.values()),
        "margin": budget.estimation_safety_margin_percent > 0,
    }
    note = ", ".join(name for name, holds in holders.items() if holds)
    return [_Part(Span("(held)", QUIET), "-", held, note=note), free]


def held_tokens(budget: ContextBudget, used: int, pinned: int) -> int:
    """Return the unused tokens of the target that reserves and the margin hold back from the slicer."""
    withheld = budget.target_tokens - pinned - budget.effective(pinned).target_tokens
    return max(0, min(budget.target_tokens - used, withheld))


# The whole report: what is in, what is out and why, and where the tokens and the time went.


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
    checked_report("report", report)
    page = Page.of(width, limit)
    sections = [
        headline(report, page.width),
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
    lines = headline(checked_report("report", report), _SUMMARY_WIDTH)
    names = Counter(short_name(excluded.reason) for excluded in report.excluded)
    if names:
        reasons = listed(f"{count(items)} {name}" for name, items in names.items())
        lines += paragraph(f"left out: {reasons}", _SUMMARY_WIDTH)
    missing = [
        f"{count(found)} of {count(required)} {clipped(kind.value, 40)}"
        for kind, required, found, _ in report.count_requirement_shortfalls
    ]
    if missing:
        lines += paragraph(f"too few: {listed(missing)}", _SUMMARY_WIDTH)
    return finish(lines, _SUMMARY_WIDTH, color=False)


def headline(report: SelectionReport, width: int) -> list[Line]:
    """Say how much was selected, and of which budget."""
    items = f"{count(len(report.included))} of {plural(report.total_candidates, 'item')} selected"
    tokens = f"{count(report.included_tokens)} of {plural(report.total_tokens_considered, 'token')}"
    shortened = [f"{count(len(report.shortened))} shortened"] if report.shortened else []
    lines = paragraph(listed((items, tokens, *shortened)), width, code=HEADING)
    if report.budget is not None:
        lines += paragraph(f"budget: {_budget(report.budget, report.included_tokens)}", width)
    for note in report.notes:
        lines += paragraph(f"note: {note}", width)
    return lines


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
    rows: list[Row] = []
    for i, (item, score, reason) in enumerate(included, start=1):
        tokens = page.count(item.tokens)
        if version_mark(item) is not None and item.original_tokens is not None:
            tokens = Span(f"{tokens.text} of {page.count(item.original_tokens).text}")
        cells = (page.count(i), page.kind(item.kind), tokens, Span(number(score)), Span(reason))
        rows.append(Row(cells, item.content))
    table = page.table((">#", "<kind", ">tokens", ">score", "<reason"), rows, text="content")
    return [*page.heading("SELECTED, in the order in which the model reads it"), *table]


def _left_out(report: SelectionReport, page: Page) -> list[Line]:
    excluded = report.excluded
    if not excluded:
        return page.heading("LEFT OUT: nothing")
    tokens = sum(each.item.tokens for each in excluded)
    heading = page.heading(f"LEFT OUT: {plural(len(excluded), 'item')}, {plural(tokens, 'token')}")
    groups = _groups(report.included, excluded, slicer_notes(report), page)
    shown = [row for rows in groups.values() for row in rows[: page.limit]]
    table = Table((">#", "<kind", ">score", "<why"), shown, page.width, indent="  ")
    lines = [*heading, *table.titles("content")]
    for (title, rest), rows in groups.items():
        shared = f"; {rest}" if rest else ""
        lines += [[], *paragraph(f"{title}: {plural(len(rows), 'item')}{shared}", page.width, indent="  ")]
        lines += [*table.lines(rows[: page.limit]), *not_shown(rows, page.limit)]
    return lines


def _groups(
    included: Sequence[IncludedItem], excluded: Sequence[ExcludedItem], notes: Mapping[int, str], page: Page
) -> dict[tuple[str, str], list[Row]]:
    """Group by reason and by what else decided, in order of first appearance; in each group, the best come first."""
    positions = {each.item.content: i for i, each in reversed([*enumerate(included, start=1)])}
    causes = [cause_of(each, positions, page.digits, notes.get(id(each.item), "")) for each in excluded]
    groups: dict[tuple[str, str], list[Row]] = {(cause.title, cause.rest): [] for cause in causes}
    for i in descending([each.score for each in excluded]):
        item, score, _ = excluded[i]
        # The numbers go on where those of the selected items end, as on the page, so that each has its own.
        at = page.count(len(included) + i + 1)
        cells = (at, page.kind(item.kind), Span(number(score)), Span(causes[i].why))
        groups[causes[i].title, causes[i].rest].append(Row(cells, item.content))
    return groups


def _parts(report: SelectionReport, page: Page) -> list[Line]:
    """List the best items with their scores by scorer."""
    all_entries: list[IncludedItem | ExcludedItem] = [*report.included, *report.excluded]
    entries = [each for each in all_entries if each.reason != InclusionReason.PINNED]
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
    rows = [Row((page.kind(kind), page.count(required), page.count(found))) for kind, required, found, _ in shortfalls]
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


# Format the explanation of one item.


_WIDTH = 80
_QUOTE = 40


def render_explanation(explanation: Explanation, *, width: int = _WIDTH, unicode: bool = True) -> str:
    """Format an explanation: the item, whether it was selected and why, its score, and what would select it."""
    item = explanation.item
    lines = paragraph(clipped(item.content, width), width, code=HEADING)

    def indented(text: str) -> list[Line]:
        return paragraph(text, width, indent="  ")

    what = f"{clipped(item.kind.value, _QUOTE)} of {plural(item.tokens, 'token')}"
    if version_mark(item) is not None and item.original_tokens is not None:
        what = f"{what}, shortened from {count(item.original_tokens)}"
    reason = explanation.reason
    if isinstance(reason, ExclusionReason):
        cause = cause_of(ExcludedItem(item, explanation.score, reason), {}, 13, explanation.note)
        why = f"{cause.title}, {cause.details}" if cause.details else cause.title
    else:
        why = clipped(reason, _QUOTE)
    lines += indented(f"{what}, {'selected' if explanation.included else 'left out'}: {why}")
    rank = "" if explanation.rank is None else f", rank {count(explanation.rank)}"
    lines += indented(f"score {number(explanation.score)}{rank}")
    if explanation.parts:
        rows = [
            Row((Span(f"{part.weight:.2f}"), Span(number(part.score)), Span(clipped(part.scorer, _QUOTE))))
            for part in explanation.parts
        ]
        table = Table((">weight", ">score", "<scorer"), rows, width, indent="  ")
        lines += [*table.titles(), *table.lines(rows)]
    if explanation.instead:
        lines += indented("selected instead, lowest scores first:")
        lines += [
            line
            for other in explanation.instead
            for line in indented(f"  {count(other.tokens)} tokens: {clipped(other.content, _QUOTE)}")
        ]
    if explanation.min_budget is not None:
        which = "next" if explanation.min_budget_is_exact else "a"
        lines += indented(f"{which} larger budget that selects it: {count(explanation.min_budget)}")
    return finish(lines, width, color=False, unicode=unicode)
