"""What Anthropic demands besides calls with results, and which units cannot do without others because of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise

from pycupel.messages.providers._base import WARNING, Finding, MessageView
from pycupel.messages.providers._rules import system_neighbours

__all__ = [
    "EMPTY_TEXT",
    "TEXT_BEFORE_RESULT",
    "UNSIGNED_THINKING",
    "faults",
    "misplaced_system",
    "needs",
    "split_results",
    "thinking_not_first",
]

# The marks of what a message does wrong by itself are the names of the rules.
EMPTY_TEXT = "empty-text"
TEXT_BEFORE_RESULT = "text-before-result"
UNSIGNED_THINKING = "unsigned-thinking"

_FAULTS = {
    EMPTY_TEXT: (
        "the message has a text without anything but white space",
        "Leave the empty text block out, or the whole message if it has nothing else.",
    ),
    TEXT_BEFORE_RESULT: (
        "the message says something before its tool results",
        "Move the tool results to the start of the message.",
    ),
    UNSIGNED_THINKING: (
        "the message has a thinking block without its signature",
        "Send thinking blocks back as they came, or not at all.",
    ),
}


def faults(views: Sequence[MessageView]) -> Iterator[Finding]:
    for view in views:
        for mark in view.marks:
            if mark in _FAULTS:
                yield Finding(view.index, mark, *_FAULTS[mark])


def split_results(views: Sequence[MessageView]) -> Iterator[Finding]:
    """Anthropic joins user messages that follow each other; others with its protocol do not."""
    for before, view in pairwise(views):
        if before.results and view.results:
            yield Finding(
                view.index,
                "split-results",
                "the results of parallel calls are spread over several messages",
                "Put all the results into one user message.",
                WARNING,
            )


def misplaced_system(views: Sequence[MessageView]) -> Iterator[Finding]:
    """A system message stands between a user message and the assistant's answer, or at the end (claude-code#73821)."""
    roles = [view.role for view in views]
    for place, before, after in system_neighbours(roles):
        if before is None:
            yield Finding(
                views[place].index,
                "system-first",
                "a system message stands before the first user message",
                "Send it as the system parameter.",
                WARNING,
            )
        elif roles[before] == "assistant" or (after is not None and roles[after] != "assistant"):
            yield Finding(
                views[place].index,
                "system-misplaced",
                "a system message does not stand between a user message and the assistant's answer to it",
                "Move it right behind a user message that is followed by an assistant message or is the last one.",
            )


def thinking_not_first(views: Sequence[MessageView]) -> Iterator[Finding]:
    """Whether the request enables thinking, nobody can see here, so this is a warning."""
    spoken: list[MessageView] = []
    for view in views:
        if view.opens_turn:
            spoken = []
        elif view.role == "assistant":
            spoken.append(view)
    if any(view.calls for view in spoken) and not spoken[0].reasoning and any(view.reasoning for view in views):
        yield Finding(
            spoken[0].index,
            "thinking-not-first",
            "the last turn uses tools but does not start with a thinking block, which requests with thinking need",
            "Keep the thinking block that starts the turn, or disable thinking.",
            WARNING,
        )


def needs(units: Mapping[int, Sequence[MessageView]]) -> dict[int, tuple[int, ...]]:
    """A system message needs its neighbours, and what is said without thoughts the last ones before it in its turn."""
    places = list(units)
    needed: dict[int, tuple[int, ...]] = {}
    for place, before, after in system_neighbours([units[place][0].role for place in places]):
        if before is not None:
            needed[places[place]] = (places[before],) if after is None else (places[before], places[after])
    thoughts: int | None = None
    for place, members in units.items():
        if members[0].reasoning:
            thoughts = place
        elif members[0].role == "assistant" and thoughts is not None:
            needed[place] = (thoughts,)
        if any(view.opens_turn for view in members):
            thoughts = None
    return needed
