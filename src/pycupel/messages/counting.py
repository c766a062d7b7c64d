"""`count_messages`: what a provider will count for a request."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from pycupel.messages.detect import resolve_provider
from pycupel.messages.fields import as_json
from pycupel.messages.options import ProviderName, checked_list
from pycupel.tokens.counters import CounterLike, get_counter

__all__ = ["count_messages"]


def count_messages(
    messages: Iterable[Any],
    provider: ProviderName = "auto",
    counter: CounterLike = "auto",
    *,
    tools: Iterable[Any] = (),
) -> int:
    """About what a provider will count for a request: messages, definitions of tools, and the start of the reply.

    Args:
        messages: The history: dicts or the objects of a provider's library. Fields that are not known cost nothing.
        provider: openai, responses, anthropic, gemini or mistral, which differ in what they add to the text; auto
            tells them apart by their fields.
        counter: What `get_counter` takes: "auto", a name, or a function from str to int.
        tools: The definitions of tools, as they are sent.

    Raises:
        InvalidArgumentError: the provider or the counter is not known.
        ProviderAmbiguousError: the provider is "auto" and cannot be determined.
    """
    count = get_counter(counter)
    history = checked_list("messages", messages)
    known = resolve_provider(history, provider)
    definitions = [as_json(tool) for tool in checked_list("tools", tools)]
    return known.price(history, count) + sum(count(text) + known.prices.tool for text in definitions)
