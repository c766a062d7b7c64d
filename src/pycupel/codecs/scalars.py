"""Text, numbers, flags, names, and any JSON value. Most are checked alike both ways: what is read can be written."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache
from math import isfinite
from typing import Any

from pycupel.codecs.base import (
    Codec,
    Context,
    FunctionCodec,
    as_object,
    convert_list,
    convert_members,
    describe_value,
    must_be,
)
from pycupel.codecs.limits import check_depth
from pycupel.errors import DocumentError, InvalidItemError
from pycupel.model import ContextKind, ContextSource
from pycupel.model.checks import as_float, checked_int
from pycupel.model.names import name_key, suggestion

__all__ = ["FINITE", "FLAG", "INTEGER", "JSON", "KIND", "NUMBER", "OBJECT", "SOURCE", "TEXT"]
__all__ += ["choice", "key", "limited", "text"]


def text(value: Any, _: Context) -> str:
    """A string that UTF-8 can hold. A member of an enumeration becomes a plain string."""
    if not isinstance(value, str):
        raise must_be("a string", value)
    if not value.isascii():
        try:
            value.encode()
        except UnicodeEncodeError as error:
            # DD-04: Python holds such strings, UTF-8 cannot.
            raise DocumentError(f"has a lone surrogate at index {error.start}, which cannot be written") from None
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
        return value if type(value) is float else as_float("", value)
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
    """A whole number is written without a fraction, as people write it."""
    number = _finite(value, context)
    return int(number) if number.is_integer() and abs(number) < 2**53 else number


def _flag(value: Any, _: Context) -> bool:
    if not isinstance(value, bool):
        raise must_be("true or false", value)
    return value


def _json(value: Any, context: Context) -> Any:
    """Any JSON value, copied. A tuple is no JSON, because it would come back as a list, which is not equal to it."""
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return text(value, context)
    if isinstance(value, int):
        return _integer(value, context)
    if isinstance(value, float):
        return _number(value, context)
    if isinstance(value, list):
        return convert_list(_json, value, context)  # pyright: ignore[reportUnknownArgumentType] - from outside
    if isinstance(value, Mapping):
        return convert_members(key, _json, value, context)  # pyright: ignore[reportUnknownArgumentType] - from outside
    raise must_be("JSON: a string, number, bool, None, list or dict", value)


def _object(value: Any, context: Context) -> dict[str, Any]:
    members = as_object(value)
    check_depth(members)
    return convert_members(key, _json, members, context)


def key(value: Any, context: Context) -> str:
    """The key of an object, which has to be a string in JSON."""
    if not isinstance(value, str):
        raise DocumentError(f"every key must be a string, not {describe_value(value)}")
    return text(value, context)


TEXT = FunctionCodec({"type": "string"}, text, text)
INTEGER = FunctionCodec({"type": "integer"}, _integer, _integer)
NUMBER = FunctionCodec({"type": "number"}, _number, _number)
FINITE = FunctionCodec({"type": "number"}, _finite, _write_finite)
FLAG = FunctionCodec({"type": "boolean"}, _flag, _flag)
JSON = FunctionCodec({}, _json, _json)
OBJECT = FunctionCodec({"type": "object"}, _object, _object)


def limited(codec: Codec, low: float | None = None, high: float | None = None, above: float | None = None) -> Codec:
    """A number within limits. Constructors have the same limits; here they get a path and a description."""

    def read(value: Any, context: Context) -> Any:
        number = codec.read(value, context)
        if above is not None and not number > above:
            raise must_be(f"greater than {above:g}", value)
        if low is not None and number < low:
            raise must_be(f"at least {low:g}", value)
        if high is not None and number > high:
            raise must_be(f"at most {high:g}", value)
        return number

    limits = {"minimum": low, "maximum": high, "exclusiveMinimum": above}
    schema = {**codec.schema(), **{name: limit for name, limit in limits.items() if limit is not None}}
    return FunctionCodec(schema, read, codec.write)


def choice(choices: Iterable[str]) -> Codec:
    """A member of an enumeration, or one of some strings, in any spelling that is the same name."""
    by_name = {str(each): each for each in choices}
    names = list(by_name)
    # The exact spelling comes first, in case an enumeration has two members of one name.
    known = {name_key(name): each for name, each in by_name.items()} | by_name

    def read(value: Any, _: Context) -> str:
        near = ""
        if isinstance(value, str):
            for spelling in (value, name_key(value)):
                if spelling in known:
                    return known[spelling]
            near = suggestion(value, names)
        raise DocumentError(f"must be one of {', '.join(names)}, not {describe_value(value)}{near}")

    return FunctionCodec({"enum": names}, read, text)


def _folded(cls: type[ContextKind | ContextSource]) -> Codec:
    """A kind or a source. There are few, and they are read by the million."""

    @lru_cache(maxsize=1_000)
    def named(name: str) -> ContextKind | ContextSource:
        try:
            return cls.of(name)
        except InvalidItemError as error:
            raise DocumentError(str(error)) from error

    def read(value: Any, context: Context) -> ContextKind | ContextSource:
        return named(value if type(value) is str and value.isascii() else text(value, context))

    def write(value: Any, context: Context) -> str:
        return text(str(value), context)

    return FunctionCodec({"type": "string", "pattern": r"\S"}, read, write)


KIND = _folded(ContextKind)
SOURCE = _folded(ContextSource)
