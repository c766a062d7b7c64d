"""The entries that configure quota slicers, and the constraints that slicers report."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from pycupel.errors import SlicerConfigError
from pycupel.model.checks import COUNT, NamedEnum, number, one_of
from pycupel.model.kind import ContextKind
from pycupel.text import one_line, shortened
from pycupel.values import brief_repr, check_fields, hold, record_repr, sealed

_PERCENT = number(low=0.0, high=100.0)


@sealed
@dataclass(frozen=True, slots=True, init=False)
class QuotaEntry:
    """The share of the budget, in percent, that `QuotaSlice` allots to a kind.

    Raises:
        TypeError: an argument has the wrong type.
        InvalidItemError: the kind is empty or blank.
        SlicerConfigError: a share is out of range.
    """

    kind: ContextKind
    """The kind. A plain string is accepted."""

    require: float = field(metadata=_PERCENT)
    """The minimum share, from 0 to 100."""

    cap: float = field(metadata=_PERCENT)
    """The maximum share, from `require` to 100."""

    __repr__ = brief_repr

    def __init__(self, kind: ContextKind | str, require: float = 0.0, cap: float = 100.0) -> None:
        hold(self, kind=ContextKind.of(kind, "kind"), require=require, cap=cap)
        check_fields(self, SlicerConfigError)
        _check_order(self, "require", "cap")


@sealed
@dataclass(frozen=True, slots=True, init=False)
class CountQuotaEntry:
    """How many items of a kind a count slicer selects. With both counts 0, the kind is excluded.

    Raises:
        TypeError: an argument has the wrong type.
        InvalidItemError: the kind is empty or blank.
        SlicerConfigError: a count is negative, or `require_count` exceeds `cap_count`.
    """

    kind: ContextKind
    """The kind. A plain string is accepted."""

    cap_count: int = field(metadata=COUNT)
    """The maximum number of items."""

    require_count: int = field(metadata=COUNT)
    """The minimum number of items, at most `cap_count`."""

    __repr__ = brief_repr

    def __init__(self, kind: ContextKind | str, *, cap_count: int, require_count: int = 0) -> None:
        hold(self, kind=ContextKind.of(kind, "kind"), cap_count=cap_count, require_count=require_count)
        check_fields(self, SlicerConfigError)
        _check_order(self, "require_count", "cap_count")


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

    Raises:
        TypeError: an argument has the wrong type; counts are whole numbers.
        InvalidItemError: the kind is empty or blank.
        SlicerConfigError: the mode is unknown, or a number is out of the range of a `QuotaEntry` or `CountQuotaEntry`.
    """

    kind: ContextKind
    """The kind. A plain string is accepted."""

    mode: QuotaConstraintMode = field(metadata=one_of(QuotaConstraintMode))
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
        hold(self, kind=ContextKind.of(kind, "kind"), mode=mode)
        check_fields(self, SlicerConfigError)
        check = (_PERCENT if self.mode is QuotaConstraintMode.PERCENTAGE else COUNT)["check"]
        hold(self, require=check("require", require, SlicerConfigError), cap=check("cap", cap, SlicerConfigError))
        _check_order(self, "require", "cap")


def _check_order(entry: QuotaEntry | CountQuotaEntry | QuotaConstraint, low: str, high: str) -> None:
    least, most = getattr(entry, low), getattr(entry, high)
    if least > most:
        raise SlicerConfigError(
            f"{one_line(entry.kind.value)}: {low} ({shortened(least)}) must not exceed {high} ({shortened(most)})",
            argument=low,
            value=least,
        )
