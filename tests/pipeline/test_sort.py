"""Stage 4, Sort: what the vectors `sort-*` do not show."""

from __future__ import annotations

import math
from collections.abc import Sequence

import pytest

from pycupel import ContextBudget, ContextItem, Pipeline, ScoredItem
from tests.strategies import RawHintScorer

INF = math.inf
NAN = math.nan


class Recorder:
    """A slicer that takes everything and remembers the order in which it came."""

    def __init__(self) -> None:
        self.order: list[str] = []

    def slice(self, scored_items: Sequence[ScoredItem], budget: ContextBudget, /) -> list[ContextItem]:
        self.order = [pair.item.content for pair in scored_items]
        return [pair.item for pair in scored_items]


def sorted_positions(scores: Sequence[float]) -> list[int]:
    """Run items with these scores, and tell in which order the slicer sees them."""
    recorder = Recorder()
    items = [ContextItem(str(i), 1, future_relevance_hint=score) for i, score in enumerate(scores)]
    Pipeline(RawHintScorer(), recorder).run(items, ContextBudget(1000))
    return [int(content) for content in recorder.order]


@pytest.mark.proves("S-SO-01", "S-SO-03", "S-SO-05", "S-SL-02")
@pytest.mark.parametrize(
    ("scores", "expected"),
    [
        pytest.param([-1.0, -0.0, 0.0, -2.0], [1, 2, 0, 3], id="negative scores"),
        pytest.param([-INF, 1.0, INF, 2.0], [2, 3, 1, 0], id="infinities are ordinary (SC-03)"),
        pytest.param([NAN, 0.5, NAN, -INF, 0.9], [4, 1, 3, 0, 2], id="NaN below every number, by index (SC-03)"),
        pytest.param([INF, NAN, -INF, INF], [0, 3, 2, 1], id="NaN and infinities together (SC-03)"),
        pytest.param([INF, -INF, 0.0], [0, 2, 1], id="both infinities without NaN (SC-03)"),
        pytest.param([1e308, 1e308, 1.0, 1e308], [0, 1, 3, 2], id="scores whose sum is too large"),
        pytest.param([0.0, NAN, -0.0], [0, 2, 1], id="zeros and NaN"),
        pytest.param([5e-324, 0.0, 1e-323], [2, 0, 1], id="the smallest numbers there are"),
    ],
)
def test_by_score_descending_then_by_index(scores: list[float], expected: list[int]) -> None:
    """Stage 4, Sort: the composite key (score descending, index ascending)."""
    assert sorted_positions(scores) == expected
