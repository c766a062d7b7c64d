"""The parts of a history with their sizes, and what was needed later."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from pycupel.messages.counting import (
    ASSISTANT,
    SYSTEM,
    TOOL_CALLS,
    TOOL_RESULTS,
    TOOLS,
    USER,
    count_extras,
    kind_of,
    speaker_of,
)
from pycupel.messages.parts import MessageView
from pycupel.messages.shortening import answered_calls
from pycupel.replay.log import History, text_of
from pycupel.shorten import ToolCall
from pycupel.tokens.counters import Counter
from pycupel.values import record_repr


class Part(NamedTuple):
    """A part of a prompt."""

    message: int
    """The index of the message; -1 for what is not in the messages."""

    kind: str
    """"system", "tools", "user", "assistant", "thinking", "tool_calls", "tool_results", "images" or "files"."""

    tool: str
    """The name of the tool, for calls and results."""

    text: str
    """Its text; for a call, its arguments."""

    tokens: int
    """Its tokens. What a message adds counts for its speaker."""

    call: ToolCall | None = None
    """The call, for calls and results."""

    @property
    def is_bare(self) -> bool:
        """Whether it is only what a message adds, because its speaker says nothing beside calls or results."""
        return not self.text and self.kind in (SYSTEM, USER, ASSISTANT)

    def __repr__(self) -> str:
        return record_repr(self)


class Prompts:
    """A history as it was sent: the parts of its messages, and what stood beside them.

    Attributes:
        views: The messages as they were read.
        parts: Their parts.
        beside: The system prompt and the definitions of tools, if there are any.
        beside_tokens: The tokens of both.
    """

    def __init__(self, history: History, count: Counter) -> None:
        self._provider, self._count = history.resolved_provider, count
        self.views = self._provider.read(history.messages, count)
        self.parts = [*parts_of(self.views)]
        beside = count_extras(self._provider, count, history.system or None, history.tools or None)
        found = (Part(-1, SYSTEM, "", text_of(history.system), beside.system), Part(-1, TOOLS, "", "", beside.tools))
        self.beside = [part for part in found if part.tokens]
        self.beside_tokens = beside.tokens

    def summary(self, text: str) -> Part:
        """Return the summary that replaced earlier messages, which is sent as a message of the user."""
        [view] = self._provider.read([self._provider.user_message(text)], self._count)
        return Part(-1, USER, "", text, view.tokens)


def parts_of(views: Iterable[MessageView]) -> Iterator[Part]:
    """Return the parts of messages. Results are matched to the calls before them."""
    views = [*views]
    calls = {id(part): call for _, part, call in answered_calls(views)}
    for view in views:
        own = speaker_of(view)
        # What the provider adds to the message, until a part of its speaker takes it.
        added = view.tokens - sum([part.tokens for part in view.parts])
        for part in view.parts:
            kind, tool, text, call = kind_of(part, view), part.tool, part.text, calls.get(id(part))
            if call is not None:
                tool = call.name or tool
            elif kind == TOOL_CALLS:
                call = ToolCall(tool, part.arguments)
                text = _arguments(part.arguments)
            tokens = part.tokens + (added if kind == own else 0)
            added = 0 if kind == own else added
            yield Part(view.message_index, kind, tool, text, tokens, call)
        if added:
            yield Part(view.message_index, own, "", "", added)


def _arguments(arguments: object) -> str:
    if arguments is None:
        return ""
    return arguments if isinstance(arguments, str) else json.dumps(arguments, sort_keys=True)


# Find what an agent needed later and only tool results had, to measure what a cut loses.
#
# An identifier, path or command is needed at a cut if tool results before the cut have it, no other message before the
# cut has it, and the agent writes it after the cut before any message shows it again. So each one is needed at the cuts
# after the last result that has it, up to the message in which the agent first writes it: one interval for each.


_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_./:\-]{5,}")
# Unlike a word, an identifier has an underscore, a path, a digit, or a capital inside.
_IDENTIFIER = re.compile(r"[_/.\d:]|[a-z][A-Z]")
_BY_AGENT = frozenset({ASSISTANT, TOOL_CALLS})
_SPOKEN = frozenset({SYSTEM, USER, *_BY_AGENT})


def identifiers(text: str) -> set[str]:
    """Find the identifiers, paths and commands in a text."""
    return {word.strip("./:-") for word in _WORD.findall(text) if _IDENTIFIER.search(word)}


class Needed(NamedTuple):
    """What was needed later in a history."""

    held: Sequence[frozenset[str]]
    """The identifiers in each message."""

    intervals: Mapping[str, tuple[int, int]]
    """For each identifier that was needed: the last result before it was needed, and the message in which the agent
    wrote it. It was needed at every cut after the first and up to the second.
    """

    def at(self, cut: int) -> set[str]:
        """Return what is needed if the messages before this index are cut."""
        return {word for word, (last, written) in self.intervals.items() if last < cut <= written}


def needed_of(messages: int, parts: Iterable[Part]) -> Needed:
    """Find what was needed later in a history with this many messages and these parts."""
    spoken, results, by_agent = ([set[str]() for _ in range(messages)] for _ in range(3))
    for part in parts:
        if part.kind == TOOL_RESULTS:
            results[part.message] |= identifiers(part.text)
        elif part.kind in _SPOKEN:
            words = identifiers(part.text)
            spoken[part.message] |= words
            if part.kind in _BY_AGENT:
                by_agent[part.message] |= words
    last: dict[str, int] = {}
    said: set[str] = set()
    intervals: dict[str, tuple[int, int]] = {}
    for index in range(messages):
        for word in by_agent[index] - said:
            if word in last:
                intervals[word] = (last[word], index)
        said |= spoken[index]
        last.update(dict.fromkeys(results[index], index))
    return Needed([frozenset(one | other) for one, other in zip(spoken, results, strict=True)], intervals)
