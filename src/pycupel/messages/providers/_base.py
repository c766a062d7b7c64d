"""What the providers have in common: findings, the rows of their rules, and the record of a provider itself."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import Any, Literal, NamedTuple, TypeAlias

from pycupel.errors import MessageShapeError
from pycupel.fields import ContentError
from pycupel.messages.options import ResolvedProviderName
from pycupel.messages.parts import MessageView, PartReader, view_of
from pycupel.messages.providers._shapes import InOrder, UnknownNameError, plain_messages
from pycupel.messages.providers._tables import USER_MESSAGES, Prices
from pycupel.values import sealed

Severity: TypeAlias = Literal["error", "warning"]

ERROR: Severity = "error"
WARNING: Severity = "warning"

# The index of what is sent beside the messages.
OUTSIDE = -1

# Marks a system message that changes how everything after it is read, so it must stay.
LASTING = "lasting"

# Marks a system message whose time is over: it stays where it is, but the model does not see it.
ENDED = "ended"

# Marks a system message that is shown until the next user message.
PASSING = "passing"

# Marks a message with a compaction that did not fail: it stands for everything before it.
COMPACTION = "compaction"

# Marks each block with cache_control.
CACHED = "cached"

# Marks a message of an unknown role or type: it joins others, and rules look through it.
FOREIGN = "foreign"

# Marks, before the id of a server tool's call: its result is in a later message, or the call in an earlier one.
BEGINS = "begins "
ENDS = "ends "

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

    merge: Callable[[Any, Any], Any] | None = None
    """Merges a user message with the next one; None if two may follow each other."""

    system_beside: bool = False
    """Whether it takes the system prompt beside the messages, not among them."""

    also_reads: tuple[ResolvedProviderName | None, ...] = ()
    """The providers whose messages it accepts, too; None for plain texts, which have the format of several."""

    typical_model: str | None = None
    """Whose tokens to count if the model is unknown; None if it may be any provider's."""

    settle: Callable[[Sequence[MessageView]], list[MessageView]] | None = None
    """Finds what later messages have ended; None if that cannot happen. It may be called again with more messages."""

    @property
    def all_rules(self) -> tuple[Rule, ...]:
        """All its rules, as the documentation lists them."""
        return (*self.pairing, *self.marked, *self.rules, *self.request_rules, *self.beside_rules)

    def user_message(self, text: str) -> dict[str, Any]:
        """Make a user message with this text."""
        return USER_MESSAGES[self.name](text)

    def read(self, messages: Sequence[Any], count: Callable[[str], int] = len, *, start: int = 0) -> list[MessageView]:
        """Read each message into a view.

        Args:
            messages: The whole history.
            count: Counts the tokens of a text. Use the default if they do not matter.
            start: The index of the first message to read. Earlier ones have been read already, and all are plain.

        Raises:
            MessageShapeError: a message has a shape that the provider does not know.
        """
        if not start and {*map(type, messages)} != {dict}:
            messages = plain_messages(messages)
        try:
            views = self.reader(messages, PartReader(count, self.prices), start)
        except ContentError as error:
            raise _located(error, messages) from error
        return views if start else self.settled(views)

    def settled(self, views: list[MessageView]) -> list[MessageView]:
        """Find what later messages of a whole history have ended."""
        return views if self.settle is None else self.settle(views)

    def covered(self, views: Sequence[MessageView], kept: Collection[int] = ()) -> frozenset[int]:
        """Find the messages that the newest compaction stands for, so that they are neither sent nor counted.

        These are all messages before it, except leading system prompts, changes of tools that are in force, those that
        are `kept` anyway, and calls whose results come later, with the reasoning or the question that led to them.
        """
        block = compaction_in(views)
        if block is None:
            return frozenset()
        end = _unfinished(views, block)
        later = {each for view in views[end:] for each in view.results}
        waits = False
        covered: set[int] = set()
        for view in reversed(views[:end]):
            # The results that come later may be of calls that have the same ids as these.
            later.difference_update(view.results)
            waits = not later.isdisjoint(view.calls) or (waits and (view.reasoning or FOREIGN in view.marks))
            lasts = LASTING in view.marks and COMPACTION not in view.marks
            if not (waits or lasts or view.message_index in kept):
                covered.add(view.message_index)
        return frozenset(covered.difference(n for n in range(prompts_end(views)) if views[n].role == "system"))

    def uncovered(self, views: Sequence[MessageView]) -> Sequence[MessageView]:
        """Return the messages that count."""
        covered = self.covered(views)
        return [view for view in views if view.message_index not in covered] if covered else views

    def grouped(self, views: Sequence[MessageView]) -> tuple[Pairing, Sequence[MessageView]]:
        """Group the messages that belong together, and return the views that rules look at.

        A message of an unknown role or type joins the one before it, or the exchange that it is inside of; at the
        start, the one after it.
        """
        any_foreign = any(FOREIGN in marks for marks in map(_MARKS, views) if marks)
        known = [view for view in views if FOREIGN not in view.marks] if any_foreign else views
        groups, findings = self.pair(known)
        if len(known) < len(views):
            groups = _with_foreign(groups, views)
        return (groups, findings), known

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
        views = self.uncovered(views)
        (_, findings), known = self.grouped(views)
        for find in self.findings(known):
            findings += find(known)
        for rule in self.request_rules:
            findings += rule.findings([*beside, *views])
        return findings

    def price(self, messages: Sequence[Any], count: Callable[[str], int]) -> int:
        """Count the tokens of the messages, which may have any shape: unknown fields cost nothing.

        Raises:
            MessageShapeError: a field has a type that cannot be counted.
        """
        try:
            return sum([view.tokens for view in self.uncovered(self.read(messages, count))])
        except MessageShapeError:
            # Blocks and plain texts are no messages of a history, but can be counted.
            read = PartReader(count, self.prices)
        try:
            return sum([read.overhead + sum([part.tokens for part in read(message)]) for message in messages])
        except ContentError as error:
            raise _located(error, messages) from error


def _located(error: ContentError, messages: Sequence[Any]) -> MessageShapeError:
    """Return the error with the index of the message that cannot be read."""
    index = next(n for n, message in enumerate(messages) if message is error.source)
    return MessageShapeError(str(error), index, error.key)


def compaction_in(views: Sequence[MessageView]) -> int | None:
    """Return the index of the newest compaction that did not fail; None if there is none."""
    return next((view.message_index for view in reversed(views) if COMPACTION in view.marks), None)


def _unfinished(views: Sequence[MessageView], block: int) -> int:
    """Return where the turn starts in which a server tool is still at work at the compaction, or else its index."""
    ended = {mark.removeprefix(ENDS) for view in views[block:] for mark in view.marks if mark.startswith(ENDS)}
    for n, view in enumerate(views[:block] if ended else ()):
        if any(mark.startswith(BEGINS) and mark.removeprefix(BEGINS) in ended for mark in view.marks):
            return next((start for start in range(n, 0, -1) if views[start].opens_turn), 0)
    return block


def prompts_end(views: Iterable[MessageView]) -> int:
    """Return where the system prompts at the start end; what is unknown between them is looked through."""
    end = 0
    for view in views:
        if view.role == "system" and COMPACTION not in view.marks:
            end = view.message_index + 1
        elif FOREIGN not in view.marks:
            break
    return end


def _with_foreign(groups: list[list[int]], views: Sequence[MessageView]) -> list[list[int]]:
    """Add the messages of unknown roles and types to the groups of the known ones."""
    group_of = {index: group for group in groups for index in group}
    waiting: list[int] = []
    # The groups that messages are still missing of, the newest last.
    begun: list[list[int]] = []
    last: list[int] | None = None
    ends = {id(group): group[-1] for group in groups}
    for view in views:
        index = view.message_index
        if index in group_of:
            last = group_of[index]
            if index == last[0] < ends[id(last)]:
                begun.append(last)
            continue
        while begun and ends[id(begun[-1])] < index:
            begun.pop()
        (begun[-1] if begun else waiting if last is None else last).append(index)
    if not groups:
        return [waiting]
    groups[0] += waiting
    return [sorted(group) for group in groups]


def unknown_view(message: Any, index: int, reader: PartReader, unknown: UnknownNameError) -> MessageView:
    """Read a message of an unknown role or type as a whole."""
    try:
        part = reader.unknown(message, unknown.name, unknown.what)
        return view_of(index, "assistant", [part], reader.overhead, (FOREIGN,))
    except ContentError as error:
        error.source = message
        raise


def one_by_one(read: Callable[..., MessageView], in_order: Callable[[Sequence[Any]], InOrder] | None = None) -> Reader:
    """Make a reader of messages that do not depend on each other.

    Args:
        read: Reads a message, by its index, with a reader of its parts.
        in_order: If given, makes what pairs results without ids, which is passed to `read`, too.
    """

    def reader(messages: Sequence[Any], parts: PartReader, start: int) -> list[MessageView]:
        views: list[MessageView] = []
        order = () if in_order is None else (in_order(messages),)
        for index, message in enumerate(messages[start:], start):
            try:
                views.append(read(message, index, parts, *order))
            except UnknownNameError as error:
                views.append(unknown_view(message, index, parts, error))
        return views

    return reader
