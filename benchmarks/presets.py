"""The presets as measured, until the package has them."""

from __future__ import annotations

from pycupel import CompositeScorer, FrequencyScorer, KindScorer, Policy, PriorityScorer, RecencyScorer, UShapedPlacer
from pycupel.placers import FramedPlacer
from pycupel.scorers import ReflexiveScorer, RelevanceScorer
from pycupel.slicers import GreedySlice

_BY_SCORE = GreedySlice(cost_exponent=0, best_first=True)
_RELEVANCE = RelevanceScorer(length_exponent=0.15, optional=True)
_HINTS = ReflexiveScorer("auto")
_EDGES = FramedPlacer(UShapedPlacer())
_IN_TIME = FramedPlacer()

PRESETS = {
    "chat": Policy(CompositeScorer([(_RELEVANCE, 6), (RecencyScorer(), 3), (KindScorer(), 0.5)]), _BY_SCORE, _IN_TIME),
    "code-review": Policy(
        CompositeScorer(
            [(_HINTS, 3), (_RELEVANCE, 3), (PriorityScorer(), 1), (RecencyScorer(), 0.25), (KindScorer(), 0.25)]
        ),
        _BY_SCORE,
        _IN_TIME,
    ),
    "rag": Policy(CompositeScorer([(_HINTS, 3), (_RELEVANCE, 3), (KindScorer(), 0.25)]), _BY_SCORE, _EDGES),
    "document-qa": Policy(
        CompositeScorer([(_HINTS, 3), (_RELEVANCE, 3), (PriorityScorer(), 1), (KindScorer(), 0.25)]), _BY_SCORE, _EDGES
    ),
    "tool-use": Policy(
        CompositeScorer([(RecencyScorer(), 3), (_RELEVANCE, 1), (PriorityScorer(), 1), (KindScorer(), 0.5)]),
        _BY_SCORE,
        _IN_TIME,
    ),
    "long-running": Policy(
        CompositeScorer([(_RELEVANCE, 3), (RecencyScorer(), 0.5), (FrequencyScorer(), 0.25), (KindScorer(), 0.25)]),
        _BY_SCORE,
        _IN_TIME,
    ),
    "debugging": Policy(
        CompositeScorer([(_RELEVANCE, 6), (RecencyScorer(), 3), (PriorityScorer(), 3), (KindScorer(), 0.5)]),
        _BY_SCORE,
        _IN_TIME,
    ),
}
