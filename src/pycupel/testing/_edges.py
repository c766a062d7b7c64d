"""Edge positions, and the scores that belong there. Cupel.Testing Vocabulary: PlaceTopNScoredAtEdges."""

from __future__ import annotations

from collections.abc import Sequence

from pycupel.kernels.order import descending


def edge_positions(count: int, n: int) -> list[int]:
    """Return the `n` outermost of `count` positions, from both ends inwards: 0, count - 1, 1, count - 2 and so on."""
    return [count - 1 - i // 2 if i % 2 else i // 2 for i in range(min(n, count))]


def top_scored(scores: Sequence[float], edges: Sequence[int]) -> list[int]:
    """Return the indices of the highest scores, as many as there are edges, best first.

    Of equal scores, those on an edge come first. So if one of them is not on an edge, no way of breaking ties puts the
    top scores at the edges (TV-06).
    """
    others = sorted(set(range(len(scores))).difference(edges))
    return descending(scores, [*sorted(edges), *others])[: len(edges)]
