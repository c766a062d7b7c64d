"""Stage 3, Deduplicate: what the vectors `dedup-*` do not show."""

from __future__ import annotations

import math
from typing import Any

import pytest

from pycupel import ContextBudget, ContextItem, Pipeline, SelectionReport
from pycupel.errors import PipelineConfigError
from tests.strategies import RawHintScorer

NAN = math.nan
BUDGET = ContextBudget(1000)


def item(content: str, score: float = 0.5, **options: Any) -> ContextItem:
    return ContextItem(content, 10, future_relevance_hint=score, **options)


def report(items: list[ContextItem], **options: Any) -> SelectionReport:
    return Pipeline(RawHintScorer(), **options).dry_run(items, BUDGET)


def survivors(items: list[ContextItem], **options: Any) -> list[int]:
    """Tell which positions of the input survive; all items in it are different objects."""
    kept = set(map(id, report(items, **options).items))
    return [i for i, each in enumerate(items) if id(each) in kept]


@pytest.mark.parametrize(
    ("scores", "survivor"),
    [
        pytest.param([-0.0, 0.0], 0, id="zeros tie (SO-01)"),
        pytest.param([0.0, -0.0], 0, id="zeros tie (SO-01), the other way round"),
        pytest.param([NAN, -5.0], 1, id="a number beats NaN (DD-02)"),
        pytest.param([-5.0, NAN], 0, id="NaN does not beat a number (DD-02)"),
        pytest.param([NAN, NAN], 0, id="NaN ties with NaN (DD-02)"),
        pytest.param([NAN, -math.inf], 1, id="even minus infinity beats NaN (DD-02)"),
        pytest.param([1e300, math.inf], 1, id="infinity is ordinary (SC-03)"),
    ],
)
def test_any_scores_are_compared(scores: list[float], survivor: int) -> None:
    """Stage 3, Deduplicate: the highest score; on ties the lowest index."""
    assert survivors([item("same", score) for score in scores]) == [survivor]


def test_lone_surrogates_compare_like_other_characters() -> None:
    """DD-04; TOML cannot express them."""
    assert survivors([item("\ud800"), item("\ud801"), item("\ud801")]) == [0, 1]


def test_the_same_object_twice_is_a_duplicate_of_itself() -> None:
    """Stage 3, Deduplicate: the content is the same."""
    twice = item("same")
    result = report([twice, twice])
    assert result.items == [twice]
    assert [each.item is twice for each in result.excluded] == [True]


def test_negative_items_take_no_part() -> None:
    """Stage 1, Classify: they do not appear in any subsequent stage."""
    items = [ContextItem("same", -1, future_relevance_hint=9.0), item("same", 0.1)]
    assert survivors(items) == [1]


def test_dedupe_against_pinned_without_pinned_items_changes_nothing() -> None:
    """DD-01: and a pinned item that is invalid pins nothing."""
    items = [item("a", 0.1), item("a", 0.9), ContextItem("a", -1, pinned=True)]
    assert survivors(items, dedupe_against_pinned=True) == survivors(items) == [1]


def test_dedupe_against_pinned_needs_deduplication() -> None:
    """DD-01: the two contradict each other."""
    with pytest.raises(PipelineConfigError, match="dedupe_against_pinned") as caught:
        Pipeline(RawHintScorer(), deduplication=False, dedupe_against_pinned=True)
    assert caught.value.argument == "dedupe_against_pinned"


@pytest.mark.parametrize("name", ["deduplication", "dedupe_against_pinned"])
@pytest.mark.parametrize("value", [1, None, "yes"])
def test_the_options_are_bools(name: str, value: Any) -> None:
    """PB-05."""
    with pytest.raises(TypeError, match=f"{name} must be a bool"):
        Pipeline(RawHintScorer(), **{name: value})


def test_deduplication_is_the_default_and_dedupe_against_pinned_is_not() -> None:
    """PB-01."""
    assert Pipeline(RawHintScorer()).deduplication is True
    assert Pipeline(RawHintScorer()).dedupe_against_pinned is False
