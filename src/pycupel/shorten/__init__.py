"""Shorteners: key lines, head and tail, a stub. They extract text and never rewrite it."""

from __future__ import annotations

from pycupel.model.version import make_version
from pycupel.shorten.head_and_tail import HeadAndTail
from pycupel.shorten.key_lines import KeyLines
from pycupel.shorten.stub import Stub
from pycupel.shorten.superseded import ToolCall, superseded
from pycupel.shorten.versions import Versions

__all__ = ["HeadAndTail", "KeyLines", "Stub", "ToolCall", "Versions", "make_version", "superseded"]
