"""Find the width of the screen."""

from __future__ import annotations

import os
import sys

__all__ = ["screen_width"]

_NARROWEST, _USUAL = 40, 80


def screen_width() -> int:
    """Return COLUMNS, the terminal's width, or 80, like `shutil.get_terminal_size`, whose import takes too long."""
    columns = os.environ.get("COLUMNS", "")
    if columns.isdecimal() and int(columns) > 0:
        return max(_NARROWEST, int(columns))
    try:
        return max(_NARROWEST, os.get_terminal_size(sys.__stdout__.fileno()).columns)  # type: ignore[union-attr]
    except (AttributeError, ValueError, OSError):
        return _USUAL
