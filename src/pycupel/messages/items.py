"""`to_items`: a chat history as items, for your own pipeline."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, get_args

from pycupel.messages.counting import resolve_counter
from pycupel.messages.detect import resolve_provider
from pycupel.messages.history import History, items_at
from pycupel.messages.options import Pin, ProviderName, UnitName, checked_list
from pycupel.model import ContextItem
from pycupel.model.checks import checked_name
from pycupel.tokens.counters import CounterLike


def to_items(
    messages: Iterable[Any],
    provider: ProviderName = "auto",
    *,
    model: str | None = None,
    unit: UnitName = "auto",
    counter: CounterLike = "auto",
    pin: Pin | None = None,
) -> list[ContextItem]:
    """Turn a chat history into items, in order: one for each message, or exchange of calls and results.

    `metadata["pycupel.unit"]` has the indices of the messages. What must stay is pinned; what the provider would reject
    is left out. A pipeline does not know which items belong together; `select_messages` does.

    Args:
        messages: The history: dicts or the SDK's objects, which are not changed.
        provider: openai, responses, anthropic, gemini or mistral; auto detects it.
        model: The model's name, as `pycupel.tokens.get_counter` takes it. It decides how tokens are counted.
        unit: "auto" for an item per message or exchange, "turn" for an item per turn.
        counter: Counts tokens: a function from str to int, or a name for `pycupel.tokens.get_counter`.
        pin: More messages that must stay: their indices, or a function that returns True for messages to keep.

    Raises:
        TypeError: an argument has the wrong type.
        InvalidArgumentError: the provider, the unit or the counter is unknown, or an index in `pin` is out of range.
        MessageShapeError: a message has a shape that the provider does not know.
        ProviderAmbiguousError: the provider is "auto" and cannot be determined.
    """
    unit_name = checked_name("unit", unit, get_args(UnitName))
    source = checked_list("messages", messages)
    known = resolve_provider(source, provider, model)
    views = known.read(source, resolve_counter(counter, known, model))
    history = History(source, known, views, unit_name, pin)
    must, _ = history.staying()
    return list(items_at(history, history.whole, must, named=True).values())
