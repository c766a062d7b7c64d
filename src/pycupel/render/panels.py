"""Panels of a page, made from plain rows: figures, bars, growth charts, and tables.

This module does not depend on what the rows mean. Every text is shown as text.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple, TypeAlias, cast

from pycupel.render._data import script_number
from pycupel.values import sealed

__all__ = ["Bar", "Bars", "Figure", "Figures", "Growth", "Life", "Mark", "Notes", "Panel", "Rows", "panel_data"]


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


class Life(NamedTuple):
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
class Growth:
    """A chart of how something grew from point to point, with its parts."""

    title: str
    """The heading."""

    totals: Sequence[float | None]
    """The total at each point, or None if it is unknown."""

    lives: Sequence[Life] = ()
    """Its parts, in stacking order."""

    marks: Sequence[Mark] = ()
    """Events at points."""

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


Panel: TypeAlias = Figures | Bars | Growth | Rows | Notes
"""Any panel of a page."""


def panel_data(panel: Panel) -> dict[str, Any]:
    """Convert a panel to JSON values."""
    return {"type": type(panel).__name__.lower(), **{name: _plain(value) for name, value in asdict(panel).items()}}


def _plain(value: Any) -> Any:
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return script_number(value)
    return [_plain(each) for each in cast("Sequence[Any]", value)] if isinstance(value, (list, tuple)) else value
