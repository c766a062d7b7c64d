"""What a codec is, and JSON texts."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from pycupel.errors import CupelError, DocumentError
from pycupel.model import ContextKind
from pycupel.model.checks import wrong_type
from pycupel.text import clip, describe_value, quoted, shortened

Schema = dict[str, Any]
"""A JSON Schema, as a dictionary."""

_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


class Context(NamedTuple):
    """Options for reading or writing a document, and what they mean for the parts of a container."""

    strict: bool = False  # Reject unknown fields instead of ignoring them.
    allow_nan: bool = False  # Accept NaN and infinities as numbers.
    collect: bool = False  # Report all mistakes instead of stopping at the first.
    suggest: bool = False  # Reject an unknown field that looks like a misspelling of a known one.
    as_raised: bool = False  # Leave limits to the constructors, and raise their errors as they are.

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


# Parse and format JSON text, and limit the depth of documents.


MAX_DEPTH = 64
"""The maximum depth of nested objects and lists in a document."""

TOO_DEEP = f"is nested more than {MAX_DEPTH} levels deep"


def parse_json(text: Any) -> Any:
    """Parse a JSON text, given as a str or UTF-8 bytes. Duplicate keys are mistakes, too."""
    if not isinstance(text, (str, bytes, bytearray)):
        raise wrong_type("text", "a str or bytes", text)
    try:
        if not isinstance(text, str):
            text = text.decode(json.detect_encoding(text), "surrogatepass")
        return _DECODER.decode(text)
    except json.JSONDecodeError as error:
        line = f"line {error.lineno}, " if error.lineno > 1 else ""
        problem = error.msg.removesuffix(" at")
        raise DocumentError(f"invalid JSON: {problem} at {line}column {error.colno}") from None
    except DocumentError:
        raise
    except RecursionError:
        # Python's own sentence differs between versions.
        raise DocumentError("cannot be read as JSON: it is nested too deeply") from None
    except ValueError as error:
        raise DocumentError(f"cannot be read as JSON: {error}") from None


def reject_duplicate_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return the members of an object. By default, parsers silently keep the last value of a duplicate key."""
    members = dict(pairs)
    if len(members) < len(pairs):
        [(duplicate, _)] = Counter(key for key, _ in pairs).most_common(1)
        raise DocumentError(f"duplicate key {quoted(duplicate)} in an object")
    return members


# Built once, because json.loads would build a decoder for each text.
_DECODER = json.JSONDecoder(object_pairs_hook=reject_duplicate_keys)


def format_json(document: Any, indent: int | None = None) -> str:
    """Format a document as JSON text, on one line unless there is an indent."""
    try:
        return json.dumps(document, ensure_ascii=False, indent=indent)
    except (ValueError, RecursionError) as error:
        raise DocumentError(f"cannot be written as JSON: {error}") from None


def escape_json(text: str, *, ascii_only: bool = False) -> str:
    """Escape characters of JSON text that a terminal may interpret or hide, such as bidirectional marks.

    All of them are in strings: the rest is printable ASCII and line breaks.
    """
    if text.isprintable() and (text.isascii() or not ascii_only):
        return text
    return "".join(
        each if each == "\n" or (each.isprintable() and (each.isascii() or not ascii_only)) else _escape(each)
        for each in text
    )


def _escape(character: str) -> str:
    units = character.encode("utf-16-be", "surrogatepass").hex()
    return "".join(f"\\u{units[i : i + 4]}" for i in range(0, len(units), 4))


def check_depth(document: Any) -> None:
    """Reject a document that is nested too deeply or contains itself."""
    try:
        _check(document, MAX_DEPTH, set())
    except DocumentError as error:
        error.path = clip(error.path)
        raise


def _check(value: Any, levels: int, seen: set[tuple[int, int]]) -> None:
    is_list = isinstance(value, list)
    # Scalars come first, because checking for an abstract base class is slowest.
    if isinstance(value, (str, int, float)) or not isinstance(value, (dict, list, Mapping)):
        return
    if not levels:
        raise DocumentError(TOO_DEEP)
    container: Any = value  # pyright: ignore[reportUnknownVariableType] - from outside
    # Visit a shared container, such as a YAML alias, only once per level.
    if (id(container), levels) in seen:
        return
    seen.add((id(container), levels))
    for key, part in enumerate(container) if is_list else container.items():
        try:
            _check(part, levels - 1, seen)
        except DocumentError as error:
            prefix_path(error, f"[{key}]" if is_list else key_step(key))
            raise
