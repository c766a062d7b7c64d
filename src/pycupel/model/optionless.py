"""The base of strategies without options."""

from __future__ import annotations

from dataclasses import dataclass

from pycupel.values import sealed


@sealed
@dataclass(frozen=True, slots=True)
class Optionless:
    """A value without fields: two instances are equal if their classes are the same.

    Subclasses need no decorator, which makes them cheap to import.
    """
