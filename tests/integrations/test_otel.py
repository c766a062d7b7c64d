"""The OpenTelemetry chapter, against the real SDK: the spans of a run, and what they must not tell."""

from __future__ import annotations

import asyncio
import json
import os
import re
import runpy
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import UTC, datetime
from threading import Barrier
from typing import Any
from xml.etree import ElementTree as ET

import pytest
from opentelemetry.sdk.trace import ReadableSpan, SpanLimits, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.sdk.trace.sampling import ALWAYS_OFF, ALWAYS_ON, Decision, Sampler, SamplingResult
from opentelemetry.trace import INVALID_SPAN, NonRecordingSpan, NoOpTracerProvider, SpanContext, SpanKind, StatusCode

import pycupel
from examples import otel_console
from pycupel import (
    ContextBudget,
    ContextItem,
    OverflowStrategy,
    Pipeline,
    ReflexiveScorer,
    ScoredItem,
    TraceCollector,
)
from pycupel.diagnostics import (
    ExcludedItem,
    ExclusionReason,
    PipelineStage,
    SelectionReport,
    StageTraceSnapshot,
    TraceEvent,
    UnknownReason,
)
from pycupel.diagnostics.reasons import EXCLUSION_REASONS
from pycupel.errors import BudgetOverflowError, InvalidArgumentError, MissingExtraError, PinnedExceedsBudgetError
from pycupel.integrations import otel
from pycupel.integrations.otel import SOURCE_NAME, CupelOtelTraceCollector, CupelVerbosity
from pycupel.shorten import Stub
from tools import trace_picture

STAGES = ["classify", "score", "deduplicate", "slice", "place"]
TREE = [*(f"cupel.stage.{stage}" for stage in STAGES), "cupel.pipeline"]
BUDGET = ContextBudget(60)
PIPELINE = Pipeline(ReflexiveScorer())


def item(content: str, tokens: int, hint: float = 0.5, **fields: Any) -> ContextItem:
    return ContextItem(content, tokens, future_relevance_hint=hint, **fields)


# One is invalid, one is pinned, two have the same content, one is too large.
ITEMS = [
    item("broken", -1, kind="Memory"),
    item("pinned", 10, kind="SystemPrompt", pinned=True),
    item("best", 20, 0.75),
    item("copy", 15, 0.5, kind="ToolOutput"),
    item("copy", 16, 0.25, kind="ToolOutput"),
    item("large", 500, 0.9, kind="Document"),
]


class KeepAll:
    """A slicer that ignores the budget, so that Place has something to do."""

    def slice(self, scored_items: Sequence[ScoredItem], budget: ContextBudget, /) -> list[ContextItem]:
        return [each.item for each in scored_items]


class Calling:
    """A scorer that does something before it scores."""

    def __init__(self, action: Callable[[], object]) -> None:
        self.action = action

    def score(self, item: ContextItem, all_items: Sequence[ContextItem], /) -> float:
        self.action()
        return 0.5


def raising(error: BaseException) -> Calling:
    def action() -> None:
        raise error

    return Calling(action)


class Recorder:
    """A provider of its own, and what came out of it, in the order in which the spans ended."""

    def __init__(self, **options: Any) -> None:
        self.exporter = InMemorySpanExporter()
        self.provider = TracerProvider(**options)
        self.provider.add_span_processor(SimpleSpanProcessor(self.exporter))

    def collector(self, verbosity: Any = "Full") -> CupelOtelTraceCollector:
        return CupelOtelTraceCollector(verbosity, self.provider)

    @property
    def spans(self) -> tuple[ReadableSpan, ...]:
        return self.exporter.get_finished_spans()

    @property
    def names(self) -> list[str]:
        return [span.name for span in self.spans]

    def span(self, name: str) -> ReadableSpan:
        [span] = [span for span in self.spans if span.name == name]
        return span

    def run(self, verbosity: str = "Full", items: Sequence[ContextItem] = ITEMS) -> None:
        PIPELINE.run(items, BUDGET, collector=self.collector(verbosity))


@pytest.fixture
def recorder() -> Iterator[Recorder]:
    made = Recorder()
    yield made
    made.provider.shutdown()


def attributes(span: ReadableSpan) -> dict[str, Any]:
    return dict(span.attributes or {})


def events(span: ReadableSpan) -> list[tuple[str, dict[str, Any]]]:
    return [(event.name, dict(event.attributes or {})) for event in span.events]


def times(span: ReadableSpan) -> tuple[int, int]:
    assert span.start_time is not None
    assert span.end_time is not None
    return span.start_time, span.end_time


def trace_and_span(span: ReadableSpan) -> tuple[int, int]:
    context = span.get_span_context()
    assert context is not None
    return context.trace_id, context.span_id


def span_id(span: ReadableSpan) -> int:
    return trace_and_span(span)[1]


def trace_ids(recorder: Recorder) -> set[int]:
    return {trace_and_span(span)[0] for span in recorder.spans}


def parent_id(span: ReadableSpan) -> int | None:
    return None if span.parent is None else span.parent.span_id


def trees(spans: Sequence[ReadableSpan]) -> dict[int, list[str]]:
    """For each pipeline span, by its id, the names of the stages under it."""
    stages: dict[int, list[str]] = {span_id(span): [] for span in spans if span.name == "cupel.pipeline"}
    for span in spans:
        if span.name.startswith("cupel.stage."):
            stages[parent_id(span) or 0].append(span.name)
    return stages


# --- the tree


@pytest.mark.proves("S-OT-02", "S-OT-11", "S-OT-14")
def test_a_run_is_a_pipeline_with_five_stages(recorder: Recorder) -> None:
    """Activity Hierarchy: exactly five stages in order, without Sort, all of them under the root."""
    recorder.run("StageOnly")
    assert recorder.names == TREE
    root = recorder.span("cupel.pipeline")
    assert root.parent is None
    assert [parent_id(span) for span in recorder.spans[:5]] == [span_id(root)] * 5
    assert len(trace_ids(recorder)) == 1
    assert {span.kind for span in recorder.spans} == {SpanKind.INTERNAL}
    assert {span.status.status_code for span in recorder.spans} == {StatusCode.UNSET}


@pytest.mark.proves("S-OT-01")
def test_the_source_is_cupel_with_the_version_of_pycupel(recorder: Recorder) -> None:
    """OT-01: "cupel", as in the Rust crate."""
    recorder.run()
    assert SOURCE_NAME == "cupel"
    scopes = [span.instrumentation_scope for span in recorder.spans]
    assert {(scope.name, scope.version) for scope in scopes if scope} == {("cupel", pycupel.__version__)}


@pytest.mark.proves("S-OT-01")
def test_the_source_may_have_another_name(recorder: Recorder) -> None:
    """OT-01: with .NET's name, for backends that expect it."""
    collector = CupelOtelTraceCollector("StageOnly", recorder.provider, "Wollax.Cupel")
    PIPELINE.run(ITEMS, BUDGET, collector=collector)
    assert {span.instrumentation_scope.name for span in recorder.spans if span.instrumentation_scope} == {
        "Wollax.Cupel"
    }


def test_the_selection_is_the_same_with_and_without_the_collector(recorder: Recorder) -> None:
    assert PIPELINE.run(ITEMS, BUDGET, collector=recorder.collector()) == PIPELINE.run(ITEMS, BUDGET)


def test_an_empty_run_has_all_its_stages(recorder: Recorder) -> None:
    recorder.run("Full", [])
    assert recorder.names == TREE
    assert attributes(recorder.span("cupel.stage.place")) == {
        "cupel.stage.name": "place",
        "cupel.stage.item_count_in": 0,
        "cupel.stage.item_count_out": 0,
        "cupel.exclusion.count": 0,
    }


# --- the three tiers


@pytest.mark.proves("S-OT-15", "S-OT-03")
@pytest.mark.parametrize("verbosity", ["StageOnly", "StageAndExclusions", "Full"])
def test_the_root_has_the_budget_and_the_tier_and_nothing_else(recorder: Recorder, verbosity: str) -> None:
    """OT-03: the specification's attributes. Extensions are on other spans: `error.type`, and `cupel.messages`."""
    recorder.run(verbosity)
    root = attributes(recorder.span("cupel.pipeline"))
    assert root == {"cupel.budget.max_tokens": 60, "cupel.verbosity": verbosity}
    assert {name: type(value) for name, value in root.items()} == {
        "cupel.budget.max_tokens": int,
        "cupel.verbosity": str,
    }
    assert not recorder.span("cupel.pipeline").events


@pytest.mark.proves("S-OT-15", "S-OT-04", "S-OT-05")
def test_stage_only_tells_counts_and_nothing_else(recorder: Recorder) -> None:
    """StageOnly: three attributes, no duration, no event. OT-06: Place is given pinned and sliced."""
    recorder.run("StageOnly")
    counts = []
    for span in recorder.spans[:5]:
        stage = attributes(span)
        assert {name: type(value) for name, value in stage.items()} == {
            "cupel.stage.name": str,
            "cupel.stage.item_count_in": int,
            "cupel.stage.item_count_out": int,
        }
        counts.append(tuple(stage.values()))
        assert not span.events
    assert counts == [("classify", 6, 5), ("score", 4, 4), ("deduplicate", 4, 3), ("slice", 3, 2), ("place", 3, 3)]


@pytest.mark.proves("S-OT-06", "S-OT-07")
def test_the_second_tier_adds_an_event_for_each_exclusion_where_it_happened(recorder: Recorder) -> None:
    """OT-04, OT-05: on the stage that excluded the item, with the count on every stage, even if it is 0."""
    recorder.run("StageAndExclusions")
    excluded = {
        span.name: (attributes(span)["cupel.exclusion.count"], [tuple(e.values()) for _, e in events(span)])
        for span in recorder.spans[:5]
    }
    assert excluded == {
        "cupel.stage.classify": (1, [("NegativeTokens", "Memory", -1)]),
        "cupel.stage.score": (0, []),
        "cupel.stage.deduplicate": (1, [("Deduplicated", "ToolOutput", 16)]),
        "cupel.stage.slice": (1, [("BudgetExceeded", "Document", 500)]),
        "cupel.stage.place": (0, []),
    }


@pytest.mark.proves("S-OT-15", "S-OT-06")
def test_an_exclusion_has_three_attributes_with_the_types_of_the_table(recorder: Recorder) -> None:
    recorder.run("StageAndExclusions")
    [(name, exclusion)] = events(recorder.span("cupel.stage.slice"))
    assert name == "cupel.exclusion"
    assert {key: type(value) for key, value in exclusion.items()} == {
        "cupel.exclusion.reason": str,
        "cupel.exclusion.item_kind": str,
        "cupel.exclusion.item_tokens": int,
    }
    assert list(attributes(recorder.span("cupel.stage.slice"))) == [
        "cupel.stage.name",
        "cupel.stage.item_count_in",
        "cupel.stage.item_count_out",
        "cupel.exclusion.count",
    ]


@pytest.mark.proves("S-OT-06")
def test_what_place_truncates_is_an_exclusion_of_place(recorder: Recorder) -> None:
    """OT-04, OT-06: in minus out is what was truncated."""
    pipeline = Pipeline(ReflexiveScorer(), KeepAll(), overflow_strategy=OverflowStrategy.TRUNCATE)
    pipeline.run(ITEMS, BUDGET, collector=recorder.collector("StageAndExclusions"))
    place = recorder.span("cupel.stage.place")
    assert attributes(place) == {
        "cupel.stage.name": "place",
        "cupel.stage.item_count_in": 4,
        "cupel.stage.item_count_out": 3,
        "cupel.exclusion.count": 1,
    }
    assert [exclusion["cupel.exclusion.item_tokens"] for _, exclusion in events(place)] == [500]
    assert attributes(recorder.span("cupel.stage.slice"))["cupel.exclusion.count"] == 0


@pytest.mark.proves("S-OT-15", "S-OT-08")
def test_full_adds_an_event_for_each_included_item_to_place(recorder: Recorder) -> None:
    """Full: recorded when Place has completed, in placed order, without a position."""
    recorder.run("Full")
    report = PIPELINE.dry_run(ITEMS, BUDGET)
    assert len(report.included) == 3
    assert events(recorder.span("cupel.stage.place")) == [
        (
            "cupel.item.included",
            {
                "cupel.item.kind": each.item.kind.value,
                "cupel.item.tokens": each.item.tokens,
                "cupel.item.score": each.score,
            },
        )
        for each in report.included
    ]
    assert [name for span in recorder.spans[:4] for name, _ in events(span)] == ["cupel.exclusion"] * 3


@pytest.mark.proves("S-OT-15")
def test_a_shorter_version_shows_both_counts(recorder: Recorder) -> None:
    items = [ContextItem("line\n" * 200, 400), ContextItem("short", 5)]
    Pipeline(PIPELINE.scorer, shorten=Stub()).run(items, 100, collector=recorder.collector())
    shown = [attributes for _, attributes in events(recorder.span("cupel.stage.place"))]
    assert sorted(each.get("cupel.item.original_tokens", 0) for each in shown) == [0, 400]


def test_full_keeps_what_the_second_tier_tells(recorder: Recorder) -> None:
    recorder.run("StageAndExclusions")
    before = [(span.name, attributes(span), events(span)) for span in recorder.spans[:4]]
    recorder.exporter.clear()
    recorder.run("Full")
    assert [(span.name, attributes(span), events(span)) for span in recorder.spans[:4]] == before


def test_a_score_is_a_float_even_if_a_scorer_gives_whole_numbers(recorder: Recorder) -> None:
    class Whole:
        def score(self, item: ContextItem, all_items: Sequence[ContextItem], /) -> float:
            return 1

    Pipeline(Whole()).run(ITEMS[2:3], BUDGET, collector=recorder.collector())
    [(_, included)] = events(recorder.span("cupel.stage.place"))
    assert {key: type(value) for key, value in included.items()} == {
        "cupel.item.kind": str,
        "cupel.item.tokens": int,
        "cupel.item.score": float,
    }


@pytest.mark.proves("S-OT-07")
def test_the_count_is_right_when_the_sdk_drops_events() -> None:
    """ECOSYSTEM E: the SDK keeps 128 events of a span unless it is told otherwise."""
    items = [item(f"too large {i}", 100) for i in range(300)]
    recorder = Recorder()
    recorder.run("StageAndExclusions", items)
    stage = recorder.span("cupel.stage.slice")
    assert (len(stage.events), stage.dropped_events) == (128, 172)
    assert attributes(stage)["cupel.exclusion.count"] == 300

    generous = Recorder(span_limits=SpanLimits(max_events=1_000))
    generous.run("StageAndExclusions", items)
    assert len(generous.span("cupel.stage.slice").events) == 300


# --- reasons


class TooBoring(ExclusionReason):
    """A reason of somebody's own."""


@dataclass
class Told:
    """What the pipeline tells a collector in one run, told by hand."""

    snapshots: Sequence[StageTraceSnapshot]
    report: SelectionReport = field(default_factory=lambda: PIPELINE.dry_run([], BUDGET))

    def to(self, collector: TraceCollector) -> None:
        collector.on_pipeline_started(BUDGET)
        for each in self.snapshots:
            collector.record_stage_event(TraceEvent(each.stage, each.duration_ms, each.item_count_out))
        collector.on_pipeline_completed(self.report, BUDGET, self.snapshots)


def sliced(*reasons: ExclusionReason) -> StageTraceSnapshot:
    excluded = tuple(ExcludedItem(ITEMS[2], 0.5, reason) for reason in reasons)
    return StageTraceSnapshot(PipelineStage.SLICE, len(excluded), 0, 0.0, excluded)


@pytest.mark.proves("S-OT-09")
def test_reasons_have_their_canonical_names(recorder: Recorder) -> None:
    """OT-07: the name of the variant, also of one that another implementation or a user has defined."""
    classes: list[Any] = list(EXCLUSION_REASONS.values())
    known = [cls(*[""] * len(cls._fields)) for cls in classes]
    Told([sliced(*known, UnknownReason("TooSecret", {"why": "because"}), TooBoring())]).to(recorder.collector())
    names = [exclusion["cupel.exclusion.reason"] for _, exclusion in events(recorder.span("cupel.stage.slice"))]
    assert names == [*EXCLUSION_REASONS, "TooSecret", "TooBoring"]
    assert "BudgetExceeded" in names


# --- redaction

SECRETS = ["the-content", "the-metadata-key", "the-metadata-value", "the-tag", "the-pinned-content", "the-message"]


def secret_items() -> list[ContextItem]:
    told: Any = {
        "metadata": {"the-metadata-key": "the-metadata-value"},
        "tags": ["the-tag"],
        "timestamp": datetime.now(UTC),
    }
    return [
        item("the-pinned-content", 30, pinned=True, **told),
        item("the-content broken", -1, **told),
        item("the-content", 10, **told),
        item("the-content", 10, 0.2, **told),
        # It would fit without the pinned items, so the reason names what displaced it.
        item("the-content displaced", 50, 0.9, **told),
        item("the-content large", 500, 0.9, **told),
    ]


@pytest.mark.proves("S-OT-16")
@pytest.mark.parametrize("verbosity", CupelVerbosity)
def test_neither_content_nor_metadata_leaves_the_process(recorder: Recorder, verbosity: str) -> None:
    """OT-10."""
    PIPELINE.run(secret_items(), BUDGET, collector=recorder.collector(verbosity))
    with pytest.raises(ValueError, match="the-message"):
        Pipeline(raising(ValueError("the-message quotes the-content"))).run(
            secret_items(), BUDGET, collector=recorder.collector(verbosity)
        )
    exported = "".join(span.to_json() for span in recorder.spans)
    assert len(recorder.spans) == 8
    assert [secret for secret in SECRETS if secret in exported] == []


def test_the_search_for_secrets_would_find_one(recorder: Recorder) -> None:
    recorder.run("Full", [item("x", 1, kind="the-content")])
    assert "the-content" in recorder.span("cupel.stage.place").to_json()


# --- times


class Noting(CupelOtelTraceCollector):
    """Remembers how long each stage took."""

    __slots__ = ("durations",)

    def __init__(self, provider: TracerProvider) -> None:
        super().__init__("Full", provider)
        self.durations: dict[str, float] = {}

    def record_stage_event(self, event: TraceEvent, /) -> None:
        self.durations[f"cupel.stage.{event.stage.lower()}"] = event.duration_ms
        super().record_stage_event(event)


def check_order(recorder: Recorder) -> None:
    start, end = times(recorder.span("cupel.pipeline"))
    latest = start
    for span in recorder.spans[:5]:
        began, ended = times(span)
        assert latest <= began <= ended
        latest = ended
    assert latest <= end


@pytest.mark.proves("S-OT-05")
def test_every_span_has_its_real_times(recorder: Recorder) -> None:
    """OT-02: stages follow each other within the root, and each lasts as long as its event says."""
    collector = Noting(recorder.provider)
    pipeline = Pipeline(Calling(lambda: time.sleep(0.002)))
    before = time.time_ns()
    pipeline.run(ITEMS, BUDGET, collector=collector)
    check_order(recorder)
    assert times(recorder.span("cupel.pipeline"))[0] >= before
    for span in recorder.spans[:5]:
        start, end = times(span)
        assert end - start == pytest.approx(collector.durations[span.name] * 1e6, abs=1_000)
    start, end = times(recorder.span("cupel.stage.score"))
    assert end - start >= 4 * 2_000_000


def test_events_happen_when_their_stage_ends(recorder: Recorder) -> None:
    recorder.run("Full")
    assert [event.timestamp for span in recorder.spans for event in span.events] == [
        span.end_time for span in recorder.spans for _ in span.events
    ]


def test_a_wall_clock_that_is_set_back_does_not_disturb_the_order(
    recorder: Recorder, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = iter([1_700_000_000_000_000_000, 1_600_000_000_000_000_000])
    monkeypatch.setattr(otel, "time_ns", lambda: next(clock))
    recorder.run()
    check_order(recorder)
    assert times(recorder.span("cupel.pipeline"))[0] == 1_700_000_000_000_000_000


def test_no_stage_starts_before_the_one_before_it_has_ended(recorder: Recorder) -> None:
    """Whatever the durations say: two clocks may round differently."""
    ages = [StageTraceSnapshot(stage, 0, 0, 1e6, ()) for stage in PipelineStage]
    Told(ages).to(recorder.collector())
    check_order(recorder)
    assert times(recorder.span("cupel.stage.classify"))[0] == times(recorder.span("cupel.pipeline"))[0]
    assert times(recorder.span("cupel.stage.score"))[0] == times(recorder.span("cupel.stage.classify"))[1]


def test_a_stage_without_an_event_ends_with_the_run(recorder: Recorder) -> None:
    collector = recorder.collector()
    collector.on_pipeline_started(BUDGET)
    collector.on_pipeline_completed(PIPELINE.dry_run([], BUDGET), BUDGET, [sliced()])
    assert times(recorder.span("cupel.stage.slice"))[1] == times(recorder.span("cupel.pipeline"))[1]


# --- failures


def check_failure(recorder: Recorder, completed: int, name: str) -> None:
    assert recorder.names == [*TREE[:completed], "cupel.pipeline"]
    root = recorder.span("cupel.pipeline")
    assert (root.status.status_code, root.status.description) == (StatusCode.ERROR, name)
    assert attributes(root) == {
        "cupel.budget.max_tokens": 60,
        "cupel.verbosity": "Full",
        "error.type": name,
    }
    assert not root.events
    assert {span.status.status_code for span in recorder.spans[:completed]} <= {StatusCode.UNSET}
    assert times(root)[1] >= max([times(span)[1] for span in recorder.spans])


@pytest.mark.proves("S-OT-15")
def test_pinned_items_that_are_too_large_leave_an_error_and_no_stage(recorder: Recorder) -> None:
    """OT-09: an ERROR status, with the stages that completed."""
    with pytest.raises(PinnedExceedsBudgetError):
        recorder.run("Full", [item("pinned", 61, pinned=True)])
    check_failure(recorder, 0, "pycupel.errors.PinnedExceedsBudgetError")


@pytest.mark.proves("S-OT-14")
def test_a_scorer_that_raises_leaves_classify(recorder: Recorder) -> None:
    """OT-09, OT-10: the type of the error, not its text."""
    error = ValueError("the-message")
    with pytest.raises(ValueError, match="the-message") as caught:
        Pipeline(raising(error)).run(ITEMS, BUDGET, collector=recorder.collector())
    assert caught.value is error
    check_failure(recorder, 1, "ValueError")
    assert attributes(recorder.span("cupel.stage.classify"))["cupel.exclusion.count"] == 1


def test_an_overflow_leaves_all_stages_but_place(recorder: Recorder) -> None:
    with pytest.raises(BudgetOverflowError):
        Pipeline(ReflexiveScorer(), KeepAll()).run(ITEMS, BUDGET, collector=recorder.collector())
    check_failure(recorder, 4, "pycupel.errors.BudgetOverflowError")


def test_a_collector_is_as_good_as_new_after_a_failure(recorder: Recorder) -> None:
    collector = recorder.collector()
    with pytest.raises(ValueError, match="once"):
        Pipeline(raising(ValueError("once"))).run(ITEMS, BUDGET, collector=collector)
    recorder.exporter.clear()
    PIPELINE.run(ITEMS, BUDGET, collector=collector)
    assert recorder.names == TREE
    assert recorder.span("cupel.pipeline").status.status_code is StatusCode.UNSET
    assert otel._RUNS.get() == ()


# --- around a run, and several runs


def test_a_collector_may_watch_one_run_after_the_other(recorder: Recorder) -> None:
    collector = recorder.collector("StageOnly")
    for _ in range(3):
        PIPELINE.run(ITEMS, BUDGET, collector=collector)
    assert recorder.names == TREE * 3
    assert list(trees(recorder.spans).values()) == [TREE[:5]] * 3
    assert len(trace_ids(recorder)) == 3


def test_a_run_is_a_child_of_the_current_span(recorder: Recorder) -> None:
    tracer = recorder.provider.get_tracer("test")
    with tracer.start_as_current_span("request") as request:
        recorder.run()
    assert parent_id(recorder.span("cupel.pipeline")) == request.get_span_context().span_id
    assert recorder.names == [*TREE, "request"]


def test_a_run_does_not_change_the_current_span(recorder: Recorder) -> None:
    tracer = recorder.provider.get_tracer("test")
    with tracer.start_as_current_span("request"):
        recorder.run()
        with tracer.start_as_current_span("model call"):
            pass
    assert parent_id(recorder.span("model call")) == span_id(recorder.span("request"))


def requests_by_run(recorder: Recorder) -> dict[str, list[str]]:
    """For each request, by name, the stages of the one run in it."""
    requests = {span_id(span): span.name for span in recorder.spans if span.name.startswith("request")}
    stages = trees(recorder.spans)
    return {
        requests[parent_id(span) or 0]: stages[span_id(span)]
        for span in recorder.spans
        if span.name == "cupel.pipeline"
    }


def test_runs_in_tasks_are_children_of_their_tasks_spans(recorder: Recorder) -> None:
    """One collector; the tasks take turns in the middle of their runs, as streaming runs do."""
    collector = recorder.collector("StageOnly")
    tracer = recorder.provider.get_tracer("test")
    snapshots = [StageTraceSnapshot(stage, 0, 0, 0.0, ()) for stage in PipelineStage]
    report = PIPELINE.dry_run([], BUDGET)

    async def request(name: str, completed: int) -> None:
        with tracer.start_as_current_span(name):
            await asyncio.sleep(0)
            collector.on_pipeline_started(BUDGET)
            for each in snapshots[:completed]:
                await asyncio.sleep(0)
                collector.record_stage_event(TraceEvent(each.stage, 0.0, 0))
            collector.on_pipeline_completed(report, BUDGET, snapshots[:completed])

    async def main() -> None:
        await asyncio.gather(*(request(f"request {i}", i) for i in range(6)))

    asyncio.run(main())
    assert requests_by_run(recorder) == {f"request {i}": TREE[:i] for i in range(6)}


def test_runs_in_asyncio_are_children_of_their_tasks_spans(recorder: Recorder) -> None:
    collector = recorder.collector("StageOnly")
    tracer = recorder.provider.get_tracer("test")

    async def request(name: str) -> None:
        with tracer.start_as_current_span(name):
            await asyncio.sleep(0)
            PIPELINE.run(ITEMS, BUDGET, collector=collector)
            await asyncio.to_thread(PIPELINE.run, ITEMS, BUDGET, collector=collector)

    async def main() -> None:
        await asyncio.gather(*(request(f"request {i}") for i in range(4)))

    asyncio.run(main())
    requests = [span_id(span) for span in recorder.spans if span.name.startswith("request")]
    parents = [parent_id(span) for span in recorder.spans if span.name == "cupel.pipeline"]
    assert sorted(requests * 2) == sorted(each or 0 for each in parents)
    assert list(trees(recorder.spans).values()) == [TREE[:5]] * 8


def test_runs_in_threads_share_a_collector_at_the_same_time(recorder: Recorder) -> None:
    collector = recorder.collector("StageOnly")
    tracer = recorder.provider.get_tracer("test")
    barrier = Barrier(4)
    # All four are in the middle of their run before any of them goes on.
    pipeline = Pipeline(Calling(lambda: barrier.wait(30)))

    def request(i: int) -> None:
        with tracer.start_as_current_span(f"request {i}"):
            pipeline.run(ITEMS[2:3], ContextBudget(60 + i), collector=collector)

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(request, range(4)))
    assert requests_by_run(recorder) == {f"request {i}": TREE[:5] for i in range(4)}
    for span in recorder.spans:
        if span.name == "cupel.pipeline":
            [name] = [each.name for each in recorder.spans if span_id(each) == parent_id(span)]
            assert name == f"request {attributes(span)['cupel.budget.max_tokens'] - 60}"


def test_a_run_inside_a_run_has_its_own_spans(recorder: Recorder) -> None:
    collector = recorder.collector("StageOnly")
    inner = Calling(lambda: PIPELINE.run([], ContextBudget(7), collector=collector))
    Pipeline(inner).run(ITEMS[2:3], BUDGET, collector=collector)
    assert recorder.names == [*TREE, *TREE]
    assert list(trees(recorder.spans).values()) == [TREE[:5]] * 2
    budgets = [attributes(span)["cupel.budget.max_tokens"] for span in recorder.spans if span.name == TREE[-1]]
    assert budgets == [7, 60]


class Both(TraceCollector):
    """Passes on what it hears to two others."""

    def __init__(self, *others: TraceCollector) -> None:
        self.others = others

    def on_pipeline_started(self, budget: ContextBudget, /) -> None:
        for other in self.others:
            other.on_pipeline_started(budget)

    def record_stage_event(self, event: TraceEvent, /) -> None:
        for other in self.others:
            other.record_stage_event(event)

    def on_pipeline_completed(
        self, report: SelectionReport, budget: ContextBudget, snapshots: Sequence[StageTraceSnapshot], /
    ) -> None:
        for other in self.others:
            other.on_pipeline_completed(report, budget, snapshots)


def test_one_run_may_be_recorded_twice() -> None:
    """Little for production, all for the developer."""
    production, development = Recorder(), Recorder()
    both = Both(production.collector("StageOnly"), development.collector("Full"))
    PIPELINE.run(ITEMS, BUDGET, collector=both)
    for recorder, verbosity in ((production, "StageOnly"), (development, "Full")):
        assert recorder.names == TREE
        assert attributes(recorder.span("cupel.pipeline"))["cupel.verbosity"] == verbosity
        check_order(recorder)
    assert [len(span.events) for span in production.spans] == [0] * 6
    assert len(development.span("cupel.stage.place").events) == 3


def test_without_a_start_there_is_no_run(recorder: Recorder) -> None:
    collector = recorder.collector()
    collector.record_stage_event(TraceEvent(PipelineStage.SLICE, 0.0, 0))
    collector.on_pipeline_completed(PIPELINE.dry_run([], BUDGET), BUDGET, [sliced()])
    collector.on_pipeline_failed(ValueError(), BUDGET, [sliced()])
    assert recorder.names == []


# --- sampling


class Dropping(Sampler):
    """Drops the spans with the given names, and counts the questions."""

    def __init__(self, *names: str) -> None:
        self.names = names
        self.questions: list[str] = []

    def should_sample(self, parent_context: Any, trace_id: int, name: str, *args: Any, **more: Any) -> SamplingResult:
        self.questions.append(name)
        kept = ALWAYS_OFF if name in self.names else ALWAYS_ON
        return kept.should_sample(parent_context, trace_id, name, *args, **more)

    def get_description(self) -> str:
        return "Dropping"


def test_a_run_that_the_sampler_drops_leaves_nothing_and_costs_one_question() -> None:
    sampler = Dropping("cupel.pipeline")
    recorder = Recorder(sampler=sampler)
    recorder.run()
    assert recorder.names == []
    assert sampler.questions == ["cupel.pipeline"]
    assert otel._RUNS.get() == ()


def test_the_sampler_is_asked_about_each_stage() -> None:
    recorder = Recorder(sampler=Dropping("cupel.stage.slice", "cupel.stage.place"))
    recorder.run()
    assert recorder.names == [*TREE[:3], "cupel.pipeline"]


def test_the_sampler_sees_the_attributes() -> None:
    """A sampler may decide by them, so they are there when the span starts."""
    seen: dict[str, Mapping[str, Any]] = {}

    class Seeing(Dropping):
        def should_sample(
            self, parent_context: Any, trace_id: int, name: str, kind: Any = None, attributes: Any = None, *more: Any
        ) -> SamplingResult:
            seen[name] = dict(attributes)
            return SamplingResult(Decision.RECORD_AND_SAMPLE, attributes)

    Recorder(sampler=Seeing()).run("StageOnly")
    assert seen["cupel.pipeline"] == {"cupel.budget.max_tokens": 60, "cupel.verbosity": "StageOnly"}
    assert seen["cupel.stage.score"]["cupel.stage.item_count_in"] == 4


# --- whether anybody records


def isolated(code: str, **environment: str) -> Any:
    """What a fresh interpreter prints as JSON; `-I` would keep the environment from the SDK, `-P` is enough here."""
    setup = (
        "import json, sys\n"
        "from pycupel import ContextBudget, ContextItem, Pipeline, ReflexiveScorer\n"
        "def run(collector):\n"
        "    items = [ContextItem('one', 10), ContextItem('two', 99)]\n"
        "    kept = Pipeline(ReflexiveScorer()).run(items, ContextBudget(60), collector=collector)\n"
        "    assert [item.content for item in kept] == ['one']\n"
    )
    done = subprocess.run(
        [sys.executable, "-P", "-c", setup + code],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, **environment},
    )
    return json.loads(done.stdout)


def test_with_a_recording_tracer_it_is_enabled(recorder: Recorder) -> None:
    """OT-08."""
    assert recorder.collector().is_enabled is True
    assert recorder.names == []


def test_with_a_tracer_that_does_nothing_it_is_not_enabled() -> None:
    """OT-08: nothing is recorded, so nothing has to be told."""
    collector = CupelOtelTraceCollector("Full", NoOpTracerProvider())
    assert collector.is_enabled is False
    PIPELINE.run(ITEMS, BUDGET, collector=collector)


def test_without_an_sdk_it_is_not_enabled_and_hears_nothing() -> None:
    """OT-08: with the API alone."""
    heard = isolated(
        "sys.modules['opentelemetry.sdk'] = None\n"
        "from pycupel.integrations.otel import CupelOtelTraceCollector\n"
        "heard = []\n"
        "class Watched(CupelOtelTraceCollector):\n"
        "    def on_pipeline_started(self, budget): heard.append(budget)\n"
        "    def record_stage_event(self, event): heard.append(event)\n"
        "collector = Watched('Full')\n"
        "run(collector)\n"
        "print(json.dumps([collector.is_enabled, heard]))"
    )
    assert heard == [False, []]


GLOBAL = (
    "from opentelemetry import trace\n"
    "from opentelemetry.sdk.trace import TracerProvider\n"
    "from opentelemetry.sdk.trace.export import SimpleSpanProcessor\n"
    "from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter\n"
    "from opentelemetry.sdk.trace.sampling import ALWAYS_ON, ALWAYS_OFF\n"
    "from pycupel.integrations.otel import CupelOtelTraceCollector\n"
    "def set_global(**options):\n"
    "    exporter = InMemorySpanExporter()\n"
    "    provider = TracerProvider(**options)\n"
    "    provider.add_span_processor(SimpleSpanProcessor(exporter))\n"
    "    trace.set_tracer_provider(provider)\n"
    "    return exporter\n"
)


@pytest.mark.parametrize("provider", ["None", "trace.get_tracer_provider()"])
def test_a_global_provider_is_found_even_if_it_is_set_later(provider: str) -> None:
    """ECOSYSTEM E; also if the stand-in for the global provider was passed."""
    found = isolated(
        f"{GLOBAL}collector = CupelOtelTraceCollector('StageOnly', {provider})\n"
        "run(collector)\n"
        "before = collector.is_enabled\n"
        "exporter = set_global()\n"
        "run(collector)\n"
        "print(json.dumps([before, collector.is_enabled, [s.name for s in exporter.get_finished_spans()]]))"
    )
    assert found == [False, True, TREE]


def test_an_sdk_that_is_switched_off_is_none() -> None:
    found = isolated(
        f"{GLOBAL}set_global()\nprint(json.dumps(CupelOtelTraceCollector('Full').is_enabled))", OTEL_SDK_DISABLED="true"
    )
    assert found is False


def test_inside_a_span_that_the_sampler_dropped_nothing_is_spent() -> None:
    """Whoever samples one request in a hundred should pay for one in a hundred."""
    found = isolated(
        f"{GLOBAL}exporter = set_global(sampler=ALWAYS_OFF)\n"
        "collector = CupelOtelTraceCollector('Full')\n"
        "enabled = [collector.is_enabled]\n"
        "with trace.get_tracer('test').start_as_current_span('request'):\n"
        "    enabled.append(collector.is_enabled)\n"
        "    run(collector)\n"
        "print(json.dumps([enabled, len(exporter.get_finished_spans())]))"
    )
    assert found == [[True, False], 0]


def test_inside_a_span_that_is_recorded_it_is_enabled() -> None:
    found = isolated(
        f"{GLOBAL}exporter = set_global()\n"
        "collector = CupelOtelTraceCollector('Full')\n"
        "with trace.get_tracer('test').start_as_current_span('request'):\n"
        "    run(collector)\n"
        "print(json.dumps([s.name for s in exporter.get_finished_spans()]))"
    )
    assert found == [*TREE, "request"]


def test_a_span_is_dropped_if_a_sampler_here_decided_so(recorder: Recorder) -> None:
    dropped = Recorder(sampler=ALWAYS_OFF).provider.get_tracer("test").start_span("request")
    kept = recorder.provider.get_tracer("test").start_span("request")
    remote = NonRecordingSpan(SpanContext(7, 7, is_remote=True))
    assert [otel._is_dropped(span) for span in (dropped, kept, remote, INVALID_SPAN)] == [True, False, False, False]


def test_what_a_caller_elsewhere_dropped_is_for_the_sampler_to_decide() -> None:
    found = isolated(
        f"{GLOBAL}exporter = set_global(sampler=ALWAYS_ON)\n"
        "collector = CupelOtelTraceCollector('Full')\n"
        "remote = trace.NonRecordingSpan(trace.SpanContext(7, 7, is_remote=True))\n"
        "with trace.use_span(remote):\n"
        "    run(collector)\n"
        "print(json.dumps([s.name for s in exporter.get_finished_spans()]))"
    )
    assert found == TREE


def test_a_provider_that_was_given_decides_for_itself(recorder: Recorder) -> None:
    """The span around the run belongs to another provider, which drops everything."""
    dropping = Recorder(sampler=ALWAYS_OFF).provider.get_tracer("test")
    always = Recorder(sampler=ALWAYS_ON)
    with dropping.start_as_current_span("request"):
        always.run()
        recorder.run()
    assert always.names == TREE
    # By default a sampler follows the span around, whoever made it.
    assert recorder.names == []


# --- the door


def test_without_the_extra_the_module_says_how_to_install_it() -> None:
    """The message has the pip line, and is an ImportError for those who catch that."""
    said = isolated(
        "sys.modules['opentelemetry'] = None\n"
        "from pycupel.errors import MissingExtraError\n"
        "run(None)\n"
        "try:\n"
        "    import pycupel.integrations.otel\n"
        "except MissingExtraError as error:\n"
        "    print(json.dumps([str(error), isinstance(error, ImportError), error.extra]))"
    )
    assert said == [
        ("pycupel.integrations.otel needs opentelemetry-api, which is not installed: pip install 'pycupel[otel]'"),
        True,
        "otel",
    ]


def test_an_api_without_tracing_is_a_missing_extra_too(monkeypatch: pytest.MonkeyPatch) -> None:
    """Any other part of OpenTelemetry may be installed, since they share one namespace."""
    monkeypatch.setitem(sys.modules, "opentelemetry.trace", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'pycupel\[otel\]'"):
        runpy.run_path(str(otel.__file__))


@pytest.mark.proves("S-OT-10")
def test_the_core_knows_nothing_of_opentelemetry() -> None:
    loaded = isolated(
        "import pycupel, pycupel.integrations\n"
        "for name in pycupel.__all__: getattr(pycupel, name)\n"
        "run(pycupel.DiagnosticTraceCollector())\n"
        "print(json.dumps(sorted(name for name in sys.modules if 'opentelemetry' in name)))"
    )
    assert loaded == []


def test_the_companion_needs_the_api_alone() -> None:
    loaded = isolated(
        "from pycupel.integrations.otel import CupelOtelTraceCollector\n"
        "run(CupelOtelTraceCollector('Full'))\n"
        "print(json.dumps([name for name in sys.modules if name.startswith('opentelemetry.sdk')]))"
    )
    assert loaded == []


@pytest.mark.proves("S-OT-12")
def test_the_tiers_have_the_specifications_names() -> None:
    assert [(tier.name, tier.value) for tier in CupelVerbosity] == [
        ("STAGE_ONLY", "StageOnly"),
        ("STAGE_AND_EXCLUSIONS", "StageAndExclusions"),
        ("FULL", "Full"),
    ]


@pytest.mark.parametrize("verbosity", [CupelVerbosity.STAGE_AND_EXCLUSIONS, "StageAndExclusions", "stageandexclusions"])
def test_a_tier_may_be_given_by_name(verbosity: Any) -> None:
    assert CupelOtelTraceCollector(verbosity).verbosity is CupelVerbosity.STAGE_AND_EXCLUSIONS


def test_an_unknown_tier_is_refused() -> None:
    with pytest.raises(InvalidArgumentError) as caught:
        CupelOtelTraceCollector("Everything")  # type: ignore[arg-type]
    assert str(caught.value) == "verbosity must be one of StageOnly, StageAndExclusions, Full, not 'Everything'"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((3,), "verbosity must be a str"),
        (("Full", "provider"), "tracer_provider must be a TracerProvider"),
        (("Full", None, 3), "tracer_name must be a str"),
    ],
)
def test_a_wrong_type_is_refused(arguments: tuple[Any, ...], said: str) -> None:
    with pytest.raises(TypeError, match=said):
        CupelOtelTraceCollector(*arguments)


def test_a_tracer_is_no_provider(recorder: Recorder) -> None:
    tracer: Any = recorder.provider.get_tracer("test")
    with pytest.raises(TypeError, match="tracer_provider must be a TracerProvider"):
        CupelOtelTraceCollector("Full", tracer)


# --- the example


def test_the_example_prints_the_trace_in_80_ascii_columns(capsys: pytest.CaptureFixture[str]) -> None:
    otel_console.main()
    printed = capsys.readouterr().out
    assert printed.isascii()
    assert max(map(len, printed.splitlines())) <= 80
    assert re.findall(r"(?m)^ *([\w.]+) +\|[ #]{28}\| +\d+\.\d{3} ms$", printed) == ["agent.turn", TREE[-1], *TREE[:5]]
    for line in ("2 x exclusion: Deduplicated", "9 x exclusion: BudgetExceeded"):
        assert line in printed


def test_the_picture_shows_every_span_where_it_was() -> None:
    spans = otel_console.record(CupelVerbosity.STAGE_AND_EXCLUSIONS)
    picture = ET.fromstring(trace_picture.Picture(spans).svg())  # noqa: S314 - made by the line itself
    texts = [element.text for element in picture.iter("{http://www.w3.org/2000/svg}text")]
    assert [text for text in texts if text in {"agent.turn", *TREE}] == ["agent.turn", TREE[-1], *TREE[:5]]
    bars = [element for element in picture.iter("{http://www.w3.org/2000/svg}rect") if "x" in element.attrib]
    assert len(bars) == 7
    lefts = [float(bar.attrib["x"]) for bar in bars]
    assert lefts == sorted(lefts)
    assert all(float(bar.attrib["width"]) > 0 for bar in bars)
