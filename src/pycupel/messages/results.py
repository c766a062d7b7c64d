"""The results of tool calls inside messages of any make: what they say, and copies of messages that say less.

Only results that may say less are found here. Thoughts, signatures, the results of server tools and outputs that must
be what they are, such as the screenshot of a `computer_call_output`, are not among them.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import is_dataclass, replace
from typing import Any, NamedTuple

from pycupel.messages.fields import as_json, field, is_list, is_mapping

__all__ = ["ResultPart", "result_parts", "with_result_texts"]

# The items of the Responses API whose output is free text.
_OUTPUTS = frozenset({"function_call_output", "custom_tool_call_output"})
# Gemini's objects and its JSON spell names differently.
_RESPONSES = ("function_response", "functionResponse")
# The keys under which Gemini's functions return a text, the first of them that holds one.
_RETURNED = ("output", "result", "content", "text", "error")


class ResultPart(NamedTuple):
    """The result of one call.

    Attributes:
        number: Its number among the results of the message.
        call_id: The id of the call, or the name of the function; "" if there is neither.
        text: What it says.
        is_error: Whether it reports an error.
        has_media: Whether it holds more than text: pictures, files.
    """

    number: int
    call_id: str
    text: str
    is_error: bool = False
    has_media: bool = False


def result_parts(message: Any) -> list[ResultPart]:
    """The results in a message that may say less; none in most messages."""
    kind = field(message, "type")
    if kind in _OUTPUTS:
        return [_part(0, field(message, "call_id"), field(message, "output"), is_error=False)]
    if _is_tool_message(message):
        is_error = field(message, "status") == "error"
        return [_part(0, field(message, "tool_call_id"), field(message, "content"), is_error=is_error)]
    parts: list[ResultPart] = []
    for block in _results(message):
        response = _response(block)
        if response is None:
            is_error = field(block, "is_error") is True
            parts.append(_part(len(parts), field(block, "tool_use_id"), field(block, "content"), is_error=is_error))
        else:
            call_id = field(response, "id") or field(response, "name")
            value = field(response, "response")
            is_error = is_mapping(value) and value.get("error") is not None
            has_media = bool(field(response, "parts"))
            parts.append(ResultPart(len(parts), str(call_id or ""), _returned(value)[1], is_error, has_media))
    return parts


def with_result_texts(message: Any, texts: Mapping[int, str]) -> Any:
    """A copy of a message in which some results, by their number, say something else. The rest is the very same."""
    if field(message, "type") in _OUTPUTS:
        return _changed(message, output=texts[0])
    if _is_tool_message(message):
        return _changed(message, content=texts[0])
    name = "content" if field(message, "parts") is None else "parts"
    blocks = list(field(message, name))
    number = 0
    for n, block in enumerate(blocks):
        if _is_result(block):
            if number in texts:
                blocks[n] = _with_text(block, texts[number])
            number += 1
    return _changed(message, **{name: blocks})


def _part(number: int, call_id: Any, content: Any, *, is_error: bool) -> ResultPart:
    pieces = content if is_list(content) else [content]
    texts = [piece if isinstance(piece, str) else field(piece, "text") for piece in pieces if piece is not None]
    has_media = any(text is None for text in texts)
    return ResultPart(number, str(call_id or ""), "\n".join(filter(None, texts)), is_error, has_media)


def _is_tool_message(message: Any) -> bool:
    return field(message, "role") in ("tool", "function") or (
        field(message, "role") is None and field(message, "type") in ("tool", "ToolMessageChunk")
    )


def _results(message: Any) -> list[Any]:
    blocks = field(message, "content")
    blocks = field(message, "parts") if blocks is None else blocks
    return [block for block in blocks if _is_result(block)] if is_list(blocks) else []


def _is_result(block: Any) -> bool:
    return not isinstance(block, str) and (field(block, "type") == "tool_result" or _response(block) is not None)


def _response(block: Any) -> Any:
    return next((field(block, name) for name in _RESPONSES if field(block, name) is not None), None)


def _returned(value: Any) -> tuple[str | None, str]:
    """The key under which a function of Gemini returned a text, and the text; without one, all of it as JSON."""
    if is_mapping(value):
        for key in _RETURNED:
            if isinstance(value.get(key), str):
                return key, value[key]
    return None, as_json(value)


def _with_text(block: Any, text: str) -> Any:
    name = next((name for name in _RESPONSES if field(block, name) is not None), None)
    if name is None:
        return _changed(block, content=text)
    response = field(block, name)
    value = field(response, "response")
    key, _ = _returned(value)
    # It stays an object. Pictures that a function returned beside it go with the text.
    changes: dict[str, Any] = {"response": {"output": text} if key is None else {**value, key: text}}
    if field(response, "parts"):
        changes["parts"] = None
    return _changed(block, **{name: _changed(response, **changes)})


def _changed(value: Any, **changes: Any) -> Any:
    """A copy with other fields, of a dict, a mapping, a Pydantic model, a dataclass or any other object."""
    if is_mapping(value):
        kept = {**value, **changes}
        return {key: each for key, each in kept.items() if not (key in changes and each is None)}
    if hasattr(value, "model_copy"):
        return value.model_copy(update=changes)
    if is_dataclass(value) and not isinstance(value, type):
        return replace(value, **changes)
    other = copy.copy(value)
    for name, each in changes.items():
        setattr(other, name, each)
    return other
