"""The values that policy documents are made of: each can be read, written, and described by a JSON Schema.

Reading goes on after a mistake, so that all of them can be told at once: the mistake goes to the `Problems`, and `BAD`
stands in for the value.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum
from math import isfinite, nextafter
from typing import Any, Final, Protocol

from pycupel.errors import DocumentError
from pycupel.model import ContextKind
from pycupel.model.names import suggestion
from pycupel.wire.values import FLAG, INTEGER, NUMBER, TEXT, Codec, Mode, found, joined, json_value

__all__ = [
    "ANYTHING",
    "BAD",
    "COUNT",
    "FLAG_VALUE",
    "INTEGER_VALUE",
    "KIND",
    "LIMIT",
    "NUMBER_VALUE",
    "PERCENT",
    "POSITIVE",
    "POSITIVE_INTEGER",
    "SECONDS",
    "SHARE",
    "TEXT_VALUE",
    "WEIGHT",
    "Choice",
    "Problems",
    "Scalar",
    "Schema",
    "Value",
]

BAD: Final[Any] = object()

_MODE = Mode()

Schema = dict[str, Any]


class Problems:
    """The mistakes of a document, in order of appearance."""

    def __init__(self) -> None:
        self.found: list[DocumentError] = []

    def add(self, path: str, message: str) -> Any:
        self.found.append(DocumentError(message, path=path))
        return BAD


class Value(Protocol):
    """The way in, the way out, and the description of one type of value."""

    def read(self, value: Any, path: str, problems: Problems, /) -> Any: ...
    def write(self, value: Any, path: str, /) -> Any: ...
    def schema(self) -> Schema: ...


@dataclass(frozen=True, slots=True)
class Scalar:
    """A string, a bool or a number. The constructors have the same limits; here they get a path and a description."""

    codec: Codec
    description: Mapping[str, Any]
    low: float | None = None
    high: float | None = None
    above: float | None = None

    def read(self, value: Any, path: str, problems: Problems, /) -> Any:
        try:
            result = self.codec.read(value, _MODE)
        except DocumentError as error:
            return problems.add(joined(path, error.path), error.args[0])
        if self.above is not None and not result > self.above:
            return problems.add(path, f"must be greater than {self.above:g}, not {found(value)}")
        if self.low is not None and result < self.low:
            return problems.add(path, f"must be at least {self.low:g}, not {found(value)}")
        if self.high is not None and result > self.high:
            return problems.add(path, f"must be at most {self.high:g}, not {found(value)}")
        return result

    def write(self, value: Any, path: str, /) -> Any:
        try:
            result = self.codec.write(value, _MODE)
        except DocumentError as error:
            error.path = joined(path, error.path)
            raise
        # A whole number is written without a fraction, as people write it.
        whole = isinstance(result, float) and result.is_integer() and abs(result) < 2**53
        return int(result) if whole else result

    def schema(self) -> Schema:
        limits = {"minimum": self.low, "maximum": self.high, "exclusiveMinimum": self.above}
        return {**self.description, **{name: limit for name, limit in limits.items() if limit is not None}}


def _finite(value: Any, mode: Mode) -> float:  # noqa: ARG001 - all checks are called alike
    number: float = NUMBER.read(value, Mode(allow_nan=True))
    if not isfinite(number):
        raise DocumentError(f"must be finite, not {number}")
    return number


_NUMBER = Codec(_finite, _finite)

TEXT_VALUE = Scalar(TEXT, {"type": "string"})
FLAG_VALUE = Scalar(FLAG, {"type": "boolean"})
NUMBER_VALUE = Scalar(_NUMBER, {"type": "number"})
INTEGER_VALUE = Scalar(INTEGER, {"type": "integer"})
WEIGHT = Scalar(_NUMBER, {"type": "number"}, low=0)
POSITIVE = Scalar(_NUMBER, {"type": "number"}, above=0)
SHARE = Scalar(_NUMBER, {"type": "number"}, low=0, high=1)
PERCENT = Scalar(_NUMBER, {"type": "number"}, low=0, high=100)
COUNT = Scalar(INTEGER, {"type": "integer"}, low=0)
POSITIVE_INTEGER = Scalar(INTEGER, {"type": "integer"}, above=0)
ANYTHING = Scalar(Codec(json_value, json_value), {})


class _Kind:
    """The name of a kind, which must not be blank."""

    def read(self, value: Any, path: str, problems: Problems, /) -> Any:
        name = TEXT_VALUE.read(value, path, problems)
        if name is BAD:
            return BAD
        return ContextKind(name) if name.strip() else problems.add(path, "the name of a kind must not be blank")

    def write(self, value: Any, path: str, /) -> Any:
        return TEXT_VALUE.write(str(value), path)

    def schema(self) -> Schema:
        return {"type": "string", "pattern": r"\S"}


KIND = _Kind()


class _Limit:
    """A positive integer, or `"unlimited"` for None, which JSON would omit and TOML does not have."""

    def read(self, value: Any, path: str, problems: Problems, /) -> Any:
        if isinstance(value, str):
            wrong = f'must be an integer or "unlimited", not {found(value)}'
            return None if value == "unlimited" else problems.add(path, wrong)
        return POSITIVE_INTEGER.read(value, path, problems)

    def write(self, value: Any, path: str, /) -> Any:
        return "unlimited" if value is None else POSITIVE_INTEGER.write(value, path)

    def schema(self) -> Schema:
        return {"anyOf": [POSITIVE_INTEGER.schema(), {"const": "unlimited"}]}


LIMIT = _Limit()


class _Seconds:
    """A duration, as a number of seconds: from a microsecond to the longest that is a float and a `timedelta`."""

    number = Scalar(_NUMBER, {"type": "number"}, low=1e-6, high=nextafter(timedelta.max.total_seconds(), 0), above=0)

    def read(self, value: Any, path: str, problems: Problems, /) -> Any:
        seconds = self.number.read(value, path, problems)
        return BAD if seconds is BAD else timedelta(seconds=seconds)

    def write(self, value: Any, path: str, /) -> Any:
        seconds = value.total_seconds()
        if seconds > self.number.high or timedelta(seconds=seconds) != value:
            raise DocumentError(f"{value!r} cannot be written exactly as a number of seconds", path=path)
        return self.number.write(seconds, path)

    def schema(self) -> Schema:
        return self.number.schema()


SECONDS = _Seconds()


@dataclass(frozen=True, slots=True)
class Choice:
    """A member of an enumeration, or one of some strings."""

    choices: type[StrEnum] | tuple[str, ...]

    def read(self, value: Any, path: str, problems: Problems, /) -> Any:
        names = list(map(str, self.choices))
        if value not in names:
            near = suggestion(value, names) if isinstance(value, str) else ""
            return problems.add(path, f"must be one of {', '.join(names)}, not {found(value)}{near}")
        return value if isinstance(self.choices, tuple) else self.choices(value)

    def write(self, value: Any, path: str, /) -> Any:
        return TEXT_VALUE.write(value, path)

    def schema(self) -> Schema:
        return {"enum": list(map(str, self.choices))}
