"""Values with the documents that they are written as, and the ways to be refused."""

from __future__ import annotations

import copy
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pytest

from pycupel import ContextBudget, ContextItem, ContextKind, ScoredItem, wire
from pycupel.diagnostics import (
    BudgetExceeded,
    CountCapExceeded,
    CountRequireCandidatesExhausted,
    CountRequirementShortfall,
    Deduplicated,
    ExcludedItem,
    ExclusionReason,
    Filtered,
    IncludedItem,
    InclusionReason,
    NegativeTokens,
    OverflowEvent,
    PinnedOverride,
    PipelineStage,
    QuotaCapExceeded,
    QuotaRequireDisplaced,
    ScoredTooLow,
    TraceEvent,
    UnknownReason,
)
from pycupel.errors import DocumentError

NOON = datetime(2026, 1, 5, 12, tzinfo=UTC)
ITEM = ContextItem(
    "Grüße",
    7,
    kind="Document",
    source="Rag",
    priority=-2,
    tags=["a", "b"],
    metadata={"cupel:trust": "0.5", "origin": {"page": 3, "seen": None, "marks": [True, "x"]}},
    timestamp=NOON,
    future_relevance_hint=0.25,
    pinned=True,
    original_tokens=70,
)
ITEM_DOCUMENT: dict[str, Any] = {
    "content": "Grüße",
    "tokens": 7,
    "kind": "Document",
    "source": "Rag",
    "priority": -2,
    "tags": ["a", "b"],
    "metadata": {"cupel:trust": "0.5", "origin": {"page": 3, "seen": None, "marks": [True, "x"]}},
    "timestamp": "2026-01-05T12:00:00Z",
    "futureRelevanceHint": 0.25,
    "pinned": True,
    "originalTokens": 70,
}
BUDGET = ContextBudget(100, 60, output_reserve=20, reserved_slots={"Message": 5}, estimation_safety_margin_percent=10.0)
BUDGET_DOCUMENT: dict[str, Any] = {
    "maxTokens": 100,
    "targetTokens": 60,
    "outputReserve": 20,
    "reservedSlots": {"Message": 5},
    "estimationSafetyMarginPercent": 10.0,
}
TURN = {"content": "turn", "tokens": 25, "kind": "Message", "source": "Chat"}
REPORT_DOCUMENT: dict[str, Any] = {
    "events": [
        {"stage": "Classify", "duration_ms": 0.5, "item_count": 4},
        {"stage": "Score", "duration_ms": 8.25, "item_count": 4},
        {"stage": "Deduplicate", "duration_ms": 0.0, "item_count": 1, "message": "Deduplicated"},
        {"stage": "Deduplicate", "duration_ms": 0.1, "item_count": 3},
        {"stage": "Slice", "duration_ms": 1.5, "item_count": 2},
        {"stage": "Place", "duration_ms": 0.2, "item_count": 2},
    ],
    "included": [
        {"item": TURN, "score": 0.9, "reason": {"reason": "Scored"}},
        {"item": {**TURN, "content": "prompt", "pinned": True}, "score": 1.0, "reason": {"reason": "Pinned"}},
    ],
    "excluded": [
        {
            "item": {**TURN, "content": "output", "tokens": 200, "kind": "ToolOutput", "source": "Tool"},
            "score": 0.4,
            "reason": {"reason": "BudgetExceeded", "item_tokens": 200, "available_tokens": 50},
        },
        {"item": TURN, "score": 0.3, "reason": {"reason": "Deduplicated", "deduplicated_against": "turn"}},
    ],
    "total_candidates": 4,
    "total_tokens_considered": 275,
    "count_requirement_shortfalls": [{"kind": "Note", "required_count": 2, "satisfied_count": 1}],
    "budget": {"maxTokens": 120, "targetTokens": 100},
}

# Every exclusion reason with its document: Exclusion Reasons, and ER-02 for the last two.
REASONS: list[tuple[ExclusionReason, dict[str, Any]]] = [
    (BudgetExceeded(20, 5), {"reason": "BudgetExceeded", "item_tokens": 20, "available_tokens": 5}),
    (ScoredTooLow(0.1, 0.2), {"reason": "ScoredTooLow", "score": 0.1, "threshold": 0.2}),
    (Deduplicated("kept"), {"reason": "Deduplicated", "deduplicated_against": "kept"}),
    (QuotaCapExceeded("Note", 3, 4), {"reason": "QuotaCapExceeded", "kind": "Note", "cap": 3, "actual": 4}),
    (QuotaRequireDisplaced("Note"), {"reason": "QuotaRequireDisplaced", "displaced_by_kind": "Note"}),
    (NegativeTokens(-1), {"reason": "NegativeTokens", "tokens": -1}),
    (PinnedOverride("pin"), {"reason": "PinnedOverride", "displaced_by": "pin"}),
    (Filtered("max_age"), {"reason": "Filtered", "filter_name": "max_age"}),
    (CountCapExceeded("Note", 2, 2), {"reason": "CountCapExceeded", "kind": "Note", "cap": 2, "count": 2}),
    (CountRequireCandidatesExhausted("Note"), {"reason": "CountRequireCandidatesExhausted", "kind": "Note"}),
    (UnknownReason("TooBoring", {"yawns": 3}), {"reason": "TooBoring", "yawns": 3}),
]


def included(reason: Any = InclusionReason.SCORED, *, score: float = 0.5) -> IncludedItem:
    return IncludedItem(ContextItem("turn", 25), score, reason)


def report(**changes: Any) -> dict[str, Any]:
    """The document of a report, with other values in some fields."""
    return {**copy.deepcopy(REPORT_DOCUMENT), **changes}


def changed(path: str, value: Any) -> dict[str, Any]:
    """The report with another value at a path like `included[1].item.tokens`."""
    document = report()
    container: Any = document
    *steps, last = [int(step) if step.isdigit() else step for step in re.findall(r"\w+", path)]
    for step in steps:
        container = container[step]
    container[last] = value
    return document


def refused(cls: type[Any], data: Any, **options: Any) -> DocumentError:
    """The error with which a document is refused."""
    with pytest.raises(DocumentError) as info:
        wire.from_dict(cls, data, **options)
    return info.value


def unwritable(value: object, **options: Any) -> DocumentError:
    """The error with which a value is refused."""
    with pytest.raises(DocumentError) as info:
        wire.to_dict(value, **options)
    return info.value


def keys(document: Any) -> Iterator[str]:
    """All keys of all objects, but not those that belong to the user."""
    if isinstance(document, list):
        for element in document:
            yield from keys(element)
    elif isinstance(document, dict):
        for key, value in document.items():
            yield key
            if key not in {"metadata", "reservedSlots"}:
                yield from keys(value)


EVERYTHING: list[tuple[Any, dict[str, Any]]] = [
    (ITEM, ITEM_DOCUMENT),
    (BUDGET, BUDGET_DOCUMENT),
    (ScoredItem(ContextItem("turn", 25), 0.5), {"item": TURN, "score": 0.5}),
    (included(), {"item": TURN, "score": 0.5, "reason": {"reason": "Scored"}}),
    (
        ExcludedItem(ContextItem("turn", 25), 0.5, BudgetExceeded(25, 5)),
        {"item": TURN, "score": 0.5, "reason": {"reason": "BudgetExceeded", "item_tokens": 25, "available_tokens": 5}},
    ),
    (TraceEvent(PipelineStage.SCORE, 12.5, 47), {"stage": "Score", "duration_ms": 12.5, "item_count": 47}),
    (
        TraceEvent(PipelineStage.SLICE, 0.0, 1, "BudgetExceeded: 20 tokens requested, 5 available"),
        {
            "stage": "Slice",
            "duration_ms": 0.0,
            "item_count": 1,
            "message": "BudgetExceeded: 20 tokens requested, 5 available",
        },
    ),
    (
        OverflowEvent(5, (ContextItem("turn", 25),), ContextBudget(40, 20)),
        {"tokens_over_budget": 5, "overflowing_items": [TURN], "budget": {"maxTokens": 40, "targetTokens": 20}},
    ),
    (
        CountRequirementShortfall(ContextKind("Note"), 2, 1),
        {"kind": "Note", "required_count": 2, "satisfied_count": 1},
    ),
    *((member, {"reason": member.value}) for member in InclusionReason),
    *REASONS,
]
