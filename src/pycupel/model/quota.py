"""The entries that configure quota slicers, and the constraints that slicers report."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, Self

from pycupel.errors import SlicerConfigError
from pycupel.model.checks import COUNT, NamedEnum, number, one_of
from pycupel.model.groups import By, checked_quota_by
from pycupel.model.kind import ContextKind
from pycupel.text import one_line, shortened
from pycupel.values import brief_repr, check_fields, hold, sealed

_PERCENT = number(low=0.0, high=100.0)

EACH = ContextKind("(each)")
"""The kind of an entry for every value that no other entry names. No item should have it."""


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

    def __init__(self, kind: ContextKind | str, require: float = 0.0, cap: float = 100.0) -> None:
        hold(self, kind=ContextKind.of(kind, "kind"), require=require, cap=cap)
        check_fields(self, SlicerConfigError)
        _check_order(self, "require", "cap")

    @classmethod
    def each(cls, *, cap: float) -> Self:
        """Return an entry for every value that no other entry names, each with the same cap.

        Raises:
            TypeError: the cap is not a number.
            SlicerConfigError: it is out of range.
        """
        return cls(EACH, cap=cap)

    @property
    def is_each(self) -> bool:
        """Whether it is for every value that no other entry names."""
        return self.kind == EACH

    def __repr__(self) -> str:
        return f"{type(self).__name__}.each(cap={self.cap})" if self.is_each else brief_repr(self)


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

    def __init__(self, kind: ContextKind | str, *, cap_count: int, require_count: int = 0) -> None:
        hold(self, kind=ContextKind.of(kind, "kind"), cap_count=cap_count, require_count=require_count)
        check_fields(self, SlicerConfigError)
        _check_order(self, "require_count", "cap_count")

    @classmethod
    def each(cls, *, cap_count: int) -> Self:
        """Return an entry for every value that no other entry names, each with the same cap.

        Raises:
            TypeError: the cap is not an int.
            SlicerConfigError: it is negative.
        """
        return cls(EACH, cap_count=cap_count)

    @property
    def is_each(self) -> bool:
        """Whether it is for every value that no other entry names."""
        return self.kind == EACH

    def __repr__(self) -> str:
        return f"{type(self).__name__}.each(cap_count={self.cap_count})" if self.is_each else brief_repr(self)


class QuotaConstraintMode(NamedEnum):
    """What the numbers of a `QuotaConstraint` mean."""

    PERCENTAGE = "Percentage"
    """Percent of the budget's tokens."""

    COUNT = "Count"
    """Numbers of items."""


@sealed
@dataclass(frozen=True, slots=True, init=False)
class QuotaConstraint:
    """How much of a kind, or of another value, a slicer selects, in percent of the tokens or in items.

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

    by: By = field(metadata={"check": checked_quota_by})
    """What `kind` is a value of: "kind", "source", "metadata:KEY", or a function that takes an item."""

    __repr__ = brief_repr

    def __init__(
        self,
        kind: ContextKind | str,
        mode: QuotaConstraintMode | Literal["Percentage", "Count"],
        require: float,
        cap: float,
        by: By = "kind",
    ) -> None:
        hold(self, kind=ContextKind.of(kind, "kind"), mode=mode, by=by)
        check_fields(self, SlicerConfigError)
        check = (_PERCENT if self.mode is QuotaConstraintMode.PERCENTAGE else COUNT)["check"]
        hold(self, require=check("require", require, SlicerConfigError), cap=check("cap", cap, SlicerConfigError))
        _check_order(self, "require", "cap")

    @property
    def is_each(self) -> bool:
        """Whether it is for every value that no other quota names."""
        return self.kind == EACH


def _check_order(entry: QuotaEntry | CountQuotaEntry | QuotaConstraint, low: str, high: str) -> None:
    least, most = getattr(entry, low), getattr(entry, high)
    if entry.is_each and least:
        raise SlicerConfigError(
            f"{EACH.value}: nothing can be required of each value, only capped", argument=low, value=least
        )
    if least > most:
        raise SlicerConfigError(
            f"{one_line(entry.kind.value)}: {low} ({shortened(least)}) must not exceed {high} ({shortened(most)})",
            argument=low,
            value=least,
        )
