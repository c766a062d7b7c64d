"""`--html`: write an HTML page instead of text. The renderer is imported only when a page is written."""

from __future__ import annotations

from pycupel.cli.output import Screen
from pycupel.cli.parsers import Parser

__all__ = ["add_html", "write_page"]

_STDOUT = "-"


def add_html(parser: Parser) -> None:
    """Add `--html`."""
    parser.add_argument("--html", metavar="FILE", help="write an HTML page instead; - for stdout")


def write_page(path: str, page: str, screen: Screen) -> None:
    """Write a page to a file, or to stdout for `-`."""
    if path == _STDOUT:
        screen.text(page)
        return
    with open(path, "w", encoding="utf-8", newline="\n") as file:  # noqa: PTH123 - pathlib is slow to import
        file.write(page)
    screen.note(f"wrote {path}")
