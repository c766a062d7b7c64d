"""The TraceCollector chapter: observers of a run, and what they are told."""

from __future__ import annotations

import dataclasses
import gc
import logging
import threading
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from unittest.mock import Mock

import pytest

from pycupel import (
    ContextBudget,
    ContextItem,
    CountQuotaEntry,
    CountQuotaSlice,
    DiagnosticTraceCollector,
    OverflowStrategy,
    Pipeline,
    ReflexiveScorer,
    SelectionReport,
    TraceCollector,
    TraceDetailLevel,
)
from pycupel.diagnostics import (
    ExcludedItem,
    IncludedItem,
    NullTraceCollector,
    OverflowEvent,
    PipelineStage,
    StageTraceSnapshot,
    TraceEvent,
)
from pycupel.errors import BudgetOverflowError, InvalidArgumentError, PinnedExceedsBudgetError
from pycupel.pipeline.notify import Notifier

STAGES = ["Classify", "Score", "Deduplicate", "Slice", "Place"]


def item(content: str, tokens: int, hint: float = 0.5, **fields: Any) -> ContextItem:
    return ContextItem(content, tokens, future_relevance_hint=hint, **fields)


ITEMS = [
    item("broken", -1),
    item("pinned", 10, pinned=True),
    item("best", 20, 0.9),
    item("copy", 20, 0.4),
    item("copy", 20, 0.3),
    item("large", 500, 0.8),
]
BUDGET = ContextBudget(60)
PIPELINE = Pipeline(ReflexiveScorer())


class Listener(TraceCollector):
    """Writes down every call, in order."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, Any]] = []

    def record_stage_event(self, event: TraceEvent, /) -> None:
        self.calls.append(("stage", event))

    def record_item_event(self, event: TraceEvent, /) -> None:
        self.calls.append(("item", event))

    def set_candidates(self, count: int, tokens: int, /) -> None:
        self.calls.append(("candidates", (count, tokens)))

    def record_included(self, included_item: IncludedItem, /) -> None:
        self.calls.append(("included", included_item))

    def record_excluded(self, excluded_item: ExcludedItem, /) -> None:
        self.calls.append(("excluded", excluded_item))

    def on_overflow(self, event: OverflowEvent, /) -> None:
        self.calls.append(("overflow", event))

    def on_pipeline_started(self, budget: ContextBudget, /) -> None:
        self.calls.append(("started", budget))

    def on_pipeline_completed(
        self, report: SelectionReport, budget: ContextBudget, snapshots: Sequence[StageTraceSnapshot], /
    ) -> None:
        self.calls.append(("completed", (report, budget, snapshots)))

    def on_pipeline_failed(
        self, error: BaseException, budget: ContextBudget, snapshots: Sequence[StageTraceSnapshot], /
    ) -> None:
        self.calls.append(("failed", (error, budget, snapshots)))

    def heard(self, name: str) -> list[Any]:
        return [value for kind, value in self.calls if kind == name]


@pytest.mark.proves("S-TC-01", "S-TC-02", "S-EV-09")
def test_every_stage_tells_what_it_excluded_then_its_items_then_itself() -> None:
    """EV-02: item events precede the event of their stage."""
    listener = Listener()
    PIPELINE.run(ITEMS, BUDGET, collector=listener)
    order = [(kind, str(value.stage)) for kind, value in listener.calls if kind in ("item", "stage")]
    assert order == [
        ("item", "Classify"),
        ("stage", "Classify"),
        *[("item", "Score")] * 4,
        ("stage", "Score"),
        ("item", "Deduplicate"),
        ("stage", "Deduplicate"),
        ("item", "Slice"),
        ("stage", "Slice"),
        *[("item", "Place")] * 3,
        ("stage", "Place"),
    ]
    assert [kind for kind, _ in listener.calls][:3] == ["started", "candidates", "excluded"]
    assert listener.calls[-1][0] == "completed"


@pytest.mark.proves("S-EV-01", "S-EV-04")
def test_the_messages_tell_numbers_and_never_content() -> None:
    """EV-01: item events have a message of the form "<Variant>: <numbers>", a count of 1 and no duration."""
    collector = DiagnosticTraceCollector(TraceDetailLevel.ITEM)
    PIPELINE.run(ITEMS, BUDGET, collector=collector)
    messages = [event.message for event in collector.events if event.message is not None]
    assert messages == [
        "NegativeTokens: -1 tokens",
        "Score: 0.9",
        "Score: 0.4",
        "Score: 0.3",
        "Score: 0.8",
        "Deduplicated: score 0.3",
        "BudgetExceeded: 500 tokens requested, 10 available",
        "Pinned: 1",
        "Scored: 0.9",
        "Scored: 0.4",
    ]
    for event in collector.events:
        if event.message is not None:
            assert (event.duration_ms, event.item_count) == (0.0, 1)
            assert not any(content in event.message for content in ("broken", "pinned ", "best", "copy", "large"))


@pytest.mark.proves("S-EV-08")
@pytest.mark.parametrize("items", [[], ITEMS, [item("only", -5)]], ids=["nothing", "some", "invalid"])
def test_each_stage_has_exactly_one_event_even_with_no_items(items: list[ContextItem]) -> None:
    """EV-05, EV-03: five stage events, in order; the counts are what comes out."""
    collector = DiagnosticTraceCollector()
    selected = PIPELINE.run(items, BUDGET, collector=collector)
    assert [str(event.stage) for event in collector.events] == STAGES
    assert all(event.message is None and event.duration_ms >= 0.0 for event in collector.events)
    assert collector.events[-1].item_count == len(selected)


@pytest.mark.proves("S-EV-02")
def test_stage_events_count_what_comes_out() -> None:
    """EV-03."""
    collector = DiagnosticTraceCollector()
    PIPELINE.run(ITEMS, BUDGET, collector=collector)
    assert [event.item_count for event in collector.events] == [5, 4, 3, 2, 3]


@pytest.mark.proves("S-TC-07", "S-TC-12")
def test_item_events_are_discarded_at_stage_detail() -> None:
    """TC-02: the lists are complete at any level; only the events differ."""
    stage, both = DiagnosticTraceCollector("Stage"), DiagnosticTraceCollector("Item")
    for collector in (stage, both):
        PIPELINE.run(ITEMS, BUDGET, collector=collector)
    assert len(stage.events) == 5 < len(both.events)
    assert stage.build_report().same_selection(both.build_report())
    stage.record_item_event(TraceEvent(PipelineStage.SCORE, 0.0, 1, "ignored"))
    assert len(stage.events) == 5


@pytest.mark.proves("S-TC-08", "S-RP-03")
def test_run_with_a_collector_and_dry_run_report_the_same() -> None:
    """TraceCollector, BS-02: a dry run has item detail."""
    collector = DiagnosticTraceCollector(TraceDetailLevel.ITEM)
    selected = PIPELINE.run(ITEMS, BUDGET, collector=collector)
    report, dry = collector.build_report(), PIPELINE.dry_run(ITEMS, BUDGET)
    assert report.same_selection(dry)
    assert report.items == selected == dry.items
    assert [(e.stage, e.item_count, e.message) for e in report.events] == [
        (e.stage, e.item_count, e.message) for e in dry.events
    ]
    assert report.budget == BUDGET
    assert report != dry or report.events == dry.events, "durations differ, and == is exact (SR-09)"


def test_the_hooks_get_candidates_lists_report_and_snapshots() -> None:
    """TC-01."""
    listener = Listener()
    PIPELINE.run(ITEMS, BUDGET, collector=listener)
    assert listener.heard("started") == [BUDGET]
    assert listener.heard("candidates") == [(6, 569)]
    ((report, budget, snapshots),) = listener.heard("completed")
    assert budget == BUDGET
    assert listener.heard("included") == list(report.included)
    assert sorted(listener.heard("excluded"), key=lambda e: -e.score) == list(report.excluded)
    assert [(s.stage, s.item_count_in, s.item_count_out, len(s.excluded)) for s in snapshots] == [
        ("Classify", 6, 5, 1),
        ("Score", 4, 4, 0),
        ("Deduplicate", 4, 3, 1),
        ("Slice", 3, 2, 1),
        ("Place", 3, 3, 0),
    ]
    assert [s.duration_ms for s in snapshots] == [e.duration_ms for e in listener.heard("stage")]


@pytest.mark.proves("S-DG-01")
def test_a_collector_belongs_to_the_call() -> None:
    """Ownership Model: a pipeline stores none, so that the next run without one records nothing."""
    collector = DiagnosticTraceCollector()
    names = [field.name for field in dataclasses.fields(PIPELINE)]
    before = [getattr(PIPELINE, name) for name in names]
    PIPELINE.run(ITEMS, BUDGET, collector=collector)
    told = collector.events
    assert len(told) == 5
    PIPELINE.run(ITEMS[:2], BUDGET)
    assert collector.events is told or collector.events == told
    assert [getattr(PIPELINE, name) for name in names] == before
    assert "collector" not in names


@pytest.mark.proves("S-DG-02")
def test_runs_at_the_same_time_have_collectors_of_their_own() -> None:
    """Ownership Model: one pipeline, two runs that wait for each other, and two levels of detail."""
    meeting = threading.Barrier(2, timeout=60)

    class Waiting:
        def score(self, item: ContextItem, all_items: Sequence[ContextItem], /) -> float:
            meeting.wait()
            return 0.5

    shared = Pipeline(Waiting())

    def watched(level: str, content: str) -> SelectionReport:
        collector = DiagnosticTraceCollector(level)  # type: ignore[arg-type]
        shared.run([item(content, 1), item(f"{content} too", 1)], BUDGET, collector=collector)
        return collector.build_report()

    with ThreadPoolExecutor(2) as pool:
        first, second = pool.map(watched, ("Stage", "Item"), ("a", "b"))
    assert [each.content for each in first.items + second.items] == ["a", "a too", "b", "b too"]
    assert (len(first.events), len(second.events)) == (5, 5 + 2 + 2)


@pytest.mark.proves("S-TC-10", "S-TC-04", "S-TC-05", "S-TC-06", "S-TC-13", "S-TC-07")
def test_a_diagnostic_collector_is_enabled_and_keeps_what_it_is_told_in_order() -> None:
    """TraceCollector: the default is Stage; stage events are always kept, item events from Item on."""
    stage = [TraceEvent(PipelineStage.SLICE, 1.0, 1), TraceEvent(PipelineStage.CLASSIFY, 2.0, 2)]
    about_items = [TraceEvent(PipelineStage.SCORE, 0.0, 1, "x"), TraceEvent(PipelineStage.CLASSIFY, 0.0, 1, "y")]
    default, detailed = DiagnosticTraceCollector(), DiagnosticTraceCollector(TraceDetailLevel.ITEM)
    assert default.detail_level is TraceDetailLevel.STAGE
    for collector in (default, detailed):
        assert collector.is_enabled is True
        for one, other in zip(about_items, stage, strict=True):
            collector.record_item_event(one)
            collector.record_stage_event(other)
    assert list(default.events) == stage
    assert list(detailed.events) == [about_items[0], stage[0], about_items[1], stage[1]]


@pytest.mark.proves("S-EV-07")
def test_the_duration_of_a_stage_is_measured() -> None:
    """Events: MUST be the wall-clock duration of the stage, in milliseconds."""

    class Slow:
        def score(self, item: ContextItem, all_items: Sequence[ContextItem], /) -> float:
            time.sleep(0.02)
            return 0.5

    collector = DiagnosticTraceCollector(TraceDetailLevel.ITEM)
    start = time.perf_counter()
    Pipeline(Slow()).run(ITEMS[2:4], BUDGET, collector=collector)
    elapsed = 1_000 * (time.perf_counter() - start)
    durations = {event.stage: event.duration_ms for event in collector.events if event.message is None}
    assert 39.0 <= durations[PipelineStage.SCORE] <= elapsed
    assert sum(durations.values()) <= elapsed
    assert all(duration > 0.0 for duration in durations.values())


@pytest.mark.proves("S-TC-02")
def test_a_failed_run_keeps_the_events_of_completed_stages() -> None:
    """TC-06, CL-02: a stage that raises has no event."""
    collector, listener = DiagnosticTraceCollector(), Listener()
    pipeline = Pipeline(ReflexiveScorer(), CountQuotaSlice([CountQuotaEntry("Message", require_count=3, cap_count=3)]))
    for each in (collector, listener):
        with pytest.raises(BudgetOverflowError):
            pipeline.run(ITEMS, BUDGET, collector=each)
    assert [str(event.stage) for event in collector.events] == STAGES[:4]
    ((error, budget, snapshots),) = listener.heard("failed")
    assert isinstance(error, BudgetOverflowError)
    assert (budget, len(snapshots)) == (BUDGET, 4)
    assert not listener.heard("completed")
    with pytest.raises(InvalidArgumentError, match="no run has completed"):
        collector.build_report()


def test_a_classify_error_comes_before_any_event() -> None:
    """CL-02."""
    collector = DiagnosticTraceCollector()
    with pytest.raises(PinnedExceedsBudgetError):
        PIPELINE.run(ITEMS, ContextBudget(5), collector=collector)
    assert collector.events == ()


def test_a_collector_before_any_run_says_that_there_is_none() -> None:
    """TC-06."""
    with pytest.raises(InvalidArgumentError, match="no run has completed"):
        DiagnosticTraceCollector().build_report()


def test_a_second_run_replaces_the_first() -> None:
    """TC-05."""
    collector = DiagnosticTraceCollector()
    PIPELINE.run(ITEMS, BUDGET, collector=collector)
    PIPELINE.run(ITEMS[:2], BUDGET, collector=collector)
    assert collector.build_report().total_candidates == 2
    assert len(collector.events) == 5


@pytest.mark.proves("S-TC-14")
def test_the_callback_comes_after_the_recording_and_may_raise(caplog: pytest.LogCaptureFixture) -> None:
    """TC-03: never fatal, never silent."""
    seen: list[int] = []

    def callback(event: TraceEvent) -> None:
        seen.append(len(collector.events))
        raise RuntimeError(f"cannot take {event.stage}")

    collector = DiagnosticTraceCollector(callback=callback)
    with caplog.at_level(logging.ERROR, logger="pycupel"):
        PIPELINE.run(ITEMS, BUDGET, collector=collector)
    assert seen == [1, 2, 3, 4, 5]
    assert len(caplog.records) == 5
    assert "cannot take Classify" in str(caplog.records[0].exc_info)


@pytest.mark.proves("S-EV-10")
def test_overflow_reaches_collector_and_observer_for_proceed_only() -> None:
    """PL-05, PL-06: never from a dry run."""
    events: list[OverflowEvent] = []
    slicer = CountQuotaSlice([CountQuotaEntry("Message", require_count=3, cap_count=3)])
    proceed = Pipeline(ReflexiveScorer(), slicer, overflow_strategy=OverflowStrategy.PROCEED, on_overflow=events.append)
    listener = Listener()
    proceed.run(ITEMS, BUDGET, collector=listener)
    assert listener.heard("overflow") == events
    assert [event.tokens_over_budget for event in events] == [490]
    proceed.dry_run(ITEMS, BUDGET)
    assert len(events) == 1
    listener = Listener()
    Pipeline(ReflexiveScorer(), slicer, overflow_strategy="truncate").run(ITEMS, BUDGET, collector=listener)
    assert not listener.heard("overflow")


class Counting:
    """A duck: no base class, `is_enabled` as a method, one hook."""

    def __init__(self, *, enabled: bool = True) -> None:
        self.enabled = enabled
        self.asked = 0
        self.stages = 0

    def is_enabled(self) -> bool:
        self.asked += 1
        return self.enabled

    def record_stage_event(self, event: TraceEvent) -> None:
        self.stages += 1


def test_a_collector_needs_no_base_class_and_no_complete_set_of_hooks() -> None:
    """TC-01, TC-04: a missing hook is ignored; `is_enabled` is read once, as a property or a method."""
    duck = Counting()
    PIPELINE.run(ITEMS, BUDGET, collector=duck)
    assert (duck.asked, duck.stages) == (1, 5)
    asleep = Counting(enabled=False)
    PIPELINE.run(ITEMS, BUDGET, collector=asleep)
    assert (asleep.asked, asleep.stages) == (1, 0)


class OnlyStages:
    def __init__(self) -> None:
        self.stages = 0

    def record_stage_event(self, event: TraceEvent) -> None:
        self.stages += 1


def test_a_collector_without_is_enabled_is_enabled() -> None:
    """TC-01: duck-typed."""
    collector = OnlyStages()
    PIPELINE.run(ITEMS, BUDGET, collector=collector)
    assert collector.stages == 5


@pytest.mark.proves("S-TC-01")
def test_the_base_class_does_nothing_and_is_enabled() -> None:
    assert TraceCollector().is_enabled
    assert PIPELINE.run(ITEMS, BUDGET, collector=TraceCollector()) == PIPELINE.run(ITEMS, BUDGET)
    with pytest.raises(PinnedExceedsBudgetError):
        PIPELINE.run(ITEMS, ContextBudget(5), collector=TraceCollector())


def test_a_class_instead_of_a_collector_is_a_type_error() -> None:
    with pytest.raises(
        TypeError, match=r"^collector must be an instance; did you mean DiagnosticTraceCollector\(\)\?$"
    ):
        PIPELINE.run(ITEMS, BUDGET, collector=DiagnosticTraceCollector)  # type: ignore[arg-type]


@pytest.mark.parametrize("given", [3, False, "x", object()])
def test_what_has_none_of_the_hooks_is_no_collector(given: Any) -> None:
    for run in (PIPELINE.run, Pipeline(PIPELINE.scorer).run_stream_sync):
        with pytest.raises(TypeError, match=r"^collector must be a TraceCollector, or an object with ") as caught:
            run(ITEMS, BUDGET, collector=given)
        assert caught.value.argument == "collector"  # type: ignore[attr-defined]


class Unreadable:
    """Raises whatever is asked of it."""

    def __getattr__(self, name: str) -> object:
        raise RuntimeError(name)


def test_a_collector_whose_attributes_raise_does_not_end_the_run(caplog: pytest.LogCaptureFixture) -> None:
    unreadable: Any = Unreadable()
    assert PIPELINE.run(ITEMS, BUDGET, collector=unreadable) == PIPELINE.run(ITEMS, BUDGET)
    assert "raised by is_enabled or detail_level of Unreadable" in caplog.text


def test_hooks_of_an_instance_are_called_like_those_of_its_class() -> None:
    class Open(TraceCollector):
        pass

    heard: list[Any] = []
    collector: Any = Open()
    collector.record_included = collector.record_excluded = heard.append
    PIPELINE.run(ITEMS, BUDGET, collector=collector)
    report = PIPELINE.dry_run(ITEMS, BUDGET)
    assert set(heard) == {*report.included, *report.excluded}
    mock = Mock(spec=TraceCollector)
    PIPELINE.run(ITEMS, BUDGET, collector=mock)
    assert mock.record_included.call_count == len(report.included)
    assert mock.record_item_event.called


def test_a_hook_that_cannot_be_read_does_not_silence_the_others(caplog: pytest.LogCaptureFixture) -> None:
    class Half(Listener):
        @property
        def record_excluded(self) -> Any:
            raise RuntimeError("no such hook")

    collector = Half()
    PIPELINE.run(ITEMS, BUDGET, collector=collector)
    assert "raised by record_excluded of Half" in caplog.text
    assert {"included", "stage", "item"} <= {name for name, _ in collector.calls}


@pytest.mark.parametrize("level", ["verbose", "", "items"])
def test_an_unknown_detail_level_is_refused(level: Any) -> None:
    with pytest.raises(InvalidArgumentError, match="detail_level"):
        DiagnosticTraceCollector(level)


def test_a_callback_that_cannot_be_called_is_refused() -> None:
    with pytest.raises(TypeError, match="callback"):
        DiagnosticTraceCollector(callback="print")  # type: ignore[arg-type]


@pytest.mark.proves("S-TC-09")
def test_detail_levels_are_ordered() -> None:
    """TraceDetailLevel: a higher ordinal includes the lower ones; strings would compare the other way round."""
    stage, detail = TraceDetailLevel.STAGE, TraceDetailLevel.ITEM
    assert stage < detail
    assert stage <= detail
    assert detail > stage
    assert detail >= stage
    assert [level.ordinal for level in (stage, detail)] == [0, 1]


@pytest.mark.proves("S-DG-03", "S-TC-11")
@pytest.mark.parametrize("collector", [None, NullTraceCollector()], ids=["none", "null"])
def test_nothing_is_built_and_no_clock_is_read_without_a_collector(
    monkeypatch: pytest.MonkeyPatch, collector: TraceCollector | None
) -> None:
    """The null-path guarantee: no event, no record, no report, no clock."""
    made: list[str] = []

    def count(module: str, name: str) -> None:
        def refuse(*args: object, **kwargs: object) -> None:
            made.append(name)

        monkeypatch.setattr(f"{module}.{name}", refuse)

    count("pycupel.pipeline.record", "perf_counter")
    count("pycupel.pipeline.record", "report_over")
    for name in ("TraceEvent", "StageTraceSnapshot"):
        count("pycupel.pipeline.notify", name)
    for name in ("_included_item", "_excluded_item", "_exceeded", "ExcludedItem", "NegativeTokens", "PinnedOverride"):
        count("pycupel.pipeline.explain", name)
    for name in ("perf_counter", "monotonic", "time"):
        count("time", name)
    assert len(PIPELINE.run(ITEMS, BUDGET, collector=collector)) == 3
    assert made == []


@pytest.mark.proves("S-TC-01", "S-TC-03", "S-TC-11", "S-TC-10")
def test_the_null_collector_is_not_enabled_and_records_nothing() -> None:
    null = NullTraceCollector()
    assert null.is_enabled is False
    null.record_stage_event(TraceEvent(PipelineStage.SCORE, 1.0, 1))
    null.record_item_event(TraceEvent(PipelineStage.SCORE, 0.0, 1, "x"))


HOOKS = [
    "on_pipeline_started",
    "set_candidates",
    "record_excluded",
    "record_item_event",
    "record_stage_event",
    "record_included",
    "on_overflow",
    "on_pipeline_completed",
]
OVERFLOWING = Pipeline(
    ReflexiveScorer(),
    CountQuotaSlice([CountQuotaEntry("Message", require_count=3, cap_count=3)]),
    overflow_strategy=OverflowStrategy.PROCEED,
)


class Raising(Listener):
    """Writes down every call, and raises in one of the hooks."""

    def __init__(self, hook: str, error: BaseException) -> None:
        super().__init__()
        original = getattr(self, hook)

        def raising(*arguments: object) -> None:
            original(*arguments)
            raise error

        setattr(self, hook, raising)


@pytest.mark.parametrize("hook", HOOKS)
def test_a_hook_that_raises_is_logged_and_the_run_goes_on(hook: str, caplog: pytest.LogCaptureFixture) -> None:
    """TC-03, for every hook: the other calls are those of a collector that does not raise."""
    quiet, raising = Listener(), Raising(hook, RuntimeError("broken hook"))
    expected = OVERFLOWING.run(ITEMS, BUDGET, collector=quiet)
    assert OVERFLOWING.run(ITEMS, BUDGET, collector=raising) == expected
    assert [kind for kind, _ in raising.calls] == [kind for kind, _ in quiet.calls]
    assert caplog.records
    assert {record.name for record in caplog.records} == {"pycupel"}
    assert {record.getMessage() for record in caplog.records} == {f"ignored an exception raised by {hook} of Raising"}
    assert "broken hook" in caplog.text


def test_a_hook_that_raises_does_not_replace_the_error_of_the_run(caplog: pytest.LogCaptureFixture) -> None:
    raising = Raising("on_pipeline_failed", RuntimeError("broken hook"))
    with pytest.raises(PinnedExceedsBudgetError):
        PIPELINE.run(ITEMS, ContextBudget(5), collector=raising)
    assert len(raising.heard("failed")) == 1
    assert "raised by on_pipeline_failed of Raising" in caplog.text


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit])
def test_what_is_no_exception_ends_the_run(error: type[BaseException]) -> None:
    raising = Raising("record_stage_event", error())
    with pytest.raises(error):
        PIPELINE.run(ITEMS, BUDGET, collector=raising)
    assert [type(each[0]) for each in raising.heard("failed")] == [error]


@pytest.mark.parametrize("name", ["is_enabled", "detail_level"])
def test_a_collector_that_cannot_say_what_it_wants_is_not_used(name: str, caplog: pytest.LogCaptureFixture) -> None:
    def broken(self: object) -> object:
        raise RuntimeError("broken property")

    collector = type("Broken", (Listener,), {name: property(broken)})()
    assert PIPELINE.run(ITEMS, BUDGET, collector=collector) == PIPELINE.run(ITEMS, BUDGET)
    assert collector.calls == []
    assert [record.getMessage() for record in caplog.records] == [
        "ignored an exception raised by is_enabled or detail_level of Broken"
    ]


# --- what is deferred


def test_a_plain_collector_makes_nothing_before_it_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    """Stage detail: the run only takes the times."""
    collector = DiagnosticTraceCollector()
    with monkeypatch.context() as patch:
        for name in ("_included_item", "_excluded_item", "_exceeded", "_event"):
            patch.setattr(f"pycupel.pipeline.explain.{name}", lambda *_: pytest.fail("made too early"))
        PIPELINE.run(ITEMS, BUDGET, collector=collector)
        report = collector.build_report()
    assert len(report.included) == len(report.excluded) == 3
    assert report.events == collector.events
    assert len(report.events) == 5
    assert collector.build_report() is report


class StageCounter(TraceCollector):
    """Needs neither items nor reports."""

    def __init__(self) -> None:
        self.stages: list[str] = []

    def record_stage_event(self, event: TraceEvent, /) -> None:
        self.stages.append(event.stage)


class ReportKeeper:
    """Has one method, and no base class."""

    reports: tuple[SelectionReport, ...] = ()

    def on_pipeline_completed(self, report: SelectionReport, *_: object) -> None:
        self.reports = (report,)


def test_a_collector_of_stages_makes_nothing_about_items(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("_included_item", "_excluded_item", "_exceeded"):
        monkeypatch.setattr(f"pycupel.pipeline.explain.{name}", lambda *_: pytest.fail("made in vain"))
    collector = StageCounter()
    PIPELINE.run(ITEMS, BUDGET, collector=collector)
    assert collector.stages == STAGES


def test_a_collector_without_item_events_gets_a_report_without_them() -> None:
    collector = ReportKeeper()
    PIPELINE.run(ITEMS, BUDGET, collector=collector)
    [report] = collector.reports
    assert [(event.stage, event.message) for event in report.events] == [(stage, None) for stage in STAGES]
    assert report.same_selection(PIPELINE.dry_run(ITEMS, BUDGET))


def test_events_that_were_recorded_later_are_in_the_report() -> None:
    """A collector is open to events of one's own."""
    collector = DiagnosticTraceCollector()
    PIPELINE.run(ITEMS, BUDGET, collector=collector)
    own = TraceEvent(PipelineStage.PLACE, 0.5, 3, "rendered")
    before = collector.events
    collector.record_stage_event(own)
    assert collector.events == collector.build_report().events == (*before, own)
    assert collector.build_report().included == PIPELINE.dry_run(ITEMS, BUDGET).included


def test_a_collector_that_keeps_the_report_makes_no_cycle() -> None:
    for collector in (DiagnosticTraceCollector(), DiagnosticTraceCollector("Item"), Listener()):
        PIPELINE.run(ITEMS, BUDGET, collector=collector)
        notifiers = [each for each in gc.get_objects() if isinstance(each, Notifier)]
        assert [notifier for notifier in notifiers if collector in gc.get_referents(notifier)] == []


class Stages(DiagnosticTraceCollector):
    """A subclass, which has to be told of everything."""

    __slots__ = ("seen",)

    def __init__(self) -> None:
        super().__init__()
        self.seen: list[str] = []

    def on_pipeline_completed(
        self, report: SelectionReport, budget: ContextBudget, snapshots: Sequence[StageTraceSnapshot], /
    ) -> None:
        self.seen += [f"{snapshot.stage}: {len(snapshot.excluded)}" for snapshot in snapshots]
        super().on_pipeline_completed(report, budget, snapshots)


def test_a_subclass_of_the_plain_collector_gets_the_snapshots() -> None:
    collector = Stages()
    PIPELINE.run(ITEMS, BUDGET, collector=collector)
    assert collector.seen == ["Classify: 1", "Score: 0", "Deduplicate: 1", "Slice: 1", "Place: 0"]
    assert collector.build_report().same_selection(PIPELINE.dry_run(ITEMS, BUDGET))
