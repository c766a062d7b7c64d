"""The report and the records in it. Diagnostics: SelectionReport, Events."""

from __future__ import annotations

import copy
import dataclasses
import math
import operator
import pickle
from dataclasses import FrozenInstanceError
from datetime import UTC, datetime
from typing import Any

import pytest

from pycupel import (
    ContextBudget,
    ContextItem,
    ContextKind,
    CountQuotaEntry,
    CountQuotaSlice,
    CupelError,
    KindScorer,
    Pipeline,
    ReflexiveScorer,
    SelectionReport,
    UShapedPlacer,
)
from pycupel.diagnostics import (
    BudgetExceeded,
    CountRequirementShortfall,
    Deduplicated,
    ExcludedItem,
    IncludedItem,
    InclusionReason,
    NegativeTokens,
    OverflowEvent,
    PipelineStage,
    StageTraceSnapshot,
    TraceDetailLevel,
    TraceEvent,
)
from pycupel.errors import InvalidArgumentError

FIRST = IncludedItem(ContextItem("first", 10), 0.9, InclusionReason.SCORED)
SECOND = IncludedItem(ContextItem("second", 0), 0.1, InclusionReason.ZERO_TOKEN)
LARGE = ExcludedItem(ContextItem("large", 500), 0.8, BudgetExceeded(500, 90))
BROKEN = ExcludedItem(ContextItem("broken", -5), 0.0, NegativeTokens(-5))
EVENT = TraceEvent(PipelineStage.CLASSIFY, 0.25, 4)
SHORTFALL = CountRequirementShortfall(ContextKind("Note"), 2, 1)
BUDGET = ContextBudget(100)
NOTE = "no item sets timestamp"


def make_report(**changes: Any) -> SelectionReport:
    """A report without any default."""
    values: dict[str, Any] = {
        "events": [EVENT],
        "included": [FIRST, SECOND],
        "excluded": [LARGE, BROKEN],
        "total_candidates": 4,
        "total_tokens_considered": 505,
        "count_requirement_shortfalls": [SHORTFALL],
        "budget": BUDGET,
        "notes": [NOTE],
    }
    return SelectionReport(**{**values, **changes})


def hinted(content: str, tokens: int, score: float, **options: Any) -> ContextItem:
    """An item that ReflexiveScorer gives this score."""
    return ContextItem(content, tokens, future_relevance_hint=score, **options)


# --- the record


@pytest.mark.proves("S-RP-01")
def test_a_report_keeps_what_it_is_given() -> None:
    report = make_report()
    assert report.events == (EVENT,)
    assert report.included == (FIRST, SECOND)
    assert report.excluded == (LARGE, BROKEN)
    assert (report.total_candidates, report.total_tokens_considered) == (4, 505)
    assert report.count_requirement_shortfalls == (SHORTFALL,)
    assert report.budget is BUDGET
    assert report.notes == (NOTE,)


def test_shortfalls_budget_and_notes_may_be_left_out() -> None:
    """SR-06: there are always shortfalls, if only none."""
    report = SelectionReport([], [FIRST], [], 1, 10)
    assert report.count_requirement_shortfalls == ()
    assert report.budget is None
    assert report.notes == ()


def test_an_empty_report_is_legal() -> None:
    report = SelectionReport((), (), (), 0, 0)
    assert report.items == []
    assert report.included_tokens == 0


def test_generators_become_tuples() -> None:
    report = make_report(
        events=iter([EVENT]),
        included=(each for each in [FIRST, SECOND]),
        excluded=iter([LARGE, BROKEN]),
        count_requirement_shortfalls=iter([SHORTFALL]),
        notes=iter([NOTE]),
    )
    assert report == make_report()


def test_later_changes_of_the_callers_lists_have_no_effect() -> None:
    lists: dict[str, list[Any]] = {
        "events": [EVENT],
        "included": [FIRST, SECOND],
        "excluded": [LARGE, BROKEN],
        "count_requirement_shortfalls": [SHORTFALL],
        "notes": [NOTE],
    }
    report = make_report(**lists)
    for values in lists.values():
        values.clear()
    assert report == make_report()


def test_the_items_are_the_selection_in_placed_order() -> None:
    """BS-02: what `run` returns; the very objects, and a list of the caller's own."""
    report = make_report()
    assert [id(item) for item in report.items] == [id(FIRST.item), id(SECOND.item)]
    report.items.clear()
    assert len(report.items) == 2


def test_included_tokens_leave_out_what_is_excluded() -> None:
    assert make_report().included_tokens == 10


@pytest.mark.proves("S-RP-09")
@pytest.mark.parametrize("total", [-1, 0, 3, 5])
def test_the_number_of_candidates_is_that_of_the_items(total: int) -> None:
    """SR-08: total_candidates MUST equal len(included) + len(excluded)."""
    with pytest.raises(InvalidArgumentError) as caught:
        make_report(total_candidates=total)
    assert str(caught.value) == f"total_candidates must be 4 (2 included + 2 excluded), not {total}"
    assert isinstance(caught.value, ValueError)
    assert isinstance(caught.value, CupelError)


@pytest.mark.parametrize("total", [0, 504, 506, 510])
def test_the_number_of_tokens_is_that_of_the_items(total: int) -> None:
    """SR-04, SR-08: total_tokens_considered MUST be the sum of all tokens, negative ones included."""
    with pytest.raises(InvalidArgumentError) as caught:
        make_report(total_tokens_considered=total)
    assert str(caught.value) == f"total_tokens_considered is {total}, but the items have 505 tokens"


@pytest.mark.parametrize("field", [field.name for field in dataclasses.fields(SelectionReport)])
def test_a_report_cannot_be_changed(field: str) -> None:
    report = make_report()
    with pytest.raises(FrozenInstanceError):
        setattr(report, field, getattr(report, field))
    with pytest.raises(FrozenInstanceError):
        delattr(report, field)
    with pytest.raises(FrozenInstanceError):
        report.other = 1  # type: ignore[attr-defined]


def test_a_field_can_be_looked_up_in_the_class() -> None:
    """Tools that document or inspect classes do that."""
    for field in dataclasses.fields(SelectionReport):
        assert getattr(SelectionReport, field.name) is vars(SelectionReport)[field.name]


@pytest.mark.parametrize("field", ["items", "included_tokens"])
def test_derived_values_cannot_be_assigned(field: str) -> None:
    with pytest.raises((AttributeError, TypeError)):
        setattr(make_report(), field, None)


@pytest.mark.parametrize(
    "make", [copy.copy, copy.deepcopy, dataclasses.replace, lambda report: pickle.loads(pickle.dumps(report))]
)
def test_a_report_survives_copying_and_pickling(make: Any) -> None:
    """PY-12."""
    assert make(make_report()) == make_report()
    assert hash(make(make_report())) == hash(make_report())


def test_replace_checks_the_totals_again() -> None:
    """SR-08."""
    with pytest.raises(InvalidArgumentError):
        dataclasses.replace(make_report(), excluded=(LARGE,))


# --- equality

DIFFERENT: list[dict[str, Any]] = [
    {"included": [SECOND, FIRST]},
    {"included": [FIRST._replace(score=math.nextafter(0.9, 1)), SECOND]},
    {"included": [FIRST._replace(reason=InclusionReason.PINNED), SECOND]},
    {"included": [FIRST._replace(item=ContextItem("other", 10)), SECOND]},
    {"excluded": [BROKEN, LARGE]},
    {"excluded": [LARGE._replace(score=0.7), BROKEN]},
    {"excluded": [LARGE._replace(reason=BudgetExceeded(500, 91)), BROKEN]},
    {"excluded": [LARGE._replace(reason=Deduplicated("first")), BROKEN]},
    {"count_requirement_shortfalls": []},
    {"count_requirement_shortfalls": [SHORTFALL._replace(satisfied_count=0)]},
]


@pytest.mark.proves("S-RP-12")
def test_equal_reports_are_equal() -> None:
    assert make_report() == make_report()
    assert hash(make_report()) == hash(make_report())


@pytest.mark.proves("S-RP-12")
@pytest.mark.parametrize(
    "change",
    [
        *DIFFERENT,
        {"events": []},
        {"events": [EVENT._replace(duration_ms=math.nextafter(0.25, 1))]},
        {"budget": None},
        {"budget": ContextBudget(101)},
        {"notes": []},
    ],
)
def test_reports_differ_if_anything_does(change: dict[str, Any]) -> None:
    """SR-09: `==` is exact, down to the last bit of a score and of a measured duration."""
    assert make_report() != make_report(**change)


def test_a_report_equals_only_reports() -> None:
    other: Any = "report"
    assert make_report() != other


@pytest.mark.parametrize("events", [[], [EVENT, EVENT], [EVENT._replace(duration_ms=7.0)]])
def test_the_same_selection_may_have_other_events(events: list[TraceEvent]) -> None:
    """SR-09: durations differ between any two runs."""
    assert make_report().same_selection(make_report(events=events))


def test_the_same_selection_may_have_other_notes() -> None:
    assert make_report().same_selection(make_report(notes=[]))


@pytest.mark.parametrize("change", DIFFERENT)
def test_another_selection_is_not_the_same(change: dict[str, Any]) -> None:
    """SR-09: everything but the events counts."""
    assert not make_report().same_selection(make_report(**change))


def test_two_dry_runs_give_the_same_selection() -> None:
    """SR-09."""
    items = [hinted("a", 10, 0.5), hinted("b", 500, 0.5), hinted("a", 10, 0.25), ContextItem("c", -1)]
    pipeline = Pipeline(ReflexiveScorer())
    assert pipeline.dry_run(items, BUDGET).same_selection(pipeline.dry_run(items, BUDGET))


# --- what the pipeline puts into it


@pytest.mark.proves("S-RP-05")
def test_a_pinned_item_has_the_score_one() -> None:
    """SR-01, ER-07: also without tokens, and whatever its hint."""
    report = Pipeline(ReflexiveScorer()).dry_run([hinted("pin", 0, 0.25, pinned=True)], BUDGET)
    assert report.included == ((report.items[0], 1.0, InclusionReason.PINNED),)


@pytest.mark.proves("S-RP-05")
def test_a_zero_token_item_has_its_computed_score() -> None:
    """SR-01: not 0.0."""
    report = Pipeline(ReflexiveScorer()).dry_run([hinted("free", 0, 0.7)], BUDGET)
    assert report.included == ((report.items[0], 0.7, InclusionReason.ZERO_TOKEN),)


@pytest.mark.proves("S-RP-02", "S-RP-11")
def test_a_duplicate_has_its_computed_score_and_a_negative_item_zero() -> None:
    """SR-02, ER-06: only what was never scored has 0.0."""
    items = [hinted("same", 1, 0.9), hinted("same", 2, 0.4), hinted("broken", -3, 0.8)]
    report = Pipeline(ReflexiveScorer()).dry_run(items, BUDGET)
    assert report.excluded == ((items[1], 0.4, Deduplicated("same")), (items[2], 0.0, NegativeTokens(-3)))


@pytest.mark.proves("S-RP-08")
def test_the_included_items_are_in_placed_order() -> None:
    """SR-03: MUST be in final placed order."""
    items = [hinted(name, 1, score) for name, score in [("a", 0.1), ("b", 0.5), ("c", 0.9)]]
    report = Pipeline(ReflexiveScorer(), placer=UShapedPlacer()).dry_run(items, BUDGET)
    assert [each.item.content for each in report.included] == ["c", "a", "b"]


def test_negative_tokens_count_towards_the_total() -> None:
    """SR-04."""
    items = [ContextItem("a", 100), ContextItem("b", -5)]
    assert Pipeline(KindScorer()).dry_run(items, BUDGET).total_tokens_considered == 95


def test_excluded_items_are_sorted_by_score_and_then_by_time_of_exclusion() -> None:
    """SR-07: MUST be sorted by score descending; Classify before Deduplicate before Slice at equal scores."""
    items = [
        hinted("large", 500, 0.0),
        hinted("best", 500, 0.9),
        hinted("twin", 1, 0.5),
        hinted("twin", 2, 0.0),
        ContextItem("negative", -1),
        hinted("larger", 600, 0.0),
    ]
    report = Pipeline(ReflexiveScorer()).dry_run(items, BUDGET)
    excluded = [(each.item.content, each.item.tokens) for each in report.excluded]
    assert excluded == [("best", 500), ("negative", -1), ("twin", 2), ("large", 500), ("larger", 600)]


def test_nan_is_sorted_last() -> None:
    """SR-07, SC-03: NaN ranks below every number."""

    class Broken:
        def score(self, item: ContextItem, all_items: Any) -> float:
            return math.nan if item.content == "nan" else -1.0

    items = [ContextItem("nan", 500), ContextItem("low", 500)]
    report = Pipeline(Broken()).dry_run(items, BUDGET)
    assert [each.item.content for each in report.excluded] == ["low", "nan"]


def test_shortfalls_reach_the_report() -> None:
    """SR-06, CQ-03."""
    slicer = CountQuotaSlice([CountQuotaEntry("NOTE", cap_count=2, require_count=2)])
    items = [hinted("note", 1, 0.5, kind="note")]
    report = Pipeline(ReflexiveScorer(), slicer).dry_run(items, BUDGET)
    assert report.count_requirement_shortfalls == (CountRequirementShortfall(ContextKind("Note"), 2, 1),)
    assert str(report.count_requirement_shortfalls[0].kind) == "NOTE"


def test_the_report_knows_the_budget_in_force() -> None:
    """PL-10: the budget of the call."""
    assert Pipeline(ReflexiveScorer()).dry_run([], BUDGET).budget is BUDGET


# --- the other records


@pytest.mark.proves("S-EV-06", "S-RP-06")
@pytest.mark.parametrize(
    ("record", "fields"),
    [
        (FIRST, ("item", "score", "reason")),
        (LARGE, ("item", "score", "reason")),
        (SHORTFALL, ("kind", "required_count", "satisfied_count", "by")),
        (EVENT, ("stage", "duration_ms", "item_count", "message")),
        (OverflowEvent(5, (FIRST.item,), BUDGET), ("tokens_over_budget", "overflowing_items", "budget")),
        (
            StageTraceSnapshot(PipelineStage.SLICE, 2, 1, 0.5, (LARGE,)),
            ("stage", "item_count_in", "item_count_out", "duration_ms", "excluded"),
        ),
    ],
)
def test_the_records_have_the_specified_fields_and_are_frozen(record: Any, fields: tuple[str, ...]) -> None:
    """Events, SelectionReport: an excluded item always has three fields."""
    assert record._fields == fields
    for field in fields:
        with pytest.raises(AttributeError):
            setattr(record, field, None)
    assert pickle.loads(pickle.dumps(record)) == record
    assert repr(record).startswith(f"{type(record).__name__}({fields[0]}=")


@pytest.mark.proves("S-EV-03")
def test_an_event_has_no_message_unless_given() -> None:
    """EV-01: stage events have no message."""
    assert TraceEvent(PipelineStage.SLICE, 0.5, 3).message is None
    assert TraceEvent(PipelineStage.SLICE, 0.0, 1, "Score: 0.5").message == "Score: 0.5"


@pytest.mark.proves("S-EV-05")
def test_there_are_five_observable_stages() -> None:
    """META-07: Sort is executed and has no name here."""
    assert [stage.value for stage in PipelineStage] == ["Classify", "Score", "Deduplicate", "Slice", "Place"]
    assert [stage.name for stage in PipelineStage] == ["CLASSIFY", "SCORE", "DEDUPLICATE", "SLICE", "PLACE"]


@pytest.mark.parametrize(
    ("compare", "same", "up", "down"),
    [
        (operator.lt, False, True, False),
        (operator.le, True, True, False),
        (operator.gt, False, False, True),
        (operator.ge, True, False, True),
    ],
)
def test_the_levels_of_detail_are_ordered(compare: Any, same: bool, up: bool, down: bool) -> None:
    """API: TraceDetailLevel is ordered; ITEM is more than STAGE, although its name sorts before it."""
    stage, item = TraceDetailLevel
    assert (stage, item) == (TraceDetailLevel.STAGE, TraceDetailLevel.ITEM)
    assert (compare(stage, stage), compare(stage, item), compare(item, stage)) == (same, up, down)


@pytest.mark.proves("S-TC-09")
def test_the_levels_of_detail_have_the_specified_names() -> None:
    assert [level.value for level in TraceDetailLevel] == ["Stage", "Item"]


def test_a_report_of_a_real_run_survives_pickling() -> None:
    """PY-12: items, reasons, budget and all."""
    items = [
        ContextItem("new", 10, timestamp=datetime(2024, 6, 1, tzinfo=UTC), metadata={"a": [1]}, tags=["x"]),
        ContextItem("large", 500, kind="Document"),
        ContextItem("pin", 1, pinned=True),
    ]
    report = Pipeline(KindScorer()).dry_run(items, ContextBudget(100, reserved_slots={"Note": 1}))
    assert pickle.loads(pickle.dumps(report)) == report
