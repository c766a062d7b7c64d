"""The placers: they position, and nothing else.

| placer | order |
|---|---|
| `ChronologicalPlacer` | oldest first; what has no timestamp comes last |
| `UShapedPlacer` | the highest scores at both edges, the lowest in the middle |
| `FramedPlacer` | system prompts first, the rest as another placer says (an extension) |
"""

from __future__ import annotations

from pycupel.placers._base import place_by_index
from pycupel.placers.chronological import ChronologicalPlacer
from pycupel.placers.framed import FramedPlacer
from pycupel.placers.u_shaped import UShapedPlacer

__all__ = ["ChronologicalPlacer", "FramedPlacer", "UShapedPlacer", "place_by_index"]
