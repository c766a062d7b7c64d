"""UShapedPlacer beyond the vectors `u-shaped-*`: any scores, as the pseudocode places them."""

from __future__ import annotations

from hypothesis import given, settings, strategies as st

from pycupel import (
    ContextItem,
    ScoredItem,
    UShapedPlacer,
)
from pycupel.placers._base import place_by_index
from tests.oracle.placers import u_shaped
from tests.strategies import HINTS


def placed(scores: list[float]) -> str:
    """Items a, b, c and so on with these scores, as `place` and `place_by_index` agree to place them."""
    items = [ContextItem(chr(ord("a") + i), 1) for i in range(len(scores))]
    output = UShapedPlacer().place([ScoredItem(*pair) for pair in zip(items, scores, strict=True)])
    by_index = [items[i] for i in place_by_index(UShapedPlacer(), items, scores)]
    assert list(map(id, output)) == list(map(id, by_index))
    return "".join(item.content for item in output)


@settings(deadline=None, max_examples=80)
@given(st.lists(st.sampled_from([hint for hint in HINTS if hint is not None]) | st.floats(), max_size=12))
def test_any_list_is_placed_as_the_pseudocode_places_it(scores: list[float]) -> None:
    """U-SHAPED-PLACE."""
    assert placed(scores) == "".join(chr(ord("a") + i) for i in u_shaped(scores))
