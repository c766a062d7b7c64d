"""QuotaSlice: what the vectors `quota-*` do not show, such as what the inner slicer gets."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from pycupel import (
    ContextBudget,
    ContextItem,
    ContextKind,
    CountConstrainedKnapsackSlice,
    CountQuotaEntry,
    CountQuotaSlice,
    GreedySlice,
    QuotaEntry,
    QuotaSlice,
    ScarcityBehavior,
    ScoredItem,
)
from pycupel.diagnostics import CountCapExceeded, CountRequirementShortfall
from pycupel.errors import CountRequirementError, SlicerConfigError, SlicerContractError
from tests.slicers.rows import KindRows, of_kinds, selected


def quota(rows: KindRows, target: int, slicer: QuotaSlice) -> list[str]:
    return selected(of_kinds(rows), target, slicer)


def shortfalls(rows: KindRows, target: int, slicer: QuotaSlice | CountQuotaSlice) -> list[tuple[str, int, int]]:
    found = slicer.slice_detailed(of_kinds(rows), ContextBudget(target)).shortfalls
    return [(str(kind), required, satisfied) for kind, required, satisfied, _ in found]


class Recorder:
    """An inner slicer that selects nothing and remembers what it was asked."""

    def __init__(self) -> None:
        self.calls: list[tuple[list[str], ContextBudget]] = []

    def slice(self, scored_items: Sequence[ScoredItem], budget: ContextBudget, /) -> list[ContextItem]:
        self.calls.append(([pair.item.content for pair in scored_items], budget))
        return []


def kind_budgets(entries: list[QuotaEntry], masses: dict[str, int], target: int) -> dict[str, tuple[int, int]]:
    """Tell, for each kind that is sliced, the maximum and the target that its inner slicer gets."""
    inner = Recorder()
    rows = [(f"{kind} item", kind, mass, 0.5) for kind, mass in masses.items()]
    quota(rows, target, QuotaSlice(entries, inner))
    return {contents[0].split()[0]: (budget.max_tokens, budget.target_tokens) for contents, budget in inner.calls}


def test_nobody_is_asked_if_there_is_nothing_to_select() -> None:
    """QuotaSlice: the first line of the pseudocode."""
    inner = Recorder()
    quota([], 100, QuotaSlice([QuotaEntry("A", 50)], inner))
    quota([("a", "A", 1, 1.0)], 0, QuotaSlice([QuotaEntry("A", 50)], inner))
    assert inner.calls == []


@pytest.mark.proves("S-QU-16", "S-QU-07")
@pytest.mark.parametrize(
    ("entries", "masses", "target", "expected"),
    [
        pytest.param([], {"A": 60, "B": 40}, 100, {"A": (100, 60), "B": (100, 40)}, id="no quotas: by token mass"),
        pytest.param([], {"A": 2, "B": 1}, 100, {"A": (100, 66), "B": (100, 33)}, id="shares are floored (P6)"),
        pytest.param(
            [QuotaEntry("A", 33), QuotaEntry("B", 33)],
            {"A": 500, "B": 500},
            1000,
            {"A": (1000, 500), "B": (1000, 500)},
            id="the example of P6: 330 each, and half of 340",
        ),
        pytest.param([QuotaEntry("A", 100)], {"A": 5, "B": 500}, 100, {"A": (100, 100)}, id="require = 100%"),
        pytest.param([QuotaEntry("A", cap=0)], {"A": 50, "B": 50}, 100, {"B": (100, 100)}, id="cap = 0%"),
        pytest.param(
            [QuotaEntry("A", 0, 30)], {"A": 50, "B": 50}, 100, {"A": (30, 30), "B": (100, 50)}, id="a cap cuts a share"
        ),
        pytest.param(
            [QuotaEntry("A", 20, 20)],
            {"A": 900, "B": 10, "C": 30},
            100,
            {"A": (20, 20), "B": (100, 20), "C": (100, 60)},
            id="cap = require: no part in the distribution, and no mass in it",
        ),
        pytest.param(
            [QuotaEntry("A", 50)], {"B": 10}, 100, {"B": (100, 50)}, id="what an absent kind requires is unused"
        ),
        pytest.param(
            [QuotaEntry("A", 40)],
            {"A": 0, "B": 10},
            100,
            {"A": (100, 40), "B": (100, 60)},
            id="no mass: its require only",
        ),
        pytest.param([], {"A": 0, "B": 10}, 100, {"B": (100, 100)}, id="no mass, no require: nothing"),
        pytest.param([], {"A": 0, "B": 0}, 100, {}, id="no mass at all"),
        pytest.param([], {"A": 1}, 100, {"A": (100, 100)}, id="a mass of a single token"),
        pytest.param([], {"A": 5}, 1, {"A": (1, 1)}, id="a budget of a single token"),
        pytest.param(
            [QuotaEntry("A", 10), QuotaEntry("B", cap=25)],
            {"A": 100, "B": 200, "C": 100},
            200,
            {"A": (200, 65), "B": (50, 50), "C": (200, 45)},
            id="require, cap and neither together",
        ),
        pytest.param([QuotaEntry("A")], {"A": 60, "B": 40}, 100, {"A": (100, 60), "B": (100, 40)}, id="defaults"),
        pytest.param([QuotaEntry("A", 29, 29)], {"A": 5}, 100, {"A": (28, 28)}, id="29/100*100 is just under 29"),
        pytest.param(
            [QuotaEntry("A", 33.3)], {"A": 1, "B": 1}, 10, {"A": (10, 6), "B": (10, 3)}, id="floor of a fraction"
        ),
    ],
)
def test_the_budget_of_each_kind(
    entries: list[QuotaEntry], masses: dict[str, int], target: int, expected: dict[str, tuple[int, int]]
) -> None:
    """QuotaSlice: DISTRIBUTE-BUDGET and the table of edge cases; QS-05, QS-07, QS-09, QS-10."""
    assert kind_budgets(entries, masses, target) == expected


def test_the_division_is_in_integers() -> None:
    """QS-08: a float64 division would lose the last token of 2**53 + 1."""
    target = 2**53 + 1
    assert kind_budgets([], {"A": 10**20}, target) == {"A": (target, target)}
    assert kind_budgets([], {"A": 1, "B": 2}, 3 * target) == {"A": (3 * target, target), "B": (3 * target, 2 * target)}


@pytest.mark.proves("S-QU-06")
def test_the_inner_slicer_gets_cap_and_share_and_no_other_field() -> None:
    """QuotaSlice: maxTokens is the kind's cap, targetTokens its budget; other fields are not forwarded."""
    inner = Recorder()
    budget = ContextBudget(500, 100, output_reserve=50, reserved_slots={"A": 3}, estimation_safety_margin_percent=5.0)
    QuotaSlice([QuotaEntry("A", 10, 50)], inner).slice(of_kinds([("a", "A", 10, 0.5)]), budget)
    assert inner.calls == [(["a"], ContextBudget(50, 50))]


@pytest.mark.proves("S-QU-09")
def test_kinds_are_compared_without_regard_to_ascii_case() -> None:
    """QuotaSlice (P4): partitions and lookups MUST fold."""
    inner = Recorder()
    rows = [("1", "tool", 10, 0.9), ("2", "Doc", 10, 0.8), ("3", "TOOL", 10, 0.7), ("4", "Tool", 10, 0.6)]
    quota(rows, 100, QuotaSlice([QuotaEntry("tOOL", 60, 60)], inner))
    assert inner.calls == [(["1", "3", "4"], ContextBudget(60, 60)), (["2"], ContextBudget(100, 40))]


def test_only_ascii_letters_fold() -> None:
    """DM-09: É and é are different kinds."""
    assert kind_budgets([QuotaEntry("É", cap=0)], {"é": 10}, 100) == {"é": (100, 100)}


@pytest.mark.proves("S-QU-15")
def test_kinds_are_handled_in_the_order_of_their_first_item() -> None:
    """QS-01: first appearance; the output is the partitions one after the other."""
    rows = [("b1", "B", 10, 0.1), ("a1", "A", 10, 0.9), ("b2", "B", 10, 0.5), ("c1", "C", 10, 0.2)]
    assert quota(rows, 40, QuotaSlice([])) == ["b2", "b1", "a1", "c1"]
    assert quota(rows, 40, QuotaSlice([QuotaEntry("A", 25), QuotaEntry("B", 25)])) == ["b2", "b1", "a1"]


SIXTY_SIXTY_ONE: KindRows = [("a", "A", 60, 0.9), ("b", "B", 60, 0.8), ("one", "B", 1, 0.7)]


def test_redistribute_offers_the_rest() -> None:
    """QS-06: the opt-in. A is sliced again with 0 + 119, takes 60, and B could have 1 + 59, which it had before."""
    assert quota(SIXTY_SIXTY_ONE, 120, QuotaSlice([], redistribute=True)) == ["a", "one"]
    assert quota(SIXTY_SIXTY_ONE, 121, QuotaSlice([], redistribute=True)) == ["a", "one", "b"]


def test_redistribute_slices_a_kind_with_what_it_used_and_all_that_is_left() -> None:
    """QS-06: kinds in order of first appearance, each up to its cap, each with what those before it left."""

    class TakesOneOfB(Recorder):
        def slice(self, scored_items: Sequence[ScoredItem], budget: ContextBudget, /) -> list[ContextItem]:
            super().slice(scored_items, budget)
            return [pair.item for pair in scored_items if pair.item.content == "b"]

    inner = TakesOneOfB()
    rows = [("c", "C", 50, 0.9), ("b", "B", 10, 0.8), ("b2", "B", 10, 0.1), ("a", "A", 30, 0.7)]
    quota(rows, 100, QuotaSlice([QuotaEntry("C", 10, 60)], inner, redistribute=True))
    # Shares: C 10 + 90*50//100 = 55, B 90*20//100 = 18, A 90*30//100 = 27. Used: B 10. Left: 90.
    assert inner.calls == [
        (["c"], ContextBudget(60, 55)),
        (["b", "b2"], ContextBudget(100, 18)),
        (["a"], ContextBudget(100, 27)),
        (["c"], ContextBudget(60, 60)),
        (["b", "b2"], ContextBudget(100, 100)),
        (["a"], ContextBudget(100, 90)),
    ]


def test_redistribute_does_not_slice_again_what_would_get_no_more() -> None:
    """QS-06: a kind at its cap, or without anything left, keeps its first selection."""
    inner = Recorder()
    quota([("a", "A", 50, 0.9)], 100, QuotaSlice([QuotaEntry("A", 0, 40)], inner, redistribute=True))
    assert inner.calls == [(["a"], ContextBudget(40, 40))]


def test_redistribute_never_exceeds_the_target() -> None:
    """QS-06: what is given to one kind is not given to the next."""
    rows = [("a", "A", 60, 0.9), ("b", "B", 60, 0.8), ("c", "C", 60, 0.7)]
    assert quota(rows, 120, QuotaSlice([], redistribute=True)) == ["a", "b"]
    assert quota(rows, 119, QuotaSlice([], redistribute=True)) == ["a"]


def test_redistribute_reaches_kinds_of_zero_token_items() -> None:
    """QS-05 and QS-06: as long as something is left."""
    rows = [("note", "Note", 0, 1.0), ("message", "Message", 10, 0.5)]
    assert quota(rows, 1000, QuotaSlice([], redistribute=True)) == ["note", "message"]


def test_redistribute_keeps_the_count_caps_of_the_inner_slicer() -> None:
    """QS-06: the inner slicer is asked again as a whole, so its counts hold, and are reported once."""
    rows = [("t1", "tool", 30, 0.9), ("t2", "tool", 30, 0.8), ("t3", "tool", 30, 0.7), ("m", "msg", 200, 0.1)]
    inner = CountQuotaSlice([CountQuotaEntry("tool", cap_count=2, require_count=1)])
    items = of_kinds(rows)
    outcome = QuotaSlice([], inner, redistribute=True).slice_detailed(items, ContextBudget(120))
    assert [item.content for item in outcome.selected] == ["t1", "t2"]
    assert outcome.cap_excluded == ((items[2].item, CountCapExceeded("tool", 2, 2)),)
    assert outcome.shortfalls == ()


def test_redistribute_does_not_report_a_shortfall_twice() -> None:
    """QS-06 and CQ-03: the second slice of a kind replaces the first."""
    rows = [("t", "tool", 60, 0.9), ("m", "msg", 60, 0.1), ("s", "msg", 1, 0.1)]
    inner = CountQuotaSlice([CountQuotaEntry("tool", cap_count=3, require_count=3)])
    assert shortfalls(rows, 120, QuotaSlice([], inner, redistribute=True)) == [("tool", 3, 1)]


@pytest.mark.parametrize("name", ["require", "cap"])
@pytest.mark.parametrize("percent", [-0.1, 100.1, float("nan"), float("inf"), float("-inf")])
def test_percentages_are_finite_and_between_0_and_100(name: str, percent: float) -> None:
    """QS-03."""
    with pytest.raises(SlicerConfigError, match=name):
        QuotaEntry("A", **{name: percent})


@pytest.mark.parametrize("name", ["require", "cap"])
@pytest.mark.parametrize("percent", ["10", None, True])
def test_percentages_are_numbers(name: str, percent: Any) -> None:
    """PB-05."""
    with pytest.raises(TypeError, match=name):
        QuotaEntry("A", **{name: percent})


def test_a_kind_cannot_require_more_than_its_cap() -> None:
    """QuotaSlice: validation rule 1; the two may be equal."""
    assert QuotaEntry("A", 30, 30).require == 30.0
    with pytest.raises(SlicerConfigError, match=r"require \(31.0\) must not exceed cap \(30.0\)"):
        QuotaEntry("A", 31, 30)


@pytest.mark.parametrize(
    ("requires", "is_valid"),
    [
        ((50.0, 50.0), True),
        ((100.0, 0.0), True),
        ((50.0, 50.0000000005), True),
        ((33.4, 33.3, 33.3), True),
        ((50.0, 50.00000001), False),
        ((60.0, 50.0), False),
    ],
)
def test_requirements_may_add_up_to_100_percent(requires: tuple[float, ...], is_valid: bool) -> None:
    """QS-04: validation rule 2, with a tolerance of 1e-9."""
    entries = [QuotaEntry(f"K{i}", percent) for i, percent in enumerate(requires)]
    if is_valid:
        assert QuotaSlice(entries).entries == tuple(entries)
    else:
        with pytest.raises(SlicerConfigError, match="must not exceed 100"):
            QuotaSlice(entries)


def test_an_entry_may_give_neither_bound() -> None:
    """QS-10: the defaults are 0 and 100."""
    entry = QuotaEntry("A")
    assert (entry.kind, entry.require, entry.cap) == (ContextKind("A"), 0.0, 100.0)


def test_the_inner_slicer_is_greedy_unless_given() -> None:
    """QuotaSlice: wraps another slicer."""
    assert QuotaSlice([]).inner == GreedySlice()


# Count slicers inside.

TOOLS = CountQuotaEntry("tool", cap_count=5, require_count=2)
MEMORIES = CountQuotaEntry("memory", cap_count=5, require_count=1)


@pytest.mark.parametrize("make", [CountQuotaSlice, CountConstrainedKnapsackSlice])
def test_an_inner_count_slicer_judges_the_kind_of_its_partition_and_an_absent_kind_is_judged_once(make: Any) -> None:
    """CQ-03: otherwise every partition would report the requirements of all others."""
    rows = [("m", "msg", 10, 0.9), ("d", "doc", 10, 0.8), ("t", "tool", 10, 0.7)]
    inner = make([MEMORIES, TOOLS])
    assert shortfalls(rows, 100, QuotaSlice([], inner)) == [("tool", 2, 1), ("memory", 1, 0)]


def test_a_met_requirement_is_no_shortfall() -> None:
    """CQ-03: in its own partition the requirement is met, and nobody else asks."""
    rows = [("t1", "Tool", 10, 0.7), ("m", "msg", 10, 0.9), ("t2", "TOOL", 10, 0.7)]
    assert shortfalls(rows, 100, QuotaSlice([], CountQuotaSlice([TOOLS]))) == []


def test_an_absent_kind_throws_through_the_quota() -> None:
    """CQ-02 and CQ-03: judged once, by QuotaSlice, and under Throw that is an error."""
    inner = CountQuotaSlice([TOOLS, MEMORIES], scarcity=ScarcityBehavior.THROW)
    rows = [("t1", "tool", 10, 0.7), ("t2", "tool", 10, 0.6)]
    with pytest.raises(CountRequirementError) as caught:
        quota(rows, 100, QuotaSlice([], inner))
    assert (caught.value.kind, caught.value.required_count, caught.value.satisfied_count) == ("memory", 1, 0)


def test_a_scarce_kind_throws_through_the_quota() -> None:
    """CQ-08: the error of the inner slicer."""
    inner = CountQuotaSlice([TOOLS], scarcity=ScarcityBehavior.THROW)
    with pytest.raises(CountRequirementError) as caught:
        quota([("t1", "tool", 10, 0.7), ("m", "msg", 10, 0.6)], 100, QuotaSlice([], inner))
    assert str(caught.value) == "CountQuotaSlice: candidate pool for kind 'tool' has 1 items but RequireCount is 2."


@pytest.mark.parametrize("scarcity", list(ScarcityBehavior))
def test_a_kind_without_a_share_is_recorded_and_does_not_throw(scarcity: ScarcityBehavior) -> None:
    """CQ-09: with a target of 0 the inner slicer returns nothing, and its requirement is a shortfall of all."""
    rows = [("t1", "tool", 10, 0.7), ("t2", "tool", 10, 0.7), ("m", "msg", 10, 0.6)]
    slicer = QuotaSlice([QuotaEntry("tool", cap=0)], CountQuotaSlice([TOOLS], scarcity=scarcity))
    assert quota(rows, 100, slicer) == ["m"]
    assert shortfalls(rows, 100, slicer) == [("tool", 2, 0)]


@pytest.mark.parametrize("scarcity", list(ScarcityBehavior))
@pytest.mark.parametrize(("rows", "target"), [([], 100), ([("t", "tool", 10, 0.5)], 0)])
def test_with_nothing_to_select_every_inner_requirement_is_recorded(
    scarcity: ScarcityBehavior, rows: KindRows, target: int
) -> None:
    """CQ-09: for empty input and for a target of 0, under both behaviours."""
    slicer = QuotaSlice([QuotaEntry("msg", 10)], CountQuotaSlice([TOOLS, MEMORIES], scarcity=scarcity))
    assert quota(rows, target, slicer) == []
    assert shortfalls(rows, target, slicer) == [("tool", 2, 0), ("memory", 1, 0)]


def test_requirements_of_nested_slicers_are_all_judged() -> None:
    """CQ-03: through a quota in a quota, and through a count slicer in a count slicer in a quota."""
    two = CountQuotaSlice([TOOLS], CountQuotaSlice([MEMORIES, CountQuotaEntry("tool", cap_count=9, require_count=3)]))
    rows = [("t", "tool", 10, 0.7), ("m", "msg", 10, 0.6)]
    # The outer slicer commits the only tool, so the inner one finds none.
    expected = [("tool", 2, 1), ("tool", 3, 0), ("memory", 1, 0)]
    assert shortfalls(rows, 100, QuotaSlice([], two)) == expected
    assert shortfalls(rows, 100, QuotaSlice([], QuotaSlice([], two))) == expected


def test_a_quota_between_two_count_slicers() -> None:
    """CQ-03: what the innermost one lacks comes out at the top, after what the outermost one lacks."""
    slicer = CountQuotaSlice([TOOLS], QuotaSlice([], CountQuotaSlice([MEMORIES])))
    assert shortfalls([("m", "msg", 10, 0.6)], 100, slicer) == [("tool", 2, 0), ("memory", 1, 0)]


def test_inner_cap_exclusions_come_out_with_their_own_items() -> None:
    """ER-03: the indices of a partition are not those of the whole."""
    rows = [("m", "msg", 10, 0.9), ("t1", "tool", 10, 0.8), ("d", "doc", 10, 0.5), ("t2", "tool", 10, 0.7)]
    items = of_kinds(rows)
    slicer = QuotaSlice([], CountQuotaSlice([CountQuotaEntry("Tool", cap_count=1)]))
    outcome = slicer.slice_detailed(items, ContextBudget(100))
    assert outcome.cap_excluded == ((items[3].item, CountCapExceeded("Tool", 1, 1)),)
    assert [item.content for item in outcome.selected] == ["m", "t1", "d"]


def test_the_shortfall_names_the_kind_as_its_entry_does() -> None:
    """DM-10: the configured spelling."""
    slicer = QuotaSlice([], CountQuotaSlice([CountQuotaEntry("TOOL", cap_count=3, require_count=3)]))
    outcome = slicer.slice_detailed(of_kinds([("t", "tool", 10, 0.5)]), ContextBudget(10))
    assert outcome.shortfalls == (CountRequirementShortfall(ContextKind("tool"), 3, 1),)
    assert outcome.shortfalls[0].kind.value == "TOOL"


# Custom inner slicers, and the constructor.


def test_a_custom_inner_slicer_that_returns_a_foreign_item_is_found_out() -> None:
    """SL-04: the items of another kind are foreign, too."""
    items = of_kinds([("a", "A", 10, 0.9), ("b", "B", 10, 0.8)])

    class AlwaysA:
        def slice(self, scored_items: Sequence[ScoredItem], budget: ContextBudget, /) -> list[ContextItem]:
            return [items[0].item]

    with pytest.raises(SlicerContractError, match="AlwaysA returned"):
        QuotaSlice([], AlwaysA()).slice(items, ContextBudget(100))


def test_entries_may_come_from_a_generator() -> None:
    """PY-14."""
    slicer = QuotaSlice(QuotaEntry(kind, 10) for kind in ("A", "B"))
    assert slicer.entries == (QuotaEntry("A", 10), QuotaEntry("B", 10))


def test_budget_simulation_is_not_supported() -> None:
    """BS-09: neither question makes sense."""
    assert QuotaSlice.supports_marginal_items is False
    assert QuotaSlice.supports_min_budget is False
