"""Stage 4, Sort: by score descending, ties in input order."""

from __future__ import annotations

from collections.abc import Sequence

from pycupel.kernels.order import descending


def sort_items(scores: Sequence[float], kept: Sequence[int]) -> list[int]:
    """Sort the kept positions, best score first. NaN comes last (SC-03); 0.0 and -0.0 are equal (SO-01)."""
    return descending(scores, kept)
