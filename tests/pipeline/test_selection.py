"""Selections, and reports that are made when they are looked at."""

from __future__ import annotations

import copy
import dataclasses
import pickle
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any, ClassVar

import pytest

from pycupel import (
    CompositeScorer,
    ContextBudget,
    ContextItem,
    CountQuotaSlice,
    DiagnosticTraceCollector,
    KnapsackSlice,
    Pipeline,
    PriorityScorer,
    QuotaSlice,
    RecencyScorer,
    ReflexiveScorer,
    SelectionReport,
    Slicer,
)
from pycupel.diagnostics import BudgetExceeded, Deduplicated, InclusionReason, NegativeTokens, PinnedOverride
from pycupel.pipeline import Ranking, Selection
from pycupel.slicers._base import IndexedSlicer, SliceOffer
from tests.strategies import NOW


def item(content: str, tokens: int, hint: float = 0.5, **fields: Any) -> ContextItem:
    return ContextItem(content, tokens, future_relevance_hint=hint, **fields)


ITEMS = [
    item("broken", -1),
    item("pinned", 10, pinned=True),
    item("best", 20, 0.9),
    item("copy", 20, 0.4),
    item("copy", 20, 0.3),
    item("large", 55, 0.8),
    item("huge", 500, 0.1),
    item("free", 0, 0.2),
]
BUDGET = ContextBudget(60)
PIPELINE = Pipeline(ReflexiveScorer())


def select(pipeline: Pipeline = PIPELINE) -> Selection:
    return pipeline.select(pipeline.rank(ITEMS), BUDGET)


def messages(report: SelectionReport) -> list[str]:
    return [event.message for event in report.events if event.message is not None]


def test_a_selection_has_items_scores_tokens_reasons_and_notes() -> None:
    selection = select()
    assert [each.content for each in selection.items] == ["pinned", "best", "copy", "free"]
    assert selection.scores == [1.0, 0.9, 0.4, 0.2]
    assert selection.total_tokens == 50
    assert selection.reasons == (
        (ITEMS[5], 0.8, PinnedOverride("pinned")),
        (ITEMS[4], 0.3, Deduplicated("copy")),
        (ITEMS[6], 0.1, BudgetExceeded(500, 10)),
        (ITEMS[0], 0.0, NegativeTokens(-1)),
    )
    assert selection.notes == ()
    assert selection.budget is BUDGET
    selection.items.clear()
    assert len(selection.items) == 4


def test_a_selection_has_the_report_of_a_dry_run() -> None:
    selection, dry = select(), PIPELINE.dry_run(ITEMS, BUDGET)
    report = selection.report
    assert report.same_selection(dry)
    assert [each.reason for each in report.included] == [
        InclusionReason.PINNED,
        InclusionReason.SCORED,
        InclusionReason.SCORED,
        InclusionReason.ZERO_TOKEN,
    ]
    assert messages(report) == messages(dry)
    assert [(event.stage, event.item_count) for event in report.events] == [
        (event.stage, event.item_count) for event in dry.events
    ]
    assert all(event.duration_ms > 0.0 for event in report.events if event.message is None)
    assert (report.total_candidates, report.total_tokens_considered) == (8, 624)
    assert (report.budget, report.notes, report.count_requirement_shortfalls) == (BUDGET, (), ())


def test_what_was_made_once_is_kept() -> None:
    selection = select()
    report = selection.report
    assert report.excluded is selection.reasons is selection.report.excluded
    assert report.included is report.included is selection.report.included
    assert report.events is selection.report.events
    assert report == selection.report


def test_one_ranking_has_the_times_of_each_selection() -> None:
    ranking = PIPELINE.rank(ITEMS)
    first, second = PIPELINE.select(ranking, 60).report, PIPELINE.select(ranking, 40).report
    stages = [[event for event in report.events if event.message is None] for report in (first, second)]
    assert stages[0][:3] == stages[1][:3]
    assert [len(each) for each in stages] == [5, 5]
    assert stages[0][3] != stages[1][3]


def test_a_ranking_shows_what_competes() -> None:
    ranking = PIPELINE.rank(ITEMS)
    assert [each.content for each in ranking.items] == ["best", "large", "copy", "free", "huge"]
    assert list(ranking.scores) == [0.9, 0.8, 0.4, 0.2, 0.1]
    assert list(ranking.pinned) == [ITEMS[1]]
    assert Pipeline(RecencyScorer()).rank(ITEMS).notes[0].startswith("no item sets timestamp")
    assert ranking.notes == ()


def test_selections_and_rankings_are_compared_by_identity_and_have_a_short_representation() -> None:
    ranking = PIPELINE.rank(ITEMS)
    selection = PIPELINE.select(ranking, BUDGET)
    assert ranking != PIPELINE.rank(ITEMS)
    assert selection != PIPELINE.select(ranking, BUDGET)
    assert len({ranking, selection}) == 2
    assert repr(ranking) == "<Ranking: 5 items, 1 pinned>"
    assert repr(selection) == "<Selection: 4 of 8 items, 50 tokens>"
    assert isinstance(ranking, Ranking)


def test_the_results_of_stages_have_a_short_representation() -> None:
    selection = select()
    assert repr(selection.ranking.classified) == "<Classified: 6 scoreable, 1 pinned, 1 invalid>"
    assert repr(selection.sliced) == "<Sliced: 3 of 5 items>"
    assert repr(selection.placement) == "<Placement: 4 items>"


def test_what_is_made_from_a_record_cannot_be_assigned() -> None:
    ranking: Any = PIPELINE.rank(ITEMS)
    selection: Any = PIPELINE.select(ranking, BUDGET)
    for value, name in ((ranking, "notes"), (selection, "items"), (selection, "report"), (selection, "typo")):
        with pytest.raises(AttributeError):
            setattr(value, name, [])
    assert selection.report.excluded == PIPELINE.dry_run(ITEMS, BUDGET).excluded


@pytest.mark.parametrize("given", ["x", ITEMS, None])
def test_only_a_ranking_can_be_selected_from(given: Any) -> None:
    with pytest.raises(TypeError, match=r"^ranking must be a Ranking, which Pipeline.rank returns, not ") as caught:
        PIPELINE.select(given, BUDGET)
    assert caught.value.argument == "ranking"  # type: ignore[attr-defined]


def test_later_changes_of_the_callers_list_have_no_effect() -> None:
    given = list(ITEMS)
    expected = PIPELINE.dry_run(ITEMS, BUDGET)
    report = PIPELINE.dry_run(given, BUDGET)
    collector = DiagnosticTraceCollector()
    selected = PIPELINE.run(given, BUDGET, collector=collector)
    given.clear()
    selected.clear()
    assert report.same_selection(expected)
    assert collector.build_report().same_selection(expected)
    assert messages(report) == messages(expected)


# --- custom code is asked during the run, and never again


class Counting:
    """A scorer, slicer and placer that counts what it is asked for, attributes included."""

    def __init__(self) -> None:
        self.asked = 0

    @property
    def reads(self) -> str:
        self.asked += 1
        return "timestamp"

    def score(self, item: ContextItem, all_items: Sequence[ContextItem], /) -> float:
        self.asked += 1
        return item.future_relevance_hint or 0.0

    def slice(self, scored_items: Sequence[Any], budget: ContextBudget, /) -> list[ContextItem]:
        self.asked += 1
        return [each.item for each in scored_items[:1]]

    def place(self, scored_items: Sequence[Any], /) -> list[ContextItem]:
        self.asked += 1
        return [each.item for each in scored_items]


class Noting(KnapsackSlice):
    """A subclass of ours with notes of its own."""

    asked: ClassVar[list[str]]

    def _notes(self, offer: SliceOffer) -> dict[int, str]:
        self.asked.append("notes")
        return dict.fromkeys(range(len(offer.items)), "my own rule")


@pytest.fixture
def noting() -> Noting:
    Noting.asked = []
    return Noting(100)


@pytest.mark.parametrize("wrap", [lambda scorer: scorer, lambda scorer: CompositeScorer([(scorer, 1.0)])])
@pytest.mark.parametrize(
    "make",
    [
        lambda pipeline: pipeline.dry_run(ITEMS, BUDGET),
        lambda pipeline: pipeline.select(pipeline.rank(ITEMS), BUDGET).report,
    ],
)
def test_reading_asks_nothing_again(
    wrap: Callable[[Any], Any], make: Callable[[Pipeline], SelectionReport], monkeypatch: pytest.MonkeyPatch
) -> None:
    """SC-02: no scorer, slicer, placer or clock."""
    counting = Counting()
    report = make(Pipeline(wrap(counting), counting, counting))
    asked = counting.asked
    assert asked >= 8
    monkeypatch.setattr("pycupel.pipeline.record.perf_counter", pytest.fail)
    for field in dataclasses.fields(report):
        getattr(report, field.name)
    assert report.notes[0].startswith("no item sets timestamp")
    assert counting.asked == asked


def test_a_custom_scorer_without_notes_is_not_asked_for_them_later() -> None:
    counting = Counting()
    dated = [dataclasses.replace(each, timestamp=NOW) for each in ITEMS]
    selection = Pipeline(counting).select(Pipeline(counting).rank(dated), BUDGET)
    asked = counting.asked
    assert selection.notes == selection.report.notes == ()
    assert counting.asked == asked


@pytest.mark.parametrize("wrap", [lambda slicer: slicer, lambda slicer: QuotaSlice([], slicer)])
def test_notes_of_a_custom_slicer_are_gathered_during_the_run(noting: Noting, wrap: Callable[[Slicer], Slicer]) -> None:
    report = Pipeline(ReflexiveScorer(), wrap(noting)).dry_run(ITEMS, ContextBudget(130))
    assert Noting.asked
    Noting.asked.clear()
    assert any("my own rule" in message for message in messages(report))
    assert Noting.asked == []


def test_notes_of_a_custom_slicer_are_not_gathered_for_stage_detail(noting: Noting) -> None:
    pipeline = Pipeline(ReflexiveScorer(), noting)
    pipeline.run(ITEMS, ContextBudget(130), collector=DiagnosticTraceCollector())
    assert Noting.asked == []
    collector = DiagnosticTraceCollector("Item")
    pipeline.run(ITEMS, ContextBudget(130), collector=collector)
    assert Noting.asked == ["notes"]
    assert any("my own rule" in message for message in messages(collector.build_report()))


def test_a_built_in_slicer_is_asked_for_notes_when_events_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """They are the same at any time, and most reports are read without events."""
    with monkeypatch.context() as patch:
        patch.setattr(IndexedSlicer, "_notes", lambda *_: pytest.fail("asked too early"))
        report = Pipeline(ReflexiveScorer(), CountQuotaSlice([])).dry_run(ITEMS, BUDGET)
        assert report.included
    assert messages(report)


# --- a report that is not read yet is a report like any other


def unread() -> SelectionReport:
    return select().report


def test_every_field_may_be_the_first_to_be_read() -> None:
    for field in dataclasses.fields(SelectionReport):
        report = unread()
        assert getattr(report, field.name) is getattr(report, field.name)


@pytest.mark.parametrize(
    "make", [copy.copy, copy.deepcopy, dataclasses.replace, lambda report: pickle.loads(pickle.dumps(report))]
)
def test_an_unread_report_survives_copying_and_pickling(make: Callable[[SelectionReport], SelectionReport]) -> None:
    report = unread()
    made = make(report)
    assert made == report
    assert hash(made) == hash(report)
    assert made.events == report.events


@pytest.mark.parametrize("make", [copy.deepcopy, lambda value: pickle.loads(pickle.dumps(value))])
def test_rankings_and_selections_survive_copying_and_pickling(make: Callable[[Any], Any]) -> None:
    """The kept scores belong to the scorers of the copy."""
    pipeline = Pipeline(CompositeScorer([(ReflexiveScorer(), 2), (PriorityScorer(), 1)]))
    ranking, selection = pipeline.rank(ITEMS), select(pipeline)
    made = make(selection)
    assert (made.notes, made.reasons) == (selection.notes, selection.reasons)
    item = selection.items[0]
    assert made.report.why(item.content).parts == selection.report.why(item.content).parts
    assert [scores for _, _, scores in make(ranking).parts] == [scores for _, _, scores in ranking.parts]
    assert pipeline.select(make(ranking), BUDGET).notes == pipeline.select(ranking, BUDGET).notes
    nothing = make(pipeline.select(pipeline.rank([]), BUDGET))
    assert nothing.report.included == ()


def test_an_unread_report_can_be_compared_hashed_replaced_and_shown() -> None:
    selection = select()
    assert selection.report == selection.report
    assert len({selection.report, selection.report}) == 1
    assert dataclasses.replace(selection.report, events=()).events == ()
    assert repr(unread()) == "<SelectionReport: 4 of 8 items, 50 of 624 tokens>"


def test_an_unread_report_cannot_be_changed_and_has_no_other_attributes() -> None:
    report = unread()
    with pytest.raises(dataclasses.FrozenInstanceError):
        report.included = ()  # type: ignore[misc]
    with pytest.raises(AttributeError, match=r"^'SelectionReport' object has no attribute 'exclded'$"):
        report.exclded  # type: ignore[attr-defined]  # noqa: B018
    assert len(report.included) == 4


def test_threads_that_read_a_report_together_get_the_same_objects() -> None:
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(8) as pool:
            for _ in range(20):
                report = unread()
                barrier = Barrier(8)

                def read(_: int, report: SelectionReport = report, barrier: Barrier = barrier) -> tuple[int, ...]:
                    barrier.wait()
                    return id(report.excluded), id(report.included), id(report.events), id(report.notes)

                assert len(set(pool.map(read, range(8)))) == 1
    finally:
        sys.setswitchinterval(interval)
