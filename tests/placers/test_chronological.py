"""ChronologicalPlacer: oldest first."""

from __future__ import annotations

import math
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest
from hypothesis import given, settings

from pycupel import (
    ChronologicalPlacer,
    ContextBudget,
    ContextItem,
    Pipeline,
    Placer,
    ReflexiveScorer,
    ScoredItem,
    UShapedPlacer,
)
from pycupel.placers._base import place_by_index
from tests import strategies
from tests.oracle.placers import chronological
from tests.strategies import HOUR, NOW


def dated(name: str, age: int | None) -> ContextItem:
    return ContextItem(name, 1, timestamp=None if age is None else NOW - age * HOUR)


def placed(items: list[ContextItem], scores: list[float] | None = None) -> list[ContextItem]:
    """What `place` and `place_by_index` agree on, object by object."""
    scores = [0.5] * len(items) if scores is None else scores
    output = ChronologicalPlacer().place([ScoredItem(*pair) for pair in zip(items, scores, strict=True)])
    by_index = [items[i] for i in place_by_index(ChronologicalPlacer(), items, scores)]
    assert list(map(id, output)) == list(map(id, by_index))
    return output


@pytest.mark.parametrize(
    ("ages", "names"),
    [
        pytest.param({}, "", id="empty input"),
        pytest.param({"a": 5}, "a", id="a single item"),
        pytest.param({"a": None}, "a", id="a single item without timestamp"),
        pytest.param({"a": 1, "b": 3, "c": 2}, "bca", id="ascending by timestamp"),
        pytest.param({"a": None, "b": None, "c": None}, "abc", id="no timestamps keep the input order"),
        pytest.param({"a": 4, "b": 4, "c": 4}, "abc", id="one shared timestamp keeps the input order"),
        pytest.param({"a": None, "b": 1, "c": None, "d": 2, "e": None}, "dbace", id="what has none comes last"),
        pytest.param({"a": 1, "b": 2, "c": 1, "d": 2, "e": 1}, "bdace", id="ties keep the input order"),
        pytest.param({"a": -5, "b": 0, "c": 5}, "cba", id="the future comes after the present"),
    ],
)
def test_items_are_placed_from_old_to_new(ages: dict[str, int | None], names: str) -> None:
    """ChronologicalPlacer, Edge Cases; CP-01."""
    items = [dated(name, age) for name, age in ages.items()]
    assert "".join(item.content for item in placed(items)) == names


@pytest.mark.parametrize("scores", [[0.1, 0.2, 0.3], [0.3, 0.2, 0.1], [math.nan, math.inf, -math.inf], [1.0, 1.0, 1.0]])
def test_scores_do_not_matter(scores: list[float]) -> None:
    """ChronologicalPlacer: scores MUST NOT influence the ordering."""
    items = [dated("a", 1), dated("b", 2), dated("c", None)]
    assert [item.content for item in placed(items, scores)] == ["b", "a", "c"]
    ties = [dated("a", 1), dated("b", 1), dated("c", 1)]
    assert [item.content for item in placed(ties, scores)] == ["a", "b", "c"]


def test_timestamps_are_compared_as_instants() -> None:
    """CP-01: not by representation or time zone."""
    tokyo = timezone(timedelta(hours=9))
    items = [
        ContextItem("noon", 1, timestamp=datetime(2025, 1, 1, 12, tzinfo=UTC)),
        ContextItem("the same noon", 1, timestamp=datetime(2025, 1, 1, 21, tzinfo=tokyo)),
        ContextItem("four o'clock", 1, timestamp=datetime(2025, 1, 1, 13, tzinfo=tokyo)),
    ]
    assert [item.content for item in placed(items)] == ["four o'clock", "noon", "the same noon"]
    assert [item.content for item in placed(items[::-1])] == ["four o'clock", "the same noon", "noon"]


def test_equal_items_are_told_apart() -> None:
    """Placers: the same items it receives; PY-04."""
    items = [dated("same", 1), dated("same", 1), dated("same", 1)]
    assert list(map(id, placed(items))) == list(map(id, items))


def test_the_same_object_twice_is_placed_twice() -> None:
    """SL-03."""
    old, new = dated("old", 2), dated("new", 1)
    assert [item.content for item in placed([new, old, new])] == ["old", "new", "new"]


def test_the_input_is_left_alone() -> None:
    """Placers, Contract: the output is a list of its own."""
    scored = [ScoredItem(dated("a", 1), 0.1), ScoredItem(dated("b", 2), 0.2)]
    before = list(scored)
    ChronologicalPlacer().place(scored).clear()
    assert scored == before
    assert [item.content for item in ChronologicalPlacer().place(tuple(scored))] == ["b", "a"]


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


def test_pinned_items_are_placed_by_time_too() -> None:
    """Stage 6, Place: pinned items come first in the merged list, and the placer decides."""
    pinned = ContextItem("pinned", 1, timestamp=NOW - HOUR, pinned=True)
    items = [dated("new", 0), pinned, dated("old", 2), dated("undated", None)]
    output = Pipeline(ReflexiveScorer()).run(items, ContextBudget(100))
    assert [item.content for item in output] == ["old", "pinned", "new", "undated"]


@settings(deadline=None, max_examples=80)
@given(strategies.item_lists())
def test_any_list_is_placed_as_the_pseudocode_places_it(items: list[ContextItem]) -> None:
    """CHRONOLOGICAL-PLACE."""
    expected = [items[i] for i in chronological(items)]
    assert list(map(id, placed(items))) == list(map(id, expected))
