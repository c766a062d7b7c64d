"""The linter: finds what a provider would reject in a history, as far as the history shows it.

The rules are rows of the providers, in `pycupel.messages.providers`; the documentation lists them all.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from pycupel.messages.counting import checked_beside, view_beside
from pycupel.messages.detect import resolve_provider
from pycupel.messages.options import ProviderName, checked_list
from pycupel.messages.providers._base import Finding


def lint_messages(
    messages: Iterable[Any],
    provider: ProviderName = "auto",
    *,
    model: str | None = None,
    system: Any = None,
    tools: Iterable[Any] | None = None,
) -> list[Finding]:
    """Find everything in a chat history that the provider would reject, in order of the messages.

    Args:
        messages: The history: dicts or the SDK's objects, which are not changed.
        provider: openai, responses, anthropic, gemini or mistral; auto detects it.
        model: The model's name, which helps "auto" to tell apart providers whose messages look alike.
        system: The system prompt that is sent beside the messages: a text, blocks, or Gemini's `system_instruction`.
        tools: The definitions of tools that are sent beside the messages; an empty list if there are none.

    Returns:
        The findings. Those about the system prompt and the tools come first, with the index -1.

    Raises:
        TypeError: an argument has the wrong type.
        InvalidArgumentError: the provider is unknown.
        MessageShapeError: a message has a shape that the provider does not know.
        ProviderAmbiguousError: the provider is "auto" and cannot be determined.
    """
    history = checked_list("messages", messages)
    known = resolve_provider(history, provider, model)
    views = known.read(history)
    definitions = checked_beside(system, tools)
    findings = known.check(views, [view_beside(system, definitions)])
    for rule in known.beside_rules:
        findings += rule.findings(system, None if tools is None else definitions, views)
    return sorted(findings, key=lambda finding: finding.index)
