"""Shorteners: by format, key lines, head and tail, a stub.

They extract text. What they rewrite, they rewrite only in form (layout, columns, folded repeats), and mark it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pycupel.lazy import load_when_used
from pycupel.model.item import make_version
from pycupel.shorten.extracts import HeadAndTail, Stub, Versions
from pycupel.shorten.key_lines import KeyLines
from pycupel.shorten.superseded import ToolCall, superseded

if TYPE_CHECKING:
    from pycupel.shorten.by_format import ByFormat
else:
    # Imported on first use, because it needs the JSON reader.
    __getattr__, __dir__ = load_when_used(__name__, {".by_format": "ByFormat"})

__all__ = ["ByFormat", "HeadAndTail", "KeyLines", "Stub", "ToolCall", "Versions", "make_version", "superseded"]
