"""How wide the screen is."""

from __future__ import annotations

import os
import sys

__all__ = ["screen_width"]

_NARROWEST, _USUAL = 40, 80


def screen_width() -> int:
    """What COLUMNS says, or the terminal, or 80: as `shutil.get_terminal_size`, whose import takes too long."""
    asked = os.environ.get("COLUMNS", "")
    if asked.isdecimal() and int(asked) > 0:
        return max(_NARROWEST, int(asked))
    try:
        return max(_NARROWEST, os.get_terminal_size(sys.__stdout__.fileno()).columns)  # type: ignore[union-attr]
    except (AttributeError, ValueError, OSError):
        return _USUAL
