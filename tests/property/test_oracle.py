"""Whole random runs against the specification's pseudocode, transliterated literally in `tests/oracle`."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest
from hypothesis import given

from pycupel import ContextBudget, ContextItem, DiagnosticTraceCollector, OverflowStrategy, Pipeline
from pycupel.diagnostics import OverflowEvent, SelectionReport
from pycupel.errors import BudgetOverflowError, CountRequirementError, PinnedExceedsBudgetError, TableTooLargeError
from tests import strategies
from tests.examples import examples
from tests.oracle.bits import bits
from tests.oracle.report import OracleError, OracleReport, oracle_report

ERRORS: dict[str, type[Exception]] = {
    "PinnedExceedsBudget": PinnedExceedsBudgetError,
    "Overflow": BudgetOverflowError,
    "CountRequirement": CountRequirementError,
    "TableTooLarge": TableTooLargeError,
}


@pytest.mark.proves("S-IN-01", "S-PI-02")
@examples(400)
@given(strategies.pipelines(), strategies.item_lists(), strategies.budgets())
def test_a_run_selects_what_the_pseudocode_selects_and_gives_its_reasons(
    pipeline: Pipeline, items: list[ContextItem], budget: ContextBudget
) -> None:
    overflows: list[OverflowEvent] = []
    if pipeline.overflow_strategy is OverflowStrategy.PROCEED:
        pipeline = dataclasses.replace(pipeline, on_overflow=overflows.append)
    try:
        expected = oracle_report(pipeline, items, budget)
    except OracleError as error:
        expect_the_same_error(pipeline, items, budget, error)
        return
    selected = pipeline.run(items, budget)
    assert list(map(id, selected)) == list(map(id, expected.output))
    same_overflow(overflows, expected)
    report = pipeline.dry_run(items, budget)
    assert len(overflows) <= 1, "a dry run calls no observer (PL-06)"
    same_report(report, expected)
    collector = DiagnosticTraceCollector("Item")
    assert pipeline.run(items, budget, collector=collector) == selected
    same_report(collector.build_report(), expected)


def expect_the_same_error(
    pipeline: Pipeline, items: list[ContextItem], budget: ContextBudget, error: OracleError
) -> None:
    for method in (pipeline.run, pipeline.dry_run):
        try:
            method(items, budget)
        except ERRORS[error.kind] as actual:
            numbers = {value for value in vars(actual).values() if isinstance(value, int)}
            assert {n for n in error.numbers.values() if isinstance(n, int)} <= numbers
        else:
            raise AssertionError(f"expected {error.kind}")


def same_overflow(overflows: list[OverflowEvent], expected: OracleReport) -> None:
    if expected.overflow is None:
        assert overflows == []
    else:
        (event,) = overflows
        assert event.tokens_over_budget == expected.overflow[0]
        assert list(map(id, event.overflowing_items)) == list(map(id, expected.overflow[1]))


def same_report(report: SelectionReport, expected: OracleReport) -> None:
    assert [(id(e.item), bits([e.score]), str(e.reason)) for e in report.included] == [
        (id(item), bits([score]), reason) for item, score, reason in expected.included
    ]
    assert [(id(e.item), bits([e.score]), type(e.reason).__name__, fields_of(e.reason)) for e in report.excluded] == [
        (id(item), bits([score]), reason, fields) for item, score, reason, fields in expected.excluded
    ]
    assert report.total_candidates == expected.total_candidates
    assert report.total_tokens_considered == expected.total_tokens_considered
    shortfalls = [(s.kind.value, s.required_count, s.satisfied_count) for s in report.count_requirement_shortfalls]
    assert shortfalls == expected.shortfalls


def fields_of(reason: Any) -> dict[str, Any]:
    """The fields that the specification defines. Ours, `by`, is always "kind" in what it defines."""
    fields = dict(reason._asdict())
    assert fields.pop("by", "kind") == "kind"
    return fields
