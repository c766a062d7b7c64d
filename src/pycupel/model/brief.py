"""`brief_repr`: the repr of quota entries and of the slicers that contain them, which would be long otherwise."""

from __future__ import annotations

from dataclasses import fields
from enum import StrEnum
from inspect import signature
from typing import Any

from pycupel.errors import digits
from pycupel.model.kind import ContextKind

__all__ = ["brief_repr"]


def brief_repr(self: object) -> str:
    """The call that builds a dataclass, without the options that have their default."""
    value: Any = self
    parameters = signature(type(self)).parameters
    options = {field.name: getattr(value, field.name) for field in fields(value) if field.repr}
    shown = (
        f"{name}={digits(option) if type(option) is int else repr(_plain(option))}"
        for name, option in options.items()
        if name not in parameters or option != parameters[name].default
    )
    return f"{type(self).__name__}({', '.join(shown)})"


def _plain(option: Any) -> Any:
    """Kinds and members of enumerations as the strings that constructors accept."""
    return str(option) if isinstance(option, (ContextKind, StrEnum)) else option
