"""Text, numbers, flags and names. Most are checked alike both ways: what is read can be written."""

from __future__ import annotations

from collections.abc import Iterable
from math import isfinite
from typing import Any

from pycupel.codecs.base import Codec, Context, FunctionCodec, adapted, must_be
from pycupel.errors import DocumentError
from pycupel.model import ContextKind, ContextSource
from pycupel.model.checks import as_float, checked_int
from pycupel.model.names import find_name, suggestion


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
    """Whole numbers are written without a fraction, as people write them."""
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
    """A number within limits. Constructors have them, too, but stop at their first mistake, and have no schema."""

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

    def read(value: Any, _: Context) -> str:
        # The exact spelling comes first, in case an enumeration has two members of one name.
        name = value if isinstance(value, str) and value in by_name else find_name(value, by_name)
        if name is None:
            near = suggestion(value, by_name) if isinstance(value, str) else ""
            raise must_be(f"one of {', '.join(by_name)}", value, near)
        return by_name[name]

    return FunctionCodec({"enum": list(by_name)}, read, text)


KIND = adapted(TEXT, read=ContextKind.of, write=str, pattern=r"\S")
SOURCE = adapted(TEXT, read=ContextSource.of, write=str, pattern=r"\S")
