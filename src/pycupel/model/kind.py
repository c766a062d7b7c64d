"""Kinds, sources and enumerations: names that do not differ by case."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, Self, TypeAlias

from pycupel.errors import InvalidItemError
from pycupel.model.checks import NamedEnum, argument_of, checked_str, fold, wrong_type
from pycupel.text import quoted
from pycupel.values import hold, sealed

# Most programs use a few short names; the limits are for programs that generate them.
_MAX_CACHED = 1_000
_MAX_CACHED_LENGTH = 64
MAX_LENGTH = 1_000


@sealed
@dataclass(frozen=True, slots=True, eq=False, init=False, repr=False)
class _FoldedName:
    """A name that keeps its spelling and is compared without regard to ASCII case."""

    _known: ClassVar[dict[str, Any]]
    is_name: ClassVar[bool] = True
    """Whether constructors also accept a plain string for it, which is how a repr shows it."""

    value: str
    """The name as it was spelled."""

    key: str = field(init=False)
    """The name in lower case (ASCII letters only); use it in dicts and sets."""

    def __init__(self, value: str) -> None:
        text = checked_str("value", value)
        _check_name(type(self), text, "value")
        hold(self, value=text, key=fold(text))

    @classmethod
    def of(cls, value: Any, name: str = "value") -> Self:
        """Return a value of this class as it is, or convert a string. `name` is what an error calls it."""
        # Items name the same few kinds again and again, and looking one up is faster than folding its case.
        known: dict[str, Self] = cls._known
        if type(value) is str and value in known:
            return known[value]
        if isinstance(value, cls):
            return value
        if not isinstance(value, str):
            raise wrong_type(name, f"a str or a {cls.__name__}", value)
        _check_name(cls, value, name)
        wrapped = cls(value)
        if type(value) is str and len(known) < _MAX_CACHED and len(value) <= _MAX_CACHED_LENGTH:
            known[value] = wrapped
        return wrapped

    def __eq__(self, other: object) -> bool:
        if isinstance(other, type(self)):
            return self.key == other.key
        if isinstance(other, str):
            return self.key == fold(other)
        return NotImplemented

    def __hash__(self) -> int:
        return hash(self.key)

    def __str__(self) -> str:
        return self.value

    def __repr__(self) -> str:
        return f"{type(self).__name__}({quoted(self.value)})"


class ContextKind(_FoldedName):
    """What an item is: a message, a document, the output of a tool, or any name of your own.

    Kinds are compared without regard to ASCII case, even with plain strings.

    Raises:
        InvalidItemError: the value is empty, blank, or longer than 1,000 characters.
    """

    __slots__ = ()

    _known: ClassVar[dict[str, Any]] = {}

    MESSAGE: ClassVar[ContextKind]
    """A message of a conversation; the default kind."""

    DOCUMENT: ClassVar[ContextKind]
    """A document, or a part of one."""

    TOOL_OUTPUT: ClassVar[ContextKind]
    """What a tool returned."""

    MEMORY: ClassVar[ContextKind]
    """Something remembered from earlier conversations."""

    SYSTEM_PROMPT: ClassVar[ContextKind]
    """Instructions for the model."""


class ContextSource(_FoldedName):
    """Where an item comes from: the chat, a tool, retrieval, or any name of your own.

    Sources are compared without regard to ASCII case, even with plain strings.

    Raises:
        InvalidItemError: the value is empty, blank, or longer than 1,000 characters.
    """

    __slots__ = ()

    _known: ClassVar[dict[str, Any]] = {}

    CHAT: ClassVar[ContextSource]
    """The conversation itself; the default source."""

    TOOL: ClassVar[ContextSource]
    """A tool call."""

    RAG: ClassVar[ContextSource]
    """Retrieval from documents."""


def _check_name(cls: type[_FoldedName], text: str, name: str) -> None:
    if not text.strip():
        raise InvalidItemError(f"{cls.__name__} must not be empty or blank", argument=argument_of(name), value=text)
    if len(text) > MAX_LENGTH:
        message = f"{cls.__name__} must not be longer than {MAX_LENGTH} characters, but has {len(text)}"
        raise InvalidItemError(message, argument=argument_of(name), value=text)


ContextKind.MESSAGE = ContextKind("Message")
ContextKind.DOCUMENT = ContextKind("Document")
ContextKind.TOOL_OUTPUT = ContextKind("ToolOutput")
ContextKind.MEMORY = ContextKind("Memory")
ContextKind.SYSTEM_PROMPT = ContextKind("SystemPrompt")
ContextSource.CHAT = ContextSource("Chat")
ContextSource.TOOL = ContextSource("Tool")
ContextSource.RAG = ContextSource("Rag")


# The closed enumerations of the data model.


class OverflowStrategy(NamedEnum):
    """What to do when pinned and selected items together exceed the budget."""

    THROW = "throw"
    """Raise `BudgetOverflowError`."""

    TRUNCATE = "truncate"
    """Keep the pinned items and, in the order of the selection, whatever else still fits."""

    PROCEED = "proceed"
    """Keep everything, and call `on_overflow` with an `OverflowEvent`."""


class ScarcityBehavior(NamedEnum):
    """What a count slicer does when a kind has fewer candidates than its entry requires."""

    DEGRADE = "degrade"
    """Select what there is, and list the shortfall in the report."""

    THROW = "throw"
    """Raise `CountRequirementError`."""


ScarcityLike: TypeAlias = ScarcityBehavior | Literal["degrade", "throw"]
