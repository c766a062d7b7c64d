"""Which provider a history is for, by the marks that its messages bear."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pycupel.errors import ProviderAmbiguousError
from pycupel.messages.providers import provider_named
from pycupel.messages.providers._base import field, is_list
from pycupel.messages.providers.openai import LANGCHAIN_ROLES

__all__ = ["AUTO", "detect_provider", "resolve_provider"]

AUTO = "auto"

_PLAIN = {"role", "content"}
_TOOL_ROLES = ("tool", "function")
_PART_MARKS = {
    "image_url": "openai",
    "file": "openai",
    "input_text": "responses",
    "output_text": "responses",
    "input_image": "responses",
    "input_file": "responses",
    "tool_use": "anthropic",
    "tool_result": "anthropic",
    "redacted_thinking": "anthropic",
    "server_tool_use": "anthropic",
    "image": "anthropic",
    "document": "anthropic",
    "search_result": "anthropic",
}


def resolve_provider(messages: Sequence[Any], provider: str = AUTO) -> str:
    """The provider itself, once it is known that there is such a one, or the one that the messages are for."""
    if provider == AUTO:
        return detect_provider(messages)
    provider_named(provider)
    return provider


def detect_provider(messages: Sequence[Any]) -> str:
    """The provider whose marks the messages bear.

    A history without any means the same everywhere, and counts as OpenAI's. So does one of Mistral or LangChain.

    Raises:
        ProviderAmbiguousError: there are the marks of more than one.
    """
    seen: dict[str, int] = {}
    for index, message in enumerate(messages):
        provider = _plain_mark(message) if message.__class__ is dict else _mark(message)
        if provider is not None:
            seen.setdefault(provider, index)
    if len(seen) > 1:
        where = ", ".join(f"messages[{index}] looks like {provider}" for provider, index in seen.items())
        choices = " or ".join(f"provider={provider!r}" for provider in seen)
        raise ProviderAmbiguousError(f"{where}; say for whom the history is with {choices}", tuple(seen))
    return next(iter(seen), "openai")


def _plain_mark(message: dict[str, Any]) -> str | None:
    """The mark of a dict. A role and a string are nobody's, and most of the rest are calls or results."""
    role = message.get("role")
    if role != "model" and message.keys() == _PLAIN and message["content"].__class__ is str:
        return None
    has_tools = message.get("tool_call_id" if role == "tool" else "tool_calls")
    return "openai" if has_tools and role in ("assistant", "tool") else _mark(message)


def _mark(message: Any) -> str | None:
    role, kind = field(message, "role"), field(message, "type")
    kind = kind if isinstance(kind, str) else None
    if role == "model" or field(message, "parts") is not None:
        return "gemini"
    if kind == "chat" or (role is None and kind in LANGCHAIN_ROLES):
        return "openai"
    if role is None:
        return None if kind is None and field(message, "id") is None else "responses"
    if role in _TOOL_ROLES or field(message, "tool_calls") or field(message, "function_call"):
        return "openai"
    if kind not in (None, "message"):
        return "responses"
    content = field(message, "content")
    return next(filter(None, map(_part_mark, content)), None) if is_list(content) else None


def _part_mark(part: Any) -> str | None:
    kind = field(part, "type")
    if kind == "thinking":
        # Mistral thinks, too, but does not sign it.
        return "anthropic" if field(part, "signature") else None
    return _PART_MARKS.get(kind) if isinstance(kind, str) else None
