"""The Pipeline chapter, PB-*, and what holds for a run as a whole."""

from __future__ import annotations

import copy
import dataclasses
import math
import pickle
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import pytest

from pycupel import (
    ChronologicalPlacer,
    CompositeScorer,
    ContextBudget,
    ContextItem,
    CountConstrainedKnapsackSlice,
    CountQuotaEntry,
    CountQuotaSlice,
    GreedySlice,
    KnapsackSlice,
    OverflowStrategy,
    Pipeline,
    Placer,
    PriorityScorer,
    QuotaEntry,
    QuotaSlice,
    RecencyScorer,
    ReflexiveScorer,
    ScarcityBehavior,
    ScoredItem,
    Scorer,
    Slicer,
    UShapedPlacer,
)
from pycupel.diagnostics import (
    DiagnosticTraceCollector,
    NullTraceCollector,
    OverflowEvent,
    TraceCollector,
    TraceDetailLevel,
)
from pycupel.errors import (
    BudgetOverflowError,
    CountRequirementError,
    PinnedExceedsBudgetError,
    PipelineConfigError,
)
from tests.strategies import RawHintScorer

BUDGET = ContextBudget(100)
INF = math.inf
NAN = math.nan

TOOLS = CountQuotaEntry("tool", cap_count=2, require_count=1)
SLICERS: list[Slicer] = [
    GreedySlice(),
    KnapsackSlice(1),
    KnapsackSlice(1, fill_free=True),
    QuotaSlice([QuotaEntry("tool", 20, 60)]),
    QuotaSlice([QuotaEntry("tool", 20, 60)], redistribute=True),
    CountQuotaSlice([TOOLS]),
    CountQuotaSlice([TOOLS], cap_order="score"),
    CountConstrainedKnapsackSlice([TOOLS], KnapsackSlice(1)),
]
PLACERS: list[Placer] = [ChronologicalPlacer(), UShapedPlacer()]


def item(content: str, tokens: int = 10, score: float = 0.5, **options: Any) -> ContextItem:
    return ContextItem(content, tokens, future_relevance_hint=score, **options)


def observer(event: OverflowEvent) -> None:
    """Do nothing, picklably."""


# What it is made of.


def test_only_the_scorer_is_required() -> None:
    """PB-01: greedy, chronological, deduplication, Throw, nobody to notify."""
    pipeline = Pipeline(RecencyScorer())
    assert pipeline.slicer == GreedySlice()
    assert pipeline.placer == ChronologicalPlacer()
    assert pipeline.deduplication is True
    assert pipeline.overflow_strategy is OverflowStrategy.THROW
    assert pipeline.on_overflow is None
    assert pipeline.dedupe_against_pinned is False
    with pytest.raises(TypeError, match="scorer"):
        Pipeline()  # type: ignore[call-arg]


def test_the_rest_is_keyword_only() -> None:
    """PB-01: scorer, slicer, placer, and then names."""
    pipeline = Pipeline(RecencyScorer(), KnapsackSlice(), UShapedPlacer(), deduplication=False)
    assert pipeline == Pipeline(
        placer=UShapedPlacer(), slicer=KnapsackSlice(), scorer=RecencyScorer(), deduplication=False
    )
    with pytest.raises(TypeError):
        Pipeline(RecencyScorer(), KnapsackSlice(), UShapedPlacer(), False)  # type: ignore[call-arg]


@pytest.mark.parametrize("strategy", list(OverflowStrategy))
def test_the_strategy_may_be_a_string(strategy: OverflowStrategy) -> None:
    """WF-06: in any case; it becomes the member."""
    for text in (strategy.value, strategy.value.upper(), strategy.value.title(), strategy):
        given: Any = text
        assert Pipeline(RecencyScorer(), overflow_strategy=given).overflow_strategy is strategy


# A value.


def test_is_immutable() -> None:
    """PB-04."""
    pipeline = Pipeline(RecencyScorer())
    with pytest.raises(dataclasses.FrozenInstanceError):
        pipeline.slicer = KnapsackSlice()  # type: ignore[misc]
    with pytest.raises(dataclasses.FrozenInstanceError):
        del pipeline.slicer
    with pytest.raises((AttributeError, TypeError)):
        pipeline.budget = BUDGET  # type: ignore[attr-defined]


def test_pipelines_with_equal_parts_are_equal() -> None:
    """PB-04: and have equal hashes."""
    first = Pipeline(PriorityScorer(), QuotaSlice([QuotaEntry("a", 10)]), overflow_strategy=OverflowStrategy.TRUNCATE)
    second = dataclasses.replace(first)
    assert first == second
    assert first is not second
    assert hash(first) == hash(second)
    assert first != dataclasses.replace(first, deduplication=False)
    assert first != dataclasses.replace(first, scorer=RecencyScorer())


def test_repr_shows_the_parts() -> None:
    """PB-04: a value shows itself."""
    text = repr(Pipeline(RecencyScorer(), KnapsackSlice(7), deduplication=False))
    for part in ("Pipeline(", "RecencyScorer()", "bucket_size=7", "ChronologicalPlacer()", "deduplication=False"):
        assert part in text


def test_a_copy_selects_the_same() -> None:
    """PB-04: through pickle, copy and deepcopy."""
    pipeline = Pipeline(
        CompositeScorer([(ReflexiveScorer(), 2.0), (PriorityScorer(), 1.0)]),
        CountQuotaSlice([TOOLS], QuotaSlice([QuotaEntry("tool", 10)])),
        UShapedPlacer(),
        overflow_strategy=OverflowStrategy.PROCEED,
        on_overflow=observer,
    )
    items = [item(f"i{i}", 5 + i, i / 10, priority=i % 3, kind="tool" if i % 2 else "doc") for i in range(10)]
    expected = pipeline.run(items, BUDGET)
    for again in (pickle.loads(pickle.dumps(pipeline)), copy.copy(pipeline), copy.deepcopy(pipeline)):
        assert again == pipeline
        assert again.run(items, BUDGET) == expected


def test_replace_checks_again() -> None:
    """PB-05: dataclasses.replace goes through the constructor."""
    pipeline = Pipeline(RecencyScorer(), overflow_strategy=OverflowStrategy.PROCEED, on_overflow=observer)
    with pytest.raises(PipelineConfigError, match="on_overflow"):
        dataclasses.replace(pipeline, overflow_strategy=OverflowStrategy.THROW)
    wrong: Any = None
    with pytest.raises(TypeError, match="scorer"):
        dataclasses.replace(pipeline, scorer=wrong)


# A run.


@pytest.mark.proves("S-PI-01", "S-CL-02")
def test_the_stages_run_in_their_order() -> None:
    """Pipeline: Classify, Score, Deduplicate, Sort, Slice, Place; each custom part is asked once."""
    log: list[tuple[str, list[str]]] = []

    class LoggingScorer:
        def score(self, item: ContextItem, all_items: Sequence[ContextItem], /) -> float:
            log.append(("score", [item.content]))
            return float(item.priority or 0)

    class LoggingSlicer:
        def slice(self, scored_items: Sequence[ScoredItem], budget: ContextBudget, /) -> list[ContextItem]:
            log.append(("slice", [pair.item.content for pair in scored_items]))
            return [pair.item for pair in scored_items]

    class LoggingPlacer:
        def place(self, scored_items: Sequence[ScoredItem], /) -> list[ContextItem]:
            log.append(("place", [pair.item.content for pair in scored_items]))
            return [pair.item for pair in reversed(scored_items)]

    items = [
        item("low", priority=1),
        item("pinned", pinned=True),
        item("dup", priority=2),
        item("negative", -1),
        item("dup", priority=3),
    ]
    selected = Pipeline(LoggingScorer(), LoggingSlicer(), LoggingPlacer()).run(items, BUDGET)
    assert log == [
        ("score", ["low"]),
        ("score", ["dup"]),
        ("score", ["dup"]),
        ("slice", ["dup", "low"]),
        ("place", ["pinned", "dup", "low"]),
    ]
    assert selected == [items[0], items[4], items[1]]


@pytest.mark.proves("S-IT-18", "S-PI-03", "S-RP-03")
def test_run_returns_a_list_of_the_very_objects() -> None:
    """PB-03, and Pipeline: no stage modifies items."""
    items = [item("a"), item("b", pinned=True)]
    selected = Pipeline(RawHintScorer()).run(items, BUDGET)
    assert type(selected) is list
    assert [selected[0] is items[1], selected[1] is items[0]] == [True, True]


@pytest.mark.proves("S-PI-03")
def test_the_input_is_left_alone() -> None:
    """Pipeline: stages never mutate inputs, and the result is not the input."""
    items = [item("a", score=0.1), item("b", score=0.9), item("a", score=0.5), item("n", -1)]
    before = list(items)
    selected = Pipeline(RawHintScorer()).run(items, BUDGET)
    selected.clear()
    assert list(map(id, items)) == list(map(id, before))
    assert Pipeline(RawHintScorer()).run(items, BUDGET) == [items[1], items[2]]


@pytest.mark.proves("S-IT-10")
@pytest.mark.parametrize("original", [None, 0, 1, 10**6, -5])
def test_the_original_tokens_decide_nothing(original: int | None) -> None:
    """ContextItem: they are not used by the pipeline, whatever they are."""
    items = [item("a", 60, 0.9, original_tokens=original), item("b", 60, 0.5), item("p", 30, pinned=True)]
    plain = [item("a", 60, 0.9), *items[1:]]
    report, expected = (Pipeline(RawHintScorer()).dry_run(each, BUDGET) for each in (items, plain))
    assert [each.content for each in report.items] == [each.content for each in expected.items] == ["p", "a"]
    assert [each.reason for each in report.excluded] == [each.reason for each in expected.excluded]
    assert report.total_tokens_considered == expected.total_tokens_considered == 150


def test_a_budget_may_be_a_number_of_tokens() -> None:
    pipeline, items = Pipeline(RawHintScorer()), [item("a", 60, 0.1), item("b", 60, 0.2)]
    assert pipeline.run(items, 100) == pipeline.run(items, ContextBudget(100)) == items[1:]
    assert pipeline.dry_run(items, 100).budget == ContextBudget(100)


@pytest.mark.parametrize("budget", [None, "100", 100.0, True, (100, 100), ContextBudget])
def test_a_budget_of_another_type_is_refused(budget: Any) -> None:
    """PB-02 and PB-05: named, and before anything else happens."""
    pipeline = Pipeline(RawHintScorer())
    for method in (pipeline.run, pipeline.dry_run):
        with pytest.raises(TypeError, match="budget must be a ContextBudget"):
            method([item("a")], budget)


def test_the_budget_belongs_to_the_call() -> None:
    """PB-02: a pipeline stores none."""
    pipeline = Pipeline(RawHintScorer())
    items = [item("a", 10, 0.9), item("b", 10, 0.8)]
    assert len(pipeline.run(items, ContextBudget(10))) == 1
    assert len(pipeline.run(items, ContextBudget(20))) == 2
    assert len(pipeline.run(items, ContextBudget(10))) == 1


@pytest.mark.proves("S-CL-04")
@pytest.mark.parametrize("placer", PLACERS)
@pytest.mark.parametrize("slicer", SLICERS)
@pytest.mark.parametrize("budget", [ContextBudget(0), ContextBudget(100), ContextBudget(100, 0)])
def test_empty_everything(slicer: Slicer, placer: Placer, budget: ContextBudget) -> None:
    """Pipeline: nothing in, nothing out, no error (CQ-09)."""
    pipeline = Pipeline(RecencyScorer(), slicer, placer)
    assert pipeline.run([], budget) == []
    assert pipeline.run(iter([]), budget) == []
    assert pipeline.dry_run([], budget).items == []


@pytest.mark.proves("S-SL-04")
@pytest.mark.parametrize("slicer", SLICERS)
def test_a_budget_of_nothing_selects_nothing(slicer: Slicer) -> None:
    """DM-13 and EB-02."""
    items = [item("a"), item("free", 0), item("t", kind="tool")]
    assert Pipeline(RawHintScorer(), slicer).run(items, ContextBudget(0)) == []


# Broken scores.

ODD_SCORES = [NAN, INF, -INF, 0.5, -0.0, 1e308, -1e308, NAN, INF, 0.00001, 5e-324]


@pytest.mark.parametrize("placer", PLACERS)
@pytest.mark.parametrize("slicer", SLICERS)
@pytest.mark.parametrize("target", [0, 10, 35, 110])
def test_odd_scores_never_crash(slicer: Slicer, placer: Placer, target: int) -> None:
    """SC-03: no exception, in no stage, and every item is accounted for."""
    items = [item(f"i{i}", score=score, kind="tool" if i % 2 else "doc") for i, score in enumerate(ODD_SCORES)]
    items += [item("same", score=score) for score in ODD_SCORES]
    pipeline = Pipeline(RawHintScorer(), slicer, placer, overflow_strategy=OverflowStrategy.TRUNCATE)
    report = pipeline.dry_run(items, ContextBudget(200, target))
    assert report.total_candidates == len(items)
    assert list(map(id, report.items)) == list(map(id, pipeline.run(items, ContextBudget(200, target))))


@pytest.mark.parametrize("slicer", SLICERS)
@pytest.mark.parametrize("order", [1, -1])
def test_nan_never_wins(slicer: Slicer, order: int) -> None:
    """SC-03: a broken scorer does not get the window; a finite positive score does."""
    items = [item("nan", score=NAN, kind="tool"), item("good", score=0.1, kind="tool")][::order]
    selected = Pipeline(RawHintScorer(), slicer).run(items, ContextBudget(10, 10))
    assert "nan" not in [each.content for each in selected]


# Failing runs.


class Moody:
    """Fails when told to: as scorer, as slicer, as placer."""

    fails_as: str | None = None

    def score(self, item: ContextItem, all_items: Sequence[ContextItem], /) -> float:
        self._maybe("scorer")
        return item.future_relevance_hint or 0.0

    def slice(self, scored_items: Sequence[ScoredItem], budget: ContextBudget, /) -> list[ContextItem]:
        self._maybe("slicer")
        return GreedySlice().slice(scored_items, budget)

    def place(self, scored_items: Sequence[ScoredItem], /) -> list[ContextItem]:
        self._maybe("placer")
        return ChronologicalPlacer().place(scored_items)

    def _maybe(self, role: str) -> None:
        if self.fails_as == role:
            raise LookupError(role)


@pytest.mark.parametrize("role", ["scorer", "slicer", "placer"])
def test_a_run_that_fails_changes_nothing_and_can_be_repeated(role: str) -> None:
    """PB-04: no state of a run stays behind."""
    moody = Moody()
    pipeline = Pipeline(moody, moody, moody)
    items = [item("a", 40, 0.9), item("b", 40, 0.1), item("c", 40, 0.5), item("p", 10, pinned=True)]
    expected = pipeline.run(items, BUDGET)
    moody.fails_as = role
    for method in (pipeline.run, pipeline.dry_run):
        with pytest.raises(LookupError, match=role):
            method(items, BUDGET)
    moody.fails_as = None
    assert pipeline.run(items, BUDGET) == expected
    assert pipeline.dry_run(items, BUDGET).items == expected


def test_the_pipelines_own_errors_leave_nothing_behind_either() -> None:
    """PB-04: each error comes again, and a run with a better budget works."""
    strict = CountQuotaSlice(
        [CountQuotaEntry("Message", cap_count=3, require_count=3)], scarcity=ScarcityBehavior.THROW
    )
    two, three = [item("a", 50), item("b", 50)], [item("a", 50), item("b", 50), item("c", 50)]
    pinned = [item("p", 60, pinned=True), *three]
    pipeline = Pipeline(RawHintScorer(), strict)
    for _ in range(2):
        with pytest.raises(CountRequirementError):
            pipeline.run(two, BUDGET)
        with pytest.raises(BudgetOverflowError):
            pipeline.run(three, BUDGET)
        with pytest.raises(PinnedExceedsBudgetError):
            pipeline.run(pinned, ContextBudget(50))
        assert pipeline.run(three, ContextBudget(150)) == three
        assert pipeline.run(pinned, ContextBudget(210)) == pinned


# Watched runs.


class Listener:
    """A collector without a base class and with one hook."""

    def __init__(self) -> None:
        self.overflows: list[OverflowEvent] = []

    def on_overflow(self, event: OverflowEvent, /) -> None:
        self.overflows.append(event)


class Deaf(TraceCollector):
    """A collector that overrides nothing."""


@pytest.mark.parametrize("slicer", SLICERS)
@pytest.mark.parametrize("strategy", [OverflowStrategy.TRUNCATE, OverflowStrategy.PROCEED])
def test_being_watched_changes_nothing(slicer: Slicer, strategy: OverflowStrategy) -> None:
    """TC-01 and TC-02: whoever watches, and at whatever level, the selection is the same, and so is the report."""
    pipeline = Pipeline(RawHintScorer(), slicer, overflow_strategy=strategy)
    items = [item(f"i{i % 9}", 7 * i - 3, (i * 3) % 10 / 10, kind="tool" if i % 2 else "doc") for i in range(12)]
    items.append(item("pinned", 80, pinned=True))
    budget = ContextBudget(150, 90)
    expected = pipeline.run(items, budget)
    for collector in (Listener(), Deaf(), NullTraceCollector()):
        assert pipeline.run(items, budget, collector=collector) == expected
    for level in TraceDetailLevel:
        recording = DiagnosticTraceCollector(level)
        assert pipeline.run(items, budget, collector=recording) == expected
        assert recording.build_report().same_selection(pipeline.dry_run(items, budget))


def test_a_collector_is_told_of_an_overflow() -> None:
    """PL-05: the observer and the collector's hook get the same event."""
    events: list[OverflowEvent] = []
    pipeline = Pipeline(RawHintScorer(), overflow_strategy=OverflowStrategy.PROCEED, on_overflow=events.append)
    listener = Listener()
    pipeline.run([item("p", 60, pinned=True)], ContextBudget(100, 50), collector=listener)
    assert listener.overflows == events
    assert [event.tokens_over_budget for event in events] == [10]


def test_a_class_is_no_collector() -> None:
    """PB-05: the usual slip."""
    with pytest.raises(
        TypeError, match=r"^collector must be an instance; did you mean DiagnosticTraceCollector\(\)\?$"
    ):
        Pipeline(RawHintScorer()).run([item("a")], BUDGET, collector=DiagnosticTraceCollector)  # type: ignore[arg-type]


# A whole example, by hand.


def test_a_small_session() -> None:
    """Pipeline: the six stages on six items, worked out by hand."""

    def at(hour: int) -> datetime:
        return datetime(2025, 1, 1, hour, tzinfo=UTC)

    items = [
        ContextItem("system", 20, kind="SystemPrompt", pinned=True, timestamp=at(0)),
        ContextItem("question", 30, timestamp=at(1)),
        ContextItem("lookup", 50, kind="ToolOutput", timestamp=at(2)),
        ContextItem("lookup", 50, kind="ToolOutput", timestamp=at(3)),
        ContextItem("broken", -1, timestamp=at(4)),
        ContextItem("answer", 40, timestamp=at(5)),
    ]
    # Recency among four scoreable items: question 0, lookup 1/3 and 2/3, answer 1.
    report = Pipeline(RecencyScorer()).dry_run(items, ContextBudget(200, 115, output_reserve=50))
    assert [(each.item.content, each.score) for each in report.included] == [
        ("system", 1.0),
        ("lookup", 2 / 3),
        ("answer", 1.0),
    ]
    assert [(each.item.content, each.score, type(each.reason).__name__) for each in report.excluded] == [
        ("lookup", 1 / 3, "Deduplicated"),
        ("broken", 0.0, "NegativeTokens"),
        ("question", 0.0, "BudgetExceeded"),
    ]
    assert (report.total_candidates, report.total_tokens_considered) == (6, 189)


@pytest.mark.proves("S-SR-02")
def test_any_scorer_will_do() -> None:
    """Pipeline: ordinal-only scoring; only the order of scores decides with items of one size."""

    class Shifted:
        def __init__(self, shift: float) -> None:
            self.shift = shift

        def score(self, item: ContextItem, all_items: Sequence[ContextItem], /) -> float:
            return float(item.priority or 0) + self.shift

    items = [item(f"i{i}", priority=i) for i in range(9)]
    scorers: list[Scorer] = [Shifted(0.0), Shifted(100.0), Shifted(-100.0), PriorityScorer()]
    results = [Pipeline(scorer).run(items, ContextBudget(35)) for scorer in scorers]
    assert all(result == [items[8], items[7], items[6]] for result in results)
