"""Argument checks shared by all constructors: one wording for each mistake, and the argument's name in the error.

`name` is what an error calls the value. It begins with the parameter that the user passed, as in `tokens`, `tags[3]` or
`entries[0]: weight`; that parameter becomes the error's `argument`.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from enum import StrEnum
from functools import lru_cache
from operator import index
from typing import Any, Self, TypeVar, get_args

from pycupel.errors import InvalidArgumentError
from pycupel.text import describe, number_text, one_line, quoted

_Name = TypeVar("_Name", bound=str)

# Comparing takes time proportional to the product of both lengths, and none of our names is longer.
_MAX_COMPARED = 100

_ASCII_FOLD = {upper: upper + 32 for upper in range(ord("A"), ord("Z") + 1)}


def fold(text: str) -> str:
    """Fold ASCII case: only A to Z change, so `K` (Kelvin) and `É` stay as they are (DM-09)."""
    return text.lower() if text.isascii() else text.translate(_ASCII_FOLD)


def name_key(name: str) -> str:
    """Return the form in which names are compared: without ASCII case, `-` and `_`.

    `code-review`, `code_review` and `CodeReview` are one name. Kinds, sources, tags and metadata keys are data, not
    names, and are not compared like this.
    """
    return fold(name).replace("-", "").replace("_", "")


# Known names are few and short.
_known_key = lru_cache(maxsize=1_000)(name_key)


def find_name(value: object, known: Iterable[_Name]) -> _Name | None:
    """Return the known name that a value spells, or None."""
    if not isinstance(value, str):
        return None
    key = name_key(value)
    return next((name for name in known if _known_key(name) == key), None)


class NamedEnum(StrEnum):
    """A `StrEnum` whose members are found by their values in any spelling: `OverflowStrategy("THROW")`."""

    @classmethod
    def _missing_(cls, value: object) -> Self | None:
        return find_name(value, cls)


def suggestion(name: object, known: Iterable[str]) -> str:
    """Return `; did you mean 'recency'?`, or an empty string if no known name is close."""
    from difflib import get_close_matches  # noqa: PLC0415 - only mistakes need it

    if not isinstance(name, str) or len(name) > _MAX_COMPARED:
        return ""
    by_key = {name_key(each): each for each in known if len(each) <= _MAX_COMPARED}
    near = get_close_matches(name_key(name), by_key, n=1, cutoff=0.7)
    return f"; did you mean {str(by_key[near[0]])!r}?" if near else ""


_Function = TypeVar("_Function")
_Error = Callable[..., ValueError]

MAX_NESTING = 100
"""How many strategies may be nested in each other."""


def wrong_type(name: str, expected: str, value: object) -> TypeError:
    """Make the error for a value of the wrong type."""
    return _type_error(name, f"{name} must be {expected}, not {describe(value)}")


def refuse_class(name: str, value: object) -> None:
    """Reject a class where an instance is expected."""
    if isinstance(value, type):
        raise _type_error(name, f"{name} must be an instance; did you mean {one_line(value.__name__)}()?")


def _type_error(name: str, message: str) -> TypeError:
    error = TypeError(message)
    error.__dict__["argument"] = argument_of(name)
    return error


def argument_of(name: str) -> str | None:
    """Return the parameter that a name begins with; None for a name such as `the score that X returned`."""
    for mark in ("[", ":", " ("):
        name = name.partition(mark)[0]
    return name if name.isidentifier() else None


def checked_str(name: str, value: Any) -> str:
    """Check for a str."""
    if not isinstance(value, str):
        raise wrong_type(name, "a str", value)
    return value


def checked_iterable(name: str, expected: str, value: Any) -> Iterable[Any]:
    """Check for an iterable that is not a string, which would be split into letters."""
    if not _is_a(value, Iterable) or _is_a(value, (str, bytes)):
        raise wrong_type(name, expected, value)
    iterable: Iterable[Any] = value
    return iterable


def checked_pairs(name: str, expected: str, value: Any) -> list[tuple[Any, Any]]:
    """Check for an iterable of pairs, each a tuple or a list; `expected` describes a pair."""
    pairs: list[tuple[Any, Any]] = []
    for i, pair in enumerate(checked_iterable(name, f"an iterable of {expected} pairs", value)):
        if not _is_a(pair, (tuple, list)) or len(pair) != 2:
            raise wrong_type(f"{name}[{i}]", f"a {expected} pair", pair)
        pairs.append((pair[0], pair[1]))
    return pairs


def checked_mapping(name: str, expected: str, value: Any) -> Mapping[Any, Any]:
    """Check for a mapping."""
    if not _is_a(value, Mapping):
        raise wrong_type(name, expected, value)
    mapping: Mapping[Any, Any] = value
    return mapping


def _is_a(value: object, types: Any) -> bool:
    """Call `isinstance` without narrowing to a container with elements of unknown type."""
    return isinstance(value, types)


def checked_bool(name: str, value: Any) -> bool:
    """Check for a bool, or one of numpy's, which becomes a plain one."""
    given: object = value
    if isinstance(given, bool) or (type(given).__module__ == "numpy" and type(given).__name__ in ("bool", "bool_")):
        return bool(value)
    raise wrong_type(name, "a bool", value)


def checked_path(name: str, value: Any) -> str:
    """Check for a path. `open` also takes an int, the number of an open file, such as that of stdout."""
    path: Any = value.__fspath__() if _is_a(value, os.PathLike) else value
    if not isinstance(path, str):
        raise wrong_type(name, "a path: a str or an os.PathLike", value)
    return path


def checked_callable(name: str, expected: str, value: _Function) -> _Function:
    """Check for a function."""
    if not callable(value):
        raise wrong_type(name, expected, value)
    return value


def checked_int(name: str, value: Any) -> int:
    """Check for an integer by `__index__`, which includes numpy's, but not a bool or a float."""
    # DM-02
    if isinstance(value, bool):
        raise wrong_type(name, "an int", value)
    try:
        return index(value)
    except Exception:  # noqa: BLE001 - other people's objects raise what they like
        raise wrong_type(name, "an int", value) from None


def checked_count(name: str, value: Any, error: _Error) -> int:
    """Check for an integer of 0 or more."""
    number = value if type(value) is int else checked_int(name, value)
    if number < 0:
        raise error(f"{name} must be 0 or more, not {number_text(number)}", argument=argument_of(name), value=number)
    return number


def checked_positive(name: str, value: Any, error: _Error) -> int:
    """Check for an integer of 1 or more."""
    number = checked_int(name, value)
    if number <= 0:
        message = f"{name} must be greater than 0, not {number_text(number)}"
        raise error(message, argument=argument_of(name), value=number)
    return number


def checked_float(name: str, value: Any, error: _Error, *, low: float = -math.inf, high: float = math.inf) -> float:
    """Check for a finite number, optionally within `[low, high]`."""
    # DM-14
    number = as_float(name, value)
    if not math.isfinite(number):
        raise error(f"{name} must be finite, not {number}", argument=argument_of(name), value=number)
    if not low <= number <= high:
        limits = f"at least {low}" if high == math.inf else f"between {low} and {high}"
        raise error(f"{name} must be {limits}, not {number}", argument=argument_of(name), value=number)
    return number


def as_float(name: str, value: Any) -> float:
    """Convert any real number, Decimal and Fraction included; one beyond the range of floats becomes infinite."""
    if isinstance(value, (bool, str, bytes)):
        raise wrong_type(name, "a number", value)
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf
    except Exception:  # noqa: BLE001 - other people's objects raise what they like
        raise wrong_type(name, "a number", value) from None


def checked_name(name: str, value: Any, known: Iterable[_Name], error: _Error = InvalidArgumentError) -> _Name:
    """Check for one of a few names, or a member of an enumeration, in any spelling."""
    if isinstance(known, type) and isinstance(value, known):
        # Comparing spellings takes ten times as long.
        return value
    # An iterator of names is needed twice: for the search, and for the error.
    names = list(known)
    found = find_name(checked_str(name, value), names)
    if found is None:
        message = f"{name} must be one of {', '.join(names)}, not {quoted(value)}{suggestion(value, names)}"
        raise error(message, argument=argument_of(name), value=value)
    return found


# Declarations of fields, as their metadata: see `pycupel.values`.


def rule(check: Callable[[str, Any], Any]) -> Mapping[str, Any]:
    """Declare a field by a check that knows its errors."""

    def check_only(name: str, value: Any, _: _Error) -> Any:
        return check(name, value)

    return {"check": check_only}


def finite_number(low: float | None = None, high: float | None = None, above: float | None = None) -> Mapping[str, Any]:
    """Declare a finite number within limits."""
    least, most = -math.inf if low is None else low, math.inf if high is None else high

    def check(name: str, value: Any, error: _Error) -> float:
        checked = checked_float(name, value, error, low=least, high=most)
        if above is not None and checked <= above:
            raise error(f"{name} must be greater than {above}, not {checked}", argument=name, value=checked)
        return checked

    limits = {"low": low, "high": high, "above": above}
    return {"check": check, **inside(**{name: limit for name, limit in limits.items() if limit is not None})}


def inside(**limits: float) -> Mapping[str, Any]:
    """Declare the limits of the numbers in a field, as arguments of `codecs.base.limited`."""
    return {"limits": limits}


def function(expected: str) -> Mapping[str, Any]:
    """Declare a function."""
    return rule(lambda name, value: checked_callable(name, expected, value))


SHARE = finite_number(low=0.0, high=1.0)
COUNT: Mapping[str, Any] = {"check": checked_count, **inside(low=0)}
POSITIVE: Mapping[str, Any] = {"check": checked_positive, **inside(above=0)}
BOOLEAN = rule(checked_bool)
STRING = rule(checked_str)


def one_of(names: Any) -> Mapping[str, Any]:
    """Declare one of the names of a `Literal`, or a member of an enumeration, in any spelling."""
    choices: Any = get_args(names) or names

    def check(name: str, value: Any, error: _Error) -> Any:
        # Most values are members, or names as they are declared. Comparing spellings takes ten times as long.
        exact = type(value) is names or (choices is not names and type(value) is str and value in choices)
        return value if exact else checked_name(name, value, choices, error)

    return {"check": check}


def or_none(declared: Mapping[str, Any]) -> Mapping[str, Any]:
    """Declare a field that may also be None."""

    def check(name: str, value: Any, error: _Error) -> Any:
        return None if value is None else declared["check"](name, value, error)

    return {**declared, "check": check}


def is_aware(value: Any) -> bool:
    """Whether a value is a datetime with a time zone: without one, the instant is unknown."""
    # DM-07
    return isinstance(value, datetime) and value.utcoffset() is not None


def checked_aware(name: str, value: Any, error: _Error) -> datetime:
    """Check for a datetime with a time zone."""
    if not isinstance(value, datetime):
        raise wrong_type(name, "a datetime", value)
    if not is_aware(value):
        message = f"{name} must have a time zone, but {value!r} has none; use datetime.now(timezone.utc) or add tzinfo"
        raise error(message, argument=argument_of(name), value=value)
    return value


def check_inner(what: str, strategy: object, base: Any, error: _Error) -> None:
    """Reject strategies whose `inner` ones are nested too deeply to be shown, compared or run."""
    # PY-08
    depth = 0
    while isinstance(strategy, base):
        depth += 1
        if depth > MAX_NESTING:
            raise error(f"{what} may be nested at most {MAX_NESTING} levels deep", argument="inner")
        strategy = getattr(strategy, "inner", None)


def duplicate_kind(name: str, kind: str, error: _Error) -> ValueError:
    """Make the error for an option that lists a kind twice."""
    return error(
        f"{name}: duplicate kind {quoted(kind)} (kinds are case-insensitive)", argument=argument_of(name), value=kind
    )
