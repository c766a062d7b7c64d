"""What holds for every run, whatever the pipeline, the items and the budget."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable

import pytest
from hypothesis import given

from pycupel import ContextBudget, ContextItem, OverflowStrategy, Pipeline, SelectionReport
from pycupel.diagnostics import InclusionReason, NegativeTokens
from pycupel.errors import BudgetOverflowError, CountRequirementError, CupelError, PinnedExceedsBudgetError
from tests import strategies
from tests.examples import examples

EXPECTED_ERRORS = (PinnedExceedsBudgetError, BudgetOverflowError, CountRequirementError)


def identities(items: Iterable[ContextItem]) -> Counter[int]:
    return Counter(map(id, items))


def attempt_run(pipeline: Pipeline, items: Iterable[ContextItem], budget: ContextBudget) -> list[int] | str:
    """Give the ids of the selected items in order, or the error, if it is one that a run may have."""
    try:
        return list(map(id, pipeline.run(items, budget)))
    except EXPECTED_ERRORS as error:
        return told(error)


def attempt_dry_run(pipeline: Pipeline, items: Iterable[ContextItem], budget: ContextBudget) -> SelectionReport | str:
    try:
        return pipeline.dry_run(items, budget)
    except EXPECTED_ERRORS as error:
        return told(error)


def told(error: CupelError) -> str:
    return f"{type(error).__name__}: {error}"


def hexed(score: float) -> str:
    return "nan" if math.isnan(score) else score.hex()


def account(report: SelectionReport) -> list[tuple[int, str, object]]:
    """List everything that a report says of items, comparable although NaN is not equal to itself."""
    included: list[tuple[int, str, object]] = [(id(e.item), hexed(e.score), e.reason) for e in report.included]
    excluded: list[tuple[int, str, object]] = [(id(e.item), hexed(e.score), e.reason) for e in report.excluded]
    return [*included, *excluded, (0, "shortfalls", report.count_requirement_shortfalls)]


@pytest.mark.proves("S-PI-02", "S-ER-10", "S-RP-09", "S-RP-10")
@examples(120)
@given(strategies.pipelines(), strategies.item_lists(), strategies.budgets())
def test_every_item_is_accounted_for_exactly_once(
    pipeline: Pipeline, items: list[ContextItem], budget: ContextBudget
) -> None:
    """Slicers: subset selection; SelectionReport: the lists are complete, and the totals are theirs."""
    report = attempt_dry_run(pipeline, items, budget)
    if isinstance(report, str):
        return
    included, excluded = identities(report.items), identities(each.item for each in report.excluded)
    assert included <= identities(items), "the output is a part of the input"
    assert included + excluded == identities(items), "and the rest is excluded, with multiplicity"
    assert report.total_candidates == len(report.included) + len(report.excluded) == len(items)
    assert report.total_tokens_considered == sum(item.tokens for item in items)
    pinned = [item for item in items if item.pinned and item.tokens >= 0]
    assert identities(e.item for e in report.included if e.reason is InclusionReason.PINNED) == identities(pinned)
    negative = [item for item in items if item.tokens < 0]
    assert identities(e.item for e in report.excluded if isinstance(e.reason, NegativeTokens)) == identities(negative)
    scores = [-math.inf if math.isnan(e.score) else e.score for e in report.excluded]
    assert scores == sorted(scores, reverse=True), "excluded items are sorted by score"


@pytest.mark.proves("S-BU-21")
@examples(120)
@given(strategies.pipelines(), strategies.item_lists(), strategies.budgets())
def test_the_budget_is_respected(pipeline: Pipeline, items: list[ContextItem], budget: ContextBudget) -> None:
    """EB-05: always under Throw; under Truncate up to what is pinned."""
    report = attempt_dry_run(pipeline, items, budget)
    if isinstance(report, str) or pipeline.overflow_strategy is OverflowStrategy.PROCEED:
        return
    limit = min(budget.target_tokens, budget.max_tokens - budget.output_reserve)
    pinned = sum(item.tokens for item in items if item.pinned and item.tokens >= 0)
    allowed = limit if pipeline.overflow_strategy is OverflowStrategy.THROW else max(limit, pinned)
    assert report.included_tokens <= allowed
    assert pinned <= budget.max_tokens - budget.output_reserve


@pytest.mark.proves("S-IT-18", "S-PI-03", "S-BS-01", "S-BS-13")
@examples(120)
@given(strategies.pipelines(), strategies.item_lists(), strategies.budgets())
def test_runs_repeat_themselves_and_leave_everything_as_it_was(
    pipeline: Pipeline, items: list[ContextItem], budget: ContextBudget
) -> None:
    """Pipeline: deterministic, and items are immutable; a dry run tells what a run does (BS-02)."""
    before = (list(map(id, items)), repr(items), repr(budget), repr(pipeline))
    first = attempt_run(pipeline, items, budget)
    report = attempt_dry_run(pipeline, items, budget)
    again = attempt_dry_run(pipeline, iter(items), budget)
    assert attempt_run(pipeline, tuple(items), budget) == first
    assert (list(map(id, items)), repr(items), repr(budget), repr(pipeline)) == before
    if isinstance(report, str) or isinstance(again, str):
        assert report == again == first, "the same error, word for word"
    else:
        assert list(map(id, report.items)) == first
        assert account(report) == account(again)


@examples(80)
@given(strategies.pipelines(), strategies.item_lists(), strategies.budgets(), strategies.budgets())
def test_one_ranking_serves_any_budget(
    pipeline: Pipeline, items: list[ContextItem], one: ContextBudget, other: ContextBudget
) -> None:
    """Pipeline: Classify to Sort do not depend on the budget."""
    ranking = pipeline.rank(items)
    for budget in (one, other, one):
        try:
            selected: list[int] | str = list(map(id, pipeline.select(ranking, budget).items))
        except EXPECTED_ERRORS as error:
            selected = told(error)
        assert selected == attempt_run(pipeline, items, budget)
