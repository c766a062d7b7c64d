"""A question belongs to a call: `query=` wherever something is selected, and `for_query` on policies."""

from __future__ import annotations

from typing import Any

import pytest

from pycupel import (
    CompositeScorer,
    ContextItem,
    DiagnosticTraceCollector,
    Pipeline,
    Policy,
    PriorityScorer,
    RecencyScorer,
    select,
)
from pycupel.analytics import find_min_budget_for, get_marginal_items, policy_sensitivity, sweep_budgets
from pycupel.errors import ScorerConfigError
from pycupel.scorers import RelevanceScorer

ITEMS = [
    ContextItem("The office is closed on Sundays.", 10, kind="Document"),
    ContextItem("Passwords are reset under Settings.", 10, kind="Document"),
    ContextItem("Lunch is at noon.", 10, kind="Document"),
]
QUERY = "How do I reset my password?"
ANSWER = ITEMS[1]
PIPELINE = Pipeline(RelevanceScorer())
NOTE = "no scorer of the policy reads the query; add a RelevanceScorer, or choose a policy that has one"


def test_every_way_to_select_takes_a_question() -> None:
    assert PIPELINE.run(ITEMS, 10, query=QUERY) == [ANSWER]
    assert PIPELINE.run(ITEMS, 10, query=QUERY, collector=DiagnosticTraceCollector()) == [ANSWER]
    assert PIPELINE.dry_run(ITEMS, 10, query=QUERY).items == [ANSWER]
    assert Pipeline(RecencyScorer()).dry_run_with_policy(ITEMS, 10, PIPELINE, query=QUERY).items == [ANSWER]
    assert PIPELINE.select(PIPELINE.rank(ITEMS, query=QUERY), 10).items == [ANSWER]
    assert select(ITEMS, 10, PIPELINE, query=QUERY).items == [ANSWER]


def test_the_analytics_take_a_question() -> None:
    assert get_marginal_items(PIPELINE, ITEMS, 10, 10, query=QUERY) == [ANSWER]
    assert find_min_budget_for(PIPELINE, ITEMS, ANSWER, 30, query=QUERY) == 10
    assert sweep_budgets(PIPELINE, ITEMS, [10], query=QUERY)[0].items == (ANSWER,)
    report = policy_sensitivity(ITEMS, 10, {"words": PIPELINE, "age": Policy(RecencyScorer())}, query=QUERY)
    assert [each.items for _, each in report.variants] == [[ANSWER], [ITEMS[0]]]


def test_another_question_is_another_selection_and_leaves_nothing_behind() -> None:
    assert PIPELINE.run(ITEMS, 10, query="When is lunch?") == [ITEMS[2]]
    assert Pipeline(RelevanceScorer()) == PIPELINE
    assert PIPELINE.run(ITEMS, 10, query=QUERY) == [ANSWER]


@pytest.mark.parametrize("make", [Policy, Pipeline])
def test_a_policy_can_be_bound_to_a_question(make: Any) -> None:
    shared = RelevanceScorer()
    policy = make(CompositeScorer([(shared, 1), (PriorityScorer(), 1), (shared, 2)]), name="Both")
    bound = policy.for_query(QUERY)
    assert type(bound) is make
    assert bound == make(
        CompositeScorer([(RelevanceScorer(QUERY), 1), (PriorityScorer(), 1), (RelevanceScorer(QUERY), 2)]), name="Both"
    )
    assert bound.scorer.entries[0][0] is bound.scorer.entries[2][0]
    assert Pipeline.from_policy(bound).run(ITEMS, 10) == [ANSWER]


def test_a_policy_that_asks_for_nothing_is_bound_to_nothing() -> None:
    policy = Policy(RecencyScorer())
    assert policy.for_query(QUERY) is policy


def test_a_scorer_without_its_question_says_what_to_pass() -> None:
    with pytest.raises(ScorerConfigError, match=r"RelevanceScorer has no query to score by; pass query= to the call"):
        PIPELINE.run(ITEMS, 10)


def test_a_question_that_no_scorer_reads_is_noted() -> None:
    dated = Pipeline(PriorityScorer())
    items = [ContextItem("a", 5, priority=1), ContextItem("b", 5, priority=2)]
    assert dated.dry_run(items, 5, query=QUERY).notes == (NOTE,)
    assert select(items, 5, dated, query=QUERY).notes == (NOTE,)
    assert select(items, 5, dated).notes == ()
    assert NOTE not in select(ITEMS, 10, PIPELINE, query=QUERY).notes


@pytest.mark.parametrize("query", [5, b"words", ["words"]])
def test_a_question_is_a_string(query: Any) -> None:
    with pytest.raises(TypeError, match="query must be a str"):
        PIPELINE.run(ITEMS, 10, query=query)
