"""CountConstrainedKnapsackSlice: what the vectors `count-constrained-knapsack-*` do not show."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import pytest

from pycupel import (
    ContextBudget,
    ContextItem,
    CountConstrainedKnapsackSlice,
    CountQuotaEntry,
    GreedySlice,
    KnapsackSlice,
    ScarcityBehavior,
    ScoredItem,
)
from pycupel.diagnostics import CountCapExceeded
from pycupel.errors import CountRequirementError
from tests.slicers.rows import KindRows, detailed, entry, of_kinds, selected

EXACT = KnapsackSlice(1)


def constrained(rows: KindRows, target: int, slicer: CountConstrainedKnapsackSlice) -> list[str]:
    return selected(of_kinds(rows), target, slicer)


TOOLS: KindRows = [
    ("tool-a", "tool", 100, 0.9),
    ("tool-b", "tool", 100, 0.8),
    ("tool-c", "tool", 100, 0.7),
    ("tool-d", "tool", 100, 0.6),
]


@pytest.mark.proves("S-CK-08")
def test_there_is_no_guard_against_a_knapsack() -> None:
    """CountConstrainedKnapsackSlice: it is the knapsack wrapper itself; a bucket of 100 unless given."""
    assert CountConstrainedKnapsackSlice([]).knapsack == KnapsackSlice()
    assert CountConstrainedKnapsackSlice([], EXACT).knapsack == EXACT


@pytest.mark.proves("S-CK-14")
@pytest.mark.parametrize(
    ("rows", "target", "entries", "bucket", "expected"),
    [
        pytest.param(
            [("tool-a", "tool", 100, 0.9), ("tool-b", "tool", 100, 0.7), ("msg-x", "msg", 100, 0.5)],
            1000,
            [entry("tool", 2, 4)],
            100,
            (["tool-a", "tool-b", "msg-x"], [], []),
            id="baseline",
        ),
        pytest.param(
            TOOLS,
            600,
            [entry("tool", 1, 2)],
            100,
            (["tool-a", "tool-b"], [], ["tool-c", "tool-d"]),
            id="cap exclusion",
        ),
        pytest.param(
            TOOLS[:1], 500, [entry("tool", 3, 5)], 100, (["tool-a"], [("tool", 3, 1)], []), id="scarcity degrade"
        ),
        pytest.param(
            [("item-tool", "tool", 100, 0.9), ("item-memory", "memory", 100, 0.8), ("item-extra", "tool", 100, 0.5)],
            1000,
            [entry("tool", 1, 4), entry("memory", 1, 4)],
            100,
            (["item-tool", "item-memory", "item-extra"], [], []),
            id="tag non-exclusivity",
        ),
        pytest.param(
            [
                ("tool-a", "tool", 100, 0.9),
                ("tool-b", "tool", 100, 0.7),
                ("msg-s", "msg", 50, 0.8),
                ("msg-m", "msg", 150, 0.6),
                ("msg-l", "msg", 200, 0.4),
            ],
            1000,
            [entry("tool", 2, 2)],
            1,
            (["tool-a", "tool-b", "msg-s", "msg-m", "msg-l"], [], []),
            id="require and cap",
        ),
    ],
)
def test_the_outlines_of_the_chapter(
    rows: KindRows,
    target: int,
    entries: list[CountQuotaEntry],
    bucket: int,
    expected: tuple[list[str], list[tuple[str, int, int]], list[str]],
) -> None:
    """Conformance Vector Outlines: what is selected, short and capped."""
    chosen, shortfalls, capped = detailed(rows, target, CountConstrainedKnapsackSlice(entries, KnapsackSlice(bucket)))
    assert (chosen, shortfalls, [content for content, _ in capped]) == expected


def test_the_rest_is_the_best_combination() -> None:
    """CountConstrainedKnapsackSlice: phase 2 is the knapsack, with what phase 1 leaves of the target."""
    rows = [("t", "tool", 20, 0.1), ("dense", "msg", 60, 0.6), ("b", "msg", 50, 0.45), ("c", "msg", 50, 0.45)]
    # The knapsack's own order is c, b; at equal scores the sort leaves it alone.
    assert constrained(rows, 120, CountConstrainedKnapsackSlice([entry("tool", 1, 1)], EXACT)) == ["t", "c", "b"]


def test_the_knapsack_gets_the_original_maximum_and_a_reduced_target() -> None:
    """CK-05; a subclass of KnapsackSlice that overrides `slice` alone is asked."""
    seen: list[tuple[list[str], ContextBudget]] = []

    class Recording(KnapsackSlice):
        def slice(self, scored_items: Sequence[ScoredItem], budget: ContextBudget, /) -> list[ContextItem]:
            seen.append(([pair.item.content for pair in scored_items], budget))
            return super().slice(scored_items, budget)

    slicer = CountConstrainedKnapsackSlice([entry("tool", 1, 9)], Recording())
    selected = slicer.slice(of_kinds(TOOLS), ContextBudget(900, 300, output_reserve=7))
    assert seen == [(["tool-b", "tool-c", "tool-d"], ContextBudget(900, 200))]
    assert [item.content for item in selected] == ["tool-a", "tool-b", "tool-c"]


@pytest.mark.proves("S-CK-06")
def test_the_error_has_the_exact_words_of_the_specification() -> None:
    """CK-01: verbatim, and the numbers as attributes."""
    slicer = CountConstrainedKnapsackSlice([entry("Tool", 3, 5)], scarcity=ScarcityBehavior.THROW)
    with pytest.raises(CountRequirementError) as caught:
        constrained(TOOLS[:1], 500, slicer)
    error = caught.value
    assert str(error) == (
        "CountConstrainedKnapsackSlice: candidate pool for kind 'Tool' has 1 items but RequireCount is 3."
    )
    assert error.slicer == "CountConstrainedKnapsackSlice"
    assert (error.kind, error.required_count, error.satisfied_count) == ("Tool", 3, 1)


@pytest.mark.proves("S-CK-01")
def test_entries_decide_the_order() -> None:
    """CQ-01: of what is committed, of shortfalls, and of errors."""
    rows = [("a", "A", 10, 0.1), ("b", "B", 10, 0.9)]
    entries = [entry("B", 2, 2), entry("A", 3, 3)]
    assert detailed(rows, 100, CountConstrainedKnapsackSlice(entries)) == (["b", "a"], [("B", 2, 1), ("A", 3, 1)], [])
    with pytest.raises(CountRequirementError, match="'B'"):
        constrained(rows, 100, CountConstrainedKnapsackSlice(entries, scarcity=ScarcityBehavior.THROW))


def test_scores_are_found_by_identity_not_by_content() -> None:
    """CK-02: with duplicate contents the higher score stays."""
    high = ScoredItem(ContextItem("same", 100, kind="tool"), 0.9)
    low = ScoredItem(ContextItem("same", 100, kind="tool"), 0.2)
    slicer = CountConstrainedKnapsackSlice([entry("tool", 0, 1)])
    for pairs in ([high, low], [low, high]):
        outcome = slicer.slice_detailed(pairs, ContextBudget(1000))
        assert [item is high.item for item in outcome.selected] == [True]
        assert [item is low.item for item, _ in outcome.cap_excluded] == [True]


def test_zero_token_items_take_part_in_the_caps() -> None:
    """CK-03: at equal scores they come first, as in the knapsack's output; at a lower score they go."""
    slicer = CountConstrainedKnapsackSlice([entry("tool", 0, 1)])
    equal = [("paid", "tool", 100, 0.5), ("free", "tool", 0, 0.5)]
    assert detailed(equal, 1000, slicer) == (["free"], [], [("paid", CountCapExceeded("tool", 1, 1))])
    lower = [("paid", "tool", 100, 0.5), ("free", "tool", 0, 0.4)]
    assert detailed(lower, 1000, slicer) == (["paid"], [], [("free", CountCapExceeded("tool", 1, 1))])


def test_nan_comes_last_in_both_phases() -> None:
    """SC-03."""
    rows = [("nan", "tool", 0, math.nan), ("low", "tool", 0, -1.0)]
    assert constrained(rows, 10, CountConstrainedKnapsackSlice([entry("tool", 1, 1)])) == ["low"]
    assert constrained(rows, 10, CountConstrainedKnapsackSlice([entry("tool", 0, 1)])) == ["low"]


def test_fill_free_works_inside() -> None:
    """KN-01: the knapsack's options are its own; what it fills counts towards the caps."""
    rows = [("t1", "tool", 100, 0.0), ("t2", "tool", 100, 0.0), ("m", "msg", 100, 0.0)]
    assert constrained(rows, 1000, CountConstrainedKnapsackSlice([entry("tool", 0, 1)])) == []
    filling = CountConstrainedKnapsackSlice([entry("tool", 0, 1)], KnapsackSlice(fill_free=True))
    assert detailed(rows, 1000, filling) == (["t1", "m"], [], [("t2", CountCapExceeded("tool", 1, 1))])


# The constructor.


@pytest.mark.proves("S-CK-04")
@pytest.mark.parametrize("knapsack", [None, GreedySlice(), KnapsackSlice, 100])
def test_the_knapsack_is_a_knapsack(knapsack: Any) -> None:
    """PB-05: no other slicer will do."""
    with pytest.raises(TypeError, match="knapsack must be a KnapsackSlice"):
        CountConstrainedKnapsackSlice([], knapsack)


@pytest.mark.proves("S-CK-04")
@pytest.mark.parametrize("scarcity", ["throw", "Throw", ScarcityBehavior.THROW])
def test_scarcity_may_be_a_string(scarcity: Any) -> None:
    """WF-06: in any case."""
    assert CountConstrainedKnapsackSlice([], scarcity=scarcity).scarcity is ScarcityBehavior.THROW
    assert CountConstrainedKnapsackSlice([]).scarcity is ScarcityBehavior.DEGRADE


@pytest.mark.proves("S-CK-07")
def test_marginal_items_are_supported_and_a_minimum_budget_is_not() -> None:
    """BS-09 and CK-04."""
    assert CountConstrainedKnapsackSlice.supports_marginal_items is True
    assert CountConstrainedKnapsackSlice.supports_min_budget is False
