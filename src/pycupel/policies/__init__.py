"""Policies: presets, policy files, and a registry of policies by purpose."""

from __future__ import annotations

from pycupel.lazy import load_when_used

__all__, __getattr__, __dir__ = load_when_used(__name__)
