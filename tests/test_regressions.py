"""Mistakes that were made once."""

from __future__ import annotations

import dataclasses
import pickle
from datetime import UTC, datetime, timedelta, timezone
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from pycupel import (
    ContextBudget,
    ContextItem,
    ContextKind,
    CountConstrainedKnapsackSlice,
    CountQuotaSlice,
    DecayScorer,
    KindScorer,
    KnapsackSlice,
    Pipeline,
    QuotaEntry,
    QuotaSlice,
    RecencyScorer,
    ScoredItem,
    TagScorer,
)
from pycupel.conformance import run_suite
from pycupel.conformance.check import MismatchError, check_vector
from pycupel.conformance.vectors import VectorError, add_seconds, build_strategy
from pycupel.diagnostics import ExclusionReason
from pycupel.errors import (
    InvalidBudgetError,
    InvalidItemError,
    PlacerContractError,
    SlicerConfigError,
    SlicerContractError,
)
from pycupel.registry import SLICERS
from pycupel.scorers import SystemTimeProvider


@pytest.mark.parametrize(
    "value",
    [
        datetime.max.replace(tzinfo=timezone(timedelta(hours=-5))),
        datetime.min.replace(tzinfo=timezone(timedelta(hours=5))),
    ],
)
def test_a_timestamp_that_utc_cannot_hold_is_an_invalid_item(value: datetime) -> None:
    """DM-07."""
    with pytest.raises(InvalidItemError, match="no equivalent in UTC"):
        ContextItem("x", 1, timestamp=value)


class Broken:
    def score(self, item: ContextItem, all_items: Any, /) -> float:
        return float("nan")


def test_two_equal_runs_are_the_same_selection_even_with_nan() -> None:
    """SR-09."""
    items = [ContextItem("a", 1), ContextItem("b", 1)]
    reports = [Pipeline(Broken()).dry_run(items, ContextBudget(1)) for _ in range(2)]
    assert reports[0].same_selection(reports[1])
    assert not reports[0].same_selection(Pipeline(RecencyScorer()).dry_run(items, ContextBudget(1)))


def test_something_with_a_score_is_no_scorer() -> None:
    """PB-05."""
    with pytest.raises(TypeError, match="scorer must be a scorer"):
        Pipeline(ScoredItem(ContextItem("a", 1), 0.5))  # type: ignore[arg-type]


class Tighter(ContextBudget):
    """A budget with a name."""


def test_a_subclass_of_a_budget_is_a_budget() -> None:
    assert len(Pipeline(RecencyScorer()).run([ContextItem("a", 1)], Tighter(5))) == 1


class Mine(ExclusionReason):
    def __init__(self, why: str) -> None:
        self.why = why


def test_a_custom_reason_that_is_no_record_can_be_compared() -> None:
    assert Mine("a") == Mine("a")
    assert Mine("a") != Mine("b")
    assert len({Mine("a"), Mine("a")}) == 1


def test_a_refused_percentage_travels_as_attributes() -> None:
    with pytest.raises(InvalidBudgetError) as budget:
        ContextBudget(5, estimation_safety_margin_percent=101)
    assert (budget.value.argument, budget.value.value) == ("estimation_safety_margin_percent", 101.0)
    with pytest.raises(SlicerConfigError) as quota:
        QuotaEntry("x", 101)
    assert (quota.value.argument, quota.value.value) == ("require", 101.0)


def test_one_kind_given_twice_in_one_spelling_is_refused_too() -> None:
    """DM-12."""
    with pytest.raises(InvalidBudgetError, match="duplicate kind 'Note'"):
        ContextBudget(5, reserved_slots={ContextKind("Note"): 1, "Note": 1})  # type: ignore[arg-type]


def test_a_kind_can_be_replaced() -> None:
    assert dataclasses.replace(ContextKind("a"), value="B").key == "b"


def test_a_wrapping_slicer_inside_another_by_name_gets_the_default_inside() -> None:
    slicer = build_strategy(SLICERS, "quota", {"inner_slicer": "count_quota"})
    assert isinstance(slicer, QuotaSlice)


def test_the_tier_is_found_from_within_the_directory(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    required = tmp_path / "required"
    required.mkdir()
    text = '[test]\nstage = "placing"\nplacer = "u-shaped"\n[expected]\nordered_contents = []\n'
    (required / "empty.toml").write_text(text, encoding="utf-8")
    monkeypatch.chdir(required)
    assert run_suite(".").tiers == {"required": (1, 1)}


def test_a_time_in_a_string_with_escaped_quotes_is_left_alone() -> None:
    """CV-01."""
    text = 'a = """x \\""" 2024-01-01T00:00Z"""\nb = 2024-01-01T00:00Z\n'
    assert add_seconds(text) == text.replace("b = 2024-01-01T00:00Z", "b = 2024-01-01T00:00:00Z")


def scoring_vector(**tables: Any) -> dict[str, Any]:
    return {"test": {"name": "x", "stage": "scoring", "scorer": "reflexive"}, **tables}


def test_a_scoring_vector_that_expects_an_error_and_gets_none_says_so() -> None:
    with pytest.raises(MismatchError, match="expected ScorerConfigError, but there was no error"):
        check_vector(scoring_vector(items=[{"content": "a", "tokens": 1}], expected={"error": "ScorerConfig"}))


def test_an_unknown_curve_is_named() -> None:
    config = {"reference_time": datetime(2024, 1, 1, tzinfo=UTC), "curve": {"type": "wavy"}}
    vector = {"test": {"stage": "scoring", "scorer": "decay"}, "config": config}
    with pytest.raises(VectorError, match=r"curve\.type: unknown curve 'wavy'; choose from exponential, step, window"):
        check_vector(vector)


@dataclasses.dataclass(frozen=True)
class Curve:
    value: Any

    def at(self, age: timedelta, /) -> Any:
        return self.value


def test_a_datetime_is_no_clock() -> None:
    """DS-01."""
    with pytest.raises(TypeError, match="time_provider"):
        DecayScorer(datetime(2024, 1, 1, tzinfo=UTC), Curve(0.5))


def test_the_scores_of_a_custom_curve_are_coerced_like_any_score() -> None:
    """SC-04."""
    item = ContextItem("a", 1, timestamp=datetime(2024, 1, 1, tzinfo=UTC))
    assert DecayScorer(SystemTimeProvider(), Curve(Decimal("0.5"))).score_all([item]) == [0.5]
    with pytest.raises(TypeError, match="the score that Curve returned"):
        DecayScorer(SystemTimeProvider(), Curve("high")).score(item, [item])


class Failing:
    """A placer and slicer whose own mistake is a TypeError."""

    def place(self, scored_items: Any, /) -> Any:
        yield scored_items[0].item + 1

    def slice(self, scored_items: Any, budget: ContextBudget, /) -> Any:
        yield scored_items[0].item + 1


def test_a_mistake_inside_a_plug_in_is_shown_as_it_is() -> None:
    for pipeline in (Pipeline(RecencyScorer(), placer=Failing()), Pipeline(RecencyScorer(), Failing())):
        with pytest.raises(TypeError, match="unsupported operand"):
            pipeline.run([ContextItem("a", 1)], ContextBudget(5))


class Unordered:
    def place(self, scored_items: Any, /) -> Any:
        return {scored.item for scored in scored_items}


def test_a_set_cannot_decide_an_order() -> None:
    """PY-16."""
    with pytest.raises(PlacerContractError, match="Unordered returned a set, which has no order"):
        Pipeline(RecencyScorer(), placer=Unordered()).run([ContextItem("a", 1)], ContextBudget(5))


class Louder(TagScorer):
    __slots__ = ()


def test_scorers_with_mappings_can_be_hashed_and_keep_their_class() -> None:
    assert hash(KindScorer({"a": 1})) == hash(KindScorer({"A": 1}))
    assert hash(TagScorer({"a": 1})) == hash(TagScorer({"a": 1.0}))
    copied = pickle.loads(pickle.dumps(Louder({"a": 1})))
    assert (type(copied), copied) == (Louder, Louder({"a": 1}))


class NoneAtAll(CountQuotaSlice):
    __slots__ = ()

    def slice(self, scored_items: Any, budget: ContextBudget, /) -> list[ContextItem]:
        return []


class NoKnapsack(CountConstrainedKnapsackSlice):
    __slots__ = ()

    def slice(self, scored_items: Any, budget: ContextBudget, /) -> list[ContextItem]:
        return []


class NoQuota(QuotaSlice):
    __slots__ = ()

    def __init__(self) -> None:
        super().__init__([])

    def slice(self, scored_items: Any, budget: ContextBudget, /) -> list[ContextItem]:
        return []


@pytest.mark.parametrize("inner", [NoneAtAll([]), NoKnapsack([]), NoQuota()])
def test_a_subclass_is_honoured_inside_a_quota(inner: Any) -> None:
    """CQ-03: only the built-in slicers are restricted to the kind of a partition."""
    pipeline = Pipeline(RecencyScorer(), QuotaSlice([], inner))
    assert pipeline.run([ContextItem("a", 1)], ContextBudget(10)) == []


class Ten:
    def __index__(self) -> int:
        return 10


def test_options_of_the_knapsack_are_stored_as_ints() -> None:
    """DM-02."""
    slicer = KnapsackSlice(Ten(), Ten(), Ten())  # type: ignore[arg-type]
    assert slicer == KnapsackSlice(10, 10, 10)
    assert slicer.slice([ScoredItem(ContextItem("a", 10), 0.5)], ContextBudget(10)) != []


class Sloppy:
    def slice(self, scored_items: Any, budget: ContextBudget, /) -> list[ContextItem]:
        return []

    def slice_detailed(self, scored_items: Any, budget: ContextBudget, /) -> Any:
        return []


def test_slice_detailed_has_to_return_an_outcome() -> None:
    """SL-04."""
    with pytest.raises(SlicerContractError, match=r"Sloppy\.slice_detailed must return a SliceOutcome, not \[\]"):
        Pipeline(RecencyScorer(), Sloppy()).run([ContextItem("a", 1)], ContextBudget(5))
