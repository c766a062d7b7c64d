"""What the providers have in common: findings, the rows of their rules, and the record of a provider itself."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import Any, Literal, NamedTuple, TypeAlias

from pycupel.errors import MessageShapeError
from pycupel.fields import ContentError
from pycupel.messages.options import ResolvedProviderName
from pycupel.messages.parts import MessageView, PartReader
from pycupel.messages.providers._tables import Prices
from pycupel.values import sealed

Severity: TypeAlias = Literal["error", "warning"]

ERROR: Severity = "error"
WARNING: Severity = "warning"

# The index of what is sent beside the messages.
OUTSIDE = -1

# Marks a system message that changes how everything after it is read, so it must stay.
LASTING = "lasting"

# Marks each block with cache_control.
CACHED = "cached"

_PRICES = Prices()
_MARKS = attrgetter("marks")


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


Check: TypeAlias = Callable[[Sequence[MessageView]], Iterator[tuple[Any, ...]]]
"""Finds the messages that break a rule: the index of each, and what its sentence has to name."""

BesideCheck: TypeAlias = Callable[[Any, Sequence[Any] | None, Sequence[MessageView]], Iterator[tuple[Any, ...]]]
"""Checks a system prompt and the definitions of tools, None if they are unknown, beside these messages."""


class Rule(NamedTuple):
    """A rule of a provider for a history. The documentation of the linter is made from these rows."""

    id: str
    """Its name. A rule that a message can break by itself has the same name as the mark of its view."""

    severity: Severity
    """How bad it is to break it."""

    requires: str
    """What the provider requires."""

    sentence: str
    """What is wrong in a history that breaks it; `{}` stands for what the check names."""

    remedy: str
    """What to do about it."""

    check: Callable[..., Iterator[tuple[Any, ...]]] | None = None
    """Finds where it is broken; None if marks tell, or the pairing of calls with results."""

    def at(self, index: int, *names: object) -> Finding:
        """Report that a message breaks the rule."""
        sentence = self.sentence.format(*names) if names else self.sentence
        return Finding(index, self.id, sentence, self.remedy, self.severity)

    def findings(self, *checked: Any) -> Iterator[Finding]:
        """Report where the check finds it broken."""
        found = () if self.check is None else self.check(*checked)
        return (self.at(*each) for each in found)


Pairing: TypeAlias = tuple[list[list[int]], list[Finding]]
"""Groups of messages that belong together, by index, in order of their first message, and the findings."""

Reader: TypeAlias = Callable[[Sequence[Any], PartReader, int], list[MessageView]]


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

    pairing: tuple[Rule, ...] = ()
    """The rules that `pair` checks."""

    marked: tuple[Rule, ...] = ()
    """The rules that a message can break by itself, as its marks tell. They come before the others."""

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

    beside_rules: tuple[Rule, ...] = ()
    """Rules for what is sent beside the messages. Only the linter checks them."""

    user_message: Callable[[str], dict[str, Any]] = _user_message
    """Makes a user message with this text."""

    system_beside: bool = False
    """Whether it takes the system prompt beside the messages, not among them."""

    also_reads: tuple[ResolvedProviderName | None, ...] = ()
    """The providers whose messages it accepts, too; None for plain texts, which have the format of several."""

    typical_model: str | None = None
    """Whose tokens to count if the model is unknown; None if it may be any provider's."""

    @property
    def all_rules(self) -> tuple[Rule, ...]:
        """All its rules, as the documentation lists them."""
        return (*self.pairing, *self.marked, *self.rules, *self.request_rules, *self.beside_rules)

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
            return self.reader(messages, PartReader(count, self.prices), start)
        except ContentError as error:
            raise _located(error, messages) from error

    def findings(self, views: Sequence[MessageView]) -> Iterator[Callable[[Sequence[MessageView]], Iterator[Finding]]]:
        """Return the checks of single messages and of the history, in order, each as a function of views."""
        if any(map(_MARKS, views)):
            yield self._by_mark
        for rule in self.rules:
            yield rule.findings

    def _by_mark(self, views: Sequence[MessageView]) -> Iterator[Finding]:
        rules = {rule.id: rule for rule in self.marked}
        return (rules[mark].at(view.message_index) for view in views for mark in view.marks if mark in rules)

    def check(self, views: Sequence[MessageView], beside: Sequence[MessageView] = ()) -> list[Finding]:
        """Find everything that the provider would reject.

        Args:
            views: The messages.
            beside: Views of what is sent beside them, for the rules about the whole request.
        """
        findings = self.pair(views)[1]
        for find in self.findings(views):
            findings += find(views)
        for rule in self.request_rules:
            findings += rule.findings([*beside, *views])
        return findings

    def price(self, messages: Sequence[Any], count: Callable[[str], int]) -> int:
        """Count the tokens of the messages, which may have any shape: unknown fields cost nothing.

        Raises:
            MessageShapeError: a field has a type that cannot be counted.
        """
        read = PartReader(count, self.prices)
        try:
            return sum([read.overhead + sum([part.tokens for part in read(message)]) for message in messages])
        except ContentError as error:
            raise _located(error, messages) from error


def _located(error: ContentError, messages: Sequence[Any]) -> MessageShapeError:
    """Return the error with the index of the message that cannot be read."""
    index = next(n for n, message in enumerate(messages) if message is error.source)
    return MessageShapeError(str(error), index, error.key)


def one_by_one(read: Callable[[Any, int, PartReader], MessageView]) -> Reader:
    """Make a reader of messages that do not depend on each other."""

    def reader(messages: Sequence[Any], parts: PartReader, start: int) -> list[MessageView]:
        return [read(message, index, parts) for index, message in enumerate(messages[start:], start)]

    return reader
