"""Count where a window goes: system prompt, tools, history by kind, documents, reply, and free tokens."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from operator import itemgetter
from typing import Any

from pycupel.messages.content import THINKING, TOOL_CALLS, TOOL_RESULTS
from pycupel.messages.counting import Beside, resolve_counter
from pycupel.messages.detect import resolve_provider
from pycupel.messages.options import ProviderName, checked_list
from pycupel.messages.providers import MessageView
from pycupel.model import ContextBudget
from pycupel.tokens.counters import CounterLike
from pycupel.values import FrozenDict, sealed

__all__ = ["KINDS", "Usage", "tokens_by_kind", "usage_of"]

SYSTEM = "system"
KINDS = (SYSTEM, "user", "assistant", THINKING, TOOL_CALLS, TOOL_RESULTS)

_KINDS_OF_ROLES = {"system": SYSTEM, "user": "user", "assistant": "assistant", "tool": TOOL_RESULTS}
# Reads three fields of a view at once, because every selection does so.
_COUNTED = itemgetter(*map(MessageView._fields.index, ("role", "tokens", "shares")))


@sealed
@dataclass(frozen=True, slots=True)
class Usage:
    """Where a window goes, in tokens. The other fields add up to `window`."""

    window: int
    """The `max_tokens` of the budget."""

    system: int
    """The system prompts, beside and among the messages."""

    tools: int
    """The definitions of tools."""

    history: Mapping[str, int]
    """The other messages by kind: "user", "assistant", "thinking", "tool_calls" and "tool_results".

    Kinds that do not occur are left out. The overhead of a message counts for its speaker.
    """

    documents: int
    """The selected documents."""

    reply: int
    """The tokens reserved for the reply: its start, and the `output_reserve` of the budget."""

    free: int
    """The rest, including the margin of an estimate."""


def tokens_by_kind(
    messages: Iterable[Any],
    provider: ProviderName = "auto",
    counter: CounterLike = "auto",
    *,
    model: str | None = None,
) -> dict[str, int]:
    """Count messages by kind: "system", "user", "assistant", "thinking", "tool_calls" and "tool_results".

    Args:
        messages: The history: dicts or the SDK's objects, which are not changed.
        provider: openai, responses, anthropic, gemini or mistral; auto detects it.
        counter: A name for `get_counter`, or a function from str to int. With "auto", the model and the
            provider decide.
        model: The model's name, as `get_counter` takes it.

    Returns:
        The tokens of the kinds that occur; they add up to the tokens of the messages.

    Raises:
        TypeError: an argument has the wrong type.
        InvalidArgumentError: the provider or the counter is unknown.
        MessageShapeError: a message has a shape that the provider does not know.
        ProviderAmbiguousError: the provider is "auto" and cannot be determined.
    """
    history = checked_list("messages", messages)
    known = resolve_provider(history, provider, model)
    return _by_kind(known.read(history, resolve_counter(counter, known, model)))


def usage_of(budget: ContextBudget | int, beside: Beside, views: Iterable[MessageView], documents: int) -> Usage:
    """Count where the window of a budget goes.

    Args:
        budget: The caller's budget.
        beside: What is sent beside the messages.
        views: The selected messages.
        documents: The tokens of the selected documents.
    """
    limits = ContextBudget.of(budget)
    history = _by_kind(views)
    system = beside.system + history.pop(SYSTEM, 0)
    reply = beside.reply + limits.output_reserve
    used = system + beside.tools + sum(history.values()) + documents + reply
    return Usage(
        limits.max_tokens, system, beside.tools, FrozenDict(history), documents, reply, limits.max_tokens - used
    )


def _by_kind(views: Iterable[MessageView]) -> dict[str, int]:
    """Count these messages by kind."""
    found: dict[str, int] = dict.fromkeys(KINDS, 0)
    for role, tokens, shares in map(_COUNTED, views):
        kind = _KINDS_OF_ROLES[role]
        found[kind] += tokens
        if shares:
            for share, part in shares:
                found[share] += part
                found[kind] -= part
    return {kind: tokens for kind, tokens in found.items() if tokens}
