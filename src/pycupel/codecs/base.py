"""What all codecs share: the protocol, the context, and how an error gets its path.

An error is raised without a path. Each container that it passes on its way up puts its own step in front, so a path
costs nothing as long as nothing is wrong. When all mistakes of a document are collected, a container goes on after a
mistake and raises one error at its end, which holds them in `errors`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping
from copy import deepcopy
from dataclasses import dataclass
from typing import Any, Final, NamedTuple, Protocol

from pycupel.errors import DocumentError, cut, plain
from pycupel.model import ContextKind
from pycupel.model.checks import describe, shortened
from pycupel.model.frozen import sealed

__all__ = [
    "INVALID",
    "BuildError",
    "Codec",
    "Context",
    "Convert",
    "FunctionCodec",
    "Schema",
    "adapted",
    "as_object",
    "attempt",
    "convert_list",
    "convert_members",
    "describe_value",
    "key_step",
    "must_be",
    "note_mistake",
    "prefix_path",
    "raise_mistakes",
]

INVALID: Final[Any] = object()
"""Stands in for a value that has a mistake, while the others are collected."""

Schema = dict[str, Any]
"""A JSON Schema, as a dictionary."""

_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


class Context(NamedTuple):
    """How a document is read or written."""

    strict: bool = False
    """Refuse unknown fields instead of ignoring them."""

    allow_nan: bool = False
    """Accept NaN and infinities as numbers."""

    collect: bool = False
    """Report all mistakes, not only the first."""

    suggest: bool = False
    """Refuse an unknown field that is probably a known one, misspelt."""


Convert = Callable[[Any, Context], Any]
"""What reads a value, or writes it."""


class Codec(Protocol):
    """The way in, the way out, and the description of one type of value."""

    def read(self, value: Any, context: Context, /) -> Any:
        """Return what a part of a document stands for, or raise a DocumentError."""

    def write(self, value: Any, context: Context, /) -> Any:
        """Return the part of a document that stands for a value, or raise a DocumentError."""

    def schema(self) -> Schema:
        """Return the JSON Schema of that part."""
        ...


@sealed
@dataclass(frozen=True, slots=True)
class FunctionCodec:
    """A codec made of two functions. Most scalars use one for both: then nothing can be read that cannot be written."""

    description: Schema
    read: Convert
    write: Convert

    def schema(self) -> Schema:
        """Return a copy of the description."""
        return deepcopy(self.description)


def _as_it_is(value: Any) -> Any:
    return value


def adapted(
    codec: Codec, *, read: Callable[[Any], Any] = _as_it_is, write: Callable[[Any], Any] = _as_it_is
) -> FunctionCodec:
    """A codec whose values are what `read` makes of another's; `write` makes those of them again."""
    return FunctionCodec(
        codec.schema(),
        lambda value, context: read(codec.read(value, context)),
        lambda value, context: codec.write(write(value), context),
    )


class BuildError(DocumentError):
    """A constructor failed for a reason that is not the document's.

    It gets its path like any other, but is never collected: the function that reads the whole document raises the
    `cause` in its place.
    """

    def __init__(self, cause: Exception) -> None:
        super().__init__("cannot be built")
        self.cause = cause


def key_step(key: object) -> str:
    """A key as a step of a path: `metadata.origin`, but `metadata["cupel:trust"]`."""
    name = cut(str(key)) if isinstance(key, (str, ContextKind)) else shortened(key)
    return name if _WORD.fullmatch(name) else f"[{json.dumps(name)}]"


def prefix_path(error: DocumentError, step: str) -> None:
    """Put one more step in front of the path of an error, or of all the errors that it holds."""
    for each in error.errors or (error,):
        separator = "." if step and each.path and not each.path.startswith("[") else ""
        each.path = f"{step}{separator}{each.path}"


def note_mistake(error: DocumentError, step: str, context: Context, mistakes: list[DocumentError]) -> None:
    """Raise the error with its path, or add it to the mistakes if the context collects them."""
    prefix_path(error, step)
    if not context.collect or isinstance(error, BuildError):
        raise error
    mistakes += error.errors or (error,)


def attempt(convert: Convert, value: Any, step: str, context: Context, mistakes: list[DocumentError]) -> Any:
    """The converted value at one step of a path, or INVALID if there was a mistake, which has been noted."""
    try:
        return convert(value, context)
    except DocumentError as error:
        note_mistake(error, step, context, mistakes)
        return INVALID


def raise_mistakes(mistakes: list[DocumentError]) -> None:
    """Raise the mistakes of a container, if there are any, as one error."""
    if mistakes:
        raise DocumentError("has mistakes", errors=mistakes)


def convert_list(convert: Convert, values: Iterable[Any], context: Context) -> list[Any]:
    """The converted elements of a list."""
    converted: list[Any] = []
    mistakes: list[DocumentError] = []
    for i, value in enumerate(values):
        try:
            converted.append(convert(value, context))
        except DocumentError as error:
            note_mistake(error, f"[{i}]", context, mistakes)
    raise_mistakes(mistakes)
    return converted


def convert_members(key: Convert, value: Convert, members: Mapping[Any, Any], context: Context) -> dict[Any, Any]:
    """The converted keys and values of an object."""
    converted: dict[Any, Any] = {}
    mistakes: list[DocumentError] = []
    for name, member in members.items():
        try:
            chosen = key(name, context)
            if chosen in converted:
                # Only kinds can be equal: a document has each string once.
                raise DocumentError(f"duplicate kind '{chosen}' (kinds are case-insensitive)")  # noqa: TRY301
            converted[chosen] = value(member, context)
        except DocumentError as error:
            note_mistake(error, key_step(name), context, mistakes)
    raise_mistakes(mistakes)
    return converted


def describe_value(value: object) -> str:
    """A value of a document for an error message. Containers are only named: they can be large, or too deep to show."""
    if value is None or isinstance(value, (bool, float, str)):
        return describe(value)
    if isinstance(value, int) and value.bit_length() <= 64:
        return describe(value)
    if isinstance(value, Mapping):
        return "an object"
    return "a list" if isinstance(value, list) else f"a value of type {plain(type(value).__name__)}"


def must_be(expected: str, value: object) -> DocumentError:
    """The error for a value that is not what is expected."""
    return DocumentError(f"must be {expected}, not {describe_value(value)}")


def as_object(value: Any) -> Mapping[Any, Any]:
    """The value itself if it is a mapping; otherwise a DocumentError."""
    # Asking for a dict first is faster than asking for the abstract base class.
    if not isinstance(value, (dict, Mapping)):
        raise must_be("an object", value)
    return value  # pyright: ignore[reportUnknownVariableType] - from outside
