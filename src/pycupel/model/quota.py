"""Groups of items, the entries that configure quota slicers for them, and the constraints that slicers report."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from operator import attrgetter
from typing import Any, Literal, Self, TypeAlias, cast

from pycupel.errors import SlicerConfigError
from pycupel.model.checks import COUNT, NamedEnum, checked_name, finite_number, one_of, suggestion, wrong_type
from pycupel.model.item import ContextItem
from pycupel.model.kind import ContextKind
from pycupel.text import one_line, shortened
from pycupel.values import brief_repr, check_fields, hold, sealed

By: TypeAlias = str | Callable[[ContextItem], object]
"""What items are grouped by: a field's name, "metadata:KEY", or a function that takes an item."""

NONE = "(none)"
"""How the group of the items without a value is shown."""

_METADATA = "metadata:"


def checked_by(name: str, value: Any, fields: tuple[str, ...], error: Callable[..., ValueError]) -> By:
    """Check for one of these fields, in any spelling, for "metadata:KEY", or for a function."""
    if callable(value):
        function: By = value
        return function
    if not isinstance(value, str):
        known = ", ".join(map(repr, fields))
        raise wrong_type(name, f"{known}, 'metadata:KEY' or a function that takes an item", value)
    if value.startswith(_METADATA) and value != _METADATA:
        return value
    return checked_name(name, value, (*fields, f"{_METADATA}KEY"), error)


def checked_quota_by(name: str, value: Any, error: Callable[..., ValueError]) -> By:
    """Check what quotas may be for."""
    return checked_by(name, value, ("kind", "source"), error)


def grouping(by: By) -> Callable[[ContextItem], str | None]:
    """Return a function from an item to the key of its group; None for an item without a value.

    Kinds and sources are compared without ASCII case; metadata and the results of a function as `str()`.
    """
    if callable(by):
        function = by
        return lambda item: _as_text(function(item))
    if by.startswith(_METADATA):
        key = by.removeprefix(_METADATA)
        return lambda item: _as_text(item.metadata.get(key))
    # "retriever" is a metadata key of its own name.
    if by == "retriever":
        return lambda item: _as_text(item.metadata.get(by))
    return attrgetter(f"{by}.key")


def grouping_name(by: By) -> str:
    """Return what items are grouped by as reports say it: a field, "metadata:KEY", or the name of a function."""
    return by if isinstance(by, str) else str(getattr(by, "__name__", "a function"))


def noun_of(by: By) -> str:
    """Return what sentences call a group: the kind, the source, or a value of a metadata key or a function."""
    name = grouping_name(by)
    return name if name in ("kind", "source") else f"{name} value"


def group_label(by: By, item: ContextItem, key: str | None) -> str:
    """Return the value of a group as it is shown; kinds and sources as this member spells them."""
    if by == "kind":
        return item.kind.value
    if by == "source":
        return item.source.value
    return NONE if key is None else key


def groups_notes(strategy: Any, items: Sequence[ContextItem]) -> tuple[str, ...]:
    """Note that no item has a value of a strategy's `by`, as with a misspelled key: what should be groups is one."""
    by, key_of = grouping_name(strategy.by), grouping(strategy.by)
    if not items or any(key_of(item) is not None for item in items):
        return ()
    keys = sorted({key for item in items for key in item.metadata})
    note = (
        f"no candidate has a value for {shortened(by)}, so {type(strategy).__name__} takes them all for one group, "
        f"{NONE}; correct the option by{suggestion(by.removeprefix(_METADATA), keys)}"
    )
    return (note,)


def _as_text(value: object) -> str | None:
    if value is None or type(value) is str:
        return value
    try:
        # A plain str, because a subclass may override comparison.
        return str.__str__(value if isinstance(value, str) else str(value))
    except Exception:  # noqa: BLE001 - a user's object that raises has no value
        return None


_PERCENT = finite_number(low=0.0, high=100.0)

EACH = ContextKind("(each)")
"""The kind of an entry for every value that no other entry names. No item should have it."""


class _ForKind:
    """What is for a kind, or for every value that nothing else is for."""

    __slots__ = ()

    @property
    def is_each(self) -> bool:
        """Whether it is for every value that no other one names."""
        return bool(cast(Any, self).kind == EACH)


@sealed
@dataclass(frozen=True, slots=True, init=False)
class QuotaEntry(_ForKind):
    """The share of the budget, in percent, that `QuotaSlice` allots to a kind."""

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
        """Return an entry for every value that no other entry names, each with the same cap."""
        return cls(EACH, cap=cap)

    def __repr__(self) -> str:
        return f"{type(self).__name__}.each(cap={self.cap})" if self.is_each else brief_repr(self)


@sealed
@dataclass(frozen=True, slots=True, init=False)
class CountQuotaEntry(_ForKind):
    """How many items of a kind a count slicer selects. With both counts 0, the kind is excluded."""

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
        """Return an entry for every value that no other entry names, each with the same cap."""
        return cls(EACH, cap_count=cap_count)

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
class QuotaConstraint(_ForKind):
    """How much of a kind, or of another value, a slicer selects, in percent of the tokens or in items.

    Raises:
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


def _check_order(entry: QuotaEntry | CountQuotaEntry | QuotaConstraint, low: str, high: str) -> None:
    least, most = getattr(entry, low), getattr(entry, high)
    if entry.is_each and least:
        message = f"{EACH.value}: nothing can be required of each value, only capped"
        raise SlicerConfigError(message, argument=low, value=least)
    if least > most:
        message = f"{one_line(entry.kind.value)}: {low} ({shortened(least)}) must not exceed {high} ({shortened(most)})"
        raise SlicerConfigError(message, argument=low, value=least)
