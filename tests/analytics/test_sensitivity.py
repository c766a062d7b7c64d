"""The Policy Sensitivity chapter, with the numbers of the decisions."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import Any

import pytest

from pycupel import (
    ContextBudget,
    ContextItem,
    CountQuotaEntry,
    CountQuotaSlice,
    GreedySlice,
    OverflowStrategy,
    Pipeline,
    PriorityScorer,
    QuotaEntry,
    QuotaSlice,
    RecencyScorer,
    ReflexiveScorer,
    ScarcityBehavior,
    SelectionReport,
    UShapedPlacer,
)
from pycupel.analytics import ItemStatus, PolicySensitivityDiffEntry, PolicySensitivityReport, policy_sensitivity
from pycupel.errors import CountRequirementError, InvalidArgumentError, InvalidBudgetError, PinnedExceedsBudgetError
from pycupel.pipeline import Policy

IN, OUT = ItemStatus.INCLUDED, ItemStatus.EXCLUDED
TOO_FEW = "At least two variants are required for a sensitivity comparison."

PRIORITY, REFLEXIVE = Policy(PriorityScorer()), Policy(ReflexiveScorer())
BUDGET = ContextBudget(50, 40)
A = ContextItem("item-a", 40, priority=10, future_relevance_hint=0.1)
B = ContextItem("item-b", 40, priority=1, future_relevance_hint=0.9)


def hinted(content: str, tokens: int = 10, hint: float = 0.5, **fields: Any) -> ContextItem:
    return ContextItem(content, tokens, future_relevance_hint=hint, **fields)


def contents(report: SelectionReport) -> set[str]:
    return {item.content for item in report.items}


# --- the example of the chapter, and the shape of the answer


def test_the_repr_of_many_variants_shows_the_first() -> None:
    report = policy_sensitivity([A, B], BUDGET, [("reflexive", REFLEXIVE), *[("priority", PRIORITY)] * 4])
    one = "<SelectionReport: 1 of 2 items, 40 of 80 tokens>"
    assert repr(report).startswith(f"PolicySensitivityReport(variants=(('reflexive', {one}), ... 4 more), diffs=(")
    assert repr(report.diffs[0]) == (
        "PolicySensitivityDiffEntry(content='item-a', "
        "statuses=(('reflexive', <ItemStatus.EXCLUDED: 'Excluded'>), ... 4 more))"
    )


def test_a_wrong_budget_is_not_the_fault_of_a_variant() -> None:
    with pytest.raises(InvalidBudgetError, match=r"^budget must be 0 or more, not -1$"):
        policy_sensitivity([A, B], -1, [("priority", PRIORITY), ("reflexive", REFLEXIVE)])


@pytest.mark.proves("S-PS-02")
def test_the_example_of_the_chapter() -> None:
    """Examples: two policies that rank two items in opposite ways; both items swing."""
    report = policy_sensitivity([A, B], BUDGET, [("priority", PRIORITY), ("reflexive", REFLEXIVE)])
    assert report.diffs == (
        PolicySensitivityDiffEntry("item-a", (("priority", IN), ("reflexive", OUT))),
        PolicySensitivityDiffEntry("item-b", (("priority", OUT), ("reflexive", IN))),
    )
    assert [(label, contents(each)) for label, each in report.variants] == [
        ("priority", {"item-a"}),
        ("reflexive", {"item-b"}),
    ]


def test_a_variant_is_what_a_dry_run_gives() -> None:
    """API: the report of a variant covers all included and excluded items."""
    report = policy_sensitivity([A, B], BUDGET, {"priority": PRIORITY, "reflexive": REFLEXIVE})
    for (_, each), policy in zip(report.variants, (PRIORITY, REFLEXIVE), strict=True):
        assert each.same_selection(Pipeline.from_policy(policy).dry_run([A, B], BUDGET))
        assert len(each.included) + len(each.excluded) == 2


@pytest.mark.proves("S-PS-04")
def test_the_statuses_are_named_as_in_the_chapter() -> None:
    """Types: ItemStatus."""
    assert [(status.name, status.value) for status in ItemStatus] == [
        ("INCLUDED", "Included"),
        ("EXCLUDED", "Excluded"),
    ]


def test_a_report_is_a_value() -> None:
    report = policy_sensitivity([A, B], BUDGET, {"priority": PRIORITY, "reflexive": REFLEXIVE})
    assert copy.deepcopy(report) == report == pickle.loads(pickle.dumps(report))
    assert report != PolicySensitivityReport(report.variants, report.diffs[:1])
    with pytest.raises(AttributeError):
        report.diffs = ()  # type: ignore[misc]


# --- what the semantics demand


@pytest.mark.proves("S-PS-05")
def test_items_are_matched_by_content() -> None:
    """Diff semantics: content-keyed, ordinal comparison; neither identity nor case folding."""
    upper, lower = hinted("Note", 40, 0.1, priority=10), hinted("note", 40, 0.9, priority=1)
    report = policy_sensitivity([upper, lower], BUDGET, {"p": PRIORITY, "r": REFLEXIVE})
    assert [(diff.content, [status for _, status in diff.statuses]) for diff in report.diffs] == [
        ("Note", [IN, OUT]),
        ("note", [OUT, IN]),
    ]


@pytest.mark.proves("S-PS-06")
def test_only_items_that_swing_are_listed() -> None:
    """Diff semantics: what is in everywhere, or out everywhere, is no difference."""
    always, never = hinted("always", 1, 1.0, priority=20), hinted("never", 1_000, 1.0, priority=20)
    report = policy_sensitivity([always, A, never, B], ContextBudget(60, 41), {"p": PRIORITY, "r": REFLEXIVE})
    assert [diff.content for diff in report.diffs] == ["item-a", "item-b"]


@pytest.mark.proves("S-PS-06")
def test_equal_policies_do_not_differ() -> None:
    """Diff semantics: swing only."""
    assert policy_sensitivity([A, B], BUDGET, {"one": PRIORITY, "other": PRIORITY}).diffs == ()


@pytest.mark.proves("S-PS-11", "S-PS-07")
def test_one_dissenter_of_many_is_a_difference_with_a_status_for_each() -> None:
    """PolicySensitivityDiffEntry: one entry per variant, in input order."""
    labels = "zyxw"
    variants = [(label, REFLEXIVE if label == "x" else PRIORITY) for label in labels]
    report = policy_sensitivity([A, B], BUDGET, variants)
    assert [label for label, _ in report.variants] == [*labels]
    assert [(diff.content, diff.statuses) for diff in report.diffs] == [
        ("item-a", (("z", IN), ("y", IN), ("x", OUT), ("w", IN))),
        ("item-b", (("z", OUT), ("y", OUT), ("x", IN), ("w", OUT))),
    ]


def test_another_order_is_no_difference() -> None:
    """Diff semantics: about inclusion, which no placer changes."""
    variants = {"time": REFLEXIVE, "edges": Policy(ReflexiveScorer(), placer=UShapedPlacer())}
    assert policy_sensitivity([A, B], ContextBudget(100), variants).diffs == ()


def test_no_items_do_not_differ() -> None:
    report = policy_sensitivity([], BUDGET, {"p": PRIORITY, "r": REFLEXIVE})
    assert report.diffs == ()
    assert [each.total_candidates for _, each in report.variants] == [0, 0]


def test_scorers_slicers_and_deduplication_all_count() -> None:
    """The chapter's purpose: how scorer, slicer and the other choices affect the selection."""
    items = [hinted("a", 30, 0.9, kind="Document"), hinted("b", 20, 0.5), hinted("b", 20, 0.5)]
    variants = {
        "plain": REFLEXIVE,
        "recency": Policy(RecencyScorer()),
        "quota": Policy(ReflexiveScorer(), QuotaSlice([QuotaEntry("Document", cap=10)])),
        "copies": Policy(ReflexiveScorer(), deduplication=False),
    }
    report = policy_sensitivity(items, ContextBudget(50), variants)
    assert report.diffs == (
        PolicySensitivityDiffEntry("a", (("plain", IN), ("recency", IN), ("quota", OUT), ("copies", IN))),
    )


# --- the decisions


def test_a_duplicate_has_one_status_for_each_variant() -> None:
    """PO-01: equal policies and a deduplicated item are no swing; any instance that is in counts."""
    items = [hinted("twice"), hinted("twice", hint=0.4), hinted("once")]
    assert policy_sensitivity(items, BUDGET, {"one": REFLEXIVE, "other": REFLEXIVE}).diffs == ()
    every = Policy(ReflexiveScorer(), deduplication=False)
    assert policy_sensitivity(items, BUDGET, {"one": REFLEXIVE, "every": every}).diffs == ()


@pytest.mark.proves("S-PS-11")
def test_a_duplicate_that_swings_is_listed_once() -> None:
    """PO-01: exactly one status per variant."""
    items = [A, hinted("item-b", 40, 0.9, priority=1), hinted("item-b", 40, 0.8, priority=2)]
    report = policy_sensitivity(items, BUDGET, {"p": PRIORITY, "r": REFLEXIVE})
    assert report.diffs[1] == PolicySensitivityDiffEntry("item-b", (("p", OUT), ("r", IN)))
    assert len(report.diffs) == 2


@pytest.mark.proves("S-PS-08")
@pytest.mark.parametrize("variants", [{}, [], (), {"one": PRIORITY}, [("one", Pipeline(PriorityScorer()))]])
def test_fewer_than_two_variants_are_refused(variants: Any) -> None:
    """Minimum variants, PO-02: MUST require at least 2, policies or pipelines alike. The items are not looked at."""
    with pytest.raises(InvalidArgumentError) as caught:
        policy_sensitivity("no items", BUDGET, variants)  # type: ignore[arg-type]
    assert str(caught.value) == TOO_FEW
    assert caught.value.argument == "variants"


def test_a_report_has_two_variants_however_it_is_made() -> None:
    """PO-02."""
    report = policy_sensitivity([A], BUDGET, {"p": PRIORITY, "r": REFLEXIVE})
    with pytest.raises(InvalidArgumentError) as caught:
        PolicySensitivityReport(report.variants[:1], ())
    assert str(caught.value) == TOO_FEW


def test_differences_come_in_order_of_first_appearance() -> None:
    """PO-03."""
    report = policy_sensitivity([B, A, B, A], BUDGET, {"p": PRIORITY, "r": REFLEXIVE})
    assert [diff.content for diff in report.diffs] == ["item-b", "item-a"]


class FailingScorer:
    def score(self, item: ContextItem, all_items: Sequence[ContextItem], /) -> float:
        raise RuntimeError("no model")


def test_an_error_names_the_variant_and_stays_what_it_is() -> None:
    """PO-04: type and numbers are those of the variant's own error, and the message names the label."""
    strict = CountQuotaSlice([CountQuotaEntry("Memory", cap_count=2, require_count=2)], scarcity=ScarcityBehavior.THROW)
    variants = {"loose": REFLEXIVE, "at least two memories": Policy(ReflexiveScorer(), strict)}
    with pytest.raises(CountRequirementError) as caught:
        policy_sensitivity([A, B], BUDGET, variants)
    assert (caught.value.kind, caught.value.required_count, caught.value.satisfied_count) == ("Memory", 2, 0)
    assert str(caught.value).startswith(
        "variant 'at least two memories': CountQuotaSlice: candidate pool for kind 'Memory'"
    )


def test_an_error_of_somebody_elses_strategy_names_the_variant() -> None:
    """PO-04."""
    with pytest.raises(RuntimeError, match="no model") as caught:
        policy_sensitivity([A], BUDGET, [("fine", PRIORITY), ("broken", Pipeline(FailingScorer()))])
    assert caught.value.__notes__ == ["Raised in the variant 'broken'."]


def test_the_first_variant_to_fail_is_named() -> None:
    """PO-04: pinned items that do not fit fit nowhere."""
    with pytest.raises(PinnedExceedsBudgetError) as caught:
        policy_sensitivity([hinted("pinned", 60, pinned=True)], BUDGET, {"p": PRIORITY, "r": REFLEXIVE})
    assert str(caught.value) == "variant 'p': Pinned items require 60 tokens, but only 50 are available"


def test_labels_may_repeat() -> None:
    """PO-05."""
    report = policy_sensitivity([A, B], BUDGET, [("same", PRIORITY), ("same", REFLEXIVE)])
    assert [label for label, _ in report.variants] == ["same", "same"]
    assert report.diffs[0].statuses == (("same", IN), ("same", OUT))


@pytest.mark.proves("S-PS-03", "S-PS-10")
@pytest.mark.parametrize("make", [Policy, Pipeline])
def test_policies_and_pipelines_may_have_count_quotas(make: Any) -> None:
    """PO-06, Language notes: the pipeline form MUST do; here a policy does, too."""
    one = make(ReflexiveScorer(), CountQuotaSlice([CountQuotaEntry("Message", cap_count=1)]))
    report = policy_sensitivity([A, B], ContextBudget(100), {"all": REFLEXIVE, "one": one})
    assert [diff.content for diff in report.diffs] == ["item-a"]


@pytest.mark.proves("S-PS-09")
def test_the_budget_applies_to_every_variant() -> None:
    """PO-07, Explicit budget parameter."""
    budget = ContextBudget(77, 44, output_reserve=3)
    report = policy_sensitivity([A, B], budget, {"p": PRIORITY, "r": Pipeline(ReflexiveScorer())})
    assert [each.budget for _, each in report.variants] == [budget, budget]


def test_observers_are_not_called() -> None:
    """PL-06."""
    calls: list[Any] = []
    pipeline = Pipeline(ReflexiveScorer(), overflow_strategy=OverflowStrategy.PROCEED, on_overflow=calls.append)
    report = policy_sensitivity([hinted("pinned", 45, pinned=True)], BUDGET, {"loud": pipeline, "again": pipeline})
    assert [each.included_tokens for _, each in report.variants] == [45, 45]
    assert calls == []


# --- what may be given


@pytest.mark.proves("S-PS-03")
def test_policies_and_pipelines_may_be_mixed_in_any_iterable() -> None:
    def variants() -> Iterator[tuple[str, Policy | Pipeline]]:
        yield "policy", PRIORITY
        yield "pipeline", Pipeline(ReflexiveScorer())

    expected = policy_sensitivity([A, B], BUDGET, {"policy": PRIORITY, "pipeline": REFLEXIVE})
    assert policy_sensitivity([A, B], BUDGET, variants()).diffs == expected.diffs
    assert policy_sensitivity([A, B], BUDGET, [*variants()]).diffs == expected.diffs
    assert policy_sensitivity([A, B], BUDGET, dict(variants())).diffs == expected.diffs


def test_items_are_taken_from_any_iterable_once() -> None:
    report = policy_sensitivity((item for item in (A, B)), BUDGET, {"p": PRIORITY, "r": REFLEXIVE})
    assert [each.total_candidates for _, each in report.variants] == [2, 2]
    (one, _), (other, _) = ((each.included[0].item, each) for _, each in report.variants)
    assert one is A
    assert other is B


def test_a_variant_may_be_a_preset_and_the_budget_a_number() -> None:
    items = [
        hinted("old", 60, 0.9, kind="Document"),
        hinted("new", 60, 0.1, timestamp=datetime(2026, 1, 1, tzinfo=UTC)),
    ]
    report = policy_sensitivity(items, 100, {"a": "rag", "b": "chat"})
    assert [(label, contents(each)) for label, each in report.variants] == [("a", {"old"}), ("b", {"new"})]


@pytest.mark.parametrize("variant", [None, PriorityScorer(), GreedySlice(), Policy, Pipeline, (1, 2)])
def test_a_variant_is_a_policy_a_pipeline_or_a_preset(variant: Any) -> None:
    sentence = r"variants\['wrong'\] must be a Policy, a Pipeline or the name of a preset, not "
    with pytest.raises(TypeError, match=sentence):
        policy_sensitivity([A], BUDGET, [("right", PRIORITY), ("wrong", variant)])


@pytest.mark.parametrize("variants", ["pr", 5, None, PRIORITY, [PRIORITY, REFLEXIVE], [("p", PRIORITY), ("r",)]])
def test_variants_are_pairs(variants: Any) -> None:
    with pytest.raises(TypeError, match=r"variants.* must be .*\(label, policy\) pair"):
        policy_sensitivity([A], BUDGET, variants)


@pytest.mark.parametrize("label", [None, 1, ("p",)])
def test_a_label_is_a_string(label: Any) -> None:
    with pytest.raises(TypeError, match=r"^variants: label must be a str, not "):
        policy_sensitivity([A], BUDGET, [("p", PRIORITY), (label, REFLEXIVE)])


@pytest.mark.parametrize(
    ("items", "budget", "sentence"),
    [
        ("text", BUDGET, "items must be an iterable of ContextItem"),
        (None, BUDGET, "items must be an iterable of ContextItem"),
        ([A, "b"], BUDGET, r"items\[1\] must be a ContextItem"),
        ([A], "50", "budget must be a ContextBudget or an int"),
    ],
)
def test_items_and_budget_are_checked(items: Any, budget: Any, sentence: str) -> None:
    with pytest.raises(TypeError, match=sentence):
        policy_sensitivity(items, budget, {"p": PRIORITY, "r": REFLEXIVE})
