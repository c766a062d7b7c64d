"""The checks at the door that the constructors share: one wording for each kind of mistake."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from enum import StrEnum
from operator import index
from typing import Any, TypeVar

from pycupel.errors import digits
from pycupel.model.names import name_key

__all__ = [
    "as_float",
    "checked_bool",
    "checked_choice",
    "checked_float",
    "checked_int",
    "checked_iterable",
    "checked_mapping",
    "checked_pairs",
    "checked_positive",
    "checked_str",
    "describe",
    "quoted",
    "wrong_type",
]

_Choice = TypeVar("_Choice", bound=StrEnum)


def describe(value: object) -> str:
    """A value and its type, short enough for an error message, whatever its `repr` does."""
    return f"{_clipped(_shown(value))} ({_clipped(type(value).__name__)})"


def quoted(name: str) -> str:
    """A name, key or id in an error message: as a Python string, up to 200 characters."""
    return repr(name) if len(name) <= 200 else f"{name[:200]!r}..."


def _shown(value: object) -> str:
    """The `repr` of any value, without control characters; `<...>` if it raises."""
    if type(value) is int:
        return digits(value)
    try:
        # Only the beginning of a text is ever shown.
        text = repr(value[:200] if type(value) in (str, bytes) else value)[:200]  # type: ignore[index]
    except Exception:  # noqa: BLE001 - it is somebody else's method
        return "<...>"
    return text if text.isprintable() else "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)


def _clipped(text: str) -> str:
    return text if len(text) <= 60 else f"{text[:57]}..."


def wrong_type(name: str, expected: str, value: object) -> TypeError:
    return TypeError(f"{name} must be {expected}, not {describe(value)}")


def checked_str(name: str, value: Any) -> str:
    if not isinstance(value, str):
        raise wrong_type(name, "a str", value)
    return value


def checked_iterable(name: str, expected: str, value: Any) -> Iterable[Any]:
    """Anything to iterate over but a string, which is an iterable of letters and never meant."""
    if not _is_a(value, Iterable) or _is_a(value, (str, bytes)):
        raise wrong_type(name, expected, value)
    iterable: Iterable[Any] = value
    return iterable


def checked_pairs(name: str, expected: str, value: Any) -> list[tuple[Any, Any]]:
    """An iterable of pairs, each a tuple or a list; `expected` says what a pair is."""
    pairs: list[tuple[Any, Any]] = []
    for i, pair in enumerate(checked_iterable(name, f"an iterable of {expected} pairs", value)):
        if not _is_a(pair, (tuple, list)) or len(pair) != 2:
            raise wrong_type(f"{name}[{i}]", f"a {expected} pair", pair)
        pairs.append((pair[0], pair[1]))
    return pairs


def checked_mapping(name: str, expected: str, value: Any) -> Mapping[Any, Any]:
    if not _is_a(value, Mapping):
        raise wrong_type(name, expected, value)
    mapping: Mapping[Any, Any] = value
    return mapping


def _is_a(value: object, types: Any) -> bool:
    """`isinstance` for values from outside, whose element types nobody knows yet."""
    return isinstance(value, types)


def checked_bool(name: str, value: Any) -> bool:
    if not isinstance(value, bool):
        raise wrong_type(name, "a bool", value)
    return value


def checked_int(name: str, value: Any) -> int:
    """Anything that is an integer by `__index__`, numpy's included, but no bool and no float (DM-02)."""
    if isinstance(value, bool):
        raise wrong_type(name, "an int", value)
    try:
        return index(value)
    except TypeError:
        raise wrong_type(name, "an int", value) from None


def checked_positive(name: str, value: Any, error: Callable[..., ValueError]) -> int:
    number = checked_int(name, value)
    if number <= 0:
        raise error(f"{name} must be greater than 0, not {digits(number)}", argument=name, value=number)
    return number


def checked_float(
    name: str, value: Any, error: Callable[..., ValueError], *, low: float = -math.inf, high: float = math.inf
) -> float:
    """A finite number, optionally within `[low, high]` (DM-14)."""
    number = as_float(name, value)
    if not math.isfinite(number):
        raise error(f"{name} must be finite, not {number}", argument=name, value=number)
    if not low <= number <= high:
        raise error(f"{name} must be between {low} and {high}, not {number}", argument=name, value=number)
    return number


def as_float(name: str, value: Any) -> float:
    """Any real number, Decimal and Fraction included. What is beyond the range of floats is infinite."""
    if isinstance(value, (bool, str, bytes)):
        raise wrong_type(name, "a number", value)
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf
    except (TypeError, ValueError):
        raise wrong_type(name, "a number", value) from None


def checked_choice(name: str, value: Any, choices: type[_Choice], error: Callable[..., ValueError]) -> _Choice:
    """A member of a StrEnum, or its value in any spelling that is the same name."""
    if isinstance(value, choices):
        return value
    key = name_key(checked_str(name, value))
    for choice in choices:
        if name_key(choice.value) == key:
            return choice
    known = ", ".join(repr(choice.value) for choice in choices)
    raise error(f"{name} must be one of {known}, not {quoted(value)}", argument=name, value=value)
