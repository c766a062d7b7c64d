"""Numbers in the way of other libraries."""

from __future__ import annotations

__all__ = ["IndexOnly"]


class IndexOnly:
    """An integer in the way of numpy's: no subclass of int, but with `__index__`."""

    def __init__(self, value: int) -> None:
        self.value = value

    def __index__(self) -> int:
        return self.value
