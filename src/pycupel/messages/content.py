"""Read what the model sees of a message: its text, and its tokens with images, files and encrypted reasoning.

Messages are read by the names of their fields, whichever provider or library made them. Encoded data is never counted
by its length, because no provider counts it that way.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, NamedTuple

from pycupel.messages.fields import as_json, attribute, field, is_filled, is_list, is_mapping, rewritten, text_of
from pycupel.text import describe

__all__ = ["TEXTS", "THINKING", "TOOL_CALLS", "TOOL_RESULTS", "ContentError", "ContentReader", "Prices"]

TOOL_CALLS, TOOL_RESULTS, THINKING = "tool_calls", "tool_results", "thinking"


class Prices(NamedTuple):
    """What a provider adds to the text, in tokens.

    Media have a typical price: an image as 1024 x 1024 pixels, audio as 100 seconds, a file as one page.
    """

    message: int = 3
    """For each message."""

    name: int = 0
    """For the name of a speaker, besides its text."""

    call: int = 0
    """For each tool call with its result, besides their texts."""

    reply: int = 3
    """For the start of the reply."""

    tool: int = 8
    """For the definition of a tool, besides its JSON."""

    tools: int = 0
    """For having any tools."""

    image: int = 765
    """For an image."""

    small_image: int = 85
    """For an image with low detail."""

    audio: int = 1000
    """For audio."""

    file: int = 1500
    """For a file whose text is not in the message."""

    escapes: bool = False
    """Whether the provider encodes results and arguments as JSON again, with spaces and escapes."""


# How to read the fields of messages and their parts that the model sees, in text order.
_FIELDS: Mapping[str, str] = {
    **dict.fromkeys(("title", "reasoning", "reasoning_content"), "text"),
    **dict.fromkeys(("summary", "thinking", "content"), "nested"),
    **dict.fromkeys(("text", "refusal", "name", "tool_type", "toolType", "code"), "text"),
    **dict.fromkeys(("arguments", "args", "input", "response", "tools"), "json"),
    **dict.fromkeys(("action", "actions", "operation", "queries"), "json"),
    **dict.fromkeys(("parts", "output", "outputs"), "nested"),
    **dict.fromkeys(("logs", "stdout", "stderr", "result", "reason"), "text"),
    **dict.fromkeys(("tool_calls", "invalid_tool_calls", "function", "custom"), "nested"),
    # Gemini's objects and its JSON spell names differently.
    **dict.fromkeys(("function_call", "function_response", "executable_code", "code_execution_result"), "nested"),
    **dict.fromkeys(("functionCall", "functionResponse", "executableCode", "codeExecutionResult"), "nested"),
    **dict.fromkeys(("tool_call", "tool_response", "toolCall", "toolResponse"), "nested"),
    # Reasoning that only the provider can read.
    **dict.fromkeys(("signature", "thought_signature", "thoughtSignature", "encrypted_content"), "encrypted"),
}
_RANKS = {name: rank for rank, name in enumerate(_FIELDS)}
# Encrypted reasoning has about eight characters per token.
_ENCRYPTED_CHARACTERS = 8
_IMAGES = frozenset({"image", "image_url", "input_image", "computer_screenshot", "screenshot", "image_generation_call"})
TEXTS = frozenset({"text", "input_text", "output_text"})
_INLINE = ("inline_data", "file_data", "inlineData", "fileData")
_AUDIO = frozenset({"audio", "input_audio"})
_PRICED = _IMAGES | _AUDIO | {"redacted_thinking"}
_FILES = frozenset({"file", "input_file", "document", "document_url", "container_upload", "video", "video_url"})
# Encoded data in a part of an unknown type; what is shorter costs less as a text than as a file.
_DATA = re.compile(r"[\w+/=-]{1000,}", re.ASCII)

# Parts and fields that are not the speaker's text.
_CALL_FIELDS = frozenset({"function_call", "functionCall", "tool_call", "toolCall"})
_CALL_LISTS = frozenset({"tool_calls", "invalid_tool_calls"})
_CALL_TYPES = frozenset({"tool_use", "server_tool_use", "mcp_tool_use"})
_THOUGHTS = frozenset({"thinking", "redacted_thinking", "reasoning"})
_SHARES_OF_FIELDS: Mapping[str, str] = {
    **dict.fromkeys((*_CALL_FIELDS, *_CALL_LISTS, "executable_code", "executableCode"), TOOL_CALLS),
    **dict.fromkeys(("function_response", "functionResponse", "tool_response", "toolResponse"), TOOL_RESULTS),
    **dict.fromkeys(("code_execution_result", "codeExecutionResult"), TOOL_RESULTS),
    **dict.fromkeys(("reasoning", "reasoning_content", "thought_signature", "thoughtSignature"), THINKING),
}
# The parts in which LangChain repeats calls that are also beside the content.
_REPEATED_CALLS = ("tool_use", "tool_call", "function_call", "custom_tool_call")


class ContentError(Exception):
    """A field of a message cannot be read. The caller adds the index of the message.

    Attributes:
        key: The name of the field.
        source: The message that was being read.
    """

    def __init__(self, message: str, key: str, source: Any = None) -> None:
        super().__init__(message)
        self.key = key
        self.source = source


class ContentReader:
    """Reads messages for one provider and one counter: each is walked once, for its text and its tokens.

    Attributes:
        count: Counts the tokens of a text.
        prices: What the provider adds.
        overhead: What it adds to each message.
        shares: The tokens of calls, results and reasoning in the last message read, each with its kind.
    """

    __slots__ = ("_spans", "count", "overhead", "prices", "shares")

    def __init__(self, count: Callable[[str], int], prices: Prices) -> None:
        self.count = count
        self.prices = prices
        self.overhead = prices.message
        self.shares: tuple[tuple[str, int], ...] = ()
        # For each share: its kind, its texts from one index to another, and what it adds to them.
        self._spans: list[tuple[str, int, int, int]] = []

    def __call__(self, message: Any) -> tuple[str, int]:
        """Return the text of a message and its tokens, overhead included."""
        self.shares = ()
        # Most messages are a role and a text.
        if message.__class__ is dict and len(message) == 2 and "role" in message:
            text = message.get("content")
            if text.__class__ is str:
                return text, self.overhead + self.count(text)
        texts: list[str] = []
        try:
            fixed = self._walk(message, texts)
        except RecursionError as error:
            raise ContentError("is nested too deeply", "content", message) from error
        except ContentError as error:
            error.source = message
            raise
        tokens = [self.count(text) for text in texts]
        if self._spans:
            self.shares = tuple((kind, price + sum(tokens[start:end])) for kind, start, end, price in self._spans)
            self._spans.clear()
        return "\n".join(filter(None, texts)), self.overhead + fixed + sum(tokens)

    def _walk(self, node: Any, texts: list[str], *, is_part: bool = False) -> int:
        """Append the texts of a node, and return the price of everything else in it."""
        if isinstance(node, str):
            texts.append(node)
            return 0
        is_dict = node.__class__ is dict
        if not is_dict and is_list(node):
            return sum([self._walk(each, texts, is_part=True) for each in node])
        kind = node.get("type") if is_dict else field(node, "type")
        kind = kind if isinstance(kind, str) else None
        if kind in TEXTS and is_dict and len(node) == 2 and node.get("text").__class__ is str:
            # Most parts are plain texts.
            texts.append(node["text"])
            return 0
        if kind in _FILES:
            return self._file(node, texts)
        start, inside = len(texts), len(self._spans)
        price = self._price(node, kind) if kind is None or kind in _PRICED else None
        price = self._fields(node, texts) if price is None else price
        if kind in _CALL_TYPES:
            price += self.prices.call
        share = _share_of(node, kind)
        if share is not None:
            self._spans[inside:] = [(share, start, len(texts), price)]
        elif is_part and kind is not None and not price and len(texts) == start:
            return self._unknown(node)
        return price

    def _unknown(self, node: Any) -> int:
        """Price a part without text: if none of its fields is known, by its JSON, with encoded data as files."""
        is_known = node.__contains__ if is_mapping(node) else partial(hasattr, node)
        if any(map(is_known, _FIELDS)):
            return 0
        text, files = _DATA.subn("", _json(dict(node) if is_mapping(node) else node, "content"))
        return self.count(text) + self.prices.file * files

    def _fields(self, node: Any, texts: list[str]) -> int:
        members = node if is_mapping(node) else {name: attribute(node, name) for name in _FIELDS}
        is_rewritten = self.prices.escapes and field(node, "tool_call_id")
        total = self._escapes(members.get("content")) if is_rewritten else 0
        for name in sorted(filter(_RANKS.__contains__, members), key=_RANKS.__getitem__):
            value = members[name]
            if value is None:
                continue
            if name == "content" and isinstance(value, str):
                # Most contents are plain texts.
                texts.append(value)
                continue
            start = len(texts)
            price = self._field(name, members, texts)
            share = _SHARES_OF_FIELDS.get(name)
            if share is not None:
                self._spans.append((share, start, len(texts), price))
            total += price
        return total

    def _field(self, name: str, members: Mapping[str, Any], texts: list[str]) -> int:
        """Append the texts of a field, and return the price of everything else in it."""
        how, value = _FIELDS[name], members[name]
        if how == "nested":
            return self._nested(name, value, members, texts)
        if how == "encrypted":
            return _encrypted(value, name)
        if how == "json":
            texts.append(_json(value, name))
            return self._escapes(value) if self.prices.escapes and name == "arguments" else 0
        has_content = members.get("content") is not None
        if not isinstance(value, str) or (name == "text" and has_content):
            # Some libraries' messages have their text twice, as content and as text.
            return 0
        if name == "name" and has_content:
            # The name of the speaker costs tokens, but is not part of the text.
            return self.prices.name + self.count(value)
        texts.append(value)
        return 0

    def _nested(self, name: str, value: Any, members: Mapping[str, Any], texts: list[str]) -> int:
        if name == "content" and any(map(is_filled, map(members.get, _CALL_LISTS))):
            return self._walk(_without_calls(value), texts)
        calls = name in _CALL_FIELDS or (len(value) if name in _CALL_LISTS and is_list(value) else 0)
        return self.prices.call * calls + self._walk(value, texts)

    def _escapes(self, value: Any) -> int:
        """Count the tokens added by encoding a text as JSON again."""
        if not isinstance(value, str):
            return 0
        return max(0, self.count(rewritten(value)) - self.count(value))

    def _price(self, node: Any, kind: str | None) -> int | None:
        """Return the price of a part without a kind or of one in `_PRICED`; None for text."""
        if kind is None:
            return self._inline_price(node)
        if kind in _IMAGES:
            is_small = "low" in (text_of(node, "detail"), text_of(field(node, "image_url"), "detail"))
            return self.prices.small_image if is_small else self.prices.image
        return self.prices.audio if kind in _AUDIO else _encrypted(field(node, "data"), "data")

    def _inline_price(self, node: Any) -> int | None:
        """Price Gemini's data by its MIME type, because its parts have no type."""
        if node.__class__ is dict and node.keys().isdisjoint(_INLINE):
            return None
        data = next((each for each in [field(node, name) for name in _INLINE] if each is not None), None)
        if data is None:
            return None
        kind = (text_of(data, "mime_type") or text_of(data, "mimeType")).partition("/")[0]
        prices = {"image": self.prices.image, "audio": self.prices.audio}
        return prices.get(kind, self.prices.file)

    def _file(self, node: Any, texts: list[str]) -> int:
        """Price a file; a document with its text in the message costs as much as its text."""
        source = field(node, "source")
        text = field(source, "data" if text_of(source, "type") == "text" else "content")
        return self.prices.file if text is None else self._walk([text_of(node, "title"), text], texts)


def _encrypted(value: Any, key: str) -> int:
    if value is None:
        return 0
    if isinstance(value, (str, bytes)):
        return len(value) // _ENCRYPTED_CHARACTERS
    raise ContentError(f"must be a string, not {describe(value)}", key)


def _json(value: Any, key: str) -> str:
    try:
        return as_json(value)
    except Exception as error:
        raise ContentError(f"cannot be written as JSON: {describe(value)}", key) from error


def _share_of(node: Any, kind: str | None) -> str | None:
    """Return the kind of a part that is not its speaker's text. Gemini's thoughts are texts with a mark."""
    if kind is None:
        return THINKING if field(node, "thought") is True else None
    if kind in _THOUGHTS:
        return THINKING
    if kind.endswith("tool_result"):
        return TOOL_RESULTS
    return TOOL_CALLS if kind.endswith(("tool_use", "_call")) else None


def _without_calls(content: Any) -> Any:
    """Remove calls from the content: LangChain keeps those of some providers there, and again beside it."""
    return [part for part in content if text_of(part, "type") not in _REPEATED_CALLS] if is_list(content) else content
