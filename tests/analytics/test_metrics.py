"""AN-01: the three metrics of the changelog, and TV-10 for an empty window."""

from __future__ import annotations

import math
from datetime import UTC, datetime

import pytest

from pycupel import ContextBudget, ContextItem, OverflowStrategy, Pipeline, RecencyScorer, SelectionReport
from pycupel.analytics import budget_utilization, kind_diversity, timestamp_coverage

NOON = datetime(2026, 1, 5, 12, tzinfo=UTC)


def report_of(*items: ContextItem, size: int = 100) -> SelectionReport:
    pipeline = Pipeline(RecencyScorer(), overflow_strategy=OverflowStrategy.PROCEED)
    return pipeline.dry_run(items, ContextBudget(size))


@pytest.mark.proves("S-TV-05", "S-AN-01")
def test_utilization_is_relative_to_the_window() -> None:
    report = report_of(ContextItem("a", 30), ContextItem("b", 20))
    assert budget_utilization(report, ContextBudget(200, 100)) == 0.25
    assert budget_utilization(report, 200) == 0.25


def test_utilization_may_exceed_one() -> None:
    assert budget_utilization(report_of(ContextItem("a", 30, pinned=True)), ContextBudget(20)) == 1.5


def test_utilization_of_an_empty_window_is_no_nan() -> None:
    """TV-10."""
    assert budget_utilization(report_of(), ContextBudget(0)) == 0.0
    assert budget_utilization(report_of(ContextItem("a", 1)), ContextBudget(0)) == math.inf


@pytest.mark.proves("S-AN-01")
def test_kinds_are_counted_whatever_their_case() -> None:
    report = report_of(ContextItem("a", 1, kind="Note"), ContextItem("b", 1, kind="NOTE"), ContextItem("c", 1))
    assert kind_diversity(report) == 2
    assert kind_diversity(report_of()) == 0


@pytest.mark.proves("S-AN-01")
def test_coverage_is_the_share_of_items_with_a_timestamp() -> None:
    report = report_of(
        ContextItem("a", 1, timestamp=NOON), ContextItem("b", 1), ContextItem("c", 1), ContextItem("d", 1)
    )
    assert timestamp_coverage(report) == 0.25
    assert timestamp_coverage(report_of()) == 0.0
