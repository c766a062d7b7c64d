"""The entries that configure quota slicers, and the constraints that slicers report."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, TypeVar

from pycupel.errors import SlicerConfigError
from pycupel.model.checks import checked_choice, checked_count, checked_float
from pycupel.model.kind import ContextKind
from pycupel.model.names import NamedEnum
from pycupel.text import one_line, shortened
from pycupel.values import brief_repr, record_repr, sealed

__all__ = ["CountQuotaEntry", "QuotaConstraint", "QuotaConstraintMode", "QuotaEntry"]

_Number = TypeVar("_Number", int, float)


@sealed
@dataclass(frozen=True, slots=True, init=False)
class QuotaEntry:
    """The share of the budget, in percent, that `QuotaSlice` allots to a kind.

    Attributes:
        kind: The kind. A plain string is accepted.
        require: The minimum share, from 0 to 100.
        cap: The maximum share, from `require` to 100.

    Raises:
        TypeError: an argument has the wrong type.
        InvalidItemError: the kind is empty or blank.
        SlicerConfigError: a share is out of range.
    """

    kind: ContextKind
    """The kind. A plain string is accepted."""

    require: float
    """The minimum share, from 0 to 100."""

    cap: float
    """The maximum share, from `require` to 100."""

    __repr__ = brief_repr

    def __init__(self, kind: ContextKind | str, require: float = 0.0, cap: float = 100.0) -> None:
        named = ContextKind.of(kind, "kind")
        least, most = _limits(named, _percent, require=require, cap=cap)
        object.__setattr__(self, "kind", named)
        object.__setattr__(self, "require", least)
        object.__setattr__(self, "cap", most)


@sealed
@dataclass(frozen=True, slots=True, init=False)
class CountQuotaEntry:
    """How many items of a kind a count slicer selects. With both counts 0, the kind is excluded.

    Attributes:
        kind: The kind. A plain string is accepted.
        cap_count: The maximum number of items.
        require_count: The minimum number of items, at most `cap_count`.

    Raises:
        TypeError: an argument has the wrong type.
        InvalidItemError: the kind is empty or blank.
        SlicerConfigError: a count is negative, or `require_count` exceeds `cap_count`.
    """

    kind: ContextKind
    """The kind. A plain string is accepted."""

    cap_count: int
    """The maximum number of items."""

    require_count: int
    """The minimum number of items, at most `cap_count`."""

    __repr__ = brief_repr

    def __init__(self, kind: ContextKind | str, *, cap_count: int, require_count: int = 0) -> None:
        named = ContextKind.of(kind, "kind")
        least, most = _limits(named, _count, require_count=require_count, cap_count=cap_count)
        object.__setattr__(self, "kind", named)
        object.__setattr__(self, "cap_count", most)
        object.__setattr__(self, "require_count", least)


class QuotaConstraintMode(NamedEnum):
    """What the numbers of a `QuotaConstraint` mean."""

    PERCENTAGE = "Percentage"
    """Percent of the budget's tokens."""

    COUNT = "Count"
    """Numbers of items."""


@sealed
@dataclass(frozen=True, slots=True, init=False)
class QuotaConstraint:
    """How much of a kind a slicer selects, in percent of the tokens or in items.

    Attributes:
        kind: The kind. A plain string is accepted.
        mode: What the two numbers mean.
        require: The minimum.
        cap: The maximum.

    Raises:
        TypeError: an argument has the wrong type; counts are whole numbers.
        InvalidItemError: the kind is empty or blank.
        SlicerConfigError: the mode is unknown, or a number is out of the range of a `QuotaEntry` or `CountQuotaEntry`.
    """

    kind: ContextKind
    """The kind. A plain string is accepted."""

    mode: QuotaConstraintMode
    """What the two numbers mean."""

    require: float
    """The minimum."""

    cap: float
    """The maximum."""

    __repr__ = record_repr

    def __init__(
        self,
        kind: ContextKind | str,
        mode: QuotaConstraintMode | Literal["Percentage", "Count"],
        require: float,
        cap: float,
    ) -> None:
        chosen = checked_choice("mode", mode, QuotaConstraintMode, SlicerConfigError)
        named = ContextKind.of(kind, "kind")
        check = _percent if chosen is QuotaConstraintMode.PERCENTAGE else _count
        least, most = _limits(named, check, require=require, cap=cap)
        object.__setattr__(self, "kind", named)
        object.__setattr__(self, "mode", chosen)
        object.__setattr__(self, "require", least)
        object.__setattr__(self, "cap", most)


def _percent(name: str, value: Any) -> float:
    return checked_float(name, value, SlicerConfigError, low=0.0, high=100.0)


def _count(name: str, value: Any) -> int:
    return checked_count(name, value, SlicerConfigError)


def _limits(kind: ContextKind, check: Callable[[str, Any], _Number], **given: Any) -> tuple[_Number, _Number]:
    """Check a minimum and a maximum; the keywords are their names in an error."""
    (low, least), (high, most) = ((name, check(name, value)) for name, value in given.items())
    if least > most:
        raise SlicerConfigError(
            f"{one_line(kind.value)}: {low} ({shortened(least)}) must not exceed {high} ({shortened(most)})",
            argument=low,
            value=least,
        )
    return least, most
