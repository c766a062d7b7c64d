"""One pipeline, shared by threads (PB-04, PY-15)."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from random import Random
from threading import Barrier

import pytest

from pycupel import (
    CompositeScorer,
    ContextBudget,
    ContextItem,
    CountConstrainedKnapsackSlice,
    CountQuotaEntry,
    CountQuotaSlice,
    FrequencyScorer,
    GreedySlice,
    KnapsackSlice,
    OverflowStrategy,
    Pipeline,
    PriorityScorer,
    QuotaEntry,
    QuotaSlice,
    ReflexiveScorer,
    ScaledScorer,
    SelectionReport,
    Slicer,
    TagScorer,
    UShapedPlacer,
)
from pycupel.diagnostics import OverflowEvent

THREADS = 8
ROUNDS = 5

COUNTS = [
    CountQuotaEntry("tool", cap_count=3, require_count=2),
    CountQuotaEntry("memory", cap_count=9, require_count=5),
]
SCORER = CompositeScorer(
    [
        (PriorityScorer(), 0.7),
        (ScaledScorer(FrequencyScorer()), 0.2),
        (TagScorer({"x": 0.1, "y": 0.2}), 0.1),
        (ReflexiveScorer(), 1.0),
    ]
)


def workload(seed: int) -> tuple[list[ContextItem], ContextBudget]:
    """Build the input of one thread: its own number of items, its own budget."""
    random = Random(seed)
    items = [
        ContextItem(
            f"{seed}: {random.randrange(60)}",
            random.randrange(0, 50),
            kind=("tool", "doc", "memory", "msg")[random.randrange(3 + seed % 2)],
            priority=random.randrange(10),
            tags=[("x", "y", "z")[random.randrange(3)]],
            future_relevance_hint=random.random(),
            pinned=random.random() < 0.03,
        )
        for _ in range(40 + 5 * seed)
    ]
    return items, ContextBudget(300 + 40 * seed, output_reserve=10 * seed)


def told(report: SelectionReport) -> tuple[object, ...]:
    """Everything that a report says but the events, whose durations always differ."""
    return (report.included, report.excluded, report.count_requirement_shortfalls, report.budget)


@pytest.fixture
def eager_switching() -> Iterator[None]:
    """Let threads interrupt each other as often as they can."""
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(interval)


@pytest.mark.unmeasured
@pytest.mark.usefixtures("eager_switching")
@pytest.mark.parametrize(
    "slicer",
    [
        GreedySlice(),
        KnapsackSlice(1),
        QuotaSlice([QuotaEntry("tool", 20, 50)], CountQuotaSlice(COUNTS), redistribute=True),
        CountQuotaSlice(COUNTS),
        CountConstrainedKnapsackSlice(COUNTS, KnapsackSlice(1)),
    ],
    ids=lambda slicer: type(slicer).__name__,
)
def test_threads_that_share_a_pipeline_get_what_they_would_get_alone(slicer: Slicer) -> None:
    """PB-04: per-run state is in locals only, so shortfalls and scores of one run never show in another."""
    pipeline = Pipeline(SCORER, slicer, UShapedPlacer(), overflow_strategy=OverflowStrategy.TRUNCATE)
    workloads = [workload(seed) for seed in range(THREADS)]
    alone = [told(pipeline.dry_run(items, budget)) for items, budget in workloads]
    barrier = Barrier(THREADS)

    def run(number: int) -> list[tuple[object, ...]]:
        items, budget = workloads[number]
        barrier.wait()
        return [told(pipeline.dry_run(items, budget)) for _ in range(ROUNDS)]

    with ThreadPoolExecutor(THREADS) as pool:
        together = list(pool.map(run, range(THREADS)))
    assert together == [[expected] * ROUNDS for expected in alone]
    assert len({len(expected[0]) for expected in alone if isinstance(expected[0], tuple)}) > 1, "the inputs differ"


@pytest.mark.usefixtures("eager_switching")
def test_each_thread_is_told_of_its_own_overflow() -> None:
    """PL-05 and PB-04: the event belongs to the run that it came from."""
    events: list[OverflowEvent] = []
    required = CountQuotaSlice([CountQuotaEntry("Message", cap_count=100, require_count=100)])
    pipeline = Pipeline(
        PriorityScorer(), required, overflow_strategy=OverflowStrategy.PROCEED, on_overflow=events.append
    )
    barrier = Barrier(THREADS)
    inputs = [[ContextItem(f"{seed}/{i}", 10) for i in range(seed + 2)] for seed in range(THREADS)]

    def run(number: int) -> list[ContextItem]:
        barrier.wait()
        return pipeline.run(inputs[number], ContextBudget(10))

    with ThreadPoolExecutor(THREADS) as pool:
        assert list(pool.map(run, range(THREADS))) == inputs
    told_of = sorted((event.tokens_over_budget, len(event.overflowing_items)) for event in events)
    assert told_of == [(10 * (seed + 1), seed + 2) for seed in range(THREADS)]
    assert all(tuple(items) in [event.overflowing_items for event in events] for items in inputs)
