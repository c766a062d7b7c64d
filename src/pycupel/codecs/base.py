"""Codecs, the context, and the paths of errors.

An error is raised without a path. On its way up, each container prepends its own step, so valid documents pay nothing
for paths. If all mistakes of a document are to be reported, a container continues after a mistake and raises a single
error at the end, with all of them in `errors`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from pycupel.errors import CupelError, DocumentError
from pycupel.model import ContextKind
from pycupel.text import clip, describe_value, shortened

Schema = dict[str, Any]
"""A JSON Schema, as a dictionary."""

_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


class Context(NamedTuple):
    """Options for reading or writing a document, and what they mean for the parts of a container."""

    strict: bool = False  # Reject unknown fields instead of ignoring them.
    allow_nan: bool = False  # Accept NaN and infinities as numbers.
    collect: bool = False  # Report all mistakes instead of stopping at the first.
    suggest: bool = False  # Reject an unknown field that looks like a misspelling of a known one.

    def attempt(self, convert: Convert, value: Any, step: str, mistakes: list[DocumentError]) -> Any:
        """Convert the part at one step of a path. On a mistake, note it and return None."""
        try:
            return convert(value, self)
        except DocumentError as error:
            self.note(error, step, mistakes)

    def note(self, error: DocumentError, step: str, mistakes: list[DocumentError]) -> None:
        """Prepend a step to the path of an error. Raise it, or add it to the mistakes if they are to be collected."""
        prefix_path(error, step)
        if not self.collect or isinstance(error, BuildError):
            raise error
        mistakes += error.errors or (error,)

    @staticmethod
    def raise_all(mistakes: list[DocumentError]) -> None:
        """Raise the mistakes of a container as one error, if there are any."""
        if mistakes:
            raise DocumentError("has mistakes", errors=mistakes)


Convert = Callable[[Any, Context], Any]
"""A function that reads or writes a value, or raises a DocumentError."""


@dataclass(slots=True, eq=False)
class Codec:
    """Converts one type of value to and from a part of a document: three functions."""

    schema: Callable[[], Schema]
    """Returns the JSON Schema of the part."""

    read: Convert
    """Converts the part to the value."""

    write: Convert
    """Converts the value to the part. Often the same as `read`, so whatever can be read can be written."""


def adapted(
    codec: Codec,
    *,
    read: Callable[[Any], Any] = lambda value: value,
    write: Callable[[Any], Any] = lambda value: value,
    **schema: Any,
) -> Codec:
    """Return a codec that converts the values of another codec.

    Args:
        codec: The other codec.
        read: Converts a value that the other codec has read. A CupelError or TypeError that it raises is a mistake in
            the document.
        write: Converts a value to one that the other codec can write.
        schema: Keywords to add to the other codec's schema.
    """

    def read_and_adapt(value: Any, context: Context) -> Any:
        part = codec.read(value, context)
        try:
            return read(part)
        except DocumentError:
            raise
        except (CupelError, TypeError) as error:
            raise constructor_error(error) from error

    def adapt_and_write(value: Any, context: Context) -> Any:
        return codec.write(write(value), context)

    return Codec(lambda: {**codec.schema(), **schema}, read_and_adapt, adapt_and_write)


class BuildError(DocumentError):
    """A constructor failed for a reason other than a mistake in the document, such as a bug in a plug-in.

    It gets a path like any other error, but is never collected: the function that reads the whole document raises
    `cause` instead.
    """

    def __init__(self, cause: Exception) -> None:
        super().__init__("cannot be built")
        self.cause = cause


def constructor_error(error: Exception, path: str = "") -> DocumentError:
    """Convert the error of a constructor to a mistake in the document; `path` is the field of its `argument`."""
    text = str(error)
    rest = text.removeprefix(str(getattr(error, "argument", "")))
    # The path names the field already.
    is_named = path and rest.startswith((": ", " must "))
    return DocumentError(rest.lstrip(": ") if is_named else text, path=path)


def key_step(key: object) -> str:
    """Format a key as a step of a path: `metadata.origin`, but `metadata["cupel:trust"]`."""
    name = clip(str(key)) if isinstance(key, (str, ContextKind)) else shortened(key)
    return name if _WORD.fullmatch(name) else f"[{json.dumps(name)}]"


def prefix_path(error: DocumentError, step: str) -> None:
    """Prepend a step to the path of an error, or to the paths of all the errors it contains."""
    for each in error.errors or (error,):
        separator = "." if step and each.path and not each.path.startswith("[") else ""
        each.path = f"{step}{separator}{each.path}"


def must_be(expected: str, value: object, near: str = "") -> DocumentError:
    """Return the error for an unexpected value; `near` is a suggestion, or empty."""
    return DocumentError(f"must be {expected}, not {describe_value(value)}{near}")


def as_object(value: Any) -> Mapping[Any, Any]:
    """Return the value if it is a mapping; otherwise raise a DocumentError."""
    # Checking for dict first is faster than checking for the abstract base class.
    if not isinstance(value, (dict, Mapping)):
        raise must_be("an object", value)
    return value  # pyright: ignore[reportUnknownVariableType] - from outside
