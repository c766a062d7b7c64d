"""The providers, as values: one file for each, with the shapes of its messages and the rules for a history."""

from __future__ import annotations

from collections.abc import Mapping

from pycupel.messages.providers._base import MessageView, Provider
from pycupel.messages.providers.anthropic import ANTHROPIC
from pycupel.messages.providers.gemini import GEMINI
from pycupel.messages.providers.mistral import MISTRAL
from pycupel.messages.providers.openai import OPENAI
from pycupel.messages.providers.responses import RESPONSES

__all__ = ["PROVIDERS", "MessageView", "Provider"]

PROVIDERS: Mapping[str, Provider] = {each.name: each for each in (OPENAI, RESPONSES, ANTHROPIC, GEMINI, MISTRAL)}
