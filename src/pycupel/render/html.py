"""Write a report as one HTML page that needs no network, no dependencies and no build.

The page is a template, a style sheet and a script, three files beside this module, and the data as JSON. Its
Content-Security-Policy allows these very texts and nothing else, and the script shows data only as text.
"""

from __future__ import annotations

import json
import re
from base64 import b64encode
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from hashlib import sha256
from html import escape
from importlib.resources import files
from typing import Any, NamedTuple, TypeAlias, cast

from pycupel.diagnostics import SelectionReport
from pycupel.diagnostics.report import checked_report, refuse_history
from pycupel.errors import InvalidArgumentError
from pycupel.model import ContextItem
from pycupel.model.checks import checked_bool
from pycupel.model.item import checked_items
from pycupel.pipeline import Policy, PresetName
from pycupel.pipeline.policy import as_policy
from pycupel.render._data import Data, Kinds, PageRows, RowIndex, entries_of, report_data, script_number, sweep_data
from pycupel.render.text import render_summary
from pycupel.values import sealed


class Figure(NamedTuple):
    """A number with a label."""

    label: str
    """A label for the number."""

    value: float | str
    """The number, or a text."""

    note: str = ""
    """A few words below it."""


@sealed
@dataclass(frozen=True, slots=True)
class Figures:
    """The numbers that matter most, side by side."""

    figures: Sequence[Figure]
    """The numbers."""


class Bar(NamedTuple):
    """One row of a bar chart."""

    label: str
    """What is measured."""

    value: float
    """How much it is."""

    note: str = ""
    """A few words beside it."""

    group: str = ""
    """The group it belongs to; bars of one group have one colour."""


@sealed
@dataclass(frozen=True, slots=True)
class Bars:
    """A bar chart."""

    title: str
    """The heading."""

    bars: Sequence[Bar]
    """The rows."""

    unit: str = "tokens"
    """What the values count, such as `tokens`."""

    note: str = ""
    """A sentence below the heading."""

    shares: bool = True
    """Whether the bars are parts of a whole, which is then shown with their shares of it."""


@sealed
@dataclass(frozen=True, slots=True)
class WindowGauge:
    """How much of a limit is used, by parts, as one bar."""

    title: str
    """The heading."""

    bars: Sequence[Bar]
    """The parts that are used."""

    limit: int
    """The limit."""

    reserve: int = 0
    """What lies beyond the limit, and is for something else."""

    unit: str = "tokens"
    """What the values count."""

    note: str = ""
    """A sentence below the heading."""


class Level(NamedTuple):
    """A value that a chart marks with a line."""

    label: str
    """What it is."""

    value: float
    """The value."""


class Band(NamedTuple):
    """A part of the whole that exists from one point to another."""

    label: str
    """What it is."""

    group: str
    """The group it belongs to; each group has one colour."""

    start: int
    """The index of its first point."""

    end: int
    """The index of its last point."""

    size: float
    """How much it contributes."""


class Mark(NamedTuple):
    """Something that happened at a point."""

    point: int
    """The index of the point."""

    label: str
    """What happened."""


@sealed
@dataclass(frozen=True, slots=True)
class GrowthChart:
    """A chart of how something grew from point to point, with its parts."""

    title: str
    """The heading."""

    totals: Sequence[float | None]
    """The total at each point, or None if it is unknown."""

    bands: Sequence[Band] = ()
    """Its parts, in stacking order."""

    marks: Sequence[Mark] = ()
    """Events at points."""

    levels: Sequence[Level] = ()
    """Values that are marked across all points, such as a limit, unless they are far above everything else."""

    point: str = "call"
    """What a point is called, such as `call`."""

    unit: str = "tokens"
    """What the sizes count."""

    note: str = ""
    """A sentence below the heading."""


@sealed
@dataclass(frozen=True, slots=True)
class Rows:
    """A table that can be searched and sorted."""

    title: str
    """The heading."""

    columns: Sequence[str]
    """The titles of the columns."""

    rows: Sequence[Sequence[float | str | None]]
    """The cells; numbers are aligned to the right."""

    note: str = ""
    """A sentence below the heading."""


@sealed
@dataclass(frozen=True, slots=True)
class Notes:
    """Sentences."""

    title: str
    """The heading."""

    lines: Sequence[str]
    """The sentences."""


Panel: TypeAlias = Figures | Bars | WindowGauge | GrowthChart | Rows | Notes
"""Any panel of a page."""


def panel_data(panel: Panel) -> dict[str, Any]:
    """Convert a panel to JSON values."""
    return {"type": type(panel).__name__.lower(), **{name: _plain(value) for name, value in asdict(panel).items()}}


def _plain(value: Any) -> Any:
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return script_number(value)
    return [_plain(each) for each in cast("Sequence[Any]", value)] if isinstance(value, (list, tuple)) else value


MOST_REPORTS = 8
"""How many reports a page shows side by side."""

_TITLE = "Context selection"
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
    """Make a page of a report.

    Args:
        report: The report.
        pipeline: The `Pipeline`, `Policy` or preset name that selected, to show what other budgets would select.
            For a run with a question, pass `pipeline.for_query(query)`.
        items: The candidates of the run, also for other budgets.
        other: A second report, shown beside the first, or up to seven.
        text: Whether contents, tags and metadata are part of the page; leave them out to share it.
        title: The title of the page.
        subtitle: A sentence below the title, such as what was asked.
        names: What the page calls the reports.

    Raises:
        TypeError: an argument has the wrong type.
        InvalidArgumentError: `items` and the report differ in number, there are too many other reports, or there is
            no such preset.
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
    if policy is not None:
        refuse_history(report)
    table = PageRows.of(report, others)
    kinds = Kinds(entry.item for each in (report, *others) for entry in entries_of(each))
    data = report_data(report, others, table, kinds, text=text)
    sweep: Data | None = None
    if items is not None:
        candidates = _candidates(report, items)
        data["rows"]["input"] = RowIndex(candidates).find(table.items)
        if policy is not None:
            sweep = sweep_data(policy, candidates, report.budget, table.items, kinds)
    return {"report": data, "sweep": sweep}


def _candidates(report: SelectionReport, items: Iterable[ContextItem]) -> list[ContextItem]:
    candidates = checked_items(items)
    if len(candidates) != report.total_candidates:
        raise InvalidArgumentError(
            f"items must be the candidates of the report: it has {report.total_candidates}, but items has "
            f"{len(candidates)}",
            argument="items",
        )
    return candidates


def render_panels(title: str, panels: Iterable[Panel], *, subtitle: str = "", quiet: Sequence[str] = ()) -> str:
    """Make a page of panels, such as tables and charts, from plain rows.

    Args:
        title: The title of the page.
        panels: What it shows, in order.
        subtitle: A sentence below the title.
        quiet: Groups of bars and bands that are grey, such as unknown parts.
    """
    shown = [panel_data(panel) for panel in panels]
    return render_page(title, {"subtitle": subtitle, "quiet": [*quiet], "panels": shown})


def render_page(title: str, data: Mapping[str, Any], *, summary: str = "", connect: str = "'none'") -> str:
    """Make the page that shows the data.

    Args:
        title: The title of the page.
        data: What the script shows.
        summary: What a browser without scripts shows.
        connect: Where the script may send requests, as in a Content-Security-Policy.
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


def render_frame(page: str) -> str:
    """Put a page into an isolated frame, for another page such as a notebook."""
    return (
        f'<iframe srcdoc="{escape(page)}" sandbox="allow-scripts" title="{_TITLE}" '
        'style="width: 100%; height: 640px; border: 1px solid #8884; border-radius: 8px"></iframe>'
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
