"""The entries that quota slicers are configured with, and the constraints that they tell of."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from pycupel.errors import SlicerConfigError, digits
from pycupel.model.checks import checked_choice, checked_float, checked_int
from pycupel.model.kind import ContextKind

__all__ = ["CountQuotaEntry", "QuotaConstraint", "QuotaConstraintMode", "QuotaEntry"]


@dataclass(frozen=True, slots=True, init=False)
class QuotaEntry:
    """The share of the budget, in percent, that a kind gets at least (`require`) and at most (`cap`)."""

    kind: ContextKind
    require: float
    cap: float

    def __init__(self, kind: ContextKind | str, require: float = 0.0, cap: float = 100.0) -> None:
        object.__setattr__(self, "kind", ContextKind.of(kind))
        object.__setattr__(self, "require", checked_float("require", require, SlicerConfigError, low=0.0, high=100.0))
        object.__setattr__(self, "cap", checked_float("cap", cap, SlicerConfigError, low=0.0, high=100.0))
        if self.require > self.cap:
            raise SlicerConfigError(
                f"{self.kind}: require ({self.require}) must not exceed cap ({self.cap})",
                argument="require",
                value=self.require,
            )


@dataclass(frozen=True, slots=True, init=False)
class CountQuotaEntry:
    """How many items of a kind are selected at least (`require_count`) and at most (`cap_count`).

    With both 0 the kind is excluded (CQ-05).
    """

    kind: ContextKind
    cap_count: int
    require_count: int

    def __init__(self, kind: ContextKind | str, *, cap_count: int, require_count: int = 0) -> None:
        object.__setattr__(self, "kind", ContextKind.of(kind))
        object.__setattr__(self, "cap_count", _count("cap_count", cap_count))
        object.__setattr__(self, "require_count", _count("require_count", require_count))
        if self.require_count > self.cap_count:
            raise SlicerConfigError(
                f"{self.kind}: require_count ({digits(self.require_count)}) must not exceed cap_count ({digits(self.cap_count)})",
                argument="require_count",
                value=self.require_count,
            )


class QuotaConstraintMode(StrEnum):
    """What the numbers of a constraint count: per cent of the tokens, or items."""

    PERCENTAGE = "Percentage"
    COUNT = "Count"


@dataclass(frozen=True, slots=True, init=False)
class QuotaConstraint:
    """How much of a kind a slicer selects at least (`require`) and at most (`cap`), whichever entry says so.

    The limits are those of a `QuotaEntry` or of a `CountQuotaEntry`: counts are whole numbers.
    """

    kind: ContextKind
    mode: QuotaConstraintMode
    require: float
    cap: float

    def __init__(self, kind: ContextKind | str, mode: QuotaConstraintMode | str, require: float, cap: float) -> None:
        chosen = checked_choice("mode", mode, QuotaConstraintMode, SlicerConfigError)
        object.__setattr__(self, "kind", ContextKind.of(kind))
        object.__setattr__(self, "mode", chosen)
        limits = _percentages if chosen is QuotaConstraintMode.PERCENTAGE else _counts
        least, most = limits(self.kind, require, cap)
        object.__setattr__(self, "require", least)
        object.__setattr__(self, "cap", most)


def _percentages(kind: ContextKind, require: Any, cap: Any) -> tuple[float, float]:
    entry = QuotaEntry(kind, require, cap)
    return entry.require, entry.cap


def _counts(kind: ContextKind, require: Any, cap: Any) -> tuple[int, int]:
    entry = CountQuotaEntry(kind, cap_count=cap, require_count=require)
    return entry.require_count, entry.cap_count


def _count(name: str, value: Any) -> int:
    number = checked_int(name, value)
    if number < 0:
        raise SlicerConfigError(f"{name} must not be negative, but is {digits(number)}", argument=name, value=number)
    return number
