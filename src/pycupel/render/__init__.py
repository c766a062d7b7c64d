"""Reports as text for a terminal, and as pages for a browser."""

from __future__ import annotations

from pycupel.render.sensitivity import render_sensitivity
from pycupel.render.text import render_report, render_summary

__all__ = ["render_report", "render_sensitivity", "render_summary"]
