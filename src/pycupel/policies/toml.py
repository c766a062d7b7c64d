"""Writing TOML: exactly the shapes that policies have, and no more. Reading is the standard library's."""

from __future__ import annotations

import json
import re
from typing import Any

from pycupel.errors import DocumentError
from pycupel.model.checks import shortened

__all__ = ["dump_toml"]

_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")


def dump_toml(document: dict[str, Any]) -> str:
    """The scalars first, then a table for each object, then the lists of objects; what is inside them is inline."""
    tables = {name: value for name, value in document.items() if _is_table(value)}
    lists = {name: value for name, value in document.items() if _is_list_of_tables(value)}
    scalars = {name: value for name, value in document.items() if name not in tables and name not in lists}
    blocks = [_members(scalars)] if scalars else []
    blocks += [f"[{_key(name)}]\n{_members(table)}" for name, table in tables.items()]
    blocks += [f"[[{_key(name)}]]\n{_members(table)}" for name, tables in lists.items() for table in tables]
    return "\n".join(blocks)


def _is_table(value: Any) -> bool:
    return isinstance(value, dict)


def _is_list_of_tables(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(map(_is_table, value))  # pyright: ignore[reportUnknownArgumentType]


def _members(table: dict[str, Any]) -> str:
    return "".join(f"{_key(name)} = {_inline(value)}\n" for name, value in table.items())


def _key(name: str) -> str:
    return name if _BARE_KEY.fullmatch(name) else _string(name)


def _inline(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return repr(value)
    if isinstance(value, str):
        return _string(value)
    if _is_table(value):
        members = ", ".join(f"{_key(name)} = {_inline(member)}" for name, member in value.items())
        return f"{{ {members} }}" if members else "{}"
    if isinstance(value, list):
        elements: list[Any] = value  # pyright: ignore[reportUnknownVariableType] - from outside
        return f"[{', '.join(map(_inline, elements))}]"
    raise DocumentError(f"TOML cannot express {shortened(value)}")


def _string(text: str) -> str:
    """JSON's escapes are TOML's, but TOML wants one for DEL, too."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
