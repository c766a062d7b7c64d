"""Shorteners: by format, key lines, head and tail, a stub.

They extract text. What they rewrite, they rewrite only in form (layout, columns, folded repeats), and mark it.
"""

from __future__ import annotations

from pycupel.lazy import load_when_used

__all__, __getattr__, __dir__ = load_when_used(__name__)
