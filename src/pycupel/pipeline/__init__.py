"""The six stages, one file each, and the pipeline that runs them."""

from __future__ import annotations

from pycupel.pipeline.pipeline import Pipeline
from pycupel.pipeline.policy import Policy, PresetName
from pycupel.pipeline.record import Ranking, Selection

__all__ = ["Pipeline", "Policy", "PresetName", "Ranking", "Selection"]
