"""The formats of policy files: JSON, TOML with the standard library, and YAML with PyYAML."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Callable
from typing import Any, Literal

from pycupel.codecs.jsontext import parse_json, reject_duplicate_keys
from pycupel.errors import DocumentError
from pycupel.extras import load_extra
from pycupel.text import quoted, shortened

__all__ = ["READERS", "WRITERS", "PolicyFormat"]

PolicyFormat = Literal["json", "toml", "yaml"]
"""A format of policy files."""

# --- JSON


def _read_json(text: str) -> Any:
    data = parse_json(text)
    if data is None:
        raise DocumentError("Policy cannot be null. Received JSON literal 'null'.")
    return data


def _write_json(document: dict[str, Any]) -> str:
    return json.dumps(document, ensure_ascii=False, indent=2) + "\n"


# --- TOML

_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")
_MAX_DOTS = 64
# A string that is not closed matches, too: searching it again from each of its quotes would take minutes.
_STRINGS_AND_COMMENTS = re.compile(
    r'"""(?:[^\\]|\\.)*?(?:"{3,5}|\Z)|\'\'\'.*?(?:\'{3,5}|\Z)|"(?:[^"\\\n]|\\.)*"?|\'[^\'\n]*\'?|#[^\n]*', re.DOTALL
)
_DOTTED_KEY = re.compile(r"(?<![\w-])[\w-]++(?:[ \t]*+\.[ \t]*+[\w-]++)+")


def _read_toml(text: str) -> Any:
    _check_dots(text)
    try:
        return tomllib.loads(text)
    except ValueError as error:
        raise DocumentError(f"invalid TOML: {error}") from None


def _check_dots(text: str) -> None:
    """Reject a key with too many parts, such as `a.a.a`: parsing it would take the standard library minutes."""
    if text.count(".") > _MAX_DOTS:
        # Dots in strings and comments do not count.
        keys = _STRINGS_AND_COMMENTS.sub(lambda match: "" if match[0].startswith("#") else "s", text)
        for key in _DOTTED_KEY.finditer(keys):
            if key[0].count(".") > _MAX_DOTS:
                raise DocumentError(f"a key has more than {_MAX_DOTS} dots: {quoted(key[0])}")


def _write_toml(document: dict[str, Any]) -> str:
    """Format scalars first, then objects as tables, then lists of objects. Anything nested deeper is inline."""
    tables = {name: value for name, value in document.items() if _is_table(value)}
    lists = {name: value for name, value in document.items() if _is_list_of_tables(value)}
    scalars = {name: value for name, value in document.items() if name not in tables and name not in lists}
    blocks = [_members(scalars)] if scalars else []
    blocks += [[f"[{_key(name)}]", *_members(table)] for name, table in tables.items()]
    blocks += [[f"[[{_key(name)}]]", *_members(table)] for name, tables in lists.items() for table in tables]
    return "\n".join("".join(f"{line}\n" for line in block) for block in blocks)


def _is_table(value: Any) -> bool:
    return isinstance(value, dict)


def _is_list_of_tables(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(map(_is_table, value))  # pyright: ignore[reportUnknownArgumentType]


def _members(table: dict[str, Any]) -> list[str]:
    return [f"{_key(name)} = {_inline(value)}" for name, value in table.items()]


def _key(name: str) -> str:
    return name if _BARE_KEY.fullmatch(name) else _inline(name)


def _inline(value: Any) -> str:
    if _is_table(value):
        return f"{{ {', '.join(_members(value))} }}" if value else "{}"
    if isinstance(value, list):
        elements: list[Any] = value  # pyright: ignore[reportUnknownVariableType] - from outside
        return f"[{', '.join(map(_inline, elements))}]"
    if not isinstance(value, (bool, int, float, str)):
        raise DocumentError(f"TOML cannot express {shortened(value)}")
    # Scalars are written as in JSON, but TOML requires that DEL is escaped, too.
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


# --- YAML

_MAX_NODES = 10_000
_INFINITE = 10**9


def _yaml() -> Any:
    return load_extra("yaml", extra="yaml", package="PyYAML", purpose="a policy in YAML")


def _read_yaml(text: str) -> Any:
    yaml = _yaml()
    try:
        loader = yaml.SafeLoader(text)
        node = loader.get_single_node()
        counts: dict[int, int] = {}
        if node is None:
            return None
        # `counts` has one entry per node, so a document without aliases is never over the limit.
        if _count_nodes(node, counts) <= max(_MAX_NODES, len(counts)):
            return loader.construct_document(node)
    except (yaml.YAMLError, ValueError) as error:
        raise DocumentError(f"invalid YAML: {error}") from None
    raise DocumentError(f"aliases expand to more than {_MAX_NODES:,} nodes")


def _count_nodes(node: Any, counts: dict[int, int]) -> int:
    """Count the nodes after aliases are expanded. Duplicate keys are rejected, as in JSON."""
    if id(node) not in counts:
        parts: list[Any] = [] if isinstance(node.value, str) else node.value
        if node.id == "mapping":
            # A key that is a list or an object cannot be constructed, and showing it would expand its aliases.
            reject_duplicate_keys([(key.value, None) for key, _ in parts if isinstance(key.value, str)])
            parts = [part for pair in parts for part in pair]
        # If a node is reached again before its size is known, it contains itself.
        counts[id(node)] = _INFINITE
        counts[id(node)] = min(_INFINITE, 1 + sum([_count_nodes(part, counts) for part in parts]))
    return counts[id(node)]


def _write_yaml(document: dict[str, Any]) -> str:
    yaml = _yaml()
    text: str = yaml.safe_dump(document, sort_keys=False, allow_unicode=True)
    if yaml.safe_load(text) != document:
        # Unless they are escaped, PyYAML reads Unicode line breaks such as U+0085 as spaces.
        text = yaml.safe_dump(document, sort_keys=False)
    return text


READERS: dict[str, Callable[[str], Any]] = {"json": _read_json, "toml": _read_toml, "yaml": _read_yaml}
"""The function that parses the text of each format, or raises a DocumentError."""

WRITERS: dict[str, Callable[[Any], str]] = {"json": _write_json, "toml": _write_toml, "yaml": _write_yaml}
"""The function that formats a document in each format."""
