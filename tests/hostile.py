"""Objects that users may pass by mistake and that make every careless operation fail."""

from __future__ import annotations

from typing import Any

__all__ = ["Raising", "nested"]


class Raising:
    """Raises at every touch."""

    def __repr__(self) -> str:
        raise RuntimeError("repr")

    def __eq__(self, other: object) -> bool:
        raise RuntimeError("eq")

    def __hash__(self) -> int:
        raise RuntimeError("hash")

    def __len__(self) -> int:
        raise RuntimeError("len")

    def __bool__(self) -> bool:
        raise RuntimeError("bool")

    def __str__(self) -> str:
        raise RuntimeError("str")

    def __float__(self) -> float:
        raise RuntimeError("float")


def nested(levels: int) -> list[Any]:
    """A list in a list in a list, too deep for anything recursive."""
    value: list[Any] = []
    for _ in range(levels):
        value = [value]
    return value
