"""The values that flow through the pipeline: validated when they are built, immutable afterwards."""

from __future__ import annotations

from pycupel.lazy import load_when_used

__all__, __getattr__, __dir__ = load_when_used(__name__)
