"""Count a prompt as its provider will, and where its tokens go: system prompt, tools, messages and documents.

That is one size everywhere. What a provider adds for the start of the reply is not part of it, and named apart.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from types import FunctionType, MethodType
from typing import Any, NamedTuple

from pycupel.errors import InvalidArgumentError
from pycupel.fields import ContentError, as_json, field, filled, is_list, rewritten
from pycupel.messages.detect import resolve_provider
from pycupel.messages.options import ProviderName, checked_list
from pycupel.messages.parts import MessageView, Part, PartReader
from pycupel.messages.providers._base import CACHED, OUTSIDE, Provider
from pycupel.messages.providers._tables import (
    CACHE_CONTROL,
    CACHE_POINT,
    CALL,
    FILE,
    IMAGE,
    RESULT,
    TEXT,
    THINKING,
    TOOL,
)
from pycupel.model import ContextBudget
from pycupel.model.checks import name_key, wrong_type
from pycupel.text import describe
from pycupel.tokens.counters import Counter, CounterLike, get_counter
from pycupel.values import FrozenDict, sealed

SYSTEM, TOOLS, USER, ASSISTANT = "system", "tools", "user", "assistant"
THOUGHTS, TOOL_CALLS, TOOL_RESULTS, IMAGES, FILES = "thinking", "tool_calls", "tool_results", "images", "files"
KINDS = (SYSTEM, TOOLS, USER, ASSISTANT, THOUGHTS, TOOL_CALLS, TOOL_RESULTS, IMAGES, FILES)
"""What a prompt is made of, in the order in which it is shown. Every count by kind has these names."""

_KINDS_OF_PARTS = {THINKING: THOUGHTS, CALL: TOOL_CALLS, RESULT: TOOL_RESULTS, IMAGE: IMAGES, FILE: FILES, TOOL: TOOLS}
_KINDS_OF_ROLES = {"system": SYSTEM, "user": USER, "assistant": ASSISTANT, "tool": TOOL_RESULTS}

# Plain values with neither text nor fields.
_PLAIN = (bytes, int, float)


class Extras(NamedTuple):
    """What is sent beside the messages, in tokens."""

    system: int
    """The system prompt."""

    tools: int
    """The definitions of tools."""

    reply: int
    """The start of the reply."""

    view: MessageView
    """A view of all of it, for the rules about the whole request."""

    @property
    def tokens(self) -> int:
        """The tokens of the system prompt and the tools."""
        return self.system + self.tools


NO_EXTRAS = Extras(0, 0, 0, MessageView(OUTSIDE, "system", "", 0))


def count_extras(provider: Provider, count: Callable[[str], int], system: Any, tools: Any) -> Extras:
    """Count what is sent beside the messages.

    Args:
        provider: Whose prices to use.
        count: Counts the tokens of a text.
        system: The system prompt, in any shape; None if there is none.
        tools: The definitions of tools; None if there are none.

    Raises:
        TypeError: the system prompt or a definition is a plain value that cannot be one.
        InvalidArgumentError: it cannot be read.
    """
    prices = provider.prices
    if system is None and tools is None:
        return NO_EXTRAS._replace(reply=prices.reply)
    definitions = checked_extras(system, tools)
    # A point of the cache defines nothing.
    texts = [text for n, tool in enumerate(definitions) if (text := _definition(tool, n))]
    prompt = 0 if system is None else _system_tokens(system, PartReader(count, prices))
    defined = sum(
        [count(rewritten(text) if prices.rewrites_json else text) + prices.tool for text in texts],
        prices.tools if texts else 0,
    )
    return Extras(prompt, defined, prices.reply, view_extras(system, definitions))


@sealed
@dataclass(frozen=True, slots=True)
class Usage:
    """Where a window goes, in tokens. The other fields add up to `window`."""

    window: int
    """The `max_tokens` of the budget."""

    system: int
    """The system prompts, beside and among the messages."""

    tools: int
    """The definitions of tools, beside and among the messages."""

    history: Mapping[str, int]
    """The other messages by kind: "user", "assistant", "thinking", "tool_calls", "tool_results", "images" and "files".

    Kinds that do not occur are left out. The overhead of a message counts for its speaker.
    """

    documents: int
    """The selected documents."""

    reply: int
    """The tokens reserved for the reply: its start, and the `output_reserve` of the budget."""

    free: int
    """The rest, including the margin of an estimate."""

    @property
    def prompt(self) -> int:
        """The size of the prompt: system prompt, tools, messages and documents."""
        return self.system + self.tools + sum(self.history.values()) + self.documents


def count_messages(
    messages: Iterable[Any],
    provider: ProviderName = "auto",
    counter: CounterLike = "auto",
    *,
    model: str | None = None,
    system: Any = None,
    tools: Iterable[Any] | None = None,
) -> int:
    """Count a prompt as its provider will, approximately: messages, system prompt and tools.

    The few tokens that a provider adds for the start of the reply do not count.

    Args:
        messages: The history: dicts or objects from the provider's library. Unknown fields cost nothing;
            parts of unknown types count as their JSON.
        provider: openai, responses, anthropic, gemini, mistral, converse or interactions, which differ in what they
            add to the text; auto detects it.
        counter: A name for `get_counter`, or a function from str to int. With "auto", the model and the
            provider decide.
        model: The model's name, as `get_counter` takes it.
        system: The system prompt that is sent beside the messages: a text, blocks, or Gemini's `system_instruction`.
        tools: The definitions of tools, as they are sent, or in MCP's shape.

    Raises:
        TypeError: an argument has the wrong type.
        InvalidArgumentError: the provider or the counter is unknown.
        MessageShapeError: a message has a shape that the provider does not know.
        ProviderAmbiguousError: the provider is "auto" and cannot be determined.
    """
    history = checked_list("messages", messages)
    known = resolve_provider(history, provider, model)
    count = resolve_counter(counter, known, model)
    return known.price(history, count) + count_extras(known, count, system, tools).tokens


def tokens_by_kind(
    messages: Iterable[Any],
    provider: ProviderName = "auto",
    counter: CounterLike = "auto",
    *,
    model: str | None = None,
) -> dict[str, int]:
    """Count messages by kind: "user", "images" and so on, as `Usage.history` has them, and "system".

    The arguments and errors are those of `count_messages`.

    Returns:
        The tokens of the kinds that occur; they add up to the tokens of the messages.
    """
    history = checked_list("messages", messages)
    known = resolve_provider(history, provider, model)
    return tokens_by_kind_in(known.uncovered(known.read(history, resolve_counter(counter, known, model))))


def speaker_of(view: MessageView) -> str:
    """Return what the texts of a message count as, and what the provider adds to it: one of `KINDS`."""
    return _KINDS_OF_ROLES[view.role]


def kind_of(part: Part, view: MessageView) -> str:
    """Return what a part of a message counts as: one of `KINDS`."""
    return _KINDS_OF_PARTS.get(part.kind) or speaker_of(view)


def tokens_by_kind_in(views: Iterable[MessageView]) -> dict[str, int]:
    """Count messages by kind; kinds that do not occur are left out. What a message adds counts for its speaker."""
    found: dict[str, int] = dict.fromkeys(KINDS, 0)
    for view in views:
        own = _KINDS_OF_ROLES[view.role]
        found[own] += view.tokens
        for part in view.parts:
            # By position, because every selection counts every part.
            if part[0] != TEXT:
                kind = _KINDS_OF_PARTS.get(part[0], own)
                found[kind] += part[2]
                found[own] -= part[2]
    return {kind: tokens for kind, tokens in found.items() if tokens}


def usage_of(budget: ContextBudget | int, extras: Extras, views: Iterable[MessageView], documents: int) -> Usage:
    """Count where the window of a budget goes.

    Args:
        budget: The caller's budget.
        extras: What is sent beside the messages.
        views: The selected messages.
        documents: The tokens of the selected documents.
    """
    limits = ContextBudget.of(budget)
    history = tokens_by_kind_in(views)
    system = extras.system + history.pop(SYSTEM, 0)
    tools = extras.tools + history.pop(TOOLS, 0)
    reply = extras.reply + limits.output_reserve
    used = system + tools + sum(history.values()) + documents + reply
    return Usage(limits.max_tokens, system, tools, FrozenDict(history), documents, reply, limits.max_tokens - used)


def resolve_counter(counter: CounterLike, provider: Provider, model: str | None) -> Counter:
    """Return the counter of that name; for "auto", the one for the model, or else for the provider's models."""
    if isinstance(counter, str) and name_key(counter) == "auto":
        from pycupel.tokens.families import counter_for  # noqa: PLC0415 - a caller's own counter does not need it

        return counter_for(model, provider.typical_model)
    return get_counter(counter)


def checked_extras(system: Any, tools: Any) -> list[Any]:
    """Check the system prompt and the tools, and return the definitions of the tools."""
    if isinstance(system, _PLAIN):
        raise wrong_type("system", "a string, blocks or a message", system)
    definitions: list[Any] = []
    for tool in () if tools is None else checked_list("tools", tools):
        # One of Gemini's tools may have several definitions.
        several = filled(tool, "function_declarations", "functionDeclarations")
        definitions += several if is_list(several) else [tool]
    for n, tool in enumerate(definitions):
        if tool is None or isinstance(tool, (str, *_PLAIN)):
            raise wrong_type(f"tools[{n}]", "a definition", tool)
    return definitions


def view_extras(system: Any, definitions: Iterable[Any]) -> MessageView:
    """View the system prompt and the definitions of tools like a message."""
    blocks = system if is_list(system) else [system]
    cached = sum(filled(each, CACHE_CONTROL, CACHE_POINT) is not None for each in (*blocks, *definitions))
    return MessageView(OUTSIDE, "system", "", 0, marks=(CACHED,) * cached)


def _system_tokens(system: Any, reader: PartReader) -> int:
    try:
        return reader.overhead + sum([part.tokens for part in reader(system)])
    except ContentError as error:
        raise InvalidArgumentError(f"system {error}", argument="system", value=system) from error


def _definition(tool: Any, n: int) -> str:
    """Write a definition as the model reads it."""
    try:
        return _as_text(tool)
    except Exception as error:
        raise InvalidArgumentError(
            f"tools[{n}] cannot be written as JSON: {describe(tool)}", argument="tools", value=tool
        ) from error


def _as_text(tool: Any) -> str:
    """Write a definition as JSON, unless it is a function, which Gemini also takes."""
    if filled(tool, CACHE_POINT) is not None:
        return ""
    specified = filled(tool, "toolSpec")
    tool = tool if specified is None else specified
    schema = filled(tool, "input_schema", "inputSchema")
    if schema is not None:
        # Anthropic's shape, MCP's and Converse's. The other fields are for the client.
        return as_json({"name": field(tool, "name"), "description": field(tool, "description"), "input_schema": schema})
    if isinstance(tool, (FunctionType, MethodType)):
        return f"{tool.__name__} {tool.__annotations__} {tool.__doc__ or ''}"
    return as_json(tool)
