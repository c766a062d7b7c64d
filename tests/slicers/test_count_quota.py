"""CountQuotaSlice: what the vectors `count-quota-*` do not show."""

from __future__ import annotations

import math
import pickle
import re
from collections.abc import Sequence

import pytest

from pycupel import (
    ContextBudget,
    ContextItem,
    CountConstrainedKnapsackSlice,
    CountQuotaSlice,
    GreedySlice,
    KnapsackSlice,
    OverflowStrategy,
    Pipeline,
    QuotaEntry,
    QuotaSlice,
    ReflexiveScorer,
    ScarcityBehavior,
    ScoredItem,
)
from pycupel.diagnostics import CountCapExceeded
from pycupel.errors import BudgetOverflowError, CountRequirementError, CupelError, SlicerConfigError
from tests.slicers.rows import KindRows, detailed, entry, of_kinds, selected


def count_quota(rows: KindRows, target: int, slicer: CountQuotaSlice) -> list[str]:
    return selected(of_kinds(rows), target, slicer)


class Recorder:
    """An inner slicer that takes everything and remembers what it was asked."""

    def __init__(self) -> None:
        self.calls: list[tuple[list[str], ContextBudget]] = []

    def slice(self, scored_items: Sequence[ScoredItem], budget: ContextBudget, /) -> list[ContextItem]:
        self.calls.append(([pair.item.content for pair in scored_items], budget))
        return [pair.item for pair in scored_items]


TOOLS: KindRows = [("t1", "tool", 10, 0.9), ("t2", "tool", 10, 0.8), ("t3", "tool", 10, 0.7), ("t4", "tool", 10, 0.6)]


def test_committed_items_are_not_offered_again() -> None:
    """CountQuotaSlice: the residual, in its order, with what the committed items leave of the target."""
    inner = Recorder()
    rows = [("t2", "tool", 20, 0.5), ("m", "msg", 10, 0.1), ("t1", "tool", 30, 0.9)]
    count_quota(rows, 100, CountQuotaSlice([entry("tool", 1, 9)], inner))
    assert inner.calls == [(["t2", "m"], ContextBudget(100, 70))]


@pytest.mark.proves("S-CQ-09")
def test_the_inner_slicer_gets_the_original_maximum() -> None:
    """CQ-13: only the target is reduced, and no other field is forwarded."""
    inner = Recorder()
    budget = ContextBudget(500, 100, output_reserve=5, reserved_slots={"x": 1}, estimation_safety_margin_percent=1.0)
    CountQuotaSlice([entry("tool", 2, 9)], inner).slice(of_kinds(TOOLS), budget)
    assert inner.calls == [(["t3", "t4"], ContextBudget(500, 80))]


@pytest.mark.parametrize(
    ("rows", "target"),
    [
        pytest.param(TOOLS, 20, id="no target left"),
        pytest.param(TOOLS, 19, id="less than no target left"),
        pytest.param(TOOLS[:2], 100, id="no item left"),
        pytest.param(TOOLS, 0, id="no target"),
        pytest.param([], 100, id="no item"),
    ],
)
def test_a_custom_inner_slicer_is_not_asked_if_there_is_nothing_to_select(rows: KindRows, target: int) -> None:
    """CQ-12."""
    inner = Recorder()
    count_quota(rows, target, CountQuotaSlice([entry("tool", 2, 9)], inner))
    assert inner.calls == []


def test_a_custom_inner_slicer_is_asked_for_the_last_token() -> None:
    """CQ-12: a target of 1 is one."""
    inner = Recorder()
    count_quota(TOOLS[:3], 21, CountQuotaSlice([entry("tool", 2, 9)], inner))
    assert inner.calls == [(["t3"], ContextBudget(21, 1))]


@pytest.mark.parametrize(
    ("strategy", "expected"), [(OverflowStrategy.TRUNCATE, ["a"]), (OverflowStrategy.PROCEED, ["a", "b"])]
)
def test_required_items_beyond_the_budget_are_left_to_the_overflow_strategy(
    strategy: OverflowStrategy, expected: list[str]
) -> None:
    """CQ-06."""
    items = [ContextItem("a", 60, future_relevance_hint=0.9), ContextItem("b", 60, future_relevance_hint=0.8)]
    slicer = CountQuotaSlice([entry("Message", 2, 2)])
    assert [
        item.content
        for item in Pipeline(ReflexiveScorer(), slicer, overflow_strategy=strategy).run(items, ContextBudget(100))
    ] == expected
    with pytest.raises(BudgetOverflowError) as caught:
        Pipeline(ReflexiveScorer(), slicer).run(items, ContextBudget(100))
    assert (caught.value.merged_tokens, caught.value.target_tokens) == (120, 100)


@pytest.mark.proves("S-CQ-08")
def test_entries_decide_the_order() -> None:
    """CQ-01: of what is committed, and of shortfalls."""
    rows = [("a", "A", 10, 0.1), ("b", "B", 10, 0.9), ("c", "C", 10, 0.5)]
    slicer = CountQuotaSlice([entry("C", 2, 2), entry("A", 3, 3), entry("B", 1, 1), entry("D", 1, 1)])
    selected, shortfalls, _ = detailed(rows, 100, slicer)
    assert selected == ["c", "a", "b"]
    assert shortfalls == [("C", 2, 1), ("A", 3, 1), ("D", 1, 0)]


def test_the_error_has_the_words_of_the_specification_and_the_numbers() -> None:
    """CQ-08: the text of CK-01 with the name of this slicer."""
    slicer = CountQuotaSlice([entry("Tool", 3, 5)], scarcity=ScarcityBehavior.THROW)
    with pytest.raises(CountRequirementError) as caught:
        count_quota(TOOLS[:2], 100, slicer)
    error = caught.value
    assert str(error) == "CountQuotaSlice: candidate pool for kind 'Tool' has 2 items but RequireCount is 3."
    assert (error.slicer, error.kind, error.required_count, error.satisfied_count) == ("CountQuotaSlice", "Tool", 3, 2)
    assert isinstance(error, CupelError)
    copy = pickle.loads(pickle.dumps(error))
    assert str(copy) == str(error)
    assert copy.required_count == 3


@pytest.mark.parametrize("scarcity", list(ScarcityBehavior))
@pytest.mark.parametrize(("rows", "target"), [([], 100), ([], 0), (TOOLS, 0)])
def test_with_nothing_to_select_every_requirement_is_recorded_and_none_throws(
    scarcity: ScarcityBehavior, rows: KindRows, target: int
) -> None:
    """CQ-09: the contract's empty list comes first, but the diagnostics tell."""
    slicer = CountQuotaSlice([entry("B", 2, 2), entry("free", 0, 3), entry("tool", 1, 1)], scarcity=scarcity)
    assert detailed(rows, target, slicer) == ([], [("B", 2, 0), ("tool", 1, 0)], [])


@pytest.mark.proves("S-CQ-11", "S-CQ-12")
def test_the_pipeline_reports_shortfalls_in_the_spelling_of_the_entry() -> None:
    """CQ-03 and DM-10."""
    pipeline = Pipeline(ReflexiveScorer(), CountQuotaSlice([entry("TOOL", 3, 5)]))
    report = pipeline.dry_run([ContextItem("t", 10, kind="tool")], ContextBudget(100))
    (shortfall,) = report.count_requirement_shortfalls
    assert (shortfall.kind.value, shortfall.required_count, shortfall.satisfied_count) == ("TOOL", 3, 1)


def test_a_run_leaves_nothing_on_the_slicer() -> None:
    """CQ-03: the shortfalls of one call do not show in the next."""
    slicer = CountQuotaSlice([entry("tool", 2, 2)])
    assert detailed([("m", "msg", 10, 0.5)], 100, slicer)[1] == [("tool", 2, 0)]
    assert detailed(TOOLS, 100, slicer)[1] == []


HI_LO: KindRows = [("hi", "tool", 100, 0.9), ("lo", "tool", 1, 0.1)]


def test_cap_order_score_keeps_the_highest_scored() -> None:
    """CQ-07: the opt-in."""
    slicer = CountQuotaSlice([entry("tool", 0, 1)], cap_order="score")
    assert detailed(HI_LO, 200, slicer) == (["hi"], [], [("lo", CountCapExceeded("tool", 1, 1))])


def test_cap_order_score_holds_inside_a_quota() -> None:
    """Where the slicer of a share is made anew, with the entries of its kind."""
    slicer = CountQuotaSlice([entry("tool", 0, 1)], cap_order="score")
    outer = QuotaSlice([QuotaEntry("tool", 100, 100)], slicer)
    assert selected(of_kinds(HI_LO), 200, outer) == ["hi"]


def test_cap_order_score_does_not_change_what_the_inner_slicer_selects() -> None:
    """CQ-07: it is the order of the walk in phase 3 and nothing more; NaN comes last in it (SC-03)."""
    slicer = CountQuotaSlice([entry("tool", 0, 1)], cap_order="score")
    assert detailed(HI_LO, 99, slicer) == (["lo"], [], [])
    rows = [("nan", "tool", 1, math.nan), ("low", "tool", 1, -1.0)]
    assert detailed(rows, 10, slicer) == (["low"], [], [("nan", CountCapExceeded("tool", 1, 1))])


@pytest.mark.proves("S-CQ-10")
def test_caps_count_what_phase_1_committed() -> None:
    """CountQuotaSlice: committed items count toward the cap; `count` is how many are selected already (ER-02)."""
    slicer = CountQuotaSlice([entry("tool", 1, 2)])
    assert detailed(TOOLS, 100, slicer) == (
        ["t1", "t2"],
        [],
        [("t3", CountCapExceeded("tool", 2, 2)), ("t4", CountCapExceeded("tool", 2, 2))],
    )


@pytest.mark.proves("S-CQ-20")
def test_kinds_without_an_entry_are_not_capped() -> None:
    """CountQuotaSlice: they pass phases 2 and 3 freely."""
    rows = [*TOOLS, ("m1", "msg", 10, 0.5), ("m2", "msg", 10, 0.4)]
    assert count_quota(rows, 100, CountQuotaSlice([entry("tool", 0, 1)])) == ["t1", "m1", "m2"]


@pytest.mark.proves("S-CQ-19")
def test_kinds_are_compared_without_regard_to_ascii_case() -> None:
    """CountQuotaSlice: MUST be case-insensitive throughout; a cap is named as its entry is (DM-10)."""
    rows = [("1", "tool", 10, 0.8), ("2", "TOOL", 10, 0.9), ("3", "Tool", 10, 0.7)]
    slicer = CountQuotaSlice([entry("tOOl", 1, 2)])
    assert detailed(rows, 100, slicer) == (["2", "1"], [], [("3", CountCapExceeded("tOOl", 2, 2))])


def test_ties_are_committed_in_input_order() -> None:
    """CQ-11: the sort of a partition is stable, and 0.0 and -0.0 tie."""
    rows = [("first", "tool", 10, -0.0), ("second", "tool", 10, 0.0), ("third", "tool", 10, 0.0)]
    assert count_quota(rows, 20, CountQuotaSlice([entry("tool", 2, 2)])) == ["first", "second"]


def test_nested_count_slicers_tell_everything() -> None:
    """CQ-03 and ER-03: shortfalls and cap exclusions of the inner slicer come out after those of the outer one."""
    rows = [*TOOLS, ("m1", "msg", 10, 0.5), ("m2", "msg", 10, 0.4)]
    inner = CountQuotaSlice([entry("msg", 0, 1), entry("memory", 1, 1)])
    slicer = CountQuotaSlice([entry("tool", 1, 2), entry("doc", 4, 4)], inner)
    assert detailed(rows, 100, slicer) == (
        ["t1", "t2", "m1"],
        [("doc", 4, 0), ("memory", 1, 0)],
        [
            ("t3", CountCapExceeded("tool", 2, 2)),
            ("t4", CountCapExceeded("tool", 2, 2)),
            ("m2", CountCapExceeded("msg", 1, 1)),
        ],
    )


def test_an_inner_requirement_throws_by_its_own_rule() -> None:
    """CQ-03: the outer slicer degrades, the inner one throws."""
    inner = CountQuotaSlice([entry("memory", 1, 1)], scarcity=ScarcityBehavior.THROW)
    slicer = CountQuotaSlice([entry("doc", 1, 1)], inner)
    with pytest.raises(CountRequirementError) as caught:
        count_quota(TOOLS, 100, slicer)
    assert caught.value.kind == "memory"


@pytest.mark.parametrize("scarcity", list(ScarcityBehavior))
def test_an_inner_requirement_is_recorded_if_nothing_is_left_for_it(scarcity: ScarcityBehavior) -> None:
    """CQ-09: no target or no item left for the inner slicer, which then returns nothing and does not throw."""
    inner = CountQuotaSlice([entry("memory", 2, 2)], scarcity=scarcity)
    slicer = CountQuotaSlice([entry("tool", 2, 4)], inner)
    assert detailed([*TOOLS, ("m", "memory", 1, 0.1)], 20, slicer) == (["t1", "t2"], [("memory", 2, 0)], [])
    assert detailed(TOOLS[:2], 100, slicer) == (["t1", "t2"], [("memory", 2, 0)], [])
    assert detailed([], 100, slicer) == ([], [("tool", 2, 0), ("memory", 2, 0)], [])


# The constructor.


class MyKnapsack(KnapsackSlice):
    pass


@pytest.mark.proves("S-CQ-06")
@pytest.mark.parametrize("inner", [KnapsackSlice(), KnapsackSlice(1, fill_free=True), MyKnapsack()])
def test_a_knapsack_as_inner_slicer_is_refused_at_construction(inner: KnapsackSlice) -> None:
    """CQ-14 and CQ-15: subclasses included; the message names all four slicers concerned."""
    with pytest.raises(SlicerConfigError) as caught:
        CountQuotaSlice([], inner)
    message = str(caught.value)
    for name in ("CountQuotaSlice", "KnapsackSlice", "GreedySlice", "CountConstrainedKnapsackSlice"):
        assert re.search(rf"\b{name}\b", message)
    assert caught.value.argument == "inner"
    assert isinstance(caught.value, ValueError)


def test_a_wrapped_knapsack_is_allowed() -> None:
    """CQ-15: only the direct inner slicer is looked at."""
    slicer = CountQuotaSlice([entry("tool", 1, 2)], QuotaSlice([], KnapsackSlice(1)))
    assert count_quota(TOOLS, 100, slicer) == ["t1", "t4"]
    constrained = CountQuotaSlice([entry("tool", 1, 2)], CountConstrainedKnapsackSlice([], KnapsackSlice(1)))
    assert count_quota(TOOLS, 100, constrained) == ["t1", "t2"]


def test_the_arguments_have_their_order() -> None:
    """CQ-18: entries, inner, scarcity; greedy and degrade unless given."""
    assert CountQuotaSlice([]).inner == GreedySlice()
    inner = QuotaSlice([])
    slicer = CountQuotaSlice([entry("tool", 1, 2)], inner, ScarcityBehavior.THROW)
    assert slicer == CountQuotaSlice(entries=[entry("tool", 1, 2)], inner=inner, scarcity=ScarcityBehavior.THROW)
    with pytest.raises(TypeError):
        CountQuotaSlice([], inner, ScarcityBehavior.THROW, "score")  # type: ignore[call-arg]


def test_marginal_items_are_supported_and_a_minimum_budget_is_not() -> None:
    """BS-09: GetMarginalItems guards against QuotaSlice only, so one that wraps it passes, too."""
    assert CountQuotaSlice.supports_marginal_items is True
    assert CountQuotaSlice.supports_min_budget is False
    assert CountQuotaSlice([], QuotaSlice([])).supports_marginal_items is True
