"""What the prompts of a session are made of, and what each part costs: the same kinds and sizes as everywhere."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from pycupel.messages.counting import ASSISTANT, SYSTEM, TOOL_CALLS, TOOLS, USER, Beside, kind_of, speaker_of
from pycupel.messages.ladders import answered_calls
from pycupel.messages.parts import MessageView
from pycupel.replay.log import History
from pycupel.replay.shapes import text_of
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
        beside = Beside(self._provider, count, history.system or None, history.tools or None)
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
