"""Strings, numbers, flags and names. Most use one check for reading and writing, so whatever is read can be written."""

from __future__ import annotations

from collections.abc import Iterable
from math import isfinite
from typing import Any

from pycupel.codecs.base import Codec, Context, FunctionCodec, adapted, must_be
from pycupel.errors import DocumentError
from pycupel.model import ContextKind, ContextSource
from pycupel.model.checks import as_float, checked_int
from pycupel.model.names import find_name, suggestion

__all__ = ["FINITE", "FLAG", "INTEGER", "KIND", "NUMBER", "SOURCE", "TEXT", "choice", "limited", "text"]


def text(value: Any, _: Context) -> str:
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


TEXT = FunctionCodec({"type": "string"}, text, text)
INTEGER = FunctionCodec({"type": "integer"}, _integer, _integer)
NUMBER = FunctionCodec({"type": "number"}, _number, _number)
FINITE = FunctionCodec({"type": "number"}, _finite, _write_finite)
FLAG = FunctionCodec({"type": "boolean"}, _flag, _flag)


def limited(codec: Codec, low: float | None = None, high: float | None = None, above: float | None = None) -> Codec:
    """Return a codec for numbers within limits.

    Constructors check limits, too, but stop at their first mistake and have no schema.
    """

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
    """Return a codec for members of an enumeration, or for one of several strings, in any spelling."""
    by_name = {str(each): each for each in choices}

    def read(value: Any, _: Context) -> str:
        # Try the exact spelling first: two members may differ only in spelling.
        name = value if isinstance(value, str) and value in by_name else find_name(value, by_name)
        if name is None:
            near = suggestion(value, by_name) if isinstance(value, str) else ""
            raise must_be(f"one of {', '.join(by_name)}", value, near)
        return by_name[name]

    return FunctionCodec({"enum": list(by_name)}, read, text)


KIND = adapted(TEXT, read=ContextKind.of, write=str, pattern=r"\S")
SOURCE = adapted(TEXT, read=ContextSource.of, write=str, pattern=r"\S")
