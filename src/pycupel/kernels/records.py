"""Make named tuples in less than half the time that calling their class takes.

A run makes a few, and a report several for every item.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import repeat
from types import MethodType
from typing import Any, TypeVar, cast

_Record = TypeVar("_Record")

_new: Any = cast(Any, tuple).__new__


def maker(cls: type[_Record]) -> Callable[[tuple[Any, ...]], _Record]:
    """Return a function that makes a named tuple from a plain tuple of all its fields."""
    return MethodType(_new, cls)


def records(cls: type[_Record], rows: Iterable[tuple[Any, ...]]) -> Iterator[_Record]:
    """Make named tuples from plain ones."""
    return map(_new, repeat(cls), rows)
