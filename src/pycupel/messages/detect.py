"""Determine the provider of a history: named by the caller, or detected from the fields of the messages."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pycupel.errors import ProviderAmbiguousError
from pycupel.fields import field, is_filled, is_list, text_of
from pycupel.messages.providers import PROVIDERS
from pycupel.messages.providers._base import Provider
from pycupel.messages.providers._shapes import message_in, unknown_name
from pycupel.messages.providers._tables import (
    CALL_LISTS,
    ITEM_TYPES,
    LANGCHAIN_ROLES,
    PART_TYPES,
    STEP_TYPES,
    SYSTEM_OPTIONS,
    TOOL_ROLES,
    Prices,
)
from pycupel.model.checks import checked_name

# The most that the chat templates of open models add.
_CHAT_TEMPLATES = Prices(message=6, name=1, call=30)

# Signed thoughts are Anthropic's, unless the other messages or the model are someone else's.
SIGNED = "signed"
# Calls that are items of Responses and steps of Interactions; without other steps, they are Responses'.
_SHARED = "shared"


def resolve_provider(messages: Sequence[Any], provider: Any, model: str | None = None) -> Provider:
    """Return the provider of that name; for "auto", detect it from the messages and the model.

    Args:
        messages: The history.
        provider: The name of a provider, "auto", or a provider, which is returned as it is.
        model: The model's name. If the messages fit several providers, its own is used; if they have another
            provider's format, as with a router, its own prices still apply.

    Raises:
        InvalidArgumentError: there is no such provider.
        ProviderAmbiguousError: the name is "auto", and messages look like those of different providers.
    """
    if isinstance(provider, Provider):
        return provider
    name = checked_name("provider", provider, ("auto", *PROVIDERS))
    family: str | None = None
    if model is not None:
        from pycupel.tokens.models import family_of  # noqa: PLC0415 - not needed without a model

        family = family_of(model)
    model_provider = None if family is None else PROVIDERS.get(family)
    known = detect_provider(messages, model_provider) if name == "auto" else PROVIDERS[name]
    if family is None:
        return known
    return known._replace(prices=_CHAT_TEMPLATES if model_provider is None else model_provider.prices)


def detect_provider(messages: Sequence[Any], model_provider: Provider | None = None) -> Provider:
    """Return the provider that the messages look like.

    Plain texts, and messages of Mistral and LangChain, count as OpenAI's, unless the provider of the model uses the
    same format.

    Raises:
        ProviderAmbiguousError: messages look like those of different providers.
    """
    seen: dict[str, int] = {}
    weak: dict[str, int] = {}
    for index, message in enumerate(messages):
        role = message.get("role") if message.__class__ is dict else None
        if role.__class__ is str and role != "model":
            # Most are a role and a text, which fit every provider, or OpenAI's calls and results.
            if len(message) == 2 and message.get("content").__class__ is str:
                continue
            tools = message.get("tool_call_id" if role == "tool" else CALL_LISTS[0])
            if role in ("tool", "assistant") and tools.__class__ in (str, list) and tools:
                seen.setdefault("openai", index)
                continue
        provider = _mark(message)
        if provider is not None:
            (weak if provider in (SIGNED, _SHARED) else seen).setdefault(provider, index)
    if SIGNED in weak and not seen and (model_provider is None or model_provider.name != "mistral"):
        seen["anthropic"] = weak[SIGNED]
    if _SHARED in weak and "interactions" not in seen:
        seen.setdefault("responses", weak[_SHARED])
    if len(seen) > 1:
        where = ", ".join(f"messages[{index}] looks like {provider}" for provider, index in seen.items())
        choices = " or ".join(f"provider={provider!r}" for provider in seen)
        raise ProviderAmbiguousError(f"{where}; pass {choices}", tuple(seen))
    found = next(iter(seen), None)
    if model_provider is not None and found in model_provider.also_reads:
        return model_provider
    return PROVIDERS[found or "openai"]


def _mark(message: Any) -> str | None:
    if unknown_name(message):
        # It may be anyone's, whatever is in it.
        return None
    role, kind = (each if isinstance(each, str) else None for each in (field(message, "role"), field(message, "type")))
    if role == "model" or field(message, "parts") is not None:
        return "gemini"
    if kind == "chat" or (role is None and kind in LANGCHAIN_ROLES):
        return "openai"
    if role is None:
        is_reference = kind is None and field(message, "id") is not None and message_in(message) is None
        if kind in STEP_TYPES:
            return _SHARED if kind in ITEM_TYPES else "interactions"
        return "responses" if is_reference or kind == "message" or kind in ITEM_TYPES else None
    if role in TOOL_ROLES or any(is_filled(field(message, name)) for name in (CALL_LISTS[0], "function_call")):
        return "openai"
    if kind in ITEM_TYPES:
        return "responses"
    if any(field(message, name) is not None for name in SYSTEM_OPTIONS):
        return "anthropic"
    content = field(message, "content")
    return next(filter(None, map(provider_of_part, content)), None) if is_list(content) else None


def provider_of_part(part: Any) -> str | None:
    """Return the only provider that has parts of this type, or `SIGNED`; None if several have."""
    kind = text_of(part, "type")
    if not kind and field(part, "type") is None and not isinstance(part, str):
        # Only Converse's blocks have no type; Gemini's parts are not in `content`.
        return "converse"
    if kind == "thinking":
        # Mistral has thinking parts, too. Anthropic's always have a signature, and a text.
        is_signed = is_filled(field(part, "signature")) and not is_list(field(part, "thinking"))
        return SIGNED if is_signed and field(part, "closed") is None else None
    meaning = PART_TYPES.get(kind)
    return None if meaning is None else meaning.only or None
