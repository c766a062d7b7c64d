"""Numbers in the way of other libraries."""

from __future__ import annotations

from typing import Any

__all__ = ["NUMPY_TRUE", "IndexOnly"]


class IndexOnly:
    """An integer in the way of numpy's: no subclass of int, but with `__index__`."""

    def __init__(self, value: int) -> None:
        self.value = value

    def __index__(self) -> int:
        return self.value


class _NumpyBool:
    """A bool in the way of numpy's: no subclass of bool, and known by its name only."""

    __module__ = "numpy"

    def __bool__(self) -> bool:
        return True


_NumpyBool.__name__ = "bool"
NUMPY_TRUE: Any = _NumpyBool()
