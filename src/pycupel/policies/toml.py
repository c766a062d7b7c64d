"""Read TOML with the standard library, and write as much of it as policies need."""

from __future__ import annotations

import json
import re
import tomllib
from typing import Any

from pycupel.errors import DocumentError
from pycupel.model.checks import quoted, shortened

__all__ = ["dump_toml", "parse_toml"]

_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")
_MAX_DOTS = 64
_STRINGS_AND_COMMENTS = re.compile(
    r'"""(?:[^\\]|\\.)*?"{3,5}|\'\'\'.*?\'{3,5}|"(?:[^"\\\n]|\\.)*"|\'[^\'\n]*\'|#[^\n]*', re.DOTALL
)
_DOTTED_KEY = re.compile(r"[\w-]++(?:[ \t]*+\.[ \t]*+[\w-]++)+")


def parse_toml(text: str) -> Any:
    """Parse a TOML text.

    Raises:
        DocumentError: it is not TOML, or a key has too many dots.
    """
    _check_dots(text)
    try:
        return tomllib.loads(text)
    except ValueError as error:
        raise DocumentError(f"is not TOML: {error}") from None


def _check_dots(text: str) -> None:
    """Reject a key with too many parts, such as `a.a.a`: parsing it would take the standard library minutes."""
    if text.count(".") > _MAX_DOTS:
        # Dots in strings and comments do not count.
        keys = _STRINGS_AND_COMMENTS.sub(lambda match: "" if match[0].startswith("#") else "s", text)
        for key in _DOTTED_KEY.finditer(keys):
            if key[0].count(".") > _MAX_DOTS:
                raise DocumentError(f"a key has more than {_MAX_DOTS} dots: {quoted(key[0])}")


def dump_toml(document: dict[str, Any]) -> str:
    """Format scalars first, then objects as tables, then lists of objects. Anything nested deeper is inline."""
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
    """Quote a string as in JSON, but also escape DEL, as TOML requires."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
