"""The six stages, one file each, and the pipeline that runs them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pycupel.lazy import load_when_used
from pycupel.pipeline.pipeline import Pipeline
from pycupel.pipeline.policy import Policy, PresetName
from pycupel.pipeline.record import Ranking, Selection

if TYPE_CHECKING:
    from pycupel.pipeline.sources import merge_sources
else:
    # Imported on first use: it needs asyncio, and only streams need it.
    __getattr__, __dir__ = load_when_used(__name__, {".sources": "merge_sources"})

__all__ = ["Pipeline", "Policy", "PresetName", "Ranking", "Selection", "merge_sources"]
