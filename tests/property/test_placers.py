"""Any items with any scores are placed as the pseudocode places them, by `place` and by `place_by_index`."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given, strategies as st

from pycupel import ChronologicalPlacer, ContextItem, Placer, ScoredItem, UShapedPlacer
from pycupel.placers import Lineup, place_by_index
from tests import strategies
from tests.examples import examples
from tests.oracle.placers import chronological, u_shaped
from tests.strategies import HINTS


def check(placer: Placer, items: Sequence[ContextItem], scores: Sequence[float], expected: Sequence[int]) -> None:
    placed = placer.place([ScoredItem(*pair) for pair in zip(items, scores, strict=True)])
    assert list(map(id, placed)) == [id(items[i]) for i in expected]
    assert place_by_index(placer, Lineup(items, scores)) == expected


@pytest.mark.proves("S-PC-02")
@examples(80)
@given(strategies.item_lists())
def test_by_age(items: list[ContextItem]) -> None:
    """CHRONOLOGICAL-PLACE."""
    check(ChronologicalPlacer(), items, [0.5] * len(items), chronological(items))


@pytest.mark.proves("S-PC-02")
@examples(80)
@given(st.lists(st.sampled_from([hint for hint in HINTS if hint is not None]) | st.floats(), max_size=12))
def test_by_score(scores: list[float]) -> None:
    """U-SHAPED-PLACE."""
    items = [ContextItem(f"{i}", 1) for i in range(len(scores))]
    check(UShapedPlacer(), items, scores, u_shaped(scores))
