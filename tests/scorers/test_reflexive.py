"""ReflexiveScorer: the caller's own hint."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import pytest

from pycupel import ContextItem, ReflexiveScorer
from pycupel.errors import ScorerConfigError
from pycupel.scorers import rescale_hints
from pycupel.testing import check_scorer


@pytest.mark.parametrize(
    ("hint", "score"),
    [
        (None, 0.0),
        (math.nan, 0.0),
        (-math.nan, 0.0),
        (math.inf, 0.0),
        (-math.inf, 0.0),
        (0.5, 0.5),
        (-0.3, 0.0),
        (1.7, 1.0),
        (0.0, 0.0),
        (-0.0, -0.0),
        (1.0, 1.0),
        (math.nextafter(1.0, 2.0), 1.0),
        (math.nextafter(1.0, 0.0), math.nextafter(1.0, 0.0)),
        (-5e-324, 0.0),
        (5e-324, 5e-324),
        (1.7976931348623157e308, 1.0),
        (-1.7976931348623157e308, 0.0),
    ],
)
def test_the_score_is_the_hint_within_bounds(hint: float | None, score: float) -> None:
    """ReflexiveScorer, Edge Cases; RX-01: null check, then finiteness, then clamp."""
    item = ContextItem("x", 1, future_relevance_hint=hint)
    scorer = ReflexiveScorer()
    assert scorer.score(item, [item]).hex() == score.hex()
    assert [each.hex() for each in scorer.score_all([item])] == [score.hex()]


def test_an_integer_hint_is_a_float() -> None:
    """DM-08: integers are converted."""
    items = [ContextItem("x", 1, future_relevance_hint=hint) for hint in (0, 1, 2)]
    scores = ReflexiveScorer().score_all(items)
    assert scores == [0.0, 1.0, 1.0]
    assert {type(score) for score in scores} == {float}


def test_other_items_do_not_matter() -> None:
    """ReflexiveScorer is absolute: allItems is ignored."""
    item = ContextItem("x", 1, future_relevance_hint=0.4)
    other = ContextItem("y", 1, future_relevance_hint=0.9)
    assert ReflexiveScorer().score(item, []) == ReflexiveScorer().score(item, [other, item]) == 0.4
    assert ReflexiveScorer().score_all([other, item]) == [0.9, 0.4]
    assert ReflexiveScorer().score_all([]) == []


def hinted(hints: list[float | None]) -> list[ContextItem]:
    return [ContextItem(f"item {i}", 10, future_relevance_hint=hint) for i, hint in enumerate(hints)]


@pytest.mark.parametrize(
    ("hints", "expected"),
    [
        pytest.param([0.2, 0.9, None, 0.0, 1.0], [0.2, 0.9, 0.0, 0.0, 1.0], id="within the range they stay"),
        pytest.param([3.1, 27.4, 15.25], [0.0, 1.0, 0.5], id="raw BM25"),
        pytest.param([-9.0, -0.4, -4.7], [0.0, 1.0, 0.5], id="logits"),
        pytest.param([-1.0, 1.0, 0.0], [0.0, 1.0, 0.5], id="cosines"),
        pytest.param(
            [5.0, None, math.nan, math.inf, 3.0, -math.inf], [1.0, 0.0, 0.0, 0.0, 0.0, 0.0], id="others are left out"
        ),
        pytest.param([0.5, math.inf], [0.5, 0.0], id="infinity alone is no scale"),
        pytest.param([7.0, 7.0], [0.5, 0.5], id="all equal"),
        pytest.param([None, None], [0.0, 0.0], id="no hints"),
        pytest.param([1.7e308, -1.7e308, 0.0], [1.0, 0.0, 0.5], id="a span beyond the range of floats"),
        pytest.param([], [], id="no items"),
    ],
)
def test_hints_of_any_scale_order_as_their_numbers_do(hints: list[float | None], expected: list[float]) -> None:
    """`rescale="auto"`: scaled over the candidates if any hint lies outside of [0, 1]."""
    items = hinted(hints)
    scorer = ReflexiveScorer("auto")
    assert scorer.score_all(items) == pytest.approx(expected)
    assert [scorer.score(item, items) for item in items] == scorer.score_all(items)


def test_never_is_the_default_and_clamps() -> None:
    """The specification's letter."""
    assert ReflexiveScorer() == ReflexiveScorer("never") != ReflexiveScorer("auto")
    assert ReflexiveScorer().score_all(hinted([3.1, 27.4, -9.0])) == [1.0, 1.0, 0.0]
    assert repr(ReflexiveScorer("auto")) == "ReflexiveScorer(rescale='auto')"
    assert repr(ReflexiveScorer()) == "ReflexiveScorer()"


@pytest.mark.parametrize("rescale", ["always", None, True])
def test_another_way_to_rescale_is_refused(rescale: Any) -> None:
    with pytest.raises(ScorerConfigError, match="rescale must be 'never' or 'auto'") as caught:
        ReflexiveScorer(rescale)
    assert caught.value.argument == "rescale"


def test_rescaling_keeps_the_contract() -> None:
    items = hinted([3.0, -1.0, 0.5, None])
    check_scorer(ReflexiveScorer("auto"), items)


def test_hints_can_be_rescaled_in_the_items() -> None:
    """What changes is copied with everything else; what does not is the same object."""
    high = ContextItem("high", 3, kind="Document", tags=["x"], metadata={"a": 1}, future_relevance_hint=12.0)
    low, none = hinted([2.0, None])
    rescaled = rescale_hints(iter([high, low, none]))
    assert [item.future_relevance_hint for item in rescaled] == [1.0, 0.0, None]
    assert rescaled[0] == replace(high, future_relevance_hint=1.0)
    assert rescaled[2] is none
    within = hinted([0.2, 0.9])
    assert all(new is old for new, old in zip(rescale_hints(within), within, strict=True))


@pytest.mark.parametrize("items", [None, "text", [1]])
def test_only_items_can_be_rescaled(items: Any) -> None:
    with pytest.raises(TypeError, match="items"):
        rescale_hints(items)
