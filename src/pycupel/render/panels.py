"""Panels of a page, made from plain rows: figures, bars, a picture of growth, and tables.

This module does not depend on what the rows mean. Every text is shown as text.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple, TypeAlias, cast

from pycupel.model.frozen import sealed
from pycupel.render._data import plain

__all__ = ["Bar", "Bars", "Figure", "Figures", "Growth", "Life", "Mark", "Notes", "Panel", "Rows", "panel_data"]


class Figure(NamedTuple):
    """One number with its meaning.

    Attributes:
        label: What the number is.
        value: The number, or a text.
        note: A few words below it.
    """

    label: str
    value: float | str
    note: str = ""


@sealed
@dataclass(frozen=True, slots=True)
class Figures:
    """The numbers that matter most, side by side.

    Attributes:
        figures: The numbers.
    """

    figures: Sequence[Figure]


class Bar(NamedTuple):
    """One row of a bar chart.

    Attributes:
        label: What is measured.
        value: How much it is.
        note: A few words beside it.
        group: What it belongs to; bars of one group have one colour.
    """

    label: str
    value: float
    note: str = ""
    group: str = ""


@sealed
@dataclass(frozen=True, slots=True)
class Bars:
    """A bar chart: parts of a whole, with their shares.

    Attributes:
        title: The heading.
        bars: The rows.
        unit: What the values count, such as `tokens`.
        note: A sentence below the heading.
    """

    title: str
    bars: Sequence[Bar]
    unit: str = "tokens"
    note: str = ""


class Life(NamedTuple):
    """A part of the whole that exists from one point to another.

    Attributes:
        label: What it is.
        group: What it belongs to; one colour for each group.
        start: The index of its first point.
        end: The index of its last point.
        size: How much it contributes.
    """

    label: str
    group: str
    start: int
    end: int
    size: float


class Mark(NamedTuple):
    """Something that happened at a point.

    Attributes:
        point: The index of the point.
        label: What happened.
    """

    point: int
    label: str


@sealed
@dataclass(frozen=True, slots=True)
class Growth:
    """A chart of how something grew from point to point, with its parts.

    Attributes:
        title: The heading.
        totals: The total at each point, or None if it is unknown.
        lives: Its parts, in stacking order.
        marks: Events at points.
        point: What a point is called, such as `call`.
        unit: What the sizes count.
        note: A sentence below the heading.
    """

    title: str
    totals: Sequence[float | None]
    lives: Sequence[Life] = ()
    marks: Sequence[Mark] = ()
    point: str = "call"
    unit: str = "tokens"
    note: str = ""


@sealed
@dataclass(frozen=True, slots=True)
class Rows:
    """A table that can be searched and sorted.

    Attributes:
        title: The heading.
        columns: The titles of the columns.
        rows: The cells; numbers are aligned to the right.
        note: A sentence below the heading.
    """

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[float | str | None]]
    note: str = ""


@sealed
@dataclass(frozen=True, slots=True)
class Notes:
    """Sentences.

    Attributes:
        title: The heading.
        lines: The sentences.
    """

    title: str
    lines: Sequence[str]


Panel: TypeAlias = Figures | Bars | Growth | Rows | Notes
"""What a page can show."""


def panel_data(panel: Panel) -> dict[str, Any]:
    """A panel as JSON values."""
    return {"type": type(panel).__name__.lower(), **{name: _plain(value) for name, value in asdict(panel).items()}}


def _plain(value: Any) -> Any:
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return plain(value)
    return [_plain(each) for each in cast("Sequence[Any]", value)] if isinstance(value, (list, tuple)) else value
