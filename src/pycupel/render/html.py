"""Write a report, or panels, as one HTML page that needs no network, no dependencies and no build.

The page is a template, a style sheet and a script, three files beside this module, and the data as JSON. Its
Content-Security-Policy allows these very texts and nothing else, and the script shows data only as text.
"""

from __future__ import annotations

import json
import re
from base64 import b64encode
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from hashlib import sha256
from html import escape
from importlib.resources import files
from typing import Any, NamedTuple, TypeAlias, cast

from pycupel.analytics import BudgetPoint
from pycupel.diagnostics import Explanation, SelectionReport
from pycupel.diagnostics.reasons import reason_name
from pycupel.diagnostics.report import are_of_history, checked_report, refuse_history
from pycupel.errors import InvalidArgumentError
from pycupel.model import ContextItem
from pycupel.model.checks import checked_bool
from pycupel.model.item import checked_items
from pycupel.pipeline import Policy, PresetName
from pycupel.pipeline.policy import as_policy
from pycupel.render._data import (
    Data,
    Kinds,
    PageRows,
    RowIndex,
    add_texts,
    entries_of,
    report_data,
    script_number,
    sweep_data,
)
from pycupel.render._layout import clipped, color_of, count, number, plural, share
from pycupel.render.text import render_explanation, render_summary
from pycupel.selecting import ContextResult

# Panels. Most have a title and a `note`, a sentence below it; `unit` is what values count, such as `tokens`. What
# belongs to one group has one colour.


class Figure(NamedTuple):
    """A number, or a text, with a label above and a few words below."""

    label: str
    value: float | str
    note: str = ""


class Figures(NamedTuple):
    """The numbers that matter most, side by side."""

    figures: Sequence[Figure]


class Bar(NamedTuple):
    """What is measured, how much it is, a few words beside it, and its group; without one, it is a group of its own."""

    label: str
    value: float
    note: str = ""
    group: str = ""


class Bars(NamedTuple):
    """A bar chart; with `shares`, its bars are parts of a whole, and shown with their shares of it."""

    title: str
    bars: Sequence[Bar]
    unit: str = "tokens"
    note: str = ""
    shares: bool = True


class WindowGauge(NamedTuple):
    """How much of a limit is used, by parts, as one bar; the reserve lies beyond the limit, for something else."""

    title: str
    bars: Sequence[Bar]
    limit: int
    reserve: int = 0
    unit: str = "tokens"
    note: str = ""


class Level(NamedTuple):
    """A value that a chart marks with a line."""

    label: str
    value: float


class Band(NamedTuple):
    """A part of the whole that exists from the point at one index to that at another, and how much it contributes."""

    label: str
    group: str
    start: int
    end: int
    size: float


class Mark(NamedTuple):
    """Something that happened at the point with this index."""

    point: int
    label: str


class GrowthChart(NamedTuple):
    """A chart of how something grew from point to point: the totals, where they are known, and parts in stacking order.

    `point` is what a point is called. Levels far above everything else have no line, but stand below the chart.
    """

    title: str
    totals: Sequence[float | None]
    bands: Sequence[Band] = ()
    marks: Sequence[Mark] = ()
    levels: Sequence[Level] = ()
    point: str = "call"
    unit: str = "tokens"
    note: str = ""


class Tile(NamedTuple):
    """A part of a whole, as an area within that of its group; how much of its size is redundant is hatched."""

    group: str
    label: str
    size: int
    redundant: int = 0


class Treemap(NamedTuple):
    """The parts of a whole as areas, by group."""

    title: str
    tiles: Sequence[Tile]
    unit: str = "tokens"
    note: str = ""


class Rows(NamedTuple):
    """A table that can be searched and sorted; in the columns `alarms`, by index, anything but 0 is red."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[float | str | None]]
    note: str = ""
    alarms: Sequence[int] = ()


class Notes(NamedTuple):
    """Sentences."""

    title: str
    lines: Sequence[str]


Panel: TypeAlias = Figures | Bars | WindowGauge | GrowthChart | Treemap | Rows | Notes
"""Any panel of a page."""


def panel_data(panel: Panel) -> dict[str, Any]:
    """Convert a panel to JSON values."""
    return {"type": type(panel).__name__.lower(), **{name: _plain(value) for name, value in panel._asdict().items()}}


def _plain(value: Any) -> Any:
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return script_number(value)
    return [_plain(each) for each in cast("Sequence[Any]", value)] if isinstance(value, (list, tuple)) else value


MOST_REPORTS = 8
"""How many reports a page shows side by side."""

_TITLE = "Context selection"
_CUT = "a chat history is cut, and not selected item by item; call select_messages with another budget instead"
_PLACE = re.compile(r"\{\{ (\w+) \}\}")


def render_html(
    report: SelectionReport,
    *,
    pipeline: Policy | PresetName | None = None,
    items: Iterable[ContextItem] | None = None,
    other: SelectionReport | Sequence[SelectionReport] | None = None,
    text: bool = True,
    title: str = _TITLE,
    subtitle: str = "",
    names: Sequence[str] = ("this report", "the other"),
) -> str:
    """Make a page of a report, as `SelectionReport.to_html` describes it.

    There may be up to seven `other` reports beside the first; `names` is what the page calls them. The subtitle is a
    sentence, such as what was asked.
    """
    data = page_data(report, pipeline=pipeline, items=items, other=other, text=text)
    summary = f"{subtitle}\n{render_summary(report)}".strip()
    return render_page(title, {**data, "subtitle": subtitle, "names": [*names]}, summary=summary)


def page_data(
    report: SelectionReport,
    *,
    pipeline: Policy | PresetName | None = None,
    items: Iterable[ContextItem] | None = None,
    other: SelectionReport | Sequence[SelectionReport] | None = None,
    text: bool = True,
) -> Data:
    """Return the data of the page as JSON values; the arguments are those of `render_html`."""
    checked_report("report", report)
    others = () if other is None else (other,) if isinstance(other, SelectionReport) else other
    for each in others if isinstance(others, (list, tuple)) else (others,):
        checked_report("other", each)
    if len(others) >= MOST_REPORTS:
        raise InvalidArgumentError(
            f"a page shows at most {MOST_REPORTS} reports side by side, not {len(others) + 1}", argument="other"
        )
    checked_bool("text", text)
    policy = None if pipeline is None else as_policy(pipeline, "pipeline")
    own = [each.item for each in entries_of(report)]
    if policy is not None:
        refuse_history(own)
    table = PageRows.of(report, others)
    kinds = Kinds(entry.item for each in (report, *others) for entry in entries_of(each))
    data = report_data(report, others, table, kinds, text=text)
    sweep: Data | None = {"failed": _CUT} if are_of_history(own) else None
    if items is not None:
        candidates = checked_items(items)
        if len(candidates) != report.total_candidates:
            raise InvalidArgumentError(
                f"items must be the candidates of the report: it has {report.total_candidates}, but items has "
                f"{len(candidates)}",
                argument="items",
            )
        data["rows"]["input"] = RowIndex(candidates).find(table.items)
        if policy is not None:
            sweep = sweep_data(policy, candidates, report.budget, table.items, kinds)
    page: Data = {"report": data, "sweep": sweep}
    if text:
        add_texts(page, table.items)
    return page


def render_panels(title: str, panels: Iterable[Panel], *, subtitle: str = "", quiet: Sequence[str] = ()) -> str:
    """Make a page of panels, such as tables and charts, from plain rows.

    Groups of bars and bands that are `quiet`, such as unknown parts, are grey.
    """
    given = [*panels]
    groups = {bar.group or bar.label for panel in given if isinstance(panel, Bars | WindowGauge) for bar in panel.bars}
    groups |= {band.group for panel in given if isinstance(panel, GrowthChart) for band in panel.bands}
    groups |= {tile.group for panel in given if isinstance(panel, Treemap) for tile in panel.tiles}
    colors = {group: color_of(group) for group in sorted(groups.difference(quiet))}
    shown = [panel_data(panel) for panel in given]
    return render_page(title, {"subtitle": subtitle, "colors": colors, "panels": shown})


def render_page(title: str, data: Mapping[str, Any], *, summary: str = "", connect: str = "'none'") -> str:
    """Make the page whose script shows the data.

    A browser without scripts shows the summary. `connect` is where the script may send requests, as in a
    Content-Security-Policy.
    """
    style, script = _asset("page.css"), _asset("page.js")
    policy = (
        f"default-src 'none'; style-src '{_digest(style)}'; script-src '{_digest(script)}'; connect-src {connect}; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )
    text = json.dumps({"title": title, **data}, separators=(",", ":"), allow_nan=False)
    values = {
        "title": _markup(title),
        "policy": escape(policy),
        "style": style,
        "summary": _markup(summary),
        "data": text.replace("<", "\\u003c"),
        "script": script,
    }
    return _PLACE.sub(lambda place: values[place[1]], _asset("page.html"))


def render_frame(page: str, height: int = 640) -> str:
    """Put a page into an isolated frame of a height in pixels, for another page such as a notebook."""
    return (
        f'<iframe srcdoc="{escape(page)}" sandbox="allow-scripts" title="{_TITLE}" '
        f'style="width: 100%; height: {height}px; border: 1px solid #8884; border-radius: 8px"></iframe>'
    )


def _markup(text: str) -> str:
    """Return a text as HTML in ASCII, as JSON is, so that a wrong encoding cannot change the page."""
    return escape(text).encode("ascii", "xmlcharrefreplace").decode()


@cache
def _asset(name: str) -> str:
    return files("pycupel.render").joinpath("assets", name).read_text(encoding="utf-8")


@cache
def _digest(text: str) -> str:
    """Return the hash by which the policy allows an inline style or script."""
    return f"sha256-{b64encode(sha256(text.encode()).digest()).decode()}"


# What results show of themselves in a notebook: a page of panels in a frame, which runs nothing outside it.


_LONGEST_TEXT, _LONGEST_LINE = 200, 2_000


def result_html(result: ContextResult) -> str:
    """Show what `select` returned: its report, or the selected items if there is none."""
    if result.report is not None:
        return render_frame(result.report.to_html())
    kinds: dict[str, int] = {}
    for item in result.items:
        kinds[item.kind.value] = kinds.get(item.kind.value, 0) + item.tokens
    rows = [
        (i, item.kind.value, item.tokens, clipped(item.content, _LONGEST_TEXT))
        for i, item in enumerate(result.items, 1)
    ]
    return _framed(
        "Selected items",
        [
            Figures([Figure("Items", len(result.items)), Figure("Tokens", result.total_tokens)]),
            Bars("Tokens by kind", [Bar(kind, tokens) for kind, tokens in kinds.items()]),
            Rows("In the order in which the model reads them", ("#", "Kind", "Tokens", "Content"), rows),
            *_notes(result.notes),
        ],
    )


def selection_html(selection: Any) -> str:
    """Show what `select_messages` returned, whose type stands in a layer above: the window, and what was left out."""
    usage = selection.usage
    groups = {"system": usage.system, "tools": usage.tools, **usage.history, "documents": usage.documents}
    bars = [Bar(name, tokens) for name, tokens in groups.items() if tokens]
    reasons = Counter(reason_name(each.reason) for each in (*selection.dropped, *selection.dropped_documents))
    kept = Figure("Messages", len(selection.messages), f"of {count(selection.history_length)}")
    counted = f"for {selection.provider}, counted by {selection.counter}"
    figures = [kept, Figure("Prompt", usage.prompt, counted), Figure("Free", usage.free, "tokens")]
    panels: list[Panel] = [
        Figures(figures),
        WindowGauge("The window", bars, usage.window - usage.reply, usage.reply),
        Rows("Left out", ("Reason", "Messages and documents"), [*reasons.items()]),
    ]
    return _framed("Selected messages", [*panels[: 3 if reasons else 2], *_notes(selection.notes)])


def explanation_html(explanation: Explanation) -> str:
    """Show why one item was selected or left out."""
    parts = [
        Bar(part.scorer, round(part.weight * part.score, 4), f"weight {part.weight:.2f}, score {number(part.score)}")
        for part in explanation.parts
    ]
    # Each sentence in one line; what is a table in a terminal has a panel of its own.
    _, *lines = render_explanation(replace(explanation, parts=(), instead=()), width=_LONGEST_LINE).splitlines()
    panels: list[Panel] = [Notes("Why", [line.strip() for line in lines])]
    if parts:
        panels.append(Bars("Score by scorer", parts, unit="", shares=False))
    if explanation.instead:
        rows = [(item.tokens, clipped(item.content, _LONGEST_TEXT)) for item in explanation.instead]
        panels.append(Rows("Selected instead, lowest scores first", ("Tokens", "Content"), rows))
    return _framed(clipped(explanation.item.content, 80), panels)


def sweep_html(points: Sequence[BudgetPoint]) -> str:
    """Show what several budgets select."""
    rows = [
        (
            point.budget.max_tokens,
            len(point.items) if point.feasible else "too small",
            point.tokens,
            share(point.tokens, point.budget.max_tokens),
            round(point.score, 4),
        )
        for point in points
    ]
    tokens = [point.tokens if point.feasible else None for point in points]
    chart = [GrowthChart("Tokens selected, from budget to budget", tokens, point="budget")] if len(points) > 1 else []
    title = f"What {plural(len(points), 'budget')} select"
    return _framed(title, [*chart, Rows("Budgets", ("Budget", "Items", "Tokens", "Used", "Score"), rows)])


def _notes(notes: Sequence[str]) -> list[Panel]:
    return [Notes("Notes", notes)] if notes else []


def _framed(title: str, panels: Sequence[Panel]) -> str:
    return render_frame(render_panels(title, panels), height=420)
