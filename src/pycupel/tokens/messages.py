"""What chat messages cost: their texts, calls and results, what each message adds, and fixed prices for pictures.

Messages may be dicts or the objects of a provider's library: they are known by the names of their fields. Nothing that
is encoded is ever counted by its length, because a provider does not count it that way either.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

from pycupel.errors import InvalidArgumentError
from pycupel.model.checks import checked_iterable, checked_str
from pycupel.model.names import suggestion
from pycupel.tokens.counters import get_counter

__all__ = ["PRICES", "Prices", "count_messages", "message_counter"]


class Prices(NamedTuple):
    """What a provider adds to the text, in tokens. Those of pictures are typical, because nobody knows their size."""

    message: int = 3
    reply: int = 3
    tool: int = 8
    image: int = 765
    small_image: int = 85
    audio: int = 1000
    file: int = 1500


PRICES: Mapping[str, Prices] = {
    "openai": Prices(),
    "responses": Prices(),
    "anthropic": Prices(image=1600, small_image=1600, tool=16),
    "gemini": Prices(message=2, image=258, small_image=258),
    "mistral": Prices(image=1024, small_image=1024),
}

# How the fields are read in which messages and their parts keep what the model sees.
_FIELDS: Mapping[str, str] = {
    **dict.fromkeys(("text", "name", "refusal", "reasoning", "reasoning_content", "title"), "text"),
    **dict.fromkeys(("code", "logs", "stdout", "stderr"), "text"),
    **dict.fromkeys(("arguments", "args", "input", "response", "action", "operation", "queries", "tools"), "json"),
    **dict.fromkeys(("content", "parts", "output", "outputs", "summary", "thinking"), "nested"),
    **dict.fromkeys(("tool_calls", "invalid_tool_calls", "function", "custom"), "nested"),
    # Gemini's objects and its JSON spell names differently.
    **dict.fromkeys(("function_call", "function_response", "executable_code", "code_execution_result"), "nested"),
    **dict.fromkeys(("functionCall", "functionResponse", "executableCode", "codeExecutionResult"), "nested"),
    # Thoughts that only the provider can read.
    **dict.fromkeys(("signature", "thought_signature", "thoughtSignature", "encrypted_content"), "sealed"),
}
# A token of sealed thoughts is some eight characters of what is sent.
_SEALED_CHARACTERS = 8
_IMAGES = frozenset({"image", "image_url", "input_image", "computer_screenshot", "screenshot", "image_generation_call"})
_AUDIO = frozenset({"audio", "input_audio"})
_FILES = frozenset({"file", "input_file", "document", "document_url", "container_upload"})


def count_messages(
    messages: Iterable[Any], provider: str = "auto", counter: Any = "auto", *, tools: Iterable[Any] = ()
) -> int:
    """About what a provider will count for a request, definitions of tools included.

    Args:
        messages: The history.
        provider: openai, responses, anthropic, gemini or mistral; they differ in what they add.
        counter: What `get_counter` takes.
        tools: The definitions of tools, as they are sent.
    """
    counts = get_counter(counter)
    prices = _prices(provider)
    cost = message_counter(counts, provider)
    total = sum(cost(message) for message in checked_iterable("messages", "a list of messages", messages))
    definitions = [_compact(tool) for tool in checked_iterable("tools", "a list of tools", tools)]
    return total + prices.reply + sum(counts(text) + prices.tool for text in definitions)


def message_counter(count: Callable[[str], int], provider: str = "auto") -> Callable[[Any], int]:
    """A function that tells what one message costs."""
    prices = _prices(provider)
    walk = _Walk(count, prices).cost
    overhead = prices.message

    def cost(message: Any) -> int:
        # Most messages are a role and a text, or calls.
        if message.__class__ is dict:
            content = message.get("content")
            if content.__class__ is str and "role" in message and len(message) == 2 + ("tool_call_id" in message):
                return overhead + count(content)
            if not content and "content" in message and "role" in message and len(message) == 3:
                texts = _call_texts(message.get("tool_calls"))
                if texts is not None:
                    return overhead + sum([count(text) for text in texts])
        return overhead + walk(message)

    return cost


def _call_texts(calls: Any) -> list[str] | None:
    """The names and arguments of calls that are written as most are; None if they are not."""
    try:
        texts = [text for call in calls for text in (call["function"]["name"], call["function"]["arguments"])]
    except (KeyError, TypeError):
        return None
    return texts if all(text.__class__ is str for text in texts) else None


def _prices(provider: str) -> Prices:
    if checked_str("provider", provider) == "auto":
        return PRICES["openai"]
    if provider not in PRICES:
        near = suggestion(provider, PRICES)
        raise InvalidArgumentError(
            f"provider must be auto or one of {', '.join(PRICES)}, not {provider!r}{near}", argument="provider"
        )
    return PRICES[provider]


def _compact(value: Any) -> str:
    """What a model reads of a structure: JSON without blanks. Pydantic's objects know how to become one."""
    if hasattr(value, "model_dump"):
        value = value.model_dump(exclude_none=True)
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), skipkeys=True, default=str)


def _is_a(value: object, types: Any) -> bool:
    """`isinstance` for values from outside, whose element types nobody knows."""
    return isinstance(value, types)


def _field(node: Any, name: str) -> Any:
    return node.get(name) if _is_a(node, Mapping) else _attribute(node, name)


def _attribute(node: Any, name: str) -> Any:
    """None for a method: some libraries have one where others have a text."""
    value = getattr(node, name, None)
    return None if callable(value) else value


class _Walk:
    """Through a message of any make, along the fields that hold what the model reads."""

    __slots__ = ("_count", "_prices")

    def __init__(self, count: Callable[[str], int], prices: Prices) -> None:
        self._count = count
        self._prices = prices

    def cost(self, node: Any) -> int:
        if isinstance(node, str):
            return self._count(node)
        if _is_a(node, (list, tuple)):
            return sum([self.cost(each) for each in node])
        fixed = self._fixed(node)
        return self._fields(node) if fixed is None else fixed

    def _fields(self, node: Any) -> int:
        members = node if _is_a(node, Mapping) else {name: _attribute(node, name) for name in _FIELDS}
        total = 0
        for name, value in members.items():
            how = _FIELDS.get(name)
            if how is None or value is None:
                continue
            if how == "nested":
                total += self.cost(value)
            elif how == "sealed":
                total += len(value) // _SEALED_CHARACTERS
            elif how == "json" and not isinstance(value, str):
                total += self._count(_compact(value))
            elif isinstance(value, str) and not (name == "text" and members.get("content") is not None):
                # Some libraries' messages have their text twice: as content, and as text alone.
                total += self._count(value)
        return total

    def _fixed(self, node: Any) -> int | None:
        """The price of what is not text, or None."""
        kind = _field(node, "type")
        if kind is None:
            return self._inline(node)
        if kind in _IMAGES:
            is_small = "low" in (_field(node, "detail"), _field(_field(node, "image_url"), "detail"))
            return self._prices.small_image if is_small else self._prices.image
        if kind in _AUDIO:
            return self._prices.audio
        if kind in _FILES:
            return self._file(node)
        return len(_field(node, "data") or "") // _SEALED_CHARACTERS if kind == "redacted_thinking" else None

    def _inline(self, node: Any) -> int | None:
        """Gemini's parts have no type, but their data tell it."""
        found = (_field(node, name) for name in ("inline_data", "file_data", "inlineData", "fileData"))
        data = next((each for each in found if each is not None), None)
        if data is None:
            return None
        kind = str(_field(data, "mime_type") or _field(data, "mimeType")).partition("/")[0]
        return self._prices.image if kind == "image" else self._prices.audio if kind == "audio" else self._prices.file

    def _file(self, node: Any) -> int:
        """A document whose text is there costs what its text costs."""
        source = _field(node, "source")
        text = _field(source, "data") if _field(source, "type") == "text" else _field(source, "content")
        return self._prices.file if text is None else self.cost(text)
