"""Find the results of tool calls in messages of any provider, and copy messages with shorter ones.

Only results that may be shortened are found here: not reasoning, signatures, results of server tools, or outputs that
must stay unchanged, such as the screenshot of a `computer_call_output`.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping
from dataclasses import is_dataclass, replace
from typing import Any, NamedTuple

from pycupel.messages.fields import as_json, field, filled, is_filled, is_list, is_mapping, text_of
from pycupel.messages.providers._shapes import LANGCHAIN_ROLES
from pycupel.shorten import ToolCall

__all__ = ["ResultPart", "calls_of", "result_parts", "with_result_texts"]

# The items of the Responses API whose output is free text.
_OUTPUTS = frozenset({"function_call_output", "custom_tool_call_output"})
_CALLS = frozenset({"function_call", "custom_tool_call"})
_TOOL_ROLES = ("tool", "function")
# Gemini's objects and its JSON spell names differently.
_RESPONSES = ("function_response", "functionResponse")
_FUNCTION_CALLS = ("function_call", "functionCall")
# The keys under which Gemini's functions return a text; the first with a text is used.
_RETURNED = ("output", "result", "content", "text", "error")


class ResultPart(NamedTuple):
    """The result of one call."""

    number: int
    """Its number among the results of the message."""

    text: str
    """Its text."""

    is_error: bool = False
    """Whether it reports an error."""

    has_media: bool = False
    """Whether it has more than text: images, files."""


def result_parts(message: Any) -> list[ResultPart]:
    """Return the results in a message that may be shortened; most messages have none."""
    if text_of(message, "type") in _OUTPUTS:
        return [_part(0, field(message, "output"), is_error=False)]
    if _is_tool_message(message):
        return [_part(0, field(message, "content"), is_error=text_of(message, "status") == "error")]
    return [_part_of(number, block) for number, block in enumerate(filter(_is_result, _blocks(message)[1]))]


def with_result_texts(message: Any, texts: Mapping[int, str]) -> Any:
    """Copy a message with other texts for some results, by their number."""
    if text_of(message, "type") in _OUTPUTS:
        return _changed(message, output=texts[0])
    if _is_tool_message(message):
        return _changed(message, content=texts[0])
    name, blocks = _blocks(message)
    results = [n for n, block in enumerate(blocks) if _is_result(block)]
    for number, text in texts.items():
        n = results[number]
        blocks[n] = _with_text(blocks[n], text)
    return _changed(message, **{name: blocks})


def calls_of(message: Any) -> Iterator[ToolCall]:
    """Return the calls in a message that the caller answers, in order."""
    if text_of(message, "type") in _CALLS:
        yield _call(message, "arguments", "input")
    for name in ("tool_calls", "invalid_tool_calls"):
        calls = field(message, name)
        for call in calls if is_list(calls) else ():
            called = filled(call, "function", "custom")
            yield _call(call if called is None else called, "arguments", "args", "input")
    called = filled(message, *_FUNCTION_CALLS)
    if called is not None:
        yield _call(called, "arguments")
    for block in _blocks(message)[1]:
        if not isinstance(block, str):
            called = block if text_of(block, "type") == "tool_use" else filled(block, *_FUNCTION_CALLS)
            if called is not None:
                yield _call(called, "input", "args")


def _call(call: Any, *names: str) -> ToolCall:
    return ToolCall(text_of(call, "name"), filled(call, *names))


def _part(number: int, content: Any, *, is_error: bool) -> ResultPart:
    pieces = content if is_list(content) else [content]
    texts = [piece if isinstance(piece, str) else field(piece, "text") for piece in pieces if piece is not None]
    said = [text for text in texts if isinstance(text, str)]
    return ResultPart(number, "\n".join(filter(None, said)), is_error, len(said) < len(texts))


def _part_of(number: int, block: Any) -> ResultPart:
    response = filled(block, *_RESPONSES)
    if response is None:
        return _part(number, field(block, "content"), is_error=field(block, "is_error") is True)
    value = field(response, "response")
    is_error = is_mapping(value) and value.get("error") is not None
    return ResultPart(number, _returned(value)[1], is_error, is_filled(field(response, "parts")))


def _is_tool_message(message: Any) -> bool:
    role = text_of(message, "role") or LANGCHAIN_ROLES.get(text_of(message, "type"), "")
    # Messages with parts are Gemini's, whatever their roles.
    return role in _TOOL_ROLES and field(message, "parts") is None


def _blocks(message: Any) -> tuple[str, list[Any]]:
    """Return the name of the field with the blocks, and a copy of the list of blocks."""
    name = "content" if field(message, "parts") is None else "parts"
    blocks = field(message, name)
    return name, list(blocks) if is_list(blocks) else []


def _is_result(block: Any) -> bool:
    return not isinstance(block, str) and (
        text_of(block, "type") == "tool_result" or filled(block, *_RESPONSES) is not None
    )


def _returned(value: Any) -> tuple[str | None, str]:
    """Return the key and text that a Gemini function returned; without one, the whole value as JSON."""
    if is_mapping(value):
        for key in _RETURNED:
            if isinstance(value.get(key), str):
                return key, value[key]
    return None, as_json(value)


def _with_text(block: Any, text: str) -> Any:
    name = next((name for name in _RESPONSES if is_filled(field(block, name))), None)
    if name is None:
        return _changed(block, content=text)
    response = field(block, name)
    value = field(response, "response")
    key, _ = _returned(value)
    # It stays an object, and an error stays an error. Images that a function returned beside it are dropped.
    whole = "error" if is_mapping(value) and "error" in value else "output"
    changes: dict[str, Any] = {"response": {whole: text} if key is None else {**value, key: text}}
    if is_filled(field(response, "parts")):
        changes["parts"] = None
    return _changed(block, **{name: _changed(response, **changes)})


def _changed(value: Any, **changes: Any) -> Any:
    """Copy a dict, a mapping, a Pydantic model, a dataclass or any other object with other fields."""
    if is_mapping(value):
        # The keys keep their order, so that the prompt prefix stays the same.
        kept = {**value, **changes}
        return {key: each for key, each in kept.items() if each is not None or key not in changes}
    if hasattr(value, "model_copy"):
        return value.model_copy(update=changes)
    if is_dataclass(value) and not isinstance(value, type):
        return replace(value, **changes)
    other = copy.copy(value)
    for name, each in changes.items():
        setattr(other, name, each)
    return other
