"""Stage 3, Deduplicate, with DD-* and the opt-in of DD-01."""

from __future__ import annotations

import math
from typing import Any

import pytest

from pycupel import ContextBudget, ContextItem, Pipeline, SelectionReport
from pycupel.diagnostics import Deduplicated
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
        pytest.param([0.2, 0.9, 0.5], 1, id="the highest score"),
        pytest.param([0.9, 0.5, 0.9], 0, id="at equal scores the first"),
        pytest.param([0.5, 0.5, 0.5], 0, id="all equal"),
        pytest.param([0.1, 0.2, 0.3], 2, id="each better than the one before"),
        pytest.param([-0.0, 0.0], 0, id="zeros tie (SO-01)"),
        pytest.param([0.0, -0.0], 0, id="zeros tie (SO-01), the other way round"),
        pytest.param([NAN, -5.0], 1, id="a number beats NaN (DD-02)"),
        pytest.param([-5.0, NAN], 0, id="NaN does not beat a number (DD-02)"),
        pytest.param([NAN, NAN], 0, id="NaN ties with NaN (DD-02)"),
        pytest.param([NAN, -math.inf], 1, id="even minus infinity beats NaN (DD-02)"),
        pytest.param([1e300, math.inf], 1, id="infinity is ordinary (SC-03)"),
    ],
)
def test_of_equal_contents_one_survives(scores: list[float], survivor: int) -> None:
    """Stage 3, Deduplicate: the highest score; on ties the lowest index."""
    assert survivors([item("same", score) for score in scores]) == [survivor]


def test_without_duplicates_nothing_happens() -> None:
    """Stage 3, Deduplicate: edge cases."""
    items = [item("a"), item("b"), item("c")]
    assert report(items).items == items
    assert report(items).excluded == ()


def test_each_content_has_its_own_survivor() -> None:
    """Stage 3, Deduplicate: one group for one content."""
    items = [item("a", 0.1), item("b", 0.9), item("a", 0.8), item("b", 0.2), item("c", 0.0)]
    assert survivors(items) == [1, 2, 4]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("a", "A"),
        ("a", "a "),
        ("a", " a"),
        ("a", "a\n"),
        ("a", "\ufeffa"),
        ("\u00e9", "e\u0301"),
        ("\u212b", "\u00c5"),
        ("\ufb01", "fi"),
        ("\u00df", "ss"),
        ("\ud800", "\ud801"),
    ],
)
def test_contents_differ_by_a_single_byte(first: str, second: str) -> None:
    """DD-04: no normalization, no folding, no trimming; lone surrogates compare like others."""
    assert survivors([item(first), item(second)]) == [0, 1]
    assert survivors([item(second), item(second)]) == [0]


def test_only_the_content_counts() -> None:
    """Stage 3, Deduplicate: the survivor keeps its own fields."""
    items = [
        item("same", 0.1, kind="Document", tags=["x"], metadata={"k": 1}),
        item("same", 0.9, kind="Memory", source="Rag", priority=3),
    ]
    (survivor,) = report(items).items
    assert survivor is items[1]
    assert survivor.kind == "Memory"


def test_the_relative_order_of_survivors_is_preserved() -> None:
    """Stage 3, Deduplicate: MUST; at equal scores and without timestamps the output shows it."""
    items = [item("a"), item("b"), item("a"), item("c"), item("b")]
    assert [each.content for each in report(items).items] == ["a", "b", "c"]
    assert survivors(items) == [0, 1, 3]


def test_order_of_survivors_follows_their_own_positions() -> None:
    """SO-02: a survivor stands where it stood, not where its first duplicate stood."""
    items = [item("a", 0.1), item("b", 0.5), item("a", 0.5)]
    assert report(items).items == [items[1], items[2]]


def test_deduplication_can_be_disabled() -> None:
    """Stage 3, Deduplicate: edge cases; the input is returned unchanged."""
    items = [item("same", 0.9), item("same", 0.9), item("same", 0.1)]
    assert survivors(items, deduplication=False) == [0, 1, 2]
    assert survivors(items) == [0]


def test_the_same_object_twice_is_a_duplicate_of_itself() -> None:
    """Stage 3, Deduplicate: the content is the same."""
    twice = item("same")
    result = report([twice, twice])
    assert result.items == [twice]
    assert [each.item is twice for each in result.excluded] == [True]


def test_duplicates_are_reported_with_their_score_and_the_content_that_was_kept() -> None:
    """DD-03, SR-02 and ER-06."""
    result = report([item("same", 0.3), item("same", 0.9)])
    assert [(each.score, each.reason) for each in result.excluded] == [(0.3, Deduplicated("same"))]


def test_pinned_items_take_no_part() -> None:
    """DD-01: a pinned and an unpinned item with the same content are both selected."""
    items = [item("same", pinned=True), item("same", 0.9), item("same", pinned=True)]
    assert survivors(items) == [0, 1, 2]


def test_negative_items_take_no_part() -> None:
    """Stage 1, Classify: they do not appear in any subsequent stage."""
    items = [ContextItem("same", -1, future_relevance_hint=9.0), item("same", 0.1)]
    assert survivors(items) == [1]


def test_dedupe_against_pinned_removes_what_is_pinned_already() -> None:
    """DD-01: the opt-in; nothing else changes."""
    items = [item("same", 0.9), item("other", 0.1), item("same", pinned=True), item("same", 0.2)]
    result = report(items, dedupe_against_pinned=True)
    assert sorted(each.content for each in result.items) == ["other", "same"]
    assert result.items[0] is items[2]
    assert [
        (each.item is items[i], each.score, each.reason) for i, each in zip((0, 3), result.excluded, strict=True)
    ] == [
        (True, 0.9, Deduplicated("same")),
        (True, 0.2, Deduplicated("same")),
    ]


def test_dedupe_against_pinned_leaves_pinned_items_alone() -> None:
    """DD-01: they are never removed, not even for each other."""
    items = [item("same", pinned=True), item("same", pinned=True), item("a"), item("a")]
    assert survivors(items, dedupe_against_pinned=True) == [0, 1, 2]


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
