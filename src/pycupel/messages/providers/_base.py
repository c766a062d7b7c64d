"""What all providers share: the records they read into, and how to look into a message of any make."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, TypeGuard

from pycupel.errors import MessageShapeError
from pycupel.model.checks import describe

__all__ = [
    "CALL_OPEN",
    "ERROR",
    "WARNING",
    "Finding",
    "MessageView",
    "Needs",
    "Pairing",
    "Provider",
    "Rule",
    "as_json",
    "content_text",
    "entries",
    "field",
    "id_of",
    "is_list",
    "is_mapping",
    "joined",
    "role_of",
    "said_text",
]

ERROR = "error"
WARNING = "warning"

CALL_OPEN = "open-tool-call"


def _plain(value: Any) -> Any:
    """Objects by their attributes, like dicts."""
    return getattr(value, "__dict__", None) or str(value)


_ENCODER = json.JSONEncoder(ensure_ascii=False, skipkeys=True, default=_plain)


class MessageView(NamedTuple):
    """What pycupel needs to know about one message, whoever it is for.

    `role` is "system", "user", "assistant" or "tool"; a user message that holds nothing but tool results is "tool".
    `text` is what a reader would read, thoughts and the arguments of calls included, pictures and files not.
    `calls` and `results` are ids. `reasoning` says that the message starts with thoughts that belong to what follows.
    `marks` are what only the rules of one provider want to know.
    """

    index: int  # type: ignore[assignment]  # pyright: ignore[reportIncompatibleMethodOverride]
    role: str
    text: str
    calls: tuple[str, ...] = ()
    results: tuple[str, ...] = ()
    opens_turn: bool = False
    reasoning: bool = False
    marks: tuple[str, ...] = ()


class Finding(NamedTuple):
    """Something that a provider refuses.

    An "error" is refused whatever is appended to the history. A "warning" depends on what nobody can see here: whether
    more messages follow before it is sent, the model, or the options of the request.
    """

    index: int  # type: ignore[assignment]  # pyright: ignore[reportIncompatibleMethodOverride]
    rule: str
    message: str
    remedy: str
    severity: str = ERROR


class Pairing(NamedTuple):
    """The messages that only go together, by index and in order of the first of each group, and what is wrong there."""

    groups: list[list[int]]
    findings: list[Finding]


Rule = Callable[[Sequence[MessageView]], Iterator[Finding]]
Needs = Callable[[Mapping[int, Sequence[MessageView]]], dict[int, tuple[int, ...]]]


class Provider(NamedTuple):
    """How one provider writes histories and what it demands of them.

    `rules` are tried one after the other, each on what the ones before it have left. `needs` says which units a unit
    cannot do without, besides the one that opens its turn; it is given the members of each unit that is not broken.
    """

    read: Callable[[Sequence[Any]], list[MessageView]]
    pair: Callable[[Sequence[MessageView]], Pairing]
    rules: tuple[Rule, ...] = ()
    needs: Needs | None = None


def field(value: Any, key: str) -> Any:
    """A key of a dict or an attribute of any other object; None if there is no such thing."""
    # Most are dicts, and asking for a class is much cheaper than asking whether something is a mapping.
    if value.__class__ is dict:
        return value.get(key)
    if value is None:
        return None
    return value.get(key) if is_mapping(value) else getattr(value, key, None)


def is_mapping(value: Any) -> TypeGuard[Mapping[str, Any]]:
    return isinstance(value, Mapping)


def is_list(value: Any) -> TypeGuard[Sequence[Any]]:
    """Whether it is a list of parts. What can be iterated over only once is none, because reading would change it."""
    return value.__class__ is list or (isinstance(value, Sequence) and not isinstance(value, (str, bytes)))


def role_of(message: Any, index: int, roles: Mapping[str, str], hint: str | None = None) -> str:
    """The role by one of the names that a provider has for it."""
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


def joined(texts: Iterable[str]) -> str:
    return "\n".join(filter(None, texts))


def as_json(value: Any) -> str:
    """Arguments and results as text; what already is text stays as it is."""
    if value is None:
        return ""
    return value if isinstance(value, str) else _ENCODER.encode(value)


def content_text(content: Any, index: int, key: str = "content") -> str:
    """The text of a content that is a string or a list of parts. Parts that nobody reads, like pictures, have none."""
    if isinstance(content, str):
        return content
    if content is None:
        return ""
    parts = entries(content, index, key)
    return joined(_part_text(part, index, f"{key}[{n}]") for n, part in enumerate(parts))


def said_text(message: Any, index: int) -> str:
    """The text of a message that has to have a content, be it empty."""
    content = field(message, "content")
    if content is None:
        raise MessageShapeError("the message says nothing", index, "content", hint="An empty text is ''.")
    return content_text(content, index)


def _part_text(part: Any, index: int, key: str) -> str:
    if isinstance(part, str):
        return part
    for name in ("text", "refusal", "reasoning"):
        text = field(part, name)
        if isinstance(text, str):
            return text
    if field(part, "type") is None:
        raise MessageShapeError(f"every part needs a type, and this is {describe(part)}", index, f"{key}.type")
    return content_text(field(part, "thinking"), index, f"{key}.thinking")
