"""The assertions on the first and the last item."""

from __future__ import annotations

import pytest

from pycupel import ContextItem, Pipeline, ReflexiveScorer, UShapedPlacer
from pycupel.diagnostics import SelectionReport
from pycupel.testing import SelectionReportAssertionError

ITEMS = [ContextItem(name, 10, future_relevance_hint=hint) for name, hint in (("a", 0.9), ("b", 0.8), ("c", 0.1))]


def report(items: list[ContextItem] = ITEMS) -> SelectionReport:
    return Pipeline(ReflexiveScorer(), placer=UShapedPlacer()).dry_run(items, 100)


def test_an_item_is_first_and_another_last() -> None:
    should = report().should()
    assert should.place_item_first(lambda each: each.item.content == "a") is should
    assert should.place_item_last(lambda each: each.item.content == "b") is should
    report(ITEMS[:1]).should().place_item_first(bool).place_item_last(bool)


def test_a_failure_says_where_the_item_is() -> None:
    with pytest.raises(SelectionReportAssertionError) as caught:
        report().should().place_item_last(lambda each: each.item.content == "c")
    assert str(caught.value).startswith(
        "PlaceItemLast failed: item matching predicate was at index 1, not last (index 2). Included had 3 items."
    )
    assert (caught.value.expected, caught.value.actual) == (2, (1,))
    with pytest.raises(SelectionReportAssertionError, match="PlaceItemFirst failed: item matching predicate was at in"):
        report().should().place_item_first(lambda each: each.item.content == "b")
    with pytest.raises(SelectionReportAssertionError, match="PlaceItemFirst failed: no item in Included matched, not"):
        report().should().place_item_first(lambda each: each.item.content == "d")
    with pytest.raises(SelectionReportAssertionError, match=r"not last \(index 0\)\. Included had 0 items\."):
        report([]).should().place_item_last(bool)


def test_a_predicate_is_a_function() -> None:
    with pytest.raises(TypeError, match="predicate"):
        report().should().place_item_first("a")  # type: ignore[arg-type]
