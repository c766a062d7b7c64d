"""The presets as measured, until the package has them."""

from __future__ import annotations

from pycupel import CompositeScorer, FrequencyScorer, KindScorer, Policy, PriorityScorer, RecencyScorer, UShapedPlacer
from pycupel.placers import FramedPlacer
from pycupel.scorers import ReflexiveScorer, RelevanceScorer
from pycupel.slicers import GreedySlice

# At exponent 0, `best_first` changes nothing, but says what is meant.
_BY_SCORE = GreedySlice(cost_exponent=0, best_first=True)
_RELEVANCE = RelevanceScorer(length_exponent=0.15, optional=True)
_HINTS = ReflexiveScorer("auto")
_RECENCY = RecencyScorer("position")
_EDGES = FramedPlacer(UShapedPlacer())
# System prompts, then what the conversation is about, then the conversation.
_CONVERSATION = FramedPlacer(FramedPlacer(first=("Memory", "Document")))

PRESETS = {
    "chat": Policy(CompositeScorer([(_RELEVANCE, 6), (_RECENCY, 3), (KindScorer(), 0.5)]), _BY_SCORE, _CONVERSATION),
    "code-review": Policy(
        CompositeScorer([(_HINTS, 3), (_RELEVANCE, 3), (PriorityScorer(), 1), (_RECENCY, 0.25), (KindScorer(), 0.25)]),
        _BY_SCORE,
        _CONVERSATION,
    ),
    "rag": Policy(CompositeScorer([(_HINTS, 3), (_RELEVANCE, 3), (KindScorer(), 0.25)]), _BY_SCORE, _EDGES),
    "document-qa": Policy(
        CompositeScorer([(_HINTS, 3), (_RELEVANCE, 3), (PriorityScorer(), 1), (KindScorer(), 0.25)]), _BY_SCORE, _EDGES
    ),
    "tool-use": Policy(
        CompositeScorer([(_RECENCY, 3), (_RELEVANCE, 1), (PriorityScorer(), 1), (KindScorer(), 0.5)]),
        _BY_SCORE,
        _CONVERSATION,
    ),
    "long-running": Policy(
        CompositeScorer([(_RELEVANCE, 3), (_RECENCY, 0.5), (FrequencyScorer(), 0.25), (KindScorer(), 0.25)]),
        _BY_SCORE,
        _CONVERSATION,
    ),
    "debugging": Policy(
        CompositeScorer([(_RELEVANCE, 6), (_RECENCY, 3), (PriorityScorer(), 3), (KindScorer(), 0.5)]),
        _BY_SCORE,
        _CONVERSATION,
    ),
}
