"""Anthropic's rules besides pairing calls with results, and which units need others because of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

from pycupel.messages.fields import field, is_list
from pycupel.messages.providers._base import BESIDE, CACHED, ERROR, WARNING, Finding, MessageView
from pycupel.messages.providers._rules import EMPTY_TEXT, Fault, faults_by_mark, system_neighbours

__all__ = [
    "ODD_INPUT",
    "TEXT_BEFORE_RESULT",
    "TRAILING_SPACE",
    "UNSIGNED_THINKING",
    "empty_prompt",
    "excess_cache_control",
    "faults",
    "misplaced_system",
    "missing_tools",
    "needs",
    "split_results",
    "thinking_not_first",
    "trailing_space",
]

ODD_INPUT = "odd-input"
TEXT_BEFORE_RESULT = "text-before-result"
TRAILING_SPACE = "trailing-space"
UNSIGNED_THINKING = "unsigned-thinking"

_MAX_CACHED = 4

_FAULTS: dict[str, Fault] = {
    ODD_INPUT: (
        "the input of a tool call is not an object",
        "Parse it if it is JSON; if there are no arguments, send {}.",
        # As an error, it would make a selection drop the exchange, even an open one; some libraries parse JSON.
        WARNING,
    ),
    EMPTY_TEXT: (
        "the message has an empty or whitespace-only text block",
        "Remove the text block, or the whole message if it holds nothing else.",
        ERROR,
    ),
    TEXT_BEFORE_RESULT: (
        "other content precedes the tool results in the message",
        "Move the tool results to the start of the message.",
        ERROR,
    ),
    UNSIGNED_THINKING: (
        "the message has a thinking block without its signature",
        "Send thinking blocks back unchanged, or not at all.",
        ERROR,
    ),
}


faults = faults_by_mark(_FAULTS)


def excess_cache_control(views: Sequence[MessageView]) -> Iterator[Finding]:
    """Report messages with cache_control after the fourth block that has it."""
    count = 0
    for view in views:
        cached = view.marks.count(CACHED)
        count += cached
        if cached and count > _MAX_CACHED:
            yield Finding(
                view.message_index,
                "excess-cache-control",
                f"the history has more than {_MAX_CACHED} blocks with cache_control",
                "Keep cache_control on the last blocks only; system and tools count, too.",
            )


def empty_prompt(system: Any, _tools: Sequence[Any] | None, _views: Sequence[MessageView]) -> Iterator[Finding]:
    """Report a system prompt with an empty text."""
    blocks = system if is_list(system) else [system]
    texts = [block if isinstance(block, str) else field(block, "text") for block in blocks]
    if any(isinstance(text, str) and not text.strip() for text in texts):
        yield Finding(
            BESIDE, EMPTY_TEXT, "the system prompt has an empty or whitespace-only text", "Remove the empty text."
        )


def missing_tools(_system: Any, tools: Sequence[Any] | None, views: Sequence[MessageView]) -> Iterator[Finding]:
    """Warn of calls without definitions of tools, which only some servers reject, such as Bedrock."""
    first = next((view.message_index for view in views if view.calls or view.results), None)
    if first is not None and tools is not None and not tools:
        yield Finding(
            first,
            "missing-tools",
            "the history has tool calls, but the request defines no tools",
            "Include the tool definitions in the request.",
            WARNING,
        )


def split_results(views: Sequence[MessageView]) -> Iterator[Finding]:
    """Warn of split results: Anthropic merges consecutive user messages, but other servers with its protocol do not."""
    for before, view in pairwise(views):
        if before.results and view.results:
            yield Finding(
                view.message_index,
                "split-results",
                "the results of parallel calls are spread over several messages",
                "Put all the results into one user message.",
                WARNING,
            )


def misplaced_system(views: Sequence[MessageView]) -> Iterator[Finding]:
    """Report system messages that are neither between a user message and its answer nor at the end."""
    roles = [view.role for view in views]
    for n, before, after in system_neighbours(roles):
        if before is None:
            yield Finding(
                views[n].message_index,
                "system-first",
                "a system message precedes the first user message",
                "Send it as the system parameter.",
                WARNING,
            )
        elif roles[before] == "assistant" or (after is not None and roles[after] != "assistant"):
            yield Finding(
                views[n].message_index,
                "system-misplaced",
                "a system message is not between a user message and the assistant's answer to it",
                "Move it directly after a user message that is followed by an assistant message or is the last one.",
            )


def thinking_not_first(views: Sequence[MessageView]) -> Iterator[Finding]:
    """Warn only, because the history does not show whether the request enables thinking."""
    spoken: list[MessageView] = []
    for view in views:
        if view.opens_turn:
            spoken = []
        elif view.role == "assistant":
            spoken.append(view)
    if any(view.calls for view in spoken) and not spoken[0].reasoning and any(view.reasoning for view in views):
        yield Finding(
            spoken[0].message_index,
            "thinking-not-first",
            "the last turn uses tools but does not start with a thinking block, which requests with thinking need",
            "Keep the thinking block that starts the turn, or disable thinking.",
            WARNING,
        )


def trailing_space(views: Sequence[MessageView]) -> Iterator[Finding]:
    """Warn only, because a user message may still be appended."""
    if views and views[-1].role == "assistant" and TRAILING_SPACE in views[-1].marks:
        yield Finding(
            views[-1].message_index,
            TRAILING_SPACE,
            "the assistant message at the end has a text that ends with whitespace",
            "Strip the text, or append a user message.",
            WARNING,
        )


def needs(units: Mapping[int, Sequence[MessageView]]) -> dict[int, tuple[int, ...]]:
    """A system message needs its neighbours; an answer without thinking needs the last thinking of its turn."""
    indices = list(units)
    needed: dict[int, tuple[int, ...]] = {}
    for n, before, after in system_neighbours([units[index][0].role for index in indices]):
        if before is not None:
            needed[indices[n]] = (indices[before],) if after is None else (indices[before], indices[after])
    thoughts: int | None = None
    for index, members in units.items():
        if members[0].reasoning:
            thoughts = index
        elif members[0].role == "assistant" and thoughts is not None:
            needed[index] = (thoughts,)
        if any(view.opens_turn for view in members):
            thoughts = None
    return needed
