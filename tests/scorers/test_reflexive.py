"""ReflexiveScorer: what the vectors `reflexive-*` do not show."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from pycupel import ContextItem, ReflexiveScorer
from pycupel.scorers import rescale_hints
from pycupel.testing import check_scorer


def hinted(hints: list[float | None]) -> list[ContextItem]:
    return [ContextItem(f"item {i}", 10, future_relevance_hint=hint) for i, hint in enumerate(hints)]


@pytest.mark.parametrize(
    ("hints", "expected"),
    [
        pytest.param([7.0, 7.0], [0.5, 0.5], id="all equal"),
        pytest.param([None, None], [0.0, 0.0], id="no hints"),
        pytest.param([1.7e308, -1.7e308, 0.0], [1.0, 0.0, 0.5], id="a span beyond the range of floats"),
        pytest.param([-5e-324, 0.0], [0.5, 0.5], id="a span whose half is no float"),
    ],
)
def test_rescaling_at_its_limits(hints: list[float | None], expected: list[float]) -> None:
    items = hinted(hints)
    scorer = ReflexiveScorer("auto")
    assert scorer.score_all(items) == pytest.approx(expected)
    assert [scorer.score(item, items) for item in items] == scorer.score_all(items)


def test_never_is_the_default() -> None:
    assert ReflexiveScorer() == ReflexiveScorer("never") != ReflexiveScorer("auto")
    assert repr(ReflexiveScorer("auto")) == "ReflexiveScorer(rescale='auto')"
    assert repr(ReflexiveScorer()) == "ReflexiveScorer()"


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
