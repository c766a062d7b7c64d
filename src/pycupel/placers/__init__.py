"""The placers, which order the selected items.

| placer | order |
|---|---|
| `ChronologicalPlacer` | oldest first; items without a timestamp last |
| `UShapedPlacer` | the highest scores at both edges, the lowest in the middle |
| `FramedPlacer` | system prompts first, the rest as another placer says (an extension) |
"""

from __future__ import annotations

from pycupel.placers.chronological import ChronologicalPlacer
from pycupel.placers.framed import FramedPlacer
from pycupel.placers.u_shaped import UShapedPlacer

__all__ = ["ChronologicalPlacer", "FramedPlacer", "UShapedPlacer"]
