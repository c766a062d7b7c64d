"""The settings of a text report: its width, the length of its lists, and the colour of each kind."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from pycupel.diagnostics import SelectionReport
from pycupel.errors import InvalidArgumentError
from pycupel.model import ContextKind
from pycupel.model.checks import checked_bool, checked_count, checked_int
from pycupel.render._layout import HEADING, QUIET, Line, Row, Span, Table, clipped, count, finish, paragraph
from pycupel.values import sealed

_MIN_WIDTH = 40
_COLORS = ("36", "32", "33", "35", "34", "96", "92", "93", "95", "94")


@sealed
@dataclass(frozen=True, slots=True)
class Page:
    """The settings of one report's text, and the parts that depend on them."""

    width: int
    limit: int | None
    colors: Mapping[str, str]

    @classmethod
    def of(cls, report: SelectionReport, width: int, limit: int | None) -> Page:
        columns = checked_int("width", width)
        if columns < _MIN_WIDTH:
            raise InvalidArgumentError(
                f"width must be at least {_MIN_WIDTH}, not {columns}", argument="width", value=columns
            )
        rows = limit if limit is None else checked_count("limit", limit, InvalidArgumentError)
        kinds = dict.fromkeys(included.item.kind.key for included in report.included)
        return cls(columns, rows, {key: _COLORS[i % len(_COLORS)] for i, key in enumerate(kinds)})

    @property
    def digits(self) -> int:
        """The room for a number: 13 characters, enough for 9,999,999,999; less on a narrow page."""
        return 13 if self.width >= 60 else 9

    def count(self, value: int) -> Span:
        return Span(count(value, self.digits))

    def kind(self, kind: ContextKind) -> Span:
        return Span(clipped(kind.value, self.width // 5), self.colors.get(kind.key, ""))

    def text(self, sections: Iterable[list[Line]], *, color: bool, unicode: bool) -> str:
        """Join the sections that are not empty, with a blank line between them."""
        checked_bool("color", color)
        checked_bool("unicode", unicode)
        shown = (section for section in sections if section)
        return "\n\n".join(finish(section, self.width, color=color, unicode=unicode) for section in shown)

    def heading(self, text: str) -> list[Line]:
        return paragraph(text, self.width, code=HEADING)

    def table(
        self, columns: Sequence[str], rows: Sequence[Row], last: Sequence[Row] = (), *, text: str = ""
    ) -> list[Line]:
        """Show the rows up to the limit, and always the `last` ones."""
        shown = rows[: self.limit]
        table = Table(columns, [*shown, *last], self.width)
        return [*table.titles(text), *table.lines(shown), *self.rest(rows), *table.lines(last)]

    def rest(self, rows: Sequence[object]) -> list[Line]:
        """Say `... and 7 more`, if rows are not shown."""
        hidden = 0 if self.limit is None else len(rows) - self.limit
        return [[Span(f"    ... and {count(hidden)} more", QUIET)]] if hidden > 0 else []
