"""Rules that several providers share."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pycupel.messages.content import TEXTS
from pycupel.messages.fields import field, is_filled, is_list, text_of
from pycupel.messages.providers._base import ERROR, WARNING, Finding, MessageView, Rule, Severity

__all__ = [
    "EMPTY_MESSAGE",
    "EMPTY_TEXT",
    "EMPTY_TEXT_FAULT",
    "PREFIX",
    "Fault",
    "empty_message",
    "ends_with_assistant",
    "faults_by_mark",
    "first_not_user",
    "has_empty_text",
    "system_neighbours",
]

# What is wrong, what to do about it, and how bad it is.
Fault = tuple[str, str, Severity]

# A rule that a message can break by itself has the same name as the mark of its view.
EMPTY_MESSAGE = "empty-message"
EMPTY_TEXT = "empty-text"

# A warning, because only some models and servers reject empty texts.
EMPTY_TEXT_FAULT: Fault = (
    "the message has an empty text, which some models reject",
    "Remove the empty text, or the whole message.",
    WARNING,
)

# The mark of an assistant message that the model is asked to continue.
PREFIX = "prefix"


def faults_by_mark(faults: Mapping[str, Fault]) -> Rule:
    """Make a rule that reports every view with one of these marks."""

    def rule(views: Sequence[MessageView]) -> Iterator[Finding]:
        for view in views:
            for mark in view.marks:
                if mark in faults:
                    yield Finding(view.message_index, mark, *faults[mark])

    return rule


def empty_message(parts: str) -> Fault:
    """Make the fault of a message that has neither of these parts."""
    return f"the message has neither {parts}", "Drop the message.", ERROR


def has_empty_text(content: Any) -> bool:
    """Whether a content is an empty text, or has one among its parts."""
    if not is_list(content):
        return not is_filled(content)
    return not content or any(
        not part if isinstance(part, str) else text_of(part, "type") in TEXTS and not is_filled(field(part, "text"))
        for part in content
    )


def system_neighbours(roles: Sequence[str]) -> Iterator[tuple[int, int | None, int | None]]:
    """Return the index of each system role, with the nearest indices before and after it that have another role."""
    before: int | None = None
    run: list[int] = []
    for n, role in enumerate(roles):
        if role == "system":
            run.append(n)
            continue
        yield from ((each, before, n) for each in run)
        run.clear()
        before = n
    yield from ((each, before, None) for each in run)


def first_not_user(views: Sequence[MessageView]) -> Iterator[Finding]:
    """Report assistant messages before the first user message, except one with the results of its own calls."""
    for view in views:
        if view.opens_turn:
            return
        if view.role == "assistant":
            yield Finding(
                view.message_index,
                "first-not-user",
                "an assistant message precedes the first user message",
                "Start the history with a user message.",
            )


def ends_with_assistant(views: Sequence[MessageView]) -> Iterator[Finding]:
    """Warn only, because a user message may still be appended, and some models continue the last message."""
    if views and views[-1].role == "assistant" and not views[-1].calls and PREFIX not in views[-1].marks:
        yield Finding(
            views[-1].message_index,
            "ends-with-assistant",
            "the history ends with an assistant message, which only some models continue",
            "Append a user message before you send the history.",
            WARNING,
        )
