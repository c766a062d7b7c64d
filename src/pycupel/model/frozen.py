"""`FrozenDict`: the one immutable mapping, for metadata, reserved slots and weights."""

from __future__ import annotations

from typing import Any, Never, Self, TypeVar

__all__ = ["FrozenDict"]

_Key = TypeVar("_Key")
_Value = TypeVar("_Value")


class FrozenDict(dict[_Key, _Value]):
    """A dict that cannot be changed: as fast to read, and equal to a dict with the same members.

    It is hashable if its values are. `copy()` and `|` give a plain dict.
    """

    # types.MappingProxyType can be neither pickled nor copied, and is no dict to json.

    __slots__ = ()

    def _refuse(self, *_: Any, **__: Any) -> Never:
        raise TypeError(f"{type(self).__name__} is read-only; make a dict of it to change it")

    __setitem__ = __delitem__ = __ior__ = clear = pop = popitem = setdefault = update = _refuse  # pyright: ignore[reportAssignmentType]

    def __hash__(self) -> int:  # type: ignore[override]
        return hash(frozenset(self.items()))

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (dict(self),)

    def __copy__(self) -> Self:
        return self
