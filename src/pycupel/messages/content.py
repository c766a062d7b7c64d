"""What the model sees of a message: its text, and what that costs together with pictures, files and sealed thoughts.

Messages are known by the names of their fields, whichever provider or library made them. Encoded data is never counted
by its length, because no provider counts it that way.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from pycupel.messages.fields import as_json, attribute, field, is_list, is_mapping

__all__ = ["ContentReader", "Prices"]


class Prices(NamedTuple):
    """What a provider adds to the text, in tokens. Those of pictures are typical: their sizes cannot be seen here."""

    message: int = 3
    reply: int = 3
    tool: int = 8
    image: int = 765
    small_image: int = 85
    audio: int = 1000
    file: int = 1500


# How to read the fields in which messages and their parts keep what the model sees, in the order of a text.
_FIELDS: Mapping[str, str] = {
    **dict.fromkeys(("title", "reasoning", "reasoning_content"), "text"),
    **dict.fromkeys(("summary", "thinking", "content"), "nested"),
    **dict.fromkeys(("text", "refusal", "name", "code"), "text"),
    **dict.fromkeys(("arguments", "args", "input", "response", "tools"), "json"),
    **dict.fromkeys(("action", "actions", "operation", "queries"), "json"),
    **dict.fromkeys(("parts", "output", "outputs"), "nested"),
    **dict.fromkeys(("logs", "stdout", "stderr", "result", "reason"), "text"),
    **dict.fromkeys(("tool_calls", "invalid_tool_calls", "function", "custom"), "nested"),
    # Gemini's objects and its JSON spell names differently.
    **dict.fromkeys(("function_call", "function_response", "executable_code", "code_execution_result"), "nested"),
    **dict.fromkeys(("functionCall", "functionResponse", "executableCode", "codeExecutionResult"), "nested"),
    # Thoughts that only the provider can read.
    **dict.fromkeys(("signature", "thought_signature", "thoughtSignature", "encrypted_content"), "sealed"),
}
_RANKS = {name: rank for rank, name in enumerate(_FIELDS)}
# A token of sealed thoughts is about eight characters of what is sent.
_SEALED_CHARACTERS = 8
_IMAGES = frozenset({"image", "image_url", "input_image", "computer_screenshot", "screenshot", "image_generation_call"})
_AUDIO = frozenset({"audio", "input_audio"})
_FILES = frozenset({"file", "input_file", "document", "document_url", "container_upload"})


class ContentReader:
    """Reads messages for one provider and one counter: each is walked once, for its text and its tokens.

    Attributes:
        count: Counts the tokens of a text.
        prices: What the provider adds.
        overhead: What it adds to each message.
    """

    __slots__ = ("count", "overhead", "prices")

    def __init__(self, count: Callable[[str], int], prices: Prices) -> None:
        self.count = count
        self.prices = prices
        self.overhead = prices.message

    def __call__(self, message: Any) -> tuple[str, int]:
        """The text of a message and its tokens, with what the message itself adds."""
        # Most messages are a role and a text.
        if message.__class__ is dict and len(message) == 2 and "role" in message:
            text = message.get("content")
            if text.__class__ is str:
                return text, self.overhead + self.count(text)
        texts: list[str] = []
        fixed = self._walk(message, texts)
        return "\n".join(filter(None, texts)), self.overhead + fixed + sum(map(self.count, texts))

    def _walk(self, node: Any, texts: list[str]) -> int:
        """Appends the texts of a node, and returns the price of everything in it that is not text."""
        if isinstance(node, str):
            texts.append(node)
            return 0
        if is_list(node):
            return sum([self._walk(each, texts) for each in node])
        kind = field(node, "type")
        kind = kind if isinstance(kind, str) else None
        if kind in _FILES:
            return self._file(node, texts)
        price = self._price(node, kind)
        return self._fields(node, texts) if price is None else price

    def _fields(self, node: Any, texts: list[str]) -> int:
        members = node if is_mapping(node) else {name: attribute(node, name) for name in _FIELDS}
        has_content = members.get("content") is not None
        calls = members.get("tool_calls")
        price = 0
        for name in sorted(filter(_RANKS.__contains__, members), key=_RANKS.__getitem__):
            how, value = _FIELDS[name], members[name]
            if value is None:
                continue
            if how == "nested":
                price += self._walk(_without_calls(value) if name == "content" and calls else value, texts)
            elif how == "sealed":
                price += len(value) // _SEALED_CHARACTERS
            elif how == "json":
                texts.append(as_json(value))
            elif not isinstance(value, str) or (name == "text" and has_content):
                # Some libraries' messages have their text twice: as content, and as text alone.
                continue
            elif name == "name" and has_content:
                # The name of the speaker costs tokens, but is not what was said.
                price += self.count(value)
            else:
                texts.append(value)
        return price

    def _price(self, node: Any, kind: str | None) -> int | None:
        """The fixed price of what is not text; None for what is."""
        prices = self.prices
        if kind is None:
            return self._inline_price(node)
        if kind in _IMAGES:
            is_small = "low" in (field(node, "detail"), field(field(node, "image_url"), "detail"))
            return prices.small_image if is_small else prices.image
        if kind in _AUDIO:
            return prices.audio
        return len(field(node, "data") or "") // _SEALED_CHARACTERS if kind == "redacted_thinking" else None

    def _inline_price(self, node: Any) -> int | None:
        """Gemini's parts have no type, but their data has a MIME type."""
        found = (field(node, name) for name in ("inline_data", "file_data", "inlineData", "fileData"))
        data = next((each for each in found if each is not None), None)
        if data is None:
            return None
        kind = str(field(data, "mime_type") or field(data, "mimeType")).partition("/")[0]
        prices = {"image": self.prices.image, "audio": self.prices.audio}
        return prices.get(kind, self.prices.file)

    def _file(self, node: Any, texts: list[str]) -> int:
        """A document whose text is in the message costs what its text costs."""
        source = field(node, "source")
        text = field(source, "data") if field(source, "type") == "text" else field(source, "content")
        return self.prices.file if text is None else self._walk([field(node, "title") or "", text], texts)


def _without_calls(content: Any) -> Any:
    """LangChain keeps the calls of some providers in the content, and again beside it."""
    return [part for part in content if field(part, "type") != "tool_use"] if is_list(content) else content
