"""The base of strategies without options, and the repr of those with options."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

from pycupel.model.brief import shown
from pycupel.model.frozen import sealed

__all__ = ["Optionless", "short_repr"]


def short_repr(value: Any) -> str:
    """The class, and the options that are not at their default."""
    options = (
        f"{f.name}={shown(getattr(value, f.name))}" for f in fields(value) if getattr(value, f.name) != f.default
    )
    return f"{type(value).__name__}({', '.join(options)})"


@sealed
@dataclass(frozen=True, slots=True)
class Optionless:
    """A value without fields: two instances are equal if their classes are the same.

    Subclasses need no decorator, which makes them cheap to import.
    """
