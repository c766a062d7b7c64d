"""Short reprs."""

from __future__ import annotations

from dataclasses import fields
from enum import StrEnum
from functools import lru_cache
from inspect import Parameter, signature
from typing import Any

from pycupel.errors import digits
from pycupel.model.checks import is_equal, quoted
from pycupel.model.kind import ContextKind

__all__ = ["brief_repr", "quantity", "record_repr", "shown"]

_MAX_MEMBERS = 3


def shown(value: Any) -> str:
    """Return the repr of an option, with very long numbers and names shortened."""
    if type(value) is int:
        return digits(value)
    if type(value) is str:
        return quoted(value)
    container: Any = value
    if isinstance(value, dict):
        return f"{{{', '.join(f'{shown(key)}: {shown(member)}' for key, member in container.items())}}}"
    if type(value) is tuple:
        return f"({', '.join(map(shown, container))}{',' if len(container) == 1 else ''})"
    return repr(container)


def quantity(count: int, noun: str) -> str:
    """Return a number with its noun: `1 item`, `2 items`."""
    return f"{digits(count)} {noun}{'' if count == 1 else 's'}"


def record_repr(self: object) -> str:
    """Show the call that builds a dataclass or a named tuple; of a long list, only the beginning."""
    value: Any = self
    names = getattr(value, "_fields", None) or [field.name for field in fields(value) if field.repr]
    return f"{type(value).__name__}({', '.join(f'{name}={_few(getattr(value, name))}' for name in names)})"


def _few(value: Any) -> str:
    if type(value) not in (list, tuple) or len(value) <= _MAX_MEMBERS:
        return shown(value)
    text = f"{shown(value[0])}, ... {len(value) - 1} more"
    return f"[{text}]" if type(value) is list else f"({text})"


def brief_repr(self: object) -> str:
    """Show the call that builds a dataclass, without options at their defaults."""
    kind: Any = type(self)
    options = [(name, getattr(self, name), default) for name, default in _defaults(kind).items()]
    given = [f"{name}={shown(_plain(option))}" for name, option, default in options if not is_equal(option, default)]
    return f"{kind.__name__}({', '.join(given)})"


@lru_cache(maxsize=512)
def _defaults(kind: type[Any]) -> dict[str, Any]:
    """Return the fields that a repr shows, each with the default of its parameter; `Parameter.empty` if it has none."""
    parameters = signature(kind).parameters
    names = [field.name for field in fields(kind) if field.repr]
    return {name: parameters[name].default if name in parameters else Parameter.empty for name in names}


def _plain(option: Any) -> Any:
    """Turn kinds and enum members into the strings that constructors accept."""
    return str(option) if isinstance(option, (ContextKind, StrEnum)) else option
