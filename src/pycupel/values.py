"""Immutable values, whose fields are declared once: check, repr, codec and JSON Schema follow from the declaration.

    @sealed
    @dataclass(frozen=True, slots=True, repr=False)
    class GreedySlice(IndexedSlicer):
        cost_exponent: float = field(default=1.0, metadata=finite_number(low=0.0, high=2.0))

        __repr__ = brief_repr

        def __post_init__(self) -> None:
            check_fields(self, SlicerConfigError)

A field's metadata has the `check` that converts its value or raises, and the `limits` of the numbers in it: the
constructor applies the one, and the schema of policy files has the other. `pycupel.model.checks` makes both. A
constructor that takes something other than its fields, such as a str for a kind, is written by hand and sets them with
`hold`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import FrozenInstanceError, fields
from enum import StrEnum
from functools import lru_cache
from inspect import Parameter, signature
from typing import Any, Never, Self, TypeVar

from pycupel.text import shown

_Key = TypeVar("_Key")
_Value = TypeVar("_Value")
_Class = TypeVar("_Class", bound=type[Any])
_Error = Callable[..., ValueError]

FieldCheck = Callable[[str, Any, _Error], Any]
"""Takes the name of a field, a value and the class of the error; returns the value, converted, or raises."""

_MAX_MEMBERS = 3


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


def check_fields(value: Any, error: _Error) -> None:
    """Check and convert the fields of a frozen dataclass as they are declared."""
    for name, check in _checks(value.__class__):
        given = getattr(value, name)
        checked = check(name, given, error)
        # Most values are returned as they are, and setting a field of a frozen class is slow.
        if checked is not given:
            object.__setattr__(value, name, checked)


@lru_cache(maxsize=512)
def _checks(cls: type[Any]) -> tuple[tuple[str, FieldCheck], ...]:
    # Read once for a class: going through the metadata of its fields takes longer than most checks.
    return tuple((field.name, field.metadata["check"]) for field in fields(cls) if "check" in field.metadata)


def hold(value: Any, /, **held: Any) -> None:
    """Set fields of a frozen dataclass: in its constructor, or of a copy that nobody else has."""
    for name, each in held.items():
        object.__setattr__(value, name, each)


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
    hold(value, **dict(zip([field.name for field in fields(cls)], values, strict=True)))
    return value


def is_equal(one: object, other: object) -> bool:
    """Compare users' objects, whose `==` may raise or return an array."""
    try:
        return one is other or (one == other) is True
    except Exception:  # noqa: BLE001 - users' code may raise anything
        return False


def record_repr(self: object) -> str:
    """Show the call that builds a dataclass or a named tuple; of a long list, only the beginning."""
    value: Any = self
    # A named tuple has no dataclass fields.
    names = getattr(value, "_fields", None) or [field.name for field in fields(value) if field.repr]
    return f"{type(value).__name__}({', '.join(f'{name}={_few(getattr(value, name))}' for name in names)})"


def _few(value: Any) -> str:
    if type(value) not in (list, tuple) or len(value) <= _MAX_MEMBERS:
        return shown(value)
    text = f"{shown(value[0])}, ... {len(value) - 1} more"
    return f"[{text}]" if type(value) is list else f"({text})"


def brief_repr(self: object) -> str:
    """Show the call that builds a dataclass, without options at their defaults."""
    kind: Any = type(self)
    options = [(name, getattr(self, name), default) for name, default in _defaults(kind).items()]
    given = [f"{name}={shown(_as_given(option))}" for name, option, default in options if not is_equal(option, default)]
    return f"{kind.__name__}({', '.join(given)})"


@lru_cache(maxsize=512)
def _defaults(kind: type[Any]) -> dict[str, Any]:
    """Return the fields that a repr shows, each with the default of its parameter; `Parameter.empty` if it has none."""
    parameters = signature(kind).parameters
    names = [field.name for field in fields(kind) if field.repr]
    return {name: parameters[name].default if name in parameters else Parameter.empty for name in names}


def _as_given(option: Any) -> Any:
    """Turn kinds and enum members into the strings that constructors accept."""
    return str(option) if isinstance(option, StrEnum) or hasattr(option, "is_name") else option
