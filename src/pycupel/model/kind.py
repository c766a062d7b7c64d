"""`ContextKind` and `ContextSource`: open enumerations of strings, compared without regard to ASCII case.

`==` also accepts a plain string, because people write `item.kind == "document"`. A hash cannot fold what it does not
see, so this is for comparison only: in dicts and sets use `.key`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar, Self

from pycupel.errors import InvalidItemError
from pycupel.model.checks import checked_str
from pycupel.model.names import fold

__all__ = ["ContextKind", "ContextSource"]

# A program uses a handful of short names; the bounds are for one that makes them up.
_REMEMBERED = 1_000
_REMEMBERED_LENGTH = 64
_MAX_LENGTH = 1_000


@dataclass(frozen=True, slots=True, eq=False, init=False, repr=False)
class _FoldedName:
    """A name that keeps its spelling (`value`) and is compared by its folded form (`key`)."""

    _known: ClassVar[dict[str, Any]]

    value: str
    key: str = field(init=False)

    def __init__(self, value: str) -> None:
        text = checked_str(f"{type(self).__name__} value", value)
        if not text.strip():
            raise InvalidItemError(f"{type(self).__name__} must not be empty or blank", argument="value", value=text)
        if len(text) > _MAX_LENGTH:
            raise InvalidItemError(
                f"{type(self).__name__} must not be longer than {_MAX_LENGTH} characters, but has {len(text)}",
                argument="value",
                value=text,
            )
        object.__setattr__(self, "value", text)
        object.__setattr__(self, "key", fold(text))

    @classmethod
    def of(cls, value: Any) -> Self:
        """The name itself, or a string wrapped in one. Short ones are remembered."""
        if type(value) is not str:
            return value if isinstance(value, cls) else cls(value)
        known: dict[str, Self] = cls._known
        name = known.get(value)
        if name is None:
            name = cls(value)
            if len(known) < _REMEMBERED and len(value) <= _REMEMBERED_LENGTH:
                known[value] = name
        return name

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
        return f"{type(self).__name__}({self.value!r})"


class ContextKind(_FoldedName):
    """What an item is: a message, a document, the output of a tool."""

    __slots__ = ()

    _known: ClassVar[dict[str, Any]] = {}

    MESSAGE: ClassVar[ContextKind]
    DOCUMENT: ClassVar[ContextKind]
    TOOL_OUTPUT: ClassVar[ContextKind]
    MEMORY: ClassVar[ContextKind]
    SYSTEM_PROMPT: ClassVar[ContextKind]


class ContextSource(_FoldedName):
    """Where an item comes from: the chat, a tool, retrieval."""

    __slots__ = ()

    _known: ClassVar[dict[str, Any]] = {}

    CHAT: ClassVar[ContextSource]
    TOOL: ClassVar[ContextSource]
    RAG: ClassVar[ContextSource]


ContextKind.MESSAGE = ContextKind("Message")
ContextKind.DOCUMENT = ContextKind("Document")
ContextKind.TOOL_OUTPUT = ContextKind("ToolOutput")
ContextKind.MEMORY = ContextKind("Memory")
ContextKind.SYSTEM_PROMPT = ContextKind("SystemPrompt")
ContextSource.CHAT = ContextSource("Chat")
ContextSource.TOOL = ContextSource("Tool")
ContextSource.RAG = ContextSource("Rag")
