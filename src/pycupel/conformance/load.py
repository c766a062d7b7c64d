"""Read vectors, which may be written in TOML 1.1, and check their required fields."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from pathlib import Path
from typing import Any, TypeVar, cast

from pycupel.model.names import find_name, suggestion
from pycupel.policies.formats import STRINGS_AND_COMMENTS, parse_toml
from pycupel.text import describe, quoted

Table = dict[str, Any]

_Name = TypeVar("_Name", bound=str)

# Strings and comments are matched first, so that nothing in them is taken for a time. A time without seconds is TOML
# 1.1 (CV-01).
_TOKEN = re.compile(rf"{STRINGS_AND_COMMENTS}|(?P<time>\d\d\d\d-\d\d-\d\d[Tt ]\d\d:\d\d)(?=[Zz+\-\s,\]}}#]|$)")


class VectorError(Exception):
    """The vector itself is wrong: it cannot be run, or would pass without checking anything."""


def read_vector(path: Path) -> Table:
    """Parse a vector's file, or raise a DocumentError."""
    return parse_toml(add_seconds(path.read_text(encoding="utf-8")))


def add_seconds(text: str) -> str:
    """Add the seconds that TOML 1.0 requires to the times in a document."""
    return _TOKEN.sub(lambda token: f"{token['time']}:00" if token["time"] else token[0], text)


def require(table: Any, name: str, where: str) -> Any:
    """Return a required field. `where` is what an error calls the table."""
    if not isinstance(table, dict):
        raise VectorError(f"{where} must be a table, not {describe(table)}")
    if name not in table:
        raise VectorError(f"missing field {name!r} in {where}")
    return cast(Table, table)[name]


def reject_misspelt(table: Table, where: str, known: Collection[str]) -> None:
    """Raise if an unknown field is close to a known one. Other unknown fields are ignored (CV-02)."""
    for name in table:
        if name not in known and (near := suggestion(name, known)):
            raise VectorError(f"unknown field {quoted(name)} in {where}{near}")


def section(table: Table, name: str) -> Table:
    """Return a table inside a table; empty if it is missing."""
    inside = table.get(name, {})
    if not isinstance(inside, dict):
        raise VectorError(f"{name} must be a table, not {describe(inside)}")
    return cast(Table, inside)


def tables(table: Table, name: str) -> list[Table]:
    """Return a list of tables inside a table; empty if it is missing."""
    inside: list[Table] = table.get(name, [])
    if not is_list(inside) or not all(isinstance(each, dict) for each in cast(list[object], inside)):
        raise VectorError(f"{name} must be a list of tables, [[{name}]], not {describe(inside)}")
    return inside


def is_list(value: object) -> bool:
    """Call `isinstance` without narrowing to a list with elements of unknown type."""
    return isinstance(value, list)


def choose(what: str, name: Any, choices: Iterable[_Name]) -> _Name:
    """Return the choice that a name spells."""
    choice = find_name(name, choices)
    if choice is None:
        raise VectorError(f"unknown {what} {name!r}; expected one of {', '.join(choices)}")
    return choice
