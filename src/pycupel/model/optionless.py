"""The base of strategies that have no options."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Optionless"]


@dataclass(frozen=True, slots=True)
class Optionless:
    """A value that is all in its class: two instances are equal if their classes are the same.

    Subclasses need no decorator, which makes them cheap to import.
    """
