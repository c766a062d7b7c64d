"""What the providers have in common: the records that they read into, and the record of a provider itself."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, TypeAlias

from pycupel.errors import MessageShapeError
from pycupel.messages.content import ContentError, ContentReader, Prices
from pycupel.messages.options import ResolvedProviderName
from pycupel.values import sealed

__all__ = [
    "BESIDE",
    "CACHED",
    "CALL_OPEN",
    "ERROR",
    "LASTING",
    "WARNING",
    "BesideRule",
    "Finding",
    "MessageView",
    "Pairing",
    "Provider",
    "Rule",
    "Severity",
    "one_by_one",
]

Severity: TypeAlias = Literal["error", "warning"]

ERROR: Severity = "error"
WARNING: Severity = "warning"

# The index of what is sent beside the messages.
BESIDE = -1

CALL_OPEN = "open-tool-call"

# Marks a system message that changes how everything after it is read, so it must stay.
LASTING = "lasting"

# Marks each block with cache_control.
CACHED = "cached"

_PRICES = Prices()


class MessageView(NamedTuple):
    """What pycupel needs to know about one message of any provider.

    `message_index` is the index of the message; -1 for what is sent beside the messages. `role` is "system", "user",
    "assistant" or "tool"; a user message with only tool results is "tool". `text` is everything readable, with
    reasoning and the arguments of calls, without images and files; `tokens` is the cost of the whole message. `calls`
    and `results` are ids. A message with results never opens a turn, even if it also has text of the user. `reasoning`
    says that the message starts with reasoning for what follows. `marks` are for the rules of one provider. `shares`
    are the tokens of calls, results and reasoning, each with its kind.
    """

    message_index: int
    role: str
    text: str
    tokens: int
    calls: tuple[str, ...] = ()
    results: tuple[str, ...] = ()
    opens_turn: bool = False
    reasoning: bool = False
    marks: tuple[str, ...] = ()
    shares: tuple[tuple[str, int], ...] = ()


@sealed
@dataclass(frozen=True, slots=True)
class Finding:
    """A problem in a history, which the provider rejects or may reject; see `severity`."""

    index: int
    """The index of the message; -1 for what is sent beside the messages."""

    rule: str
    """The name of the rule, such as "orphan-tool-result"."""

    message: str
    """What is wrong."""

    remedy: str
    """What to do about it."""

    severity: Severity = ERROR
    """"error" if the provider rejects it whatever is appended to the history; "warning" if that depends on later
    messages, the model, or the options of the request.
    """


Pairing: TypeAlias = tuple[list[list[int]], list[Finding]]
"""Groups of messages that belong together, by index, in order of their first message, and the findings."""

Reader: TypeAlias = Callable[[Sequence[Any], ContentReader, int], list[MessageView]]
Rule: TypeAlias = Callable[[Sequence[MessageView]], Iterator[Finding]]
BesideRule: TypeAlias = Callable[[Any, Sequence[Any] | None, Sequence[MessageView]], Iterator[Finding]]
"""Checks a system prompt and the definitions of tools, None if they are unknown, beside these messages."""


def _user_message(text: str) -> dict[str, Any]:
    return {"role": "user", "content": text}


class Provider(NamedTuple):
    """The message format of a provider, its rules for a history, and its prices."""

    name: ResolvedProviderName
    """Its name."""

    reader: Reader
    """Reads the messages from an index on into views."""

    pair: Callable[[Sequence[MessageView]], Pairing]
    """Groups calls with their results."""

    rules: tuple[Rule, ...] = ()
    """Its other rules. Each sees only what earlier rules accepted."""

    needs: Callable[[Mapping[int, Sequence[MessageView]]], dict[int, tuple[int, ...]]] | None = None
    """Finds the units that a unit needs, besides the one that opens its turn, from the views of each unit that is not
    broken, by unit index. None if there are none.
    """

    prices: Prices = _PRICES
    """What it adds to the tokens of the text."""

    request_rules: tuple[Rule, ...] = ()
    """Rules for the whole history, which no single message breaks: the linter reports them, but the selection drops
    nothing because of them.
    """

    beside_rules: tuple[BesideRule, ...] = ()
    """Rules for what is sent beside the messages. Only the linter checks them."""

    duplicate_tools: Severity = WARNING
    """How bad it is if two tools have the same name."""

    user_message: Callable[[str], dict[str, Any]] = _user_message
    """Makes a user message with this text."""

    system_beside: bool = False
    """Whether it takes the system prompt beside the messages, not among them."""

    also_reads: tuple[ResolvedProviderName | None, ...] = ()
    """The providers whose messages it accepts, too; None for plain texts, which have the format of several."""

    typical_model: str | None = None
    """Whose tokens to count if the model is unknown; None if it may be any provider's."""

    def read(self, messages: Sequence[Any], count: Callable[[str], int] = len, *, start: int = 0) -> list[MessageView]:
        """Read each message into a view.

        Args:
            messages: The whole history.
            count: Counts the tokens of a text. Use the default if they do not matter.
            start: The index of the first message to read. Earlier ones have been read already.

        Raises:
            MessageShapeError: a message has a shape that the provider does not know.
        """
        try:
            return self.reader(messages, ContentReader(count, self.prices), start)
        except ContentError as error:
            raise _located(error, messages) from error

    def check(self, views: Sequence[MessageView], beside: Sequence[MessageView] = ()) -> list[Finding]:
        """Find everything that the provider would reject.

        Args:
            views: The messages.
            beside: Views of what is sent beside them, for the rules about the whole request.
        """
        findings = self.pair(views)[1]
        for rule in self.rules:
            findings += rule(views)
        for rule in self.request_rules:
            findings += rule([*beside, *views])
        return findings

    def price(self, messages: Sequence[Any], count: Callable[[str], int]) -> int:
        """Count the tokens of the messages, which may have any shape: unknown fields cost nothing.

        Raises:
            MessageShapeError: a field has a type that cannot be counted.
        """
        content = ContentReader(count, self.prices)
        try:
            return sum([content(message)[1] for message in messages])
        except ContentError as error:
            raise _located(error, messages) from error


def _located(error: ContentError, messages: Sequence[Any]) -> MessageShapeError:
    """Return the error with the index of the message that cannot be read."""
    index = next(n for n, message in enumerate(messages) if message is error.source)
    return MessageShapeError(str(error), index, error.key)


def one_by_one(read: Callable[[Any, int, ContentReader], MessageView]) -> Reader:
    """Make a reader of messages that do not depend on each other."""

    def reader(messages: Sequence[Any], content: ContentReader, start: int) -> list[MessageView]:
        return [read(message, index, content) for index, message in enumerate(messages[start:], start)]

    return reader
