"""Strings, numbers, flags, names, lists, objects with arbitrary keys, and any JSON value.

Most scalars use one check for reading and writing, so whatever is read can be written.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from math import isfinite
from typing import Any

from pycupel.codecs.base import Codec, Context, Convert, Schema, adapted, as_object, check_depth, key_step, must_be
from pycupel.errors import DocumentError
from pycupel.model import ContextKind, ContextSource
from pycupel.model.checks import as_float, checked_int, find_name, suggestion
from pycupel.text import describe_value, quoted


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
