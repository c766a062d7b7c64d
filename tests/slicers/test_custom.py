"""Slicers that users write: the interface of the Slicers chapter, SL-02 to SL-04, and PY-13."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Iterator, Sequence
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
    KnapsackSlice,
    Pipeline,
    QuotaSlice,
    ScoredItem,
    Slicer,
)
from pycupel.diagnostics import BudgetExceeded, CountCapExceeded, CountRequirementShortfall
from pycupel.errors import CupelError, SlicerContractError
from pycupel.protocols import SliceOutcome
from tests.strategies import RawHintScorer

BUDGET = ContextBudget(100)


def item(content: str, score: float, tokens: int = 10, kind: str = "Message") -> ContextItem:
    return ContextItem(content, tokens, kind=kind, future_relevance_hint=score)


ITEMS = [item("a", 0.9), item("b", 0.5), item("c", 0.1)]


class Custom:
    """A slicer that has one method and no base class, and returns what a function makes of its input."""

    def __init__(self, function: Callable[[list[ContextItem]], Any]) -> None:
        self.function = function

    def slice(self, scored_items: Sequence[ScoredItem], budget: ContextBudget, /) -> list[ContextItem]:
        result: list[ContextItem] = self.function([pair.item for pair in scored_items])
        return result


def run(slicer: Slicer, items: Iterable[ContextItem] = ITEMS, budget: ContextBudget = BUDGET) -> list[ContextItem]:
    return Pipeline(RawHintScorer(), slicer, deduplication=False).run(items, budget)


def wrapped(slicer: Slicer) -> list[Slicer]:
    """Give the slicer itself, and inside each of the slicers that take any inner one."""
    return [slicer, QuotaSlice([], slicer), CountQuotaSlice([], slicer), CountQuotaSlice([], QuotaSlice([], slicer))]


def test_a_class_with_one_method_is_a_slicer() -> None:
    """Slicers: the interface is a single function."""
    assert run(Custom(lambda items: items[:2])) == ITEMS[:2]
    assert isinstance(Custom(list), Slicer)


@pytest.mark.proves("S-SL-02")
def test_a_slicer_gets_sorted_pairs_as_a_tuple_and_the_effective_budget() -> None:
    """Stage 5, Slice: score-descending pairs, which it cannot change."""
    seen: list[tuple[Any, ContextBudget]] = []

    class Recorder:
        def slice(self, scored_items: Sequence[ScoredItem], budget: ContextBudget, /) -> list[ContextItem]:
            seen.append((scored_items, budget))
            return []

    assert run(Recorder(), reversed(ITEMS), ContextBudget(200, 90, output_reserve=120)) == []
    expected = (ScoredItem(ITEMS[0], 0.9), ScoredItem(ITEMS[1], 0.5), ScoredItem(ITEMS[2], 0.1))
    assert seen == [(expected, ContextBudget(80, 80))]
    assert isinstance(seen[0][0], tuple)


@pytest.mark.parametrize("make", [list, tuple, iter, lambda items: (each for each in items), lambda items: items[::-1]])
def test_the_selection_may_be_any_iterable_in_any_order(make: Callable[[list[ContextItem]], Any]) -> None:
    """SL-01: the order of a slicer's output never shows."""
    for slicer in wrapped(Custom(make)):
        assert run(slicer) == ITEMS


@pytest.mark.parametrize("returned", [None, 3, "ab", b"ab", ITEMS[0], True])
def test_something_that_is_no_list_of_items_breaks_the_contract(returned: Any) -> None:
    """SL-04."""
    for slicer in wrapped(Custom(lambda items: returned)):
        with pytest.raises(SlicerContractError, match="Custom"):
            run(slicer)


@pytest.mark.proves("S-SC-S1")
@pytest.mark.parametrize(
    "foreign",
    [
        pytest.param(ContextItem("foreign", 10), id="a foreign item"),
        pytest.param("a", id="a content"),
        pytest.param(0, id="an index"),
        pytest.param(None, id="None"),
        pytest.param(ScoredItem(ITEMS[0], 0.9), id="a scored item"),
    ],
)
def test_a_foreign_item_breaks_the_contract(foreign: Any) -> None:
    """SL-04: silent loss would be worse."""
    for slicer in wrapped(Custom(lambda items: [items[0], foreign])):
        with pytest.raises(SlicerContractError, match=r"Custom returned .* not among the objects it was given"):
            run(slicer)


def test_an_equal_copy_breaks_the_contract_and_the_error_says_so() -> None:
    """PY-13 and SL-02: identity counts, not equality; `dataclasses.replace` makes a new object."""

    def copies(items: list[ContextItem]) -> list[ContextItem]:
        copy = dataclasses.replace(items[0])
        assert copy == items[0]
        return [copy]

    for slicer in wrapped(Custom(copies)):
        with pytest.raises(SlicerContractError, match="not copies"):
            run(slicer)


def test_a_slicer_that_returns_the_pairs_is_told_to_return_their_items() -> None:
    class Pairs:
        def slice(self, scored_items: Any, budget: ContextBudget, /) -> Any:
            return scored_items[:1]

    for slicer in wrapped(Pairs()):
        with pytest.raises(SlicerContractError) as caught:
            run(slicer)
        assert str(caught.value).startswith("Pairs returned ScoredItem(")
        assert str(caught.value).endswith("not among the objects it was given; return the .item of a ScoredItem")


@pytest.mark.proves("S-CL-02")
def test_a_pinned_item_is_foreign_to_the_slicer() -> None:
    """SL-04: it never sees pinned items, so it cannot return one."""
    pinned = ContextItem("pinned", 10, pinned=True)
    with pytest.raises(SlicerContractError):
        run(Custom(lambda items: [pinned]), [pinned, *ITEMS])


@pytest.mark.proves("S-SC-S1")
def test_an_item_more_often_than_it_was_given_breaks_the_contract() -> None:
    """SL-04: a slicer MUST NOT duplicate items."""
    for slicer in wrapped(Custom(lambda items: [*items, items[0]])):
        with pytest.raises(SlicerContractError, match=r"Custom returned .* more often than it was given"):
            run(slicer)


def test_an_object_that_occurs_twice_may_be_returned_twice_but_not_three_times() -> None:
    """SL-03: identity with multiplicity."""
    twice = [ITEMS[0], ITEMS[1], ITEMS[0]]
    for slicer in wrapped(Custom(lambda items: items)):
        selected = run(slicer, twice)
        assert sorted(map(id, selected)) == sorted(map(id, twice))
    for slicer in wrapped(Custom(lambda items: [*items, items[0]])):
        with pytest.raises(SlicerContractError):
            run(slicer, twice)


def test_an_object_that_occurs_twice_and_is_returned_once_is_selected_once() -> None:
    """SL-03: the first occurrence is used up, the second is excluded."""
    once = Custom(lambda items: items[:1])
    report = Pipeline(RawHintScorer(), once, deduplication=False).dry_run([ITEMS[0], ITEMS[0]], BUDGET)
    assert report.items == [ITEMS[0]]
    assert [each.reason for each in report.excluded] == [BudgetExceeded(10, 90)]
    assert report.total_candidates == 2


@pytest.mark.proves("S-SL-09")
def test_equal_items_are_told_apart_by_identity() -> None:
    """SL-02: two items with the same content; the slicer chose the second, and its score is the second's."""
    first, second = item("dup", 0.9, tokens=100), item("dup", 0.2, tokens=50)
    report = Pipeline(RawHintScorer(), GreedySlice(), deduplication=False).dry_run([first, second], ContextBudget(60))
    assert [(each.item is second, each.score) for each in report.included] == [(True, 0.2)]
    assert [(each.item is first, each.score) for each in report.excluded] == [(True, 0.9)]


def test_the_contract_error_is_a_cupel_error_and_no_value_error() -> None:
    """SL-04: it is about the slicer, not about an argument."""
    assert issubclass(SlicerContractError, CupelError)
    assert not issubclass(SlicerContractError, ValueError)


def test_an_exception_in_a_custom_slicer_comes_out_as_it_is() -> None:
    """SL-04: errors that are the user's own stay recognisable."""

    class BrokenError(Exception):
        pass

    def broken(items: list[ContextItem]) -> list[ContextItem]:
        raise BrokenError

    for slicer in wrapped(Custom(broken)):
        with pytest.raises(BrokenError):
            run(slicer)


# Details.


class Detailed:
    """Selects the first item, complains of a shortfall, and claims that a cap removed the second."""

    def slice(self, scored_items: Sequence[ScoredItem], budget: ContextBudget, /) -> list[ContextItem]:
        raise AssertionError("slice_detailed says more, so it is asked")

    def slice_detailed(self, scored_items: Sequence[ScoredItem], budget: ContextBudget, /) -> SliceOutcome:
        items = [pair.item for pair in scored_items]
        return SliceOutcome(
            items[:1],
            (CountRequirementShortfall(ContextKind("Message"), 5, 1),),
            tuple((each, CountCapExceeded("Message", 1, 1)) for each in items[1:2]),
        )


def test_the_details_of_a_custom_slicer_reach_the_report() -> None:
    """CQ-03 and ER-03: shortfalls and cap exclusions, also through the slicers that wrap it."""
    excluded: list[tuple[str, Any]] = [("b", CountCapExceeded("Message", 1, 1)), ("c", BudgetExceeded(10, 90))]
    for slicer in wrapped(Detailed()):
        report = Pipeline(RawHintScorer(), slicer).dry_run(ITEMS, BUDGET)
        assert report.items == ITEMS[:1]
        assert report.count_requirement_shortfalls == (CountRequirementShortfall(ContextKind("Message"), 5, 1),)
        assert [(each.item.content, each.reason) for each in report.excluded] == excluded


def test_an_outcome_may_be_a_selection_alone() -> None:
    """CQ-03: the other two fields have defaults."""

    class Plain(Detailed):
        def slice_detailed(self, scored_items: Sequence[ScoredItem], budget: ContextBudget, /) -> SliceOutcome:
            return SliceOutcome([pair.item for pair in scored_items])

    report = Pipeline(RawHintScorer(), Plain()).dry_run(ITEMS, BUDGET)
    assert report.items == ITEMS
    assert report.count_requirement_shortfalls == ()


@pytest.mark.parametrize(
    "outcome",
    [
        pytest.param(lambda items: SliceOutcome([ContextItem("x", 1)]), id="a foreign item selected"),
        pytest.param(lambda items: SliceOutcome([items[0], items[0]]), id="an item selected twice"),
        pytest.param(
            lambda items: SliceOutcome([], (), ((ContextItem("x", 1), CountCapExceeded("k", 1, 1)),)),
            id="a foreign item capped",
        ),
        pytest.param(
            lambda items: SliceOutcome(items[:1], (), ((items[0], CountCapExceeded("k", 1, 1)),)),
            id="an item both selected and capped",
        ),
    ],
)
def test_the_contract_holds_for_details_too(outcome: Callable[[list[ContextItem]], SliceOutcome]) -> None:
    """SL-04."""

    class Wrong(Detailed):
        def slice_detailed(self, scored_items: Sequence[ScoredItem], budget: ContextBudget, /) -> SliceOutcome:
            return outcome([pair.item for pair in scored_items])

    for slicer in wrapped(Wrong()):
        with pytest.raises(SlicerContractError, match="Wrong returned"):
            run(slicer)


# Subclasses.


class NothingGreedy(GreedySlice):
    """Overrides `slice` alone."""

    def slice(self, scored_items: Sequence[ScoredItem], budget: ContextBudget, /) -> list[ContextItem]:
        return []


class NothingKnapsack(KnapsackSlice):
    def slice(self, scored_items: Sequence[ScoredItem], budget: ContextBudget, /) -> list[ContextItem]:
        return []


class NothingQuota(QuotaSlice):
    def slice(self, scored_items: Sequence[ScoredItem], budget: ContextBudget, /) -> list[ContextItem]:
        return []


class NothingCountQuota(CountQuotaSlice):
    def slice(self, scored_items: Sequence[ScoredItem], budget: ContextBudget, /) -> list[ContextItem]:
        return []


class NothingConstrained(CountConstrainedKnapsackSlice):
    def slice(self, scored_items: Sequence[ScoredItem], budget: ContextBudget, /) -> list[ContextItem]:
        return []


@pytest.mark.parametrize(
    "slicer",
    [NothingGreedy(), NothingKnapsack(1), NothingQuota([]), NothingCountQuota([]), NothingConstrained([])],
    ids=lambda slicer: type(slicer).__name__,
)
def test_a_subclass_that_overrides_slice_alone_is_honoured(slicer: Slicer) -> None:
    """Slicers: the interface is `slice`; a faster way around it must not skip an override."""
    assert run(slicer) == []


def test_a_subclass_that_overrides_slice_alone_is_honoured_inside_another_slicer() -> None:
    """Slicers: likewise for inner slicers."""
    assert run(QuotaSlice([], NothingGreedy())) == []
    assert run(QuotaSlice([], NothingKnapsack(1))) == []
    assert run(CountQuotaSlice([], NothingGreedy())) == []
    assert run(CountQuotaSlice([], NothingQuota([]))) == []
    assert run(CountConstrainedKnapsackSlice([], NothingKnapsack(1))) == []


def test_a_subclass_may_build_on_the_slice_that_it_overrides() -> None:
    """Slicers: `super().slice` is the built-in selection."""

    class WithoutFirst(GreedySlice):
        def slice(self, scored_items: Sequence[ScoredItem], budget: ContextBudget, /) -> list[ContextItem]:
            return super().slice(scored_items, budget)[1:]

    assert run(WithoutFirst()) == ITEMS[1:]


def test_a_subclass_that_overrides_slice_detailed_is_honoured() -> None:
    """CQ-03: and its `slice` follows."""

    class Reporting(GreedySlice):
        def slice_detailed(self, scored_items: Sequence[ScoredItem], budget: ContextBudget, /) -> SliceOutcome:
            outcome = super().slice_detailed(scored_items, budget)
            return outcome._replace(selected=outcome.selected[:1])

    assert run(Reporting()) == ITEMS[:1]
    assert Reporting().slice([ScoredItem(each, 0.5) for each in ITEMS], BUDGET) == ITEMS[:1]


def test_a_subclass_that_overrides_nothing_selects_like_its_base() -> None:
    """Slicers: the same selection."""

    class Named(GreedySlice):
        pass

    budget = ContextBudget(20)
    assert run(Named(), budget=budget) == run(GreedySlice(), budget=budget) == ITEMS[:2]


def test_a_method_with_the_name_of_an_internal_one_means_nothing_outside_the_built_in_slicers() -> None:
    """Slicers: a custom class may have methods of any other name."""

    class Innocent(Custom):
        def _slice_indices(self) -> Iterator[int]:
            raise AssertionError("nobody may call this")

    assert run(Innocent(lambda items: items[:1])) == ITEMS[:1]


def test_an_object_may_get_its_method_at_run_time() -> None:
    """Slicers: an object with `slice`, wherever it comes from."""

    class Bag:
        slice: Callable[[Sequence[ScoredItem], ContextBudget], list[ContextItem]]

    bag = Bag()
    bag.slice = lambda scored_items, budget: [scored_items[0].item]
    assert run(bag) == ITEMS[:1]


def test_a_custom_slicer_needs_no_attributes_for_budget_simulation() -> None:
    """BS-09: both default to True where they are absent, and a built-in slicer's subclass may change them."""

    class Erratic(GreedySlice):
        supports_marginal_items = False

    assert run(Custom(list)) == ITEMS
    assert Erratic().supports_marginal_items is False
    assert Erratic().supports_min_budget is True


def test_required_items_and_caps_work_around_a_custom_inner_slicer() -> None:
    """CountQuotaSlice: phase 1 before it, phase 3 in the order of what it returns (CQ-07)."""
    items = [item("t1", 0.9, kind="tool"), item("t2", 0.8, kind="tool"), item("t3", 0.7, kind="tool")]
    slicer = CountQuotaSlice([CountQuotaEntry("tool", cap_count=2, require_count=1)], Custom(lambda given: given[::-1]))
    outcome = slicer.slice_detailed([ScoredItem(each, 0.5) for each in items], BUDGET)
    assert outcome.selected == [items[0], items[2]]
    assert outcome.cap_excluded == ((items[1], CountCapExceeded("tool", 2, 2)),)
