"""Find objects by identity, each occurrence once."""

from __future__ import annotations

from collections.abc import Sequence


def indices_by_identity(objects: Sequence[object]) -> dict[int, list[int]]:
    """Map each object's id to its indices, last first, so that `pop()` gives the first remaining one (SL-03).

    An id is valid only while its object lives, so the caller must keep `objects`.
    """
    indices: dict[int, list[int]] = {}
    for i in range(len(objects) - 1, -1, -1):
        indices.setdefault(id(objects[i]), []).append(i)
    return indices
