"""Split the messages of a history into parts by author and kind, and results by tool.

Messages are JSON, as in logs. Parts are counted by `pycupel.messages`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from pycupel.errors import MessageShapeError
from pycupel.messages.content import ContentError, ContentReader
from pycupel.messages.providers import Provider
from pycupel.replay.shapes import as_dict, as_dicts, as_name
from pycupel.values import record_repr

__all__ = [
    "ASSISTANT",
    "IMAGES",
    "RESULTS",
    "SUMMARY",
    "SYSTEM",
    "THINKING",
    "TOOLS",
    "USER",
    "Part",
    "Splitter",
    "tokens_by_message",
]

SYSTEM, TOOLS, USER, ASSISTANT = "system", "tools", "user", "assistant"
RESULTS, THINKING, IMAGES, SUMMARY = "tool results", "thinking", "images", "summary"

_SPEAKERS = {"system": SYSTEM, "developer": SYSTEM, "assistant": ASSISTANT, "model": ASSISTANT}
_THOUGHTS = frozenset({"thinking", "redacted_thinking", "reasoning"})
_PICTURES = frozenset({"image", "image_url", "input_image", "computer_screenshot"})
_IDS = ("call_id", "tool_call_id", "tool_use_id", "id")


class Part(NamedTuple):
    """A part of a message."""

    message: int
    """The index of the message."""

    kind: str
    """What it is: "system", "user", "assistant", "tool results", "thinking" or "images"."""

    tool: str
    """The name of the tool, for calls and results."""

    text: str
    """Its text; for a call, its arguments."""

    tokens: int
    """Its tokens; the overhead of the message counts for the first part."""

    call: str = ""
    """For calls and results, a description of the call: equal for equal calls."""

    @property
    def is_call(self) -> bool:
        """Whether it is a call, which counts as the assistant's."""
        return self.kind == ASSISTANT and bool(self.call)

    def __repr__(self) -> str:
        return record_repr(self)


class _Piece(NamedTuple):
    kind: str
    node: Any
    tool: str = ""
    call: str = ""
    text: str | None = None


class Splitter:
    """Splits the messages of one history, in order: results are matched to the calls before them.

    Raises:
        MessageShapeError: a part has a shape that no provider uses.
    """

    def __init__(self, provider: Provider, count: Callable[[str], int]) -> None:
        prices = provider.prices
        self._read = ContentReader(count, prices._replace(message=0))
        self._overhead = prices.message
        # The tool and the arguments of each call, by its id.
        self._calls: dict[object, tuple[str, str]] = {}

    def parts(self, messages: Iterable[Any]) -> list[Part]:
        """Return the parts of messages."""
        return [part for index, message in enumerate(messages) for part in self.split(index, message)]

    def split(self, index: int, message: Any) -> Iterator[Part]:
        """Return the parts of a message."""
        overhead = self._overhead
        for kind, node, tool, call, text in self._pieces(as_dict(message)):
            said, tokens = self._priced(node, index)
            yield Part(index, kind, tool, said if text is None else text, tokens + overhead, call)
            overhead = 0

    def text(self, kind: str, value: Any) -> Part:
        """Make a part that is not a message, such as a system prompt beside them."""
        return Part(-1, kind, "", *self._priced(value, 0))

    def _priced(self, node: Any, index: int) -> tuple[str, int]:
        try:
            return self._read(node)
        except ContentError as error:
            raise MessageShapeError(str(error), index, error.key) from error

    def _pieces(self, message: dict[str, Any]) -> Iterator[_Piece]:
        role, kind = as_name(message.get("role")), str(message.get("type"))
        if role in {"tool", "function"} or kind.endswith("_output"):
            yield from self._result(message)
        elif kind in _THOUGHTS:
            yield _Piece(THINKING, message)
        elif kind.endswith("_call"):
            yield self._call(message, message)
        else:
            speaker = _SPEAKERS.get(str(role), USER)
            for name in ("reasoning_content", "reasoning"):
                if message.get(name):
                    yield _Piece(THINKING, message[name])
            content: Any = message.get("content") or message.get("parts")
            for part in content if content.__class__ is list else [content] if content else ():
                yield from self._part(part, speaker)
            for call in as_dicts(message.get("tool_calls")):
                # As in the message, because providers charge for calls.
                piece = self._call(as_dict(call.get("function")) or call, call)
                yield piece._replace(node={"tool_calls": [call]})
            if called := as_dict(message.get("function_call")):
                yield self._call(called, called)._replace(node={"function_call": called})

    def _part(self, part: Any, speaker: str) -> Iterator[_Piece]:
        fields = as_dict(part)
        kind = str(fields.get("type"))
        called = as_dict(fields.get("functionCall")) or as_dict(fields.get("function_call"))
        answered = as_dict(fields.get("functionResponse")) or as_dict(fields.get("function_response"))
        if kind.endswith("tool_use"):
            yield self._call(fields, fields)
        elif kind.endswith("tool_result"):
            yield from self._result(fields)
        elif called:
            yield self._call(called, fields)
        elif answered:
            yield from self._result(answered)
        elif kind in _THOUGHTS or fields.get("thought") is True:
            yield _Piece(THINKING, part)
        else:
            yield _Piece(IMAGES if _is_picture(fields) else speaker, part)

    def _call(self, called: dict[str, Any], node: dict[str, Any]) -> _Piece:
        """Read a call; `called` has its name and arguments, `node` its id and everything that costs tokens."""
        names = ("arguments", "input", "args", "action")
        arguments = next((called[name] for name in names if called.get(name) is not None), "")
        text = arguments if isinstance(arguments, str) else json.dumps(arguments, sort_keys=True)
        tool = str(called.get("name") or called.get("type") or "")
        for name in (_id(node), tool):
            # Gemini's results may have only the name.
            self._calls[name] = (tool, text)
        return _Piece(ASSISTANT, node, tool, f"{tool} {text}", text)

    def _result(self, result: dict[str, Any]) -> Iterator[_Piece]:
        name = str(result.get("name") or "")
        tool, arguments = self._calls.get(_id(result), self._calls.get(name, (name, "")))
        pictures = [each for each in as_dicts(result.get("content")) if _is_picture(each)]
        if pictures:
            result = {**result, "content": [each for each in result["content"] if not _is_picture(as_dict(each))]}
        yield _Piece(RESULTS, result, tool, f"{tool} {arguments}")
        yield from (_Piece(IMAGES, picture) for picture in pictures)


def tokens_by_message(messages: Sequence[Any], parts: Iterable[Part]) -> list[int]:
    """Sum the tokens of the parts of each message."""
    tokens = [0] * len(messages)
    for part in parts:
        tokens[part.message] += part.tokens
    return tokens


def _id(fields: dict[str, Any]) -> object:
    return next((fields[name] for name in _IDS if isinstance(fields.get(name), str)), None)


def _is_picture(fields: dict[str, Any]) -> bool:
    data = as_dict(fields.get("inlineData")) or as_dict(fields.get("inline_data"))
    media_type = str(data.get("mimeType") or data.get("mime_type"))
    return as_name(fields.get("type")) in _PICTURES or media_type.startswith("image/")
