"""The presets as measured, until the package has them."""

from __future__ import annotations

from pycupel import CompositeScorer, KindScorer, Policy, UShapedPlacer
from pycupel.scorers import ReflexiveScorer, RelevanceScorer
from pycupel.slicers import GreedySlice

_BY_SCORE = GreedySlice(cost_exponent=0, best_first=True)
_RELEVANCE = RelevanceScorer(length_exponent=0.15, optional=True)
_HINTS = ReflexiveScorer("auto")

PRESETS = {
    "rag": Policy(CompositeScorer([(_HINTS, 3), (_RELEVANCE, 3), (KindScorer(), 1)]), _BY_SCORE, UShapedPlacer()),
}
