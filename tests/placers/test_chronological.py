"""ChronologicalPlacer: what the vectors `chronological-*` do not show."""

from __future__ import annotations

from typing import Any

import pytest

from pycupel import (
    ChronologicalPlacer,
    ContextItem,
    Placer,
    ScoredItem,
    UShapedPlacer,
)
from pycupel.placers import Lineup, place_by_index
from tests.strategies import HOUR, NOW


def dated(name: str, age: int | None) -> ContextItem:
    return ContextItem(name, 1, timestamp=None if age is None else NOW - age * HOUR)


def placed(items: list[ContextItem], scores: list[float] | None = None) -> list[ContextItem]:
    """What `place` and `place_by_index` agree on, object by object."""
    scores = [0.5] * len(items) if scores is None else scores
    output = ChronologicalPlacer().place([ScoredItem(*pair) for pair in zip(items, scores, strict=True)])
    by_index = [items[i] for i in place_by_index(ChronologicalPlacer(), Lineup(items, scores))]
    assert list(map(id, output)) == list(map(id, by_index))
    return output


@pytest.mark.parametrize("placer", [ChronologicalPlacer(), UShapedPlacer()])
@pytest.mark.parametrize(
    "scored",
    [
        pytest.param(None, id="nothing"),
        pytest.param("ab", id="a string"),
        pytest.param([dated("a", 1)], id="an item without score"),
        pytest.param([(dated("a", 1), 0.5, 0.5)], id="three of them"),
        pytest.param([("a", 0.5)], id="a content for an item"),
        pytest.param([(dated("a", 1), "0.5")], id="a string for a score"),
    ],
)
def test_anything_but_pairs_is_a_type_error(placer: Placer, scored: Any) -> None:
    """Placer Interface: a list of ScoredItem; the message names the argument."""
    with pytest.raises(TypeError, match="scored_items"):
        placer.place(scored)


def test_any_pair_is_a_scored_item() -> None:
    """DM-19: ScoredItem is a plain pair."""
    pairs: Any = [(dated("a", 1), 1), (dated("b", 2), 0)]
    assert [item.content for item in ChronologicalPlacer().place(pairs)] == ["b", "a"]
