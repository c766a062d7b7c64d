"""The parts of a history with their sizes, and what was needed later."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, cast

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
from pycupel.messages.tool_results import answered_calls
from pycupel.replay.log import Compaction, History, text_in
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
        self.parts = [*prompt_parts(self.views)]
        beside = count_extras(self._provider, count, history.system or None, history.tools or None)
        found = (Part(-1, SYSTEM, "", text_in(history.system), beside.system), Part(-1, TOOLS, "", "", beside.tools))
        self.beside = [part for part in found if part.tokens]
        self.beside_tokens = beside.tokens

    def summary(self, compaction: Compaction) -> Part:
        """Return what replaced earlier messages."""
        [view] = self._provider.read([self.summary_message(compaction)], self._count)
        return Part(-1, USER, "", compaction.summary, view.tokens)

    def summary_message(self, compaction: Compaction) -> dict[str, Any]:
        """Return the message that replaced earlier messages: a block of the provider, or else the user's."""
        return compaction.block or self._provider.user_message(compaction.summary)


def prompt_parts(views: Iterable[MessageView]) -> Iterator[Part]:
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


# Find what an agent needed later, to measure what a cut loses.
#
# A value is needed if the agent writes it into the arguments of a call, a result before that call has it, and no
# message of the user or the assistant between the two does. So each one is needed at the cuts after that result, up to
# the call: an interval. What the agent says in the reply that makes the call is not between, and prose is not counted:
# that a word occurs in a result and later in a sentence does not show that it came from there.
#
# The shortener chooses lines by the identifiers in them. This must not be the same, or it would measure itself.


_PIECE = re.compile(r"[\w./@~-]{4,}")
# Unlike a word, a path or an identifier has one of these, or a capital inside.
_MARK = re.compile(r"[_/.\d@~]|[a-z][A-Z]")
# A shorter value of an argument, such as a number or a mode, is everywhere by chance.
_SHORTEST = 6
_BY_AGENT = frozenset({ASSISTANT, TOOL_CALLS})


def pieces(text: str) -> set[str]:
    """Find the paths and identifiers in a text."""
    return {word.rstrip("./-") for word in _PIECE.findall(text) if len(word) >= _SHORTEST and _MARK.search(word)}


class Needed(NamedTuple):
    """What was needed later in a history."""

    # The values in each message that may be needed.
    held: Sequence[frozenset[str]]
    # Each value that was needed, the last result before it, and the message with the call that has it.
    intervals: Sequence[tuple[str, int, int]]
    # The values that are more than one path or identifier, such as lines to replace.
    whole: frozenset[str]

    def at(self, cut: int) -> set[str]:
        """Return what is needed if the messages before this index are cut."""
        return {value for value, last, call in self.intervals if last < cut <= call}

    def in_text(self, text: str) -> frozenset[str]:
        """Return the values that a text has."""
        return frozenset(pieces(text)).union(value for value in self.whole if value in text)


def needed_of(messages: int, parts: Iterable[Part]) -> Needed:
    """Find what was needed later in a history with this many messages and these parts."""
    spoken, results, asked = ([list[str]() for _ in range(messages)] for _ in range(3))
    by_agent = [False] * messages
    for part in parts:
        if part.kind == TOOL_RESULTS:
            results[part.message].append(part.text)
            continue
        by_agent[part.message] |= part.kind in _BY_AGENT
        if part.kind == TOOL_CALLS:
            # As written, and not as JSON, in which line breaks and quotes are escaped.
            values = [*_strings(part.call.arguments if part.call else part.text)]
            asked[part.message] += values
            spoken[part.message] += values
        elif part.kind in {USER, ASSISTANT}:
            spoken[part.message].append(part.text)
    texts = ["\n".join(each) for each in results], ["\n".join(each) for each in spoken]
    return _Search(*texts, asked, by_agent).run()


class _Search:
    """Looks for what calls take from results, from the first message to the last."""

    def __init__(self, results: list[str], spoken: list[str], asked: list[list[str]], by_agent: list[bool]) -> None:
        self._results, self._spoken, self._asked, self._by_agent = results, spoken, asked, by_agent
        # The last message in which each path or identifier was seen.
        self._in_results: dict[str, int] = {}
        self._in_spoken: dict[str, int] = {}
        self._intervals: list[tuple[str, int, int]] = []

    def run(self) -> Needed:
        found = [(pieces(said), pieces(result)) for said, result in zip(self._spoken, self._results, strict=True)]
        reply = 0
        for index, (said, shown) in enumerate(found):
            if not self._by_agent[index]:
                # What the agent said counts from here on: it is no longer of the reply that calls.
                for n in range(reply, index):
                    self._in_spoken |= dict.fromkeys(found[n][0], n)
                self._in_spoken |= dict.fromkeys(said, index)
                reply = index + 1
            for value in dict.fromkeys(self._asked[index]):
                self._add(value, index, reply)
            self._in_results |= dict.fromkeys(shown, index)
        known = {value for value, _, _ in self._intervals}
        whole = frozenset(value for value in known if pieces(value) != {value})
        needed = Needed([], self._intervals, whole)
        texts = map("\n".join, zip(self._spoken, self._results, strict=True))
        return needed._replace(held=[needed.in_text(text) for text in texts])

    def _add(self, value: str, call: int, reply: int) -> None:
        """Add what an argument takes from results: the value as a whole, or else the paths and identifiers in it."""
        if len(value.strip()) >= _SHORTEST:
            for n in range(reply - 1, -1, -1):
                if value in self._spoken[n]:
                    return
                if value in self._results[n]:
                    self._intervals.append((value, n, call))
                    return
        for piece in pieces(value):
            last = self._in_results.get(piece, -1)
            if last > self._in_spoken.get(piece, -1):
                self._intervals.append((piece, last, call))


def _strings(arguments: object) -> Iterator[str]:
    """Return the strings in the arguments of a call, which may be a JSON text."""
    if isinstance(arguments, str):
        try:
            arguments = json.loads(arguments)
        except (ValueError, RecursionError):
            yield str(arguments)
            return
    left = [arguments]
    while left:
        value = left.pop()
        if isinstance(value, str):
            yield value
        elif isinstance(value, Mapping):
            left += cast("Mapping[str, object]", value).values()
        elif isinstance(value, (list, tuple)):
            left += cast("Sequence[object]", value)
