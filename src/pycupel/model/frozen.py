"""Immutable values: `FrozenDict`, an immutable mapping; `sealed` and `draft_of` for frozen dataclasses."""

from __future__ import annotations

from dataclasses import FrozenInstanceError, fields
from typing import Any, Never, Self, TypeVar

__all__ = ["FrozenDict", "draft_of", "sealed"]

_Key = TypeVar("_Key")
_Value = TypeVar("_Value")
_Class = TypeVar("_Class", bound=type[Any])


class FrozenDict(dict[_Key, _Value]):
    """A dict that cannot be changed: as fast to read, and equal to a dict with the same members.

    It is hashable if its values are. `copy()` and `|` return a plain dict.
    """

    # types.MappingProxyType can be neither pickled nor copied, and json does not accept it as a dict.

    __slots__ = ()

    def _refuse(self, *_: Any, **__: Any) -> Never:
        raise TypeError(f"{type(self).__name__} is read-only; copy it with dict(...) to change it")

    __setitem__ = __delitem__ = __ior__ = clear = pop = popitem = setdefault = update = _refuse  # pyright: ignore[reportAssignmentType]

    def __hash__(self) -> int:  # type: ignore[override]
        return hash(frozenset(self.items()))

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (dict(self),)

    def __copy__(self) -> Self:
        return self


def sealed(cls: _Class) -> _Class:
    """Close the gaps that `@dataclass(frozen=True, slots=True)` leaves.

    Assigning an attribute that is not a field is also a `FrozenInstanceError`, where Python raises a confusing
    `TypeError`. And there is no `__setstate__`, which would change a value: copies and pickles are rebuilt.
    """
    methods = {"__setattr__": _refuse_assignment, "__delattr__": _refuse_deletion, "__reduce__": _reduce}
    for name, method in methods.items():
        setattr(cls, name, method)
    for name in ("__getstate__", "__setstate__"):
        if name in vars(cls):
            delattr(cls, name)
    return cls


def draft_of(cls: type[Any]) -> Any:
    """Make a class with the same slots that is not frozen; `draft.__class__ = cls` turns an instance into a value.

    Bypassing a frozen class with `object.__setattr__` takes several times as long.
    """
    return type("_Draft", (), {"__slots__": cls.__slots__})


def _refuse_assignment(self: object, name: str, _: object) -> Never:
    raise FrozenInstanceError(f"cannot assign to {name!r} of {type(self).__name__}; dataclasses.replace makes a copy")


def _refuse_deletion(self: object, name: str) -> Never:
    raise FrozenInstanceError(f"cannot delete {name!r} of {type(self).__name__}")


def _reduce(self: Any) -> tuple[Any, ...]:
    return _rebuild, (type(self), *(getattr(self, field.name) for field in fields(self)))


def _rebuild(cls: type[Any], *values: Any) -> Any:
    """Rebuild a value from its fields, which were checked when the original was built."""
    value = object.__new__(cls)
    for field, held in zip(fields(cls), values, strict=True):
        object.__setattr__(value, field.name, held)
    return value
