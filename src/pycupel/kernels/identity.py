"""Finding objects again by identity, each occurrence once."""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["places_by_identity"]


def places_by_identity(objects: Sequence[object]) -> dict[int, list[int]]:
    """For each object's id the places where it stands, so that `pop()` gives the first one that is left (SL-03).

    An id is only good while its object lives: the caller holds on to `objects`.
    """
    places: dict[int, list[int]] = {}
    for i in range(len(objects) - 1, -1, -1):
        places.setdefault(id(objects[i]), []).append(i)
    return places
