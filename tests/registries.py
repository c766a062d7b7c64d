"""Registering strategies in a test, without leaving them behind for the others."""

from __future__ import annotations

import pytest

from pycupel.registry import CLOCKS, CURVES, PLACERS, SCORERS, SLICERS, Registry

REGISTRIES: tuple[Registry, ...] = (SCORERS, SLICERS, PLACERS, CURVES, CLOCKS)


def keep(monkeypatch: pytest.MonkeyPatch) -> None:
    """Start with what is built in, whatever others registered, and forget at the end what is added from here on."""
    for registry in REGISTRIES:
        for table in ("_entries", "_names"):
            built_in = {key: value for key, value in getattr(registry, table).items() if key in registry._built_in}
            monkeypatch.setattr(registry, table, built_in)
