"""The events of a run: for each stage its decisions about items, then the stage itself.

Messages hold numbers, and never content, because events go to logs (EV-01).
"""

from __future__ import annotations

from collections.abc import Iterable

from pycupel.diagnostics import (
    BudgetExceeded,
    CountCapExceeded,
    CountRequirementShortfall,
    ExcludedItem,
    IncludedItem,
    NegativeTokens,
    PinnedOverride,
    PipelineStage,
    TraceEvent,
)
from pycupel.pipeline.explain import maker

__all__ = ["exclusion_messages", "item_events", "place_messages", "score_messages", "slice_messages"]

_trace_event = maker(TraceEvent)


def item_events(stage: PipelineStage, messages: Iterable[str]) -> list[TraceEvent]:
    """An event for each message."""
    return list(map(_trace_event, [(stage, 0.0, 1, message) for message in messages]))


def score_messages(scores: Iterable[float]) -> list[str]:
    """One for each scored item."""
    return ["Score: %.6g" % score for score in scores]  # noqa: UP031 - one for every item, and half the time of format


def exclusion_messages(excluded: Iterable[ExcludedItem]) -> list[str]:
    """The reason and its numbers."""
    return [_reason_text(each) for each in excluded]


def slice_messages(
    excluded: Iterable[ExcludedItem], notes: Iterable[str], shortfalls: Iterable[CountRequirementShortfall]
) -> list[str]:
    """What was excluded, with the true cause where there is a note, and the requirements that were not met."""
    messages = [f"{text} ({note})" if note else text for text, note in zip(exclusion_messages(excluded), notes, strict=True)]
    messages += [
        f"CountRequirementShortfall: kind {short.kind.value!r}, {short.required_count} required, "
        f"{short.satisfied_count} satisfied"
        for short in shortfalls
    ]
    return messages


def place_messages(excluded: Iterable[ExcludedItem], included: Iterable[IncludedItem]) -> list[str]:
    """What was truncated, and the selection."""
    messages = exclusion_messages(excluded)
    messages += ["%s: %.6g" % (reason, score) for _, score, reason in included]  # noqa: UP031 - as for scores
    return messages


def _reason_text(excluded: ExcludedItem) -> str:
    reason = excluded.reason
    name = type(reason).__name__
    if isinstance(reason, BudgetExceeded):
        return f"{name}: {reason.item_tokens} tokens requested, {reason.available_tokens} available"
    if isinstance(reason, PinnedOverride):
        return f"{name}: {excluded.item.tokens} tokens requested, no room beside the pinned items"
    if isinstance(reason, NegativeTokens):
        return f"{name}: {reason.tokens} tokens"
    if isinstance(reason, CountCapExceeded):
        return f"{name}: kind {reason.kind!r}, cap {reason.cap}, {reason.count} selected"
    return f"{name}: score {excluded.score:.6g}"
