"""What all codecs share: the protocol, the context, and how an error gets its path.

An error is raised without a path. Each container that it passes on its way up puts its own step in front, so that
valid documents pay nothing for paths. When all mistakes of a document are collected, a container continues after a
mistake, and finally raises one error that holds them all in `errors`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from copy import deepcopy
from dataclasses import dataclass
from typing import Any, Final, NamedTuple, Protocol

from pycupel.errors import CupelError, DocumentError, cut, plain
from pycupel.model import ContextKind
from pycupel.model.checks import describe, shortened

INVALID: Final[Any] = object()
"""Stands in for an invalid value while further mistakes are collected."""

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
    """Refuse an unknown field that looks like a misspelling of a known one."""


Convert = Callable[[Any, Context], Any]
"""A function that reads or writes a value."""


class Codec(Protocol):
    """Reads, writes and describes one type of value."""

    def read(self, value: Any, context: Context, /) -> Any:
        """Return what a part of a document stands for, or raise a DocumentError."""

    def write(self, value: Any, context: Context, /) -> Any:
        """Return the part of a document that stands for a value, or raise a DocumentError."""

    def schema(self) -> Schema:
        """Return the JSON Schema of that part."""
        ...


@dataclass(frozen=True, slots=True)
class FunctionCodec:
    """A codec made of two functions. Most scalars use one for both: then nothing can be read that cannot be written."""

    json_schema: Schema
    read: Convert
    write: Convert

    def schema(self) -> Schema:
        """Return a copy of the schema."""
        return deepcopy(self.json_schema)


def adapted(
    codec: Codec,
    *,
    read: Callable[[Any], Any] = lambda value: value,
    write: Callable[[Any], Any] = lambda value: value,
    **schema: Any,
) -> Codec:
    """A codec whose values `read` makes of those of another codec, and `write` turns back into them.

    What `read` rejects is a mistake; `schema` has what the other codec's schema lacks.
    """

    def read_and_adapt(value: Any, context: Context) -> Any:
        part = codec.read(value, context)
        try:
            return read(part)
        except DocumentError:
            raise
        except (CupelError, TypeError) as error:
            raise DocumentError(str(error)) from error

    def adapt_and_write(value: Any, context: Context) -> Any:
        return codec.write(write(value), context)

    return FunctionCodec({**codec.schema(), **schema}, read_and_adapt, adapt_and_write)


class BuildError(DocumentError):
    """A constructor failed, and the document is not to blame.

    It gets its path like any other error, but is never collected: the function that reads the whole document raises
    the `cause` instead.
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


def describe_value(value: object) -> str:
    """A value of a document for an error message. Containers are only named: they can be large, or too deep to show."""
    if value is None or isinstance(value, (bool, float, str)):
        return describe(value)
    if isinstance(value, int) and value.bit_length() <= 64:
        return describe(value)
    if isinstance(value, Mapping):
        return "an object"
    return "a list" if isinstance(value, list) else f"a value of type {plain(type(value).__name__)}"


def must_be(expected: str, value: object, near: str = "") -> DocumentError:
    """The error for a value that is not what is expected; `near` is a suggestion, if there is one."""
    return DocumentError(f"must be {expected}, not {describe_value(value)}{near}")


def as_object(value: Any) -> Mapping[Any, Any]:
    """The value itself if it is a mapping; otherwise a DocumentError."""
    # Asking for a dict first is faster than asking for the abstract base class.
    if not isinstance(value, (dict, Mapping)):
        raise must_be("an object", value)
    return value  # pyright: ignore[reportUnknownVariableType] - from outside
