"""What all providers share: the records they read into, and the checks of a message's shape."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, TypeAlias

from pycupel.errors import MessageShapeError
from pycupel.messages.content import ContentError, ContentReader, Prices
from pycupel.messages.fields import field, is_list
from pycupel.messages.options import ProviderName
from pycupel.model.checks import describe
from pycupel.model.frozen import sealed

__all__ = [
    "CALL_OPEN",
    "ERROR",
    "LASTING",
    "WARNING",
    "Finding",
    "MessageView",
    "Pairing",
    "Provider",
    "Severity",
    "check_content",
    "entries",
    "id_of",
    "role_of",
]

Severity: TypeAlias = Literal["error", "warning"]

ERROR: Severity = "error"
WARNING: Severity = "warning"

CALL_OPEN = "open-tool-call"

# The mark of a system message that changes how everything after it is read, so that it stays.
LASTING = "lasting"

_PRICES = Prices()


class MessageView(NamedTuple):
    """What pycupel needs to know about one message of any provider.

    `role` is "system", "user", "assistant" or "tool"; a user message that holds nothing but tool results is "tool".
    `text` is what a reader would read, thoughts and the arguments of calls included, pictures and files not; `tokens`
    is what the whole message costs. `calls` and `results` are ids. A message with results never opens a turn, even if
    the user says something in it, too. `reasoning` says that the message starts with thoughts that belong to what
    follows. `marks` are for the rules of one provider. `shares` are the parts of the tokens that are calls, results or
    thoughts, each with its kind.
    """

    index: int  # type: ignore[assignment]  # pyright: ignore[reportIncompatibleMethodOverride]
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
    """Something in a history that the provider refuses.

    Attributes:
        index: The index of the message; -1 for what travels beside the messages.
        rule: The name of the rule, such as "orphan-tool-result".
        message: What is wrong.
        remedy: What to do about it.
        severity: "error" if the provider refuses it whatever is appended to the history; "warning" if that depends on
            what cannot be seen here: the messages that follow, the model, or the options of the request.
    """

    index: int
    rule: str
    message: str
    remedy: str
    severity: Severity = ERROR


class Pairing(NamedTuple):
    """The messages that only go together, by index and in order of the first of each group, and what is wrong there."""

    groups: list[list[int]]
    findings: list[Finding]


class Provider(NamedTuple):
    """How one provider writes messages, what it demands of a history, and what it charges.

    Attributes:
        name: The name by which users ask for it.
        reader: Reads the messages from an index on into views.
        pair: Groups calls with their results.
        rules: What else it demands. Each rule looks at what the ones before it have left.
        needs: Which units a unit cannot do without, besides the one that opens its turn. It is given the views of each
            unit that is not broken, by unit index. None if there are no such ties.
        prices: What it adds to the tokens of the text.
        request_rules: What it demands of the whole history, so that no single message is to blame: the linter reports
            it, and the selection drops nothing for it.
    """

    name: ProviderName
    reader: Callable[[Sequence[Any], ContentReader, int], list[MessageView]]
    pair: Callable[[Sequence[MessageView]], Pairing]
    rules: tuple[Callable[[Sequence[MessageView]], Iterator[Finding]], ...] = ()
    needs: Callable[[Mapping[int, Sequence[MessageView]]], dict[int, tuple[int, ...]]] | None = None
    prices: Prices = _PRICES
    request_rules: tuple[Callable[[Sequence[MessageView]], Iterator[Finding]], ...] = ()

    def read(self, messages: Sequence[Any], count: Callable[[str], int] = len, *, start: int = 0) -> list[MessageView]:
        """One view for each message.

        Args:
            messages: The whole history.
            count: Counts the tokens of a text. Where they do not matter, they are just the length.
            start: The index of the first message to read. Those before it have been read already.

        Raises:
            MessageShapeError: a message has a shape that the provider does not know.
        """
        try:
            return self.reader(messages, ContentReader(count, self.prices), start)
        except ContentError as error:
            raise self._located(error, messages) from error

    def check(self, views: Sequence[MessageView], beside: Sequence[MessageView] = ()) -> list[Finding]:
        """Everything that the provider would refuse, in order of the messages.

        Args:
            views: The messages.
            beside: Views of what travels beside them, for the rules about the whole request.
        """
        findings = self.pair(views).findings
        for rule in self.rules:
            findings += rule(views)
        for rule in self.request_rules:
            findings += rule([*beside, *views])
        return sorted(findings, key=lambda finding: finding.index)

    def price(self, messages: Sequence[Any], count: Callable[[str], int]) -> int:
        """What the messages cost. Any shape will do: what is not known costs nothing.

        Raises:
            MessageShapeError: a field has a type that cannot be counted.
        """
        content = ContentReader(count, self.prices)
        try:
            return sum([content(message)[1] for message in messages])
        except ContentError as error:
            raise self._located(error, messages) from error

    def _located(self, error: ContentError, messages: Sequence[Any]) -> MessageShapeError:
        """The error with the index of the message: it is the first that cannot be read."""
        index = next(n for n, message in enumerate(messages) if not self._is_readable(message))
        return MessageShapeError(str(error), index, error.key)

    def _is_readable(self, message: Any) -> bool:
        try:
            ContentReader(len, self.prices)(message)
        except ContentError:
            return False
        return True


def role_of(message: Any, index: int, roles: Mapping[str, str], hint: str | None = None) -> str:
    """The role, by one of the names that a provider has for it."""
    role = field(message, "role")
    if isinstance(role, str) and role in roles:
        return roles[role]
    if role is None:
        raise MessageShapeError(f"every message needs a role, and this is {describe(message)}", index, "role")
    raise MessageShapeError(f"must be one of {', '.join(roles)}, not {describe(role)}", index, "role", hint=hint)


def entries(value: Any, index: int, key: str) -> Sequence[Any]:
    if is_list(value):
        return value
    raise MessageShapeError(f"must be a list, not {describe(value)}", index, key)


def id_of(value: Any, index: int, key: str) -> str:
    if isinstance(value, str) and value:
        return value
    raise MessageShapeError(f"must be a string that is not empty, not {describe(value)}", index, key)


def check_content(content: Any, index: int, key: str = "content", *, required: bool = False) -> None:
    """Refuses a content that is neither a text nor a list of parts."""
    if isinstance(content, str):
        return
    if content is None:
        if required:
            raise MessageShapeError("the message has no content", index, key, hint="An empty text is ''.")
        return
    for n, part in enumerate(entries(content, index, key)):
        if isinstance(part, str):
            continue
        kind = field(part, "type")
        if kind is None and not _is_text(part):
            raise MessageShapeError(f"every part needs a type, and this is {describe(part)}", index, f"{key}[{n}].type")
        if kind is not None and not isinstance(kind, str):
            raise MessageShapeError(f"must be the type of a part, not {describe(kind)}", index, f"{key}[{n}].type")


def _is_text(part: Any) -> bool:
    return any(isinstance(field(part, name), str) for name in ("text", "refusal", "reasoning"))
