"""Parse and format JSON text, and limit the depth of documents."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from typing import Any

from pycupel.codecs.base import key_step, prefix_path
from pycupel.errors import DocumentError
from pycupel.model.checks import wrong_type
from pycupel.text import clip, quoted

MAX_DEPTH = 64
"""The maximum depth of nested objects and lists in a document."""

TOO_DEEP = f"is nested more than {MAX_DEPTH} levels deep"


def parse_json(text: Any) -> Any:
    """Parse a JSON text, given as a str or UTF-8 bytes. Duplicate keys are mistakes, too."""
    if not isinstance(text, (str, bytes, bytearray)):
        raise wrong_type("text", "a str or bytes", text)
    try:
        if not isinstance(text, str):
            text = text.decode(json.detect_encoding(text), "surrogatepass")
        return _DECODER.decode(text)
    except json.JSONDecodeError as error:
        line = f"line {error.lineno}, " if error.lineno > 1 else ""
        problem = error.msg.removesuffix(" at")
        raise DocumentError(f"invalid JSON: {problem} at {line}column {error.colno}") from None
    except DocumentError:
        raise
    except (ValueError, RecursionError) as error:
        raise DocumentError(f"cannot be read as JSON: {error}") from None


def reject_duplicate_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return the members of an object. By default, parsers silently keep the last value of a duplicate key."""
    members = dict(pairs)
    if len(members) < len(pairs):
        [(duplicate, _)] = Counter(key for key, _ in pairs).most_common(1)
        raise DocumentError(f"duplicate key {quoted(duplicate)} in an object")
    return members


# Built once, because json.loads would build a decoder for each text.
_DECODER = json.JSONDecoder(object_pairs_hook=reject_duplicate_keys)


def format_json(document: Any, indent: int | None = None) -> str:
    """Format a document as JSON text, on one line unless there is an indent."""
    try:
        return json.dumps(document, ensure_ascii=False, indent=indent)
    except (ValueError, RecursionError) as error:
        raise DocumentError(f"cannot be written as JSON: {error}") from None


def escape_json(text: str, *, ascii_only: bool = False) -> str:
    """Escape characters of JSON text that a terminal may interpret or hide, such as bidirectional marks.

    All of them are in strings: the rest is printable ASCII and line breaks.
    """
    if text.isprintable() and (text.isascii() or not ascii_only):
        return text
    return "".join(
        each if each == "\n" or (each.isprintable() and (each.isascii() or not ascii_only)) else _escape(each)
        for each in text
    )


def _escape(character: str) -> str:
    units = character.encode("utf-16-be", "surrogatepass").hex()
    return "".join(f"\\u{units[i : i + 4]}" for i in range(0, len(units), 4))


def check_depth(document: Any) -> None:
    """Reject a document that is nested too deeply or contains itself."""
    try:
        _check(document, MAX_DEPTH, set())
    except DocumentError as error:
        error.path = clip(error.path)
        raise


def _check(value: Any, levels: int, seen: set[tuple[int, int]]) -> None:
    is_list = isinstance(value, list)
    # Scalars come first, because checking for an abstract base class is slowest.
    if isinstance(value, (str, int, float)) or not isinstance(value, (dict, list, Mapping)):
        return
    if not levels:
        raise DocumentError(TOO_DEEP)
    container: Any = value  # pyright: ignore[reportUnknownVariableType] - from outside
    # Visit a shared container, such as a YAML alias, only once per level.
    if (id(container), levels) in seen:
        return
    seen.add((id(container), levels))
    for key, part in enumerate(container) if is_list else container.items():
        try:
            _check(part, levels - 1, seen)
        except DocumentError as error:
            prefix_path(error, f"[{key}]" if is_list else key_step(key))
            raise
