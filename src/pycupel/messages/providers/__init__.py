"""The shapes and the rules of each provider, one file for each."""

from __future__ import annotations

from typing import Any

from pycupel.errors import InvalidArgumentError
from pycupel.messages.providers._base import Provider
from pycupel.messages.providers.anthropic import ANTHROPIC
from pycupel.messages.providers.gemini import GEMINI
from pycupel.messages.providers.mistral import MISTRAL
from pycupel.messages.providers.openai import OPENAI
from pycupel.messages.providers.responses import RESPONSES
from pycupel.model.checks import checked_str

__all__ = ["PROVIDERS", "provider_named"]

PROVIDERS = {
    "openai": OPENAI,
    "responses": RESPONSES,
    "anthropic": ANTHROPIC,
    "gemini": GEMINI,
    "mistral": MISTRAL,
}


def provider_named(name: Any) -> Provider:
    provider = PROVIDERS.get(checked_str("provider", name))
    if provider is None:
        known = ", ".join(PROVIDERS)
        raise InvalidArgumentError(f"provider must be one of {known}, not {name!r}", argument="provider", value=name)
    return provider
