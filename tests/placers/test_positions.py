"""Undated items in the order of the input: `ChronologicalPlacer("position")`, alone and inside a frame."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from pycupel import (
    ChronologicalPlacer,
    ContextItem,
    FramedPlacer,
    OverflowStrategy,
    Pipeline,
    PriorityScorer,
    UShapedPlacer,
)
from pycupel.errors import PlacerContractError
from pycupel.placers import Lineup, place_by_index

NOON = datetime(2026, 1, 5, 12, tzinfo=UTC)


def item(name: str, priority: int = 0, **fields: Any) -> ContextItem:
    return ContextItem(name, 10, priority=priority, **fields)


def placed(items: list[ContextItem], placer: Any, budget: int = 1_000, **options: Any) -> str:
    return "".join(each.content for each in Pipeline(PriorityScorer(), placer=placer, **options).run(items, budget))


UNDATED = [item("a", 1), item("b", 3, pinned=True), item("c", 2), item("d", 9), item("e", 0, pinned=True)]


@pytest.mark.parametrize(
    ("placer", "expected"),
    [
        (ChronologicalPlacer(), "bedca"),
        (ChronologicalPlacer("position"), "abcde"),
        (FramedPlacer(ChronologicalPlacer("position"), first=lambda each: each.content == "d"), "dabce"),
        (FramedPlacer(ChronologicalPlacer("position")), "abcde"),
        (FramedPlacer(ChronologicalPlacer(), first=lambda each: each.content == "d"), "dbeca"),
    ],
)
def test_undated_items_stay_in_input_order_if_asked(placer: Any, expected: str) -> None:
    assert placed(UNDATED, placer) == expected


@pytest.mark.parametrize("tokens", [0, 10])
def test_a_pinned_item_between_others_stays_there(tokens: int) -> None:
    items = [item("a"), item("b"), ContextItem("p", tokens, pinned=True), item("c")]
    assert placed(items, ChronologicalPlacer("position")) == "abpc"


def test_invalid_items_do_not_shift_the_others() -> None:
    items = [ContextItem("x", -1), *UNDATED[:2], ContextItem("y", -1, pinned=True), *UNDATED[2:]]
    assert placed(items, ChronologicalPlacer("position")) == "abcde"


def test_what_truncation_leaves_stays_in_input_order() -> None:
    class Everything:
        def slice(self, scored_items: Any, budget: Any) -> list[ContextItem]:
            return [item for item, _ in scored_items]

    options = {"slicer": Everything(), "overflow_strategy": OverflowStrategy.TRUNCATE}
    assert placed(UNDATED, ChronologicalPlacer("position"), 40, **options) == "bcde"


def test_one_timestamp_makes_it_chronological() -> None:
    assert placed([*UNDATED, item("f", timestamp=NOON)], ChronologicalPlacer("position")) == "fbedca"


def test_place_alone_does_not_know_the_input() -> None:
    scored = [(each, 0.5) for each in reversed(UNDATED)]
    assert ChronologicalPlacer("position").place(scored) == list(reversed(UNDATED))  # type: ignore[arg-type]


def test_a_placer_that_returns_a_set_has_no_order() -> None:
    class Unordered:
        def place(self, scored_items: Any) -> Any:
            return {each for each, _ in scored_items}

    with pytest.raises(PlacerContractError, match="Unordered returned a set, which has no order"):
        placed(UNDATED, Unordered())


def test_other_placers_ignore_positions() -> None:
    assert place_by_index(UShapedPlacer(), Lineup(UNDATED[:3], [0.1, 0.2, 0.3], lambda: [5, 3, 1])) == [2, 0, 1]
