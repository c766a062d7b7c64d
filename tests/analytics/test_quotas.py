"""`quota_utilization`, an extension (AN-02), and the constraints that slicers tell of."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Sequence
from dataclasses import FrozenInstanceError, replace
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
    OverflowStrategy,
    Pipeline,
    QuotaEntry,
    QuotaSlice,
    ReflexiveScorer,
    ScoredItem,
    SelectionReport,
    Slicer,
)
from pycupel.analytics import KindQuotaUtilization, quota_utilization
from pycupel.errors import SlicerConfigError, SlicerContractError
from pycupel.model import QuotaConstraint, QuotaConstraintMode
from pycupel.pipeline import Policy
from pycupel.slicers._base import quota_constraints_of

PERCENTAGE, COUNT = QuotaConstraintMode.PERCENTAGE, QuotaConstraintMode.COUNT
SHARES = [QuotaEntry("Document", 20, 50), QuotaEntry("Message", cap=40)]
COUNTS = [CountQuotaEntry("Document", cap_count=4, require_count=1), CountQuotaEntry("Memory", cap_count=2)]
SHARED, COUNTED = QuotaSlice(SHARES), CountQuotaSlice(COUNTS)
SHARES_TOLD = [
    QuotaConstraint("Document", PERCENTAGE, 20.0, 50.0),
    QuotaConstraint("Message", PERCENTAGE, 0.0, 40.0),
]
COUNTS_TOLD = [QuotaConstraint("Document", COUNT, 1, 4), QuotaConstraint("Memory", COUNT, 0, 2)]
BUDGET = ContextBudget(200, 100)


def item(content: str, tokens: int, kind: str = "Message", **fields: Any) -> ContextItem:
    return ContextItem(content, tokens, kind=kind, future_relevance_hint=0.5, **fields)


ITEMS = [item("a", 10, "Document"), item("b", 20, "document"), item("c", 40), item("d", 0, "DOCUMENT")]


def report_of(items: Sequence[ContextItem], budget: ContextBudget = BUDGET) -> SelectionReport:
    """A report in which all of the items are selected."""
    report = Pipeline(ReflexiveScorer(), overflow_strategy=OverflowStrategy.PROCEED).dry_run(items, budget)
    assert len(report.included) == len(items)
    return report


# --- the numbers


def test_a_percentage_is_of_the_target_and_its_use_of_the_cap() -> None:
    """AN-02: actual is tokens of the kind over target tokens, times 100; utilization is actual over cap."""
    assert quota_utilization(report_of(ITEMS), QuotaSlice(SHARES), BUDGET) == (
        KindQuotaUtilization(ContextKind("Document"), PERCENTAGE, 20.0, 50.0, 30.0, 0.6),
        KindQuotaUtilization(ContextKind("Message"), PERCENTAGE, 0.0, 40.0, 40.0, 1.0),
    )


def test_a_count_is_of_items_and_its_use_of_the_cap() -> None:
    """AN-02: actual is the number included; items without tokens count, and kinds do not differ by case."""
    assert quota_utilization(report_of(ITEMS), CountQuotaSlice(COUNTS), BUDGET) == (
        KindQuotaUtilization(ContextKind("Document"), COUNT, 1, 4, 3, 0.75),
        KindQuotaUtilization(ContextKind("Memory"), COUNT, 0, 2, 0, 0.0),
    )


@pytest.mark.parametrize("slicer", [QuotaSlice([QuotaEntry("Message", cap=20)]), CountQuotaSlice(COUNTS)])
def test_the_use_never_exceeds_one(slicer: Slicer) -> None:
    """AN-02: clamped to [0, 1]; the actual number is not."""
    items = [item(f"{kind} {i}", 5, kind) for i in range(6) for kind in ("Message", "Document")]
    usage = quota_utilization(report_of(items), slicer, BUDGET)[0]
    assert usage.actual > usage.cap
    assert usage.utilization == 1.0


@pytest.mark.parametrize(
    "slicer",
    [QuotaSlice([QuotaEntry("Message", cap=0)]), CountQuotaSlice([CountQuotaEntry("Message", cap_count=0)])],
)
def test_a_cap_of_nothing_has_no_use(slicer: Slicer) -> None:
    """AN-02: 0 if the cap is 0, whatever is pinned against it."""
    (usage,) = quota_utilization(report_of([item("pinned", 10, pinned=True)]), slicer, BUDGET)
    assert usage.actual > 0
    assert usage.utilization == 0.0


def test_a_target_of_nothing_has_no_percentages() -> None:
    """AN-02: 0 if the target is 0."""
    budget = ContextBudget(50, 0)
    report = report_of([item("pinned", 10, pinned=True)], budget)
    (usage,) = quota_utilization(report, QuotaSlice([QuotaEntry("Message", 10, 50)]), budget)
    assert (usage.actual, usage.utilization) == (0.0, 0.0)


def test_pinned_items_count() -> None:
    """AN-02: although no quota applies to them."""
    items = [item("pinned", 10, "Document", pinned=True), item("other", 10, "Document")]
    shares, counts = (quota_utilization(report_of(items), each, BUDGET)[0] for each in (SHARED, COUNTED))
    assert (shares.actual, counts.actual) == (20.0, 2)


@pytest.mark.parametrize("tokens", range(1, 101))
def test_whole_percentages_are_whole(tokens: int) -> None:
    """A share that just meets its requirement is not told as a little less: 29 of 100 is 29 per cent."""
    slicer = QuotaSlice([QuotaEntry("Message", tokens, 100)])
    (usage,) = quota_utilization(report_of([item("a", tokens)]), slicer, BUDGET)
    assert usage.actual == usage.require == tokens


def test_the_budget_is_the_one_given() -> None:
    report = report_of(ITEMS)
    wide = quota_utilization(report, SHARED, ContextBudget(400))
    assert [usage.actual for usage in wide] == [7.5, 10.0]


def test_what_is_left_out_does_not_count() -> None:
    slicer = CountQuotaSlice([CountQuotaEntry("Message", cap_count=2)])
    report = Pipeline(ReflexiveScorer(), slicer).dry_run([item(f"{i}", 1) for i in range(9)], BUDGET)
    (usage,) = quota_utilization(report, slicer, BUDGET)
    assert (usage.actual, usage.utilization) == (2, 1.0)


def test_a_run_meets_its_quotas() -> None:
    items = [item(f"{i}", 10, ("Message", "Document")[i % 2]) for i in range(30)]
    pipeline = Pipeline(ReflexiveScorer(), SHARED)
    for usage in quota_utilization(pipeline.dry_run(items, BUDGET), pipeline, BUDGET):
        assert usage.require <= usage.actual <= usage.cap


# --- which constraints there are, and their order


def test_usages_are_sorted_by_the_spelling_of_the_kind() -> None:
    """AN-02: ordinal, so that capitals come first."""
    entries = [QuotaEntry(kind) for kind in ("memory", "Zebra", "Document", "\u00e9", "Message")]
    usages = quota_utilization(report_of([]), QuotaSlice(entries), BUDGET)
    assert [usage.kind.value for usage in usages] == ["Document", "Message", "Zebra", "memory", "\u00e9"]


def test_all_constraints_of_a_nest_are_told() -> None:
    """Each with its mode: by kind, then Count before Percentage, then from the outside to the inside."""
    innermost = CountConstrainedKnapsackSlice([CountQuotaEntry("Document", cap_count=9)])
    inner = QuotaSlice([QuotaEntry("Document", cap=80), QuotaEntry("Memory", cap=30)], innermost)
    outer = CountQuotaSlice(COUNTS, QuotaSlice(SHARES, inner))
    usages = quota_utilization(report_of(ITEMS), outer, BUDGET)
    assert [(usage.kind.value, usage.mode.value, usage.cap) for usage in usages] == [
        ("Document", "Count", 4),
        ("Document", "Count", 9),
        ("Document", "Percentage", 50.0),
        ("Document", "Percentage", 80.0),
        ("Memory", "Count", 2),
        ("Memory", "Percentage", 30.0),
        ("Message", "Percentage", 40.0),
    ]


@pytest.mark.parametrize("make", [Policy, Pipeline])
def test_a_policy_a_pipeline_and_a_slicer_say_the_same(make: Any) -> None:
    usages = quota_utilization(report_of(ITEMS), make(ReflexiveScorer(), COUNTED), BUDGET)
    assert usages == quota_utilization(report_of(ITEMS), COUNTED, BUDGET) != ()


class Simple:
    """A slicer with one method."""

    def slice(self, scored_items: Sequence[ScoredItem], budget: ContextBudget, /) -> list[ContextItem]:
        return []


class Telling(Simple):
    def __init__(self, constraints: Any) -> None:
        self.constraints = constraints

    def quota_constraints(self) -> Any:
        return self.constraints


@pytest.mark.parametrize(
    "slicer", [GreedySlice(), KnapsackSlice(), Simple(), QuotaSlice([]), CountQuotaSlice([], Simple())]
)
def test_without_quotas_there_is_nothing_to_tell(slicer: Slicer) -> None:
    assert quota_utilization(report_of(ITEMS), slicer, BUDGET) == ()
    assert quota_utilization(report_of(ITEMS), Pipeline(ReflexiveScorer(), slicer), BUDGET) == ()


@pytest.mark.parametrize(
    ("slicer", "told"),
    [
        (SHARED, SHARES_TOLD),
        (COUNTED, COUNTS_TOLD),
        (CountConstrainedKnapsackSlice(COUNTS), COUNTS_TOLD),
        (QuotaSlice(SHARES, COUNTED), SHARES_TOLD + COUNTS_TOLD),
        (CountQuotaSlice(COUNTS, SHARED), COUNTS_TOLD + SHARES_TOLD),
    ],
    ids=lambda value: type(value).__name__,
)
def test_the_slicers_with_quotas_tell_them(slicer: Any, told: list[QuotaConstraint]) -> None:
    """AN-02: percentages for QuotaSlice, counts for the two others. Their own come before the inner ones."""
    assert slicer.quota_constraints() == tuple(told) == quota_constraints_of(slicer)


def test_a_custom_slicer_can_tell_its_quotas() -> None:
    custom = Telling([QuotaConstraint("Message", COUNT, 0, 2)])
    expected = KindQuotaUtilization(ContextKind("Message"), COUNT, 0, 2, 1, 0.5)
    assert quota_utilization(report_of(ITEMS), custom, BUDGET) == (expected,)
    assert expected in quota_utilization(report_of(ITEMS), QuotaSlice(SHARES, custom), BUDGET)


@pytest.mark.parametrize("told", [None, "Message", {}, [1], QuotaConstraint("Message", COUNT, 0, 2), [SHARES[0]]])
def test_a_custom_slicer_that_tells_something_else_breaks_its_contract(told: Any) -> None:
    sentence = r"^Telling\.quota_constraints must return a list or tuple of QuotaConstraint, not "
    for slicer in (Telling(told), CountQuotaSlice([], Telling(told))):
        with pytest.raises(SlicerContractError, match=sentence):
            quota_utilization(report_of(ITEMS), slicer, BUDGET)


# --- what is refused


@pytest.mark.parametrize("policy", [None, ReflexiveScorer(), QuotaSlice, report_of(ITEMS)])
def test_a_policy_is_a_policy_a_pipeline_a_preset_or_a_slicer(policy: Any) -> None:
    with pytest.raises(TypeError, match=r"^policy must be a Policy, a Pipeline, the name of a preset or a slicer"):
        quota_utilization(report_of(ITEMS), policy, BUDGET)


def test_a_budget_is_a_budget() -> None:
    with pytest.raises(TypeError, match=r"^budget must be a ContextBudget or an int, not '100' \(str\)$"):
        quota_utilization(report_of(ITEMS), SHARED, "100")  # type: ignore[arg-type]


def test_a_policy_may_be_a_preset_and_a_budget_a_number() -> None:
    report = report_of(ITEMS)
    assert quota_utilization(report, "rag", 100) == ()
    assert quota_utilization(report, SHARED, 100) == quota_utilization(report, SHARED, ContextBudget(100))


# --- the constraint itself


def test_a_constraint_is_a_value() -> None:
    constraint = QuotaConstraint("Note", "Count", 1, 2)
    assert constraint == QuotaConstraint(ContextKind("NOTE"), COUNT, 1, 2)
    assert constraint != QuotaConstraint("Note", PERCENTAGE, 1, 2)
    assert copy.deepcopy(constraint) == pickle.loads(pickle.dumps(constraint)) == replace(constraint) == constraint
    assert hash(copy.copy(constraint)) == hash(constraint)
    with pytest.raises(FrozenInstanceError):
        constraint.cap = 3  # type: ignore[misc]


def test_percentages_are_floats_and_counts_are_whole() -> None:
    share, count = QuotaConstraint("Note", PERCENTAGE, 1, 2), QuotaConstraint("Note", COUNT, 1, 10**400)
    assert (type(share.require), type(share.cap), type(count.require), type(count.cap)) == (float, float, int, int)


def test_modes_are_named_as_on_the_wire() -> None:
    assert [mode.value for mode in QuotaConstraintMode] == ["Percentage", "Count"]


@pytest.mark.parametrize(
    ("mode", "require", "cap", "sentence"),
    [
        (PERCENTAGE, 0, 101, "cap must be between 0.0 and 100.0"),
        (PERCENTAGE, 50, 40, "must not exceed cap"),
        (COUNT, -1, 3, "must be 0 or more"),
        (COUNT, 3, 2, "must not exceed cap"),
        ("tokens", 0, 1, "mode must be one of Percentage, Count, not 'tokens'"),
    ],
)
def test_a_constraint_has_the_limits_of_an_entry(mode: Any, require: Any, cap: Any, sentence: str) -> None:
    with pytest.raises(SlicerConfigError, match=sentence):
        QuotaConstraint("Note", mode, require, cap)
