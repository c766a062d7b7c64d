"""The seven presets. Their weights are educated guesses to start from, not measured optima."""

from __future__ import annotations

from collections.abc import Mapping

from pycupel.errors import InvalidArgumentError
from pycupel.model.checks import checked_str
from pycupel.model.frozen import FrozenDict
from pycupel.model.names import name_key, suggestion
from pycupel.pipeline import Policy
from pycupel.placers import UShapedPlacer
from pycupel.scorers import (
    CompositeScorer,
    FrequencyScorer,
    KindScorer,
    PriorityScorer,
    RecencyScorer,
    ReflexiveScorer,
)
from pycupel.slicers import KnapsackSlice

__all__ = [
    "CHAT",
    "CODE_REVIEW",
    "DEBUGGING",
    "DOCUMENT_QA",
    "LONG_RUNNING",
    "PRESETS",
    "RAG",
    "TOOL_USE",
    "preset",
]

CHAT = Policy(
    CompositeScorer([(RecencyScorer(), 3), (KindScorer(), 1)]),
    name="Chat",
    description="Conversations: recent messages first, then by kind.",
)
"""For conversations: recent messages first, then by kind."""
CODE_REVIEW = Policy(
    CompositeScorer([(KindScorer(), 2), (PriorityScorer(), 2), (RecencyScorer(), 1)]),
    name="CodeReview",
    description="Code review: kind and priority equally, then recency.",
)
"""For code review: kind and priority equally, then recency."""
RAG = Policy(
    CompositeScorer([(ReflexiveScorer(), 3), (KindScorer(), 1)]),
    placer=UShapedPlacer(),
    name="Rag",
    description="Retrieval-augmented generation: the retriever's relevance first, the best hits at both edges.",
)
"""For retrieval-augmented generation: by the retriever's relevance, the best hits at both edges."""
DOCUMENT_QA = Policy(
    CompositeScorer([(KindScorer(), 2), (ReflexiveScorer(), 2), (PriorityScorer(), 1)]),
    KnapsackSlice(bucket_size=100),
    UShapedPlacer(),
    name="DocumentQa",
    description="Questions about documents: the most valuable combination that fits, the best at both edges.",
)
"""For questions about documents: the most valuable combination that fits, the best at both edges."""
TOOL_USE = Policy(
    CompositeScorer([(KindScorer(), 2), (RecencyScorer(), 2), (PriorityScorer(), 1)]),
    name="ToolUse",
    description="Agents with tools: kind and recency equally, then priority.",
)
"""For agents with tools: kind and recency equally, then priority."""
LONG_RUNNING = Policy(
    CompositeScorer([(RecencyScorer(), 3), (FrequencyScorer(), 1), (KindScorer(), 1)]),
    name="LongRunning",
    description="Long conversations: recency first, then recurring topics, and kind.",
)
"""For long conversations: recency first, then recurring topics, and kind."""
DEBUGGING = Policy(
    CompositeScorer([(PriorityScorer(), 3), (KindScorer(), 2), (RecencyScorer(), 1)]),
    name="Debugging",
    description="Debugging: priority first, then kind, then recency.",
)
"""For debugging: priority first, then kind, then recency."""

PRESETS: Mapping[str, Policy] = FrozenDict(
    {
        "chat": CHAT,
        "code-review": CODE_REVIEW,
        "rag": RAG,
        "document-qa": DOCUMENT_QA,
        "tool-use": TOOL_USE,
        "long-running": LONG_RUNNING,
        "debugging": DEBUGGING,
    }
)
"""The presets by name, in the usual spelling."""

_BY_KEY = {name_key(name): policy for name, policy in PRESETS.items()}


def preset(name: str) -> Policy:
    """Return the preset of a name, in any spelling: `code-review`, `code_review` or `CodeReview`.

    Raises:
        TypeError: the name is not a str.
        InvalidArgumentError: there is no such preset.
    """
    policy = _BY_KEY.get(name_key(checked_str("policy", name)))
    if policy is None:
        raise InvalidArgumentError(
            f"unknown preset {name!r}; choose from {', '.join(PRESETS)}{suggestion(name, PRESETS)}",
            argument="policy",
            value=name,
        )
    return policy
