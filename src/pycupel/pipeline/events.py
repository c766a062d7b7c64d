"""The events of a run: for each stage, its decisions about items, then the stage itself.

Messages contain numbers, but never content, because events are logged (EV-01).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from pycupel.diagnostics import (
    BudgetExceeded,
    CountCapExceeded,
    CountRequirementShortfall,
    ExcludedItem,
    ExclusionReason,
    IncludedItem,
    NegativeTokens,
    PinnedOverride,
    PipelineStage,
    TraceEvent,
)
from pycupel.kernels.records import maker, records
from pycupel.pipeline.trace import Trace
from pycupel.text import number_text

__all__ = [
    "exclusion_messages",
    "item_events",
    "place_messages",
    "score_messages",
    "slice_messages",
    "stage_events",
    "trace_events",
]

_STAGES = tuple(PipelineStage)
_event = maker(TraceEvent)

# A reason is a tuple of the numbers in its message.
_TEXTS: dict[type[ExclusionReason], str] = {
    BudgetExceeded: "BudgetExceeded: %d tokens requested, %d available",
    NegativeTokens: "NegativeTokens: %d tokens",
    CountCapExceeded: "CountCapExceeded: kind %r, cap %d, %d selected",
}


def trace_events(trace: Trace, messages: Iterable[Sequence[str]]) -> tuple[TraceEvent, ...]:
    """Make the events of a completed run from the messages of each stage."""
    rows: list[tuple[object, ...]] = []
    for stage, (seconds, count), texts in zip(_STAGES, trace.laps, messages, strict=True):
        rows += [(stage, 0.0, 1, text) for text in texts]
        rows.append((stage, seconds * 1e3, count, None))
    return tuple(records(TraceEvent, rows))


def item_events(stage: PipelineStage, messages: Iterable[str]) -> list[TraceEvent]:
    """Make an event for each message."""
    return list(records(TraceEvent, [(stage, 0.0, 1, message) for message in messages]))


def stage_events(trace: Trace) -> tuple[TraceEvent, ...]:
    """Make an event for each stage that has completed."""
    # For so few, a loop is faster than a comprehension. A failed run has fewer laps than stages.
    events: list[TraceEvent] = []
    for stage, (seconds, count) in zip(_STAGES, trace.laps):  # noqa: B905
        events.append(_event((stage, seconds * 1e3, count, None)))
    return tuple(events)


def score_messages(scores: Iterable[float]) -> list[str]:
    """Make a message for each scored item."""
    return ["Score: %.6g" % score for score in scores]  # noqa: UP031 - half the time of an f-string


def exclusion_messages(excluded: Iterable[ExcludedItem]) -> list[str]:
    """Make a message with the reason and its numbers for each item."""
    text_of = _TEXTS.get
    entries = list(excluded)
    try:
        return [
            _message(item.tokens, score, reason) if (text := text_of(type(reason))) is None else text % reason
            for item, score, reason in entries
        ]
    except ValueError:
        # Python raises when it formats an int with too many digits.
        return [_message(item.tokens, score, reason) for item, score, reason in entries]


def slice_messages(
    excluded: Iterable[ExcludedItem], notes: Iterable[str], shortfalls: Iterable[CountRequirementShortfall]
) -> list[str]:
    """Make messages about the exclusions, with the true cause if there is a note, and about unmet requirements."""
    texts = exclusion_messages(excluded)
    messages = [f"{text} ({note})" if note else text for text, note in zip(texts, notes, strict=True)]
    messages += [
        f"CountRequirementShortfall: kind {short.kind.value!r}, {number_text(short.required_count)} required, "
        f"{number_text(short.satisfied_count)} satisfied"
        for short in shortfalls
    ]
    return messages


def place_messages(excluded: Iterable[ExcludedItem], included: Iterable[IncludedItem]) -> list[str]:
    """Make messages about the truncated items, and about the selection."""
    messages = exclusion_messages(excluded)
    messages += ["%s: %.6g" % (reason, score) for _, score, reason in included]  # noqa: UP031 - as above
    return messages


def _message(tokens: int, score: float, reason: object) -> str:
    name = type(reason).__name__
    if isinstance(reason, (BudgetExceeded, NegativeTokens, CountCapExceeded)):
        return _TEXTS[type(reason)].replace("%d", "%s") % tuple(
            number_text(n) if isinstance(n, int) else n for n in reason
        )
    if isinstance(reason, PinnedOverride):
        return f"{name}: {number_text(tokens)} tokens requested, no room beside the pinned items"
    return f"{name}: score {score:.6g}"
