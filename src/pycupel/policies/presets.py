"""The seven presets, tuned on questions with known evidence. See `docs/quality.md` for the measurements.

Presets that score relevance use the candidates' hints, the query, or a blend of both if both are given.
`preset(name, upstream=True)` returns the .NET implementation's preset of that name. An application registers its own
policies in a `PolicyRegistry`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Self

from pycupel import scorers
from pycupel.errors import InvalidArgumentError
from pycupel.model.checks import argument_of, checked_bool, checked_str, find_name, name_key, suggestion
from pycupel.pipeline import Policy
from pycupel.pipeline.policy import LOAD_POLICY, PresetName, as_policy
from pycupel.placers import ChronologicalPlacer, FramedPlacer, PromptPlacer, UShapedPlacer
from pycupel.protocols import Placer, Scorer
from pycupel.slicers import GreedySlice, KnapsackSlice
from pycupel.text import one_line, quoted
from pycupel.values import FrozenDict

# Strict score order. With exponent 0, `best_first` has no effect; it only states the intention.
_BY_SCORE = GreedySlice(cost_exponent=0.0, best_first=True)
_QUERY = scorers.RelevanceScorer(length_exponent=0.15, optional=True)
_HINTS = scorers.ReflexiveScorer("auto")
_RECENCY = scorers.RecencyScorer("position")
_PRIORITY = scorers.PriorityScorer()
_KIND = scorers.KindScorer()
# System prompts, then the documents with the best at the edges, then the conversation, the question last.
_QUESTION_LAST = PromptPlacer()
# System prompts first, then memories and documents, then the conversation.
_CONVERSATION = FramedPlacer(FramedPlacer(ChronologicalPlacer("position"), first=("Memory", "Document")))


def _preset(name: str, description: str, entries: list[tuple[Scorer, float]], placer: Placer = _CONVERSATION) -> Policy:
    return Policy(scorers.CompositeScorer(entries), _BY_SCORE, placer, name=name, description=description)


def _retrieval(name: str, description: str, entries: list[tuple[Scorer, float]]) -> Policy:
    # Several retrievers find the same passage, in slightly different spellings.
    return replace(_preset(name, description, entries, _QUESTION_LAST), deduplication="normalized")


CHAT = _preset(
    "Chat",
    "Conversations: what answers the query, then recent messages, then by kind.",
    [(_QUERY, 6), (_RECENCY, 3), (_KIND, 0.5)],
)
"""For conversations: what answers the query, then recent messages, then by kind."""
CODE_REVIEW = _preset(
    "CodeReview",
    "Code review: relevance by hints and query, then priority, recency and kind.",
    [(_HINTS, 3), (_QUERY, 3), (_PRIORITY, 1), (_RECENCY, 0.25), (_KIND, 0.25)],
)
"""For code review: relevance by hints and query, then priority, recency and kind."""
RAG = _retrieval(
    "Rag",
    "Retrieval-augmented generation: relevance by hints and query, the best hits at both edges.",
    [(_HINTS, 3), (_QUERY, 3), (_KIND, 0.25)],
)
"""For retrieval-augmented generation: relevance by hints and query, the best hits at both edges."""
DOCUMENT_QA = _retrieval(
    "DocumentQa",
    "Questions about documents: relevance by hints and query, then priority, the best at both edges.",
    [(_HINTS, 3), (_QUERY, 3), (_PRIORITY, 1), (_KIND, 0.25)],
)
"""For questions about documents: relevance by hints and query, then priority, the best at both edges."""
TOOL_USE = _preset(
    "ToolUse",
    "Agents with tools: recent messages and results, then the query and priority, then kind.",
    [(_RECENCY, 3), (_QUERY, 1), (_PRIORITY, 1), (_KIND, 0.5)],
)
"""For agents with tools: recent messages and results, then the query and priority, then kind."""
LONG_RUNNING = _preset(
    "LongRunning",
    "Long conversations: what answers the query, then recency, recurring topics and kind.",
    [(_QUERY, 3), (_RECENCY, 0.5), (scorers.FrequencyScorer(), 0.25), (_KIND, 0.25)],
)
"""For long conversations: what answers the query, then recency, recurring topics and kind."""
DEBUGGING = _preset(
    "Debugging",
    "Debugging: what answers the query, then recency and priority, then kind.",
    [(_QUERY, 6), (_RECENCY, 3), (_PRIORITY, 3), (_KIND, 0.5)],
)
"""For debugging: what answers the query, then recency and priority, then kind."""

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
"""The presets by name, such as `code-review`."""


def _upstream() -> dict[str, Policy]:
    """Return the presets of the .NET implementation."""
    by_age, by_hint, edges = scorers.RecencyScorer(), scorers.ReflexiveScorer(), UShapedPlacer()
    blend = scorers.CompositeScorer
    policies = {
        "chat": Policy(blend([(by_age, 3), (_KIND, 1)])),
        "code-review": Policy(blend([(_KIND, 2), (_PRIORITY, 2), (by_age, 1)])),
        "rag": Policy(blend([(by_hint, 3), (_KIND, 1)]), placer=edges),
        "document-qa": Policy(blend([(_KIND, 2), (by_hint, 2), (_PRIORITY, 1)]), KnapsackSlice(bucket_size=100), edges),
        "tool-use": Policy(blend([(_KIND, 2), (by_age, 2), (_PRIORITY, 1)])),
        "long-running": Policy(blend([(by_age, 3), (scorers.FrequencyScorer(), 1), (_KIND, 1)])),
        "debugging": Policy(blend([(_PRIORITY, 3), (_KIND, 2), (by_age, 1)])),
    }
    return {name: replace(policy, name=PRESETS[name].name) for name, policy in policies.items()}


def preset(name: str, *, upstream: bool = False) -> Policy:
    """Return a preset by name, in any spelling: `code-review`, `code_review` or `CodeReview`.

    With `upstream`, it is the .NET implementation's preset of that name instead of ours.
    """
    known = known_preset(checked_str("name", name), "name")
    policies = _upstream() if checked_bool("upstream", upstream) else PRESETS
    return policies[known]


def known_preset(name: str, argument: str) -> str:
    """Return the canonical spelling of a preset's name. Errors refer to it as `argument`."""
    known = find_name(name, PRESETS)
    if known is None:
        raise InvalidArgumentError(
            f"unknown preset {quoted(name)}; choose from {', '.join(PRESETS)}{suggestion(name, PRESETS)}",
            argument=argument_of(argument),
            value=name,
            hint=LOAD_POLICY if {".", "/", "\\"}.intersection(name) else None,
        )
    return known


class PolicyRegistry:
    """A registry of policies by intent. It starts empty; `with_presets` starts with the seven presets.

    An intent is a name for a purpose; `code-review`, `code_review` and `CodeReview` are the same intent. Iteration
    yields the intents in the order in which they were added.
    """

    def __init__(self) -> None:
        self._policies: dict[str, tuple[str, Policy]] = {}

    def __repr__(self) -> str:
        count = len(self._policies)
        return f"<{type(self).__name__}: {count} {'policy' if count == 1 else 'policies'}>"

    @classmethod
    def with_presets(cls) -> Self:
        """Return a registry of the seven presets, under their names."""
        registry = cls()
        for intent, policy in PRESETS.items():
            registry.add_policy(intent, policy)
        return registry

    def add_policy(self, intent: str, policy: Policy | PresetName) -> Self:
        """Register a policy for an intent. If the intent is registered in the same spelling, its policy is replaced.

        Returns the registry itself, so that calls can be chained.
        """
        key = _key(intent)
        spelling, _ = self._policies.get(key, (intent, None))
        if intent != spelling:
            raise InvalidArgumentError(
                f"intent {quoted(intent)} is already registered as {quoted(spelling)}; "
                "use that spelling to replace its policy",
                argument="intent",
                value=intent,
            )
        self._policies[key] = (intent, as_policy(policy))
        return self

    def get_policy(self, intent: str) -> Policy:
        """Return the policy for an intent.

        Raises:
            InvalidArgumentError: there is no such policy (a note lists the registered intents), or the intent is blank.
        """
        policy = self.try_get_policy(intent)
        if policy is None:
            near = suggestion(intent, self)
            raise InvalidArgumentError(
                f"No policy registered for intent '{one_line(intent)}'.",
                argument="intent",
                value=intent,
                hint=f"Registered intents: {', '.join(self) or 'none'}{near}",
            )
        return policy

    def try_get_policy(self, intent: str) -> Policy | None:
        """Return the policy for an intent, or None if there is none."""
        return self._policies.get(_key(intent), (None, None))[1]

    def __contains__(self, intent: object) -> bool:
        return isinstance(intent, str) and name_key(intent) in self._policies

    def __iter__(self) -> Iterator[str]:
        return iter([intent for intent, _ in self._policies.values()])

    def __len__(self) -> int:
        return len(self._policies)


def _key(intent: str) -> str:
    key = name_key(checked_str("intent", intent))
    if not key.strip():
        raise InvalidArgumentError("intent must not be blank", argument="intent", value=intent)
    return key
