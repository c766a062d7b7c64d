"""The values that documents are made of.

Most are checked by one function on the way in and on the way out, so that nothing can be read that cannot be written.
An error is raised without a path, and collects it on its way up: that costs nothing as long as all is well.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from pycupel.errors import DocumentError
from pycupel.model.checks import as_float, checked_int, describe

__all__ = [
    "FLAG",
    "INTEGER",
    "NUMBER",
    "OBJECT",
    "TEXT",
    "Codec",
    "Mode",
    "as_object",
    "found",
    "joined",
    "json_value",
    "list_of",
    "must_be",
    "step",
    "text",
]

_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


class Mode(NamedTuple):
    """What the caller asked for: unknown keys are refused, NaN and infinities are accepted."""

    strict: bool = False
    allow_nan: bool = False


@dataclass(frozen=True, slots=True)
class Codec:
    """The way in and the way out of one type of value."""

    read: Callable[[Any, Mode], Any]
    write: Callable[[Any, Mode], Any]


def step(key: object) -> str:
    """A key as part of a path: `metadata.origin`, but `metadata["cupel:trust"]`."""
    name = str(key)
    return name if _WORD.fullmatch(name) else f"[{json.dumps(name)}]"


def joined(step: str, path: str) -> str:
    return f"{step}.{path}" if step and path and not path.startswith("[") else f"{step}{path}"


def found(value: object) -> str:
    """What is there instead. Containers are only named: they can be large, or too deep to be shown."""
    if value is None or isinstance(value, (bool, float, str)):
        return describe(value)
    if isinstance(value, int) and value.bit_length() <= 64:
        return describe(value)
    if isinstance(value, Mapping):
        return "an object"
    if isinstance(value, list):
        return "a list"
    return f"a value of type {type(value).__name__}"


def _is_a(value: object, types: Any) -> bool:
    """`isinstance` for values from outside, whose element types nobody knows yet."""
    return isinstance(value, types)


def must_be(expected: str, value: object) -> DocumentError:
    return DocumentError(f"must be {expected}, not {found(value)}")


def as_object(value: Any) -> Mapping[Any, Any]:
    if not _is_a(value, (dict, Mapping)):
        raise must_be("an object", value)
    data: Mapping[Any, Any] = value
    return data


def text(value: Any, mode: Mode) -> str:  # noqa: ARG001 - all checks are called alike
    if not isinstance(value, str):
        raise must_be("a string", value)
    if not value.isascii():
        try:
            value.encode()
        except UnicodeEncodeError as error:
            # DD-04: Python holds such strings, UTF-8 cannot.
            raise DocumentError(f"has a lone surrogate at index {error.start}, which cannot be written") from None
    # A member of an enumeration becomes a plain string.
    return str.__str__(value)


def _integer(value: Any, mode: Mode) -> int:  # noqa: ARG001 - all checks are called alike
    if type(value) is int:
        return value
    try:
        return int(checked_int("", value))
    except TypeError:
        raise must_be("an integer", value) from None


def _number(value: Any, mode: Mode) -> float:
    try:
        result = value if type(value) is float else as_float("", value)
    except TypeError:
        raise must_be("a number", value) from None
    if not mode.allow_nan and not math.isfinite(result):
        raise DocumentError(f"must be finite, not {result}, unless allow_nan is set")
    return result


def _flag(value: Any, mode: Mode) -> bool:  # noqa: ARG001 - all checks are called alike
    if not isinstance(value, bool):
        raise must_be("true or false", value)
    return value


def _json_object(value: Any, mode: Mode) -> dict[str, Any]:
    try:
        return _members(as_object(value), mode)
    except RecursionError:
        raise DocumentError("is nested too deeply, or contains itself") from None


def _members(value: Mapping[Any, Any], mode: Mode) -> dict[str, Any]:
    result: dict[str, Any] = {}
    for key, member in value.items():
        try:
            result[_key(key, mode)] = json_value(member, mode)
        except DocumentError as error:
            error.path = joined(step(key), error.path)
            raise
    return result


def _key(key: Any, mode: Mode) -> str:
    if not isinstance(key, str):
        raise DocumentError(f"every key must be a string, not {found(key)}")
    return text(key, mode)


def json_value(value: Any, mode: Mode) -> Any:
    """The value, copied. A tuple is no JSON, because it would come back as a list, which is not equal to it."""
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return text(value, mode)
    if isinstance(value, int):
        return _integer(value, mode)
    if isinstance(value, float):
        return _number(value, mode)
    if _is_a(value, list):
        return _each(json_value, value, mode)
    if _is_a(value, Mapping):
        return _members(as_object(value), mode)
    raise must_be("JSON: a string, number, bool, None, list or dict", value)


def list_of(codec: Codec) -> Codec:
    """A list in the document, a tuple in the value."""

    def read(value: Any, mode: Mode) -> tuple[Any, ...]:
        if not _is_a(value, list):
            raise must_be("a list", value)
        elements: list[Any] = value
        return (*_each(codec.read, elements, mode),)

    def write(value: Any, mode: Mode) -> list[Any]:
        return _each(codec.write, value, mode)

    return Codec(read, write)


def _each(convert: Callable[[Any, Mode], Any], values: list[Any], mode: Mode) -> list[Any]:
    result: list[Any] = []
    try:
        for value in values:
            result.append(convert(value, mode))  # noqa: PERF401 - the length says where it failed
    except DocumentError as error:
        error.path = joined(f"[{len(result)}]", error.path)
        raise
    return result


TEXT = Codec(text, text)
INTEGER = Codec(_integer, _integer)
NUMBER = Codec(_number, _number)
FLAG = Codec(_flag, _flag)
OBJECT = Codec(_json_object, _json_object)
