"""How texts show a value: names, numbers and excerpts, on one line and never too long.

| function | shows |
|---|---|
| `quoted`, `one_line`, `clip` | a name, key or id: in quotes; without; cut, but not escaped |
| `number_text`, `quantity` | a number of any size; with its noun |
| `shortened`, `describe`, `describe_value` | an excerpt of a repr; with its type; of a document, which may be huge |
| `shown` | an option, as its constructor accepts it |
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

# The most characters of a name, key or id in a text.
LONGEST_NAME = 200
_LONGEST_NUMBER = 10**200


def number_text(number: int) -> str:
    """Format a number; if it has more than 200 digits, say only how many, like `<401 digits>`.

    Python does not print thousands of digits.
    """
    size = abs(number)
    if size < _LONGEST_NUMBER:
        return str(number)
    # Slightly less than log10(2).
    count = (size.bit_length() - 1) * 30_102_999 // 100_000_000
    while 10**count <= size:
        count += 1
    return f"{'-' if number < 0 else ''}<{count} digits>"


def quantity(count: int, noun: str) -> str:
    """Return a number with its noun: `1 item`, `2 items`."""
    return f"{number_text(count)} {noun}{'' if count == 1 else 's'}"


def clip(name: str) -> str:
    """Cut a name, key or id after 200 characters."""
    return name if len(name) <= LONGEST_NAME else f"{name[:LONGEST_NAME]}..."


def one_line(name: str) -> str:
    """Format a name, key or id without quotes: cut after 200 characters, control characters escaped."""
    return escaped(clip(name))


def quoted(name: str) -> str:
    """Quote a name, key or id: cut after 200 characters, control characters escaped."""
    return repr(name) if len(name) <= LONGEST_NAME else f"{name[:LONGEST_NAME]!r}..."


def escaped(text: str) -> str:
    """Escape control characters, so that the text is one line."""
    return text if text.isprintable() else "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)


def shortened(value: object, limit: int = 60) -> str:
    """Return the repr of a value in one line of at most `limit` characters; `...` if the repr raises."""
    try:
        text = number_text(value) if type(value) is int else repr(value)
    except Exception:  # noqa: BLE001 - a user's method may raise anything
        return "..."
    return escaped(text if len(text) <= limit else f"{text[: limit - 3]}...")


def describe(value: object) -> str:
    """Describe a value and its type, short enough for an error message."""
    return f"{shortened(value)} ({one_line(type(value).__name__)})"


def describe_value(value: object) -> str:
    """Describe a part of a document. Containers are only named: they may be too large or too deep to show."""
    if value is None or isinstance(value, (float, str)) or (isinstance(value, int) and value.bit_length() <= 64):
        return describe(value)
    if isinstance(value, Mapping):
        return "an object"
    return "a list" if isinstance(value, list) else f"a value of type {one_line(type(value).__name__)}"


def shown(value: Any) -> str:
    """Return the repr of an option, with very long numbers and names shortened."""
    if type(value) is int:
        return number_text(value)
    if type(value) is str:
        return quoted(value)
    container: Any = value
    if isinstance(value, dict):
        return f"{{{', '.join(f'{shown(key)}: {shown(member)}' for key, member in container.items())}}}"
    if type(value) is tuple:
        return f"({', '.join(map(shown, container))}{',' if len(container) == 1 else ''})"
    return repr(container)
