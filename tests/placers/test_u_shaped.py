"""UShapedPlacer: the highest scores at both edges."""

from __future__ import annotations

import math
from datetime import UTC, datetime

import pytest
from hypothesis import given, settings, strategies as st

from pycupel import (
    ContextBudget,
    ContextItem,
    KindScorer,
    Pipeline,
    ReflexiveScorer,
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


@pytest.mark.parametrize(
    ("scores", "names"),
    [
        pytest.param([], "", id="empty input"),
        pytest.param([0.3], "a", id="a single item"),
        pytest.param([0.9, 0.1], "ab", id="two items"),
        pytest.param([0.1, 0.9], "ba", id="two items, the better one first"),
        pytest.param([0.9, 0.8, 0.7], "acb", id="three items"),
        pytest.param([0.9, 0.8, 0.7, 0.6], "acdb", id="four items"),
        pytest.param([0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3], "acegfdb", id="the chapter's visual example"),
        pytest.param([0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9], "gecabdf", id="the same backwards"),
        pytest.param([0.5] * 5, "acedb", id="equal scores still alternate, in input order"),
        pytest.param([0.5] * 6, "acefdb", id="equal scores, an even number"),
        pytest.param([0.2, 0.8, 0.2, 0.8], "bacd", id="ties go by index"),
        pytest.param([0.1, 0.9, 0.5], "bac", id="the best first, the second best last"),
    ],
)
def test_even_ranks_go_to_the_left_and_odd_ranks_to_the_right(scores: list[float], names: str) -> None:
    """UShapedPlacer, Edge Cases and Visual Example; UP-01, UP-02."""
    assert placed(scores) == names


@pytest.mark.parametrize(
    ("scores", "names"),
    [
        pytest.param([-0.0, 0.0, -0.0], "acb", id="zeros of both signs tie"),
        pytest.param([0.0, -0.0, 0.0], "acb", id="zeros of both signs tie, the other way round"),
        pytest.param([math.nan, 0.1, -math.inf], "bac", id="NaN is below minus infinity"),
        pytest.param([math.nan, math.nan, 0.0, math.nan], "cbda", id="NaN ties with NaN"),
        pytest.param([0.5, math.inf, -math.inf, 7.0], "bacd", id="infinities are ordinary"),
        pytest.param([math.inf, -math.inf, 0.0], "abc", id="infinities cancel out, but not here"),
    ],
)
def test_odd_scores_have_their_place(scores: list[float], names: str) -> None:
    """SC-03, SO-01: NaN below every number, IEEE equality for zeros."""
    assert placed(scores) == names


def test_equal_items_are_told_apart() -> None:
    """Placers: the same items it receives; PY-04."""
    items = [ContextItem("same", 1) for _ in range(3)]
    output = UShapedPlacer().place(
        [ScoredItem(item, score) for item, score in zip(items, (0.1, 0.3, 0.2), strict=True)]
    )
    assert list(map(id, output)) == [id(items[1]), id(items[0]), id(items[2])]


def test_the_same_object_twice_is_placed_twice() -> None:
    """SL-03."""
    one, two = ContextItem("one", 1), ContextItem("two", 1)
    output = UShapedPlacer().place([ScoredItem(one, 0.9), ScoredItem(two, 0.8), ScoredItem(one, 0.7)])
    assert [item.content for item in output] == ["one", "one", "two"]


def test_timestamps_do_not_matter() -> None:
    """UShapedPlacer, Fields Used: score only."""
    days = (3, 1, 2)
    scored = [ScoredItem(ContextItem(f"{day}", 1, timestamp=datetime(2025, 1, day, tzinfo=UTC)), 0.5) for day in days]
    assert [item.content for item in UShapedPlacer().place(scored)] == ["3", "2", "1"]


def test_pinned_items_are_not_special() -> None:
    """UShapedPlacer, Edge Cases; PL-08: they have score 1.0, and a higher score ranks above them."""
    pinned = ContextItem("pinned", 1, pinned=True)
    items = [
        ContextItem("low", 1, future_relevance_hint=0.2),
        ContextItem("high", 1, future_relevance_hint=0.9),
        pinned,
    ]
    pipeline = Pipeline(ReflexiveScorer(), placer=UShapedPlacer())
    assert [item.content for item in pipeline.run(items, ContextBudget(100))] == ["pinned", "low", "high"]
    beyond = Pipeline(KindScorer({"Message": 7.0}), placer=UShapedPlacer())
    assert [item.content for item in beyond.run(items, ContextBudget(100))] == ["low", "pinned", "high"]


def test_ties_go_by_the_merged_order() -> None:
    """UP-01 with SL-01: pinned first, then by score and index, never by slicer order."""
    sizes = {"a": 30, "b": 1, "c": 20, "d": 2}
    items = [ContextItem(name, tokens) for name, tokens in sizes.items()]
    pipeline = Pipeline(KindScorer(), placer=UShapedPlacer())
    assert [item.content for item in pipeline.run(items, ContextBudget(100))] == ["a", "c", "d", "b"]


@settings(deadline=None, max_examples=80)
@given(st.lists(st.sampled_from([hint for hint in HINTS if hint is not None]) | st.floats(), max_size=12))
def test_any_list_is_placed_as_the_pseudocode_places_it(scores: list[float]) -> None:
    """U-SHAPED-PLACE."""
    assert placed(scores) == "".join(chr(ord("a") + i) for i in u_shaped(scores))
