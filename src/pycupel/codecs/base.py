"""What a codec is; codecs of strings, numbers, flags, names, lists and any JSON; JSON texts."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from math import isfinite
from typing import Any, NamedTuple

from pycupel.errors import CupelError, DocumentError
from pycupel.model import ContextKind, ContextSource
from pycupel.model.checks import as_float, checked_int, find_name, suggestion, wrong_type
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
    """Return a codec that converts the values that another codec reads and writes, and adds keywords to its schema.

    A CupelError or TypeError that `read` raises is a mistake in the document.
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


# Strings, numbers, flags, names, lists, objects with arbitrary keys, and any JSON value. Most scalars use one check for
# reading and writing, so whatever is read can be written.


def _text(value: Any, _: Context) -> str:
    """Check for a string that UTF-8 can encode. A member of an enumeration becomes a plain string."""
    if not isinstance(value, str):
        raise must_be("a string", value)
    if not value.isascii():
        try:
            value.encode()
        except UnicodeEncodeError as error:
            # Python strings may contain lone surrogates, which UTF-8 cannot encode (DD-04).
            raise DocumentError(f"has a lone surrogate at index {error.start}, which UTF-8 cannot encode") from None
    return value if type(value) is str else str.__str__(value)


def _integer(value: Any, _: Context) -> int:
    if type(value) is int:
        return value
    try:
        return int(checked_int("", value))
    except TypeError:
        raise must_be("an integer", value) from None


def _as_float(value: Any) -> float:
    try:
        return as_float("", value)
    except TypeError:
        raise must_be("a number", value) from None


def _number(value: Any, context: Context) -> float:
    number = value if type(value) is float else _as_float(value)
    if not isfinite(number) and not context.allow_nan:
        raise DocumentError(f"must be finite, not {number}, unless allow_nan is set")
    return number


def _finite(value: Any, _: Context) -> float:
    number = _as_float(value)
    if not isfinite(number):
        raise DocumentError(f"must be finite, not {number}")
    return number


def _write_finite(value: Any, context: Context) -> float:
    """Write whole numbers without a fraction, as people do."""
    number = _finite(value, context)
    return int(number) if number.is_integer() and abs(number) < 2**53 else number


def _flag(value: Any, _: Context) -> bool:
    if not isinstance(value, bool):
        raise must_be("true or false", value)
    return value


TEXT = Codec(lambda: {"type": "string"}, _text, _text)
INTEGER = Codec(lambda: {"type": "integer"}, _integer, _integer)
NUMBER = Codec(lambda: {"type": "number"}, _number, _number)
FINITE = Codec(lambda: {"type": "number"}, _finite, _write_finite)
FLAG = Codec(lambda: {"type": "boolean"}, _flag, _flag)
KIND = adapted(TEXT, read=ContextKind.of, write=str, pattern=r"\S")
SOURCE = adapted(TEXT, read=ContextSource.of, write=str, pattern=r"\S")


def limited(codec: Codec, low: float | None = None, high: float | None = None, above: float | None = None) -> Codec:
    """Return a codec for numbers within limits.

    Constructors check limits, too, but stop at their first mistake and have no schema.
    """

    def read(value: Any, context: Context) -> Any:
        number = codec.read(value, context)
        if context.as_raised:
            return number
        if above is not None and not number > above:
            raise must_be(f"greater than {above:g}", value)
        if low is not None and number < low:
            raise must_be(f"at least {low:g}", value)
        if high is not None and number > high:
            raise must_be(f"at most {high:g}", value)
        return number

    limits = {"minimum": low, "maximum": high, "exclusiveMinimum": above}
    keywords = {name: _write_finite(limit, Context()) for name, limit in limits.items() if limit is not None}
    return Codec(lambda: {**codec.schema(), **keywords}, read, codec.write)


def choice(choices: Iterable[str]) -> Codec:
    """Return a codec for members of an enumeration, or for one of several strings, in any spelling."""
    by_name = {str(each): each for each in choices}

    def read(value: Any, _: Context) -> str:
        # Try the exact spelling first: two members may differ only in spelling.
        name = value if isinstance(value, str) and value in by_name else find_name(value, by_name)
        if name is None:
            raise must_be(f"one of {', '.join(by_name)}", value, suggestion(value, by_name))
        return by_name[name]

    return Codec(lambda: {"enum": list(by_name)}, read, _text)


def list_of(element: Codec, *, at_least: int = 0, build: Callable[[list[Any]], Any] = tuple) -> Codec:
    """Return a codec for lists of `at_least` elements or more; `build` converts the list of elements to the value."""

    def read(value: Any, context: Context) -> Any:
        if not isinstance(value, (list, tuple)):
            raise must_be("a list", value)
        elements: list[Any] | tuple[Any, ...] = value  # pyright: ignore[reportUnknownVariableType] - from outside
        if len(elements) < at_least:
            raise DocumentError(f"must have at least {at_least} entry")
        return build(_convert_elements(element.read, elements, context))

    def write(value: Any, context: Context) -> list[Any]:
        return _convert_elements(element.write, value, context)

    minimum = {"minItems": at_least} if at_least else {}
    return Codec(lambda: {"type": "array", "items": element.schema(), **minimum}, read, write)


def map_of(key: Codec, value: Codec) -> Codec:
    """Return a codec for objects with arbitrary keys, such as kinds."""

    def read_key(name: Any, context: Context) -> Any:
        return key.read(_string_key(name, context), context)

    def read(given: Any, context: Context) -> dict[Any, Any]:
        return _convert_members(read_key, value.read, as_object(given), context)

    def write(members: Any, context: Context) -> dict[str, Any]:
        return _convert_members(key.write, value.write, members, context)

    def schema() -> Schema:
        return {"type": "object", "propertyNames": key.schema(), "additionalProperties": value.schema()}

    return Codec(schema, read, write)


def _convert_elements(convert: Convert, values: Iterable[Any], context: Context) -> list[Any]:
    converted: list[Any] = []
    mistakes: list[DocumentError] = []
    for i, value in enumerate(values):
        try:
            converted.append(convert(value, context))
        except DocumentError as error:
            context.note(error, f"[{i}]", mistakes)
    context.raise_all(mistakes)
    return converted


def _convert_members(key: Convert, value: Convert, members: Mapping[Any, Any], context: Context) -> dict[Any, Any]:
    converted: dict[Any, Any] = {}
    mistakes: list[DocumentError] = []
    for name, member in members.items():
        try:
            converted_key = key(name, context)
            if converted_key in converted:
                # Only kinds can collide: the keys of an object are unique.
                raise DocumentError(f"duplicate kind {quoted(str(converted_key))} (kinds are case-insensitive)")  # noqa: TRY301
            converted[converted_key] = value(member, context)
        except DocumentError as error:
            context.note(error, key_step(name), mistakes)
    context.raise_all(mistakes)
    return converted


def _string_key(value: Any, context: Context) -> str:
    if not isinstance(value, str):
        raise DocumentError(f"every key must be a string, not {describe_value(value)}")
    return _text(value, context)


def _json(value: Any, context: Context) -> Any:
    """Copy any JSON value. A tuple is rejected: it would be read back as a list, which is not equal to it."""
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return _text(value, context)
    if isinstance(value, int):
        return INTEGER.read(value, context)
    if isinstance(value, float):
        return NUMBER.read(value, context)
    if isinstance(value, list):
        return _convert_elements(_json, value, context)  # pyright: ignore[reportUnknownArgumentType] - from outside
    if isinstance(value, Mapping):
        return _convert_members(_string_key, _json, value, context)  # pyright: ignore[reportUnknownArgumentType] - from outside
    raise must_be("a string, number, bool, None, list or dict", value)


def _object(value: Any, context: Context) -> dict[str, Any]:
    members = as_object(value)
    check_depth(members)
    return _convert_members(_string_key, _json, members, context)


JSON = Codec(dict, _json, _json)
OBJECT = Codec(lambda: {"type": "object"}, _object, _object)
