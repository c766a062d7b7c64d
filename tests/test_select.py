"""The one-liner."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import FrozenInstanceError
from datetime import timedelta
from typing import Any

import pytest

from pycupel import (
    ContextBudget,
    ContextItem,
    ContextResult,
    OverflowStrategy,
    Pipeline,
    Policy,
    ReflexiveScorer,
    policies,
    select,
)
from pycupel.errors import BudgetOverflowError, InvalidArgumentError, InvalidBudgetError, PinnedExceedsBudgetError
from tests.strategies import NOW

ITEMS = [
    ContextItem("old", 10, timestamp=NOW - timedelta(days=1), future_relevance_hint=0.9, priority=3),
    ContextItem("new", 10, timestamp=NOW, future_relevance_hint=0.1, priority=1),
    ContextItem("rule", 5, kind="SystemPrompt", pinned=True, timestamp=NOW - timedelta(days=2)),
]


def contents(result: ContextResult) -> list[str]:
    return [item.content for item in result.items]


def test_chat_is_the_policy_unless_told_otherwise() -> None:
    """`select(items, budget, policy="chat")`."""
    assert contents(select(ITEMS, 15)) == ["rule", "new"]
    assert select(ITEMS, 15) == select(ITEMS, 15, "chat") == select(ITEMS, 15, policies.CHAT)


@pytest.mark.parametrize("name", policies.PRESETS)
def test_every_preset_may_be_named(name: str) -> None:
    result = select(ITEMS, 150, name)  # type: ignore[call-overload]
    expected = Pipeline.from_policy(policies.preset(name)).run(ITEMS, ContextBudget(150))
    assert result.items == expected
    assert result.total_tokens == sum(item.tokens for item in expected)


def test_another_policy_selects_something_else() -> None:
    assert contents(select(ITEMS, 15, policy="rag")) == ["rule", "old"]
    assert contents(select(ITEMS, 15, Policy(ReflexiveScorer()))) == ["rule", "old"]


def test_a_budget_may_be_a_budget_or_a_number_of_tokens() -> None:
    assert select(ITEMS, 15) == select(ITEMS, ContextBudget(15))
    assert contents(select(ITEMS, ContextBudget(100, 15))) == ["rule", "new"]


def test_items_may_be_any_iterable() -> None:
    assert select(iter(ITEMS), 15) == select(tuple(ITEMS), 15)
    assert select([], 15) == ContextResult([])


def test_the_result_has_items_tokens_and_notes_and_no_report() -> None:
    result = select(ITEMS, 25)
    assert (len(result.items), result.total_tokens, result.notes, result.report) == (3, 25, (), None)


def test_the_report_comes_when_asked_for() -> None:
    result = select(ITEMS, 15, explain=True)
    assert isinstance(result, ContextResult)
    assert result.report.items == result.items == select(ITEMS, 15).items
    assert [excluded.item.content for excluded in result.report.excluded] == ["old"]
    assert result.report.budget == ContextBudget(15)


@pytest.mark.parametrize("explain", [False, True])
def test_notes_tell_of_a_scorer_without_its_field(explain: bool) -> None:
    """The issue: relevance without hints or a query, the first-minute trap."""
    result = select([ContextItem("a", 5), ContextItem("b", 5)], 10, "rag", explain=explain)
    assert result.notes == (
        (
            "no item sets future_relevance_hint, so ReflexiveScorer gives every item the same score; "
            "set it, pass query=..., or choose a policy without that scorer"
        ),
    )
    if result.report is not None:
        assert result.report.notes == result.notes


@pytest.mark.parametrize("explain", [False, True])
def test_what_does_not_fit_is_raised_either_way(explain: bool) -> None:
    with pytest.raises(PinnedExceedsBudgetError):
        select(ITEMS, 4, explain=explain)
    with pytest.raises(BudgetOverflowError):
        select(ITEMS, ContextBudget(10, 4), explain=explain)
    lenient = Policy(ReflexiveScorer(), overflow_strategy=OverflowStrategy.PROCEED)
    assert contents(select(ITEMS, ContextBudget(10, 4), lenient, explain=explain)) == ["rule"]


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        (
            (ITEMS, 15, "chatt"),
            InvalidArgumentError,
            ".*'chatt'.*chat, .*did you mean 'chat'",
        ),
        ((ITEMS, 15, None), TypeError, "policy must be a Policy, a Pipeline or the name of a preset, not None"),
        ((ITEMS, "15"), InvalidArgumentError, r"budget must be a number of tokens, or a share such as '75%', not '15'"),
        ((ITEMS, 15.0), TypeError, r"budget must be a ContextBudget or an int, not 15.0 \(float\)"),
        ((ITEMS, None), TypeError, "budget must be a ContextBudget or an int, not None"),
        ((ITEMS, True), TypeError, "budget must be a ContextBudget or an int, not True"),
        ((ITEMS, -1), InvalidBudgetError, "budget"),
        ((None, 15), TypeError, "items"),
        ((["text"], 15), TypeError, ""),
    ],
)
def test_wrong_arguments_are_refused(arguments: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=f"^{message}"):
        select(*arguments)


def test_explain_is_a_bool_and_a_keyword() -> None:
    with pytest.raises(TypeError, match=r"^explain must be a bool, not 1 \(int\)$"):
        select(ITEMS, 15, explain=1)  # type: ignore[call-overload]
    with pytest.raises(TypeError):
        select(ITEMS, 15, "chat", True)  # type: ignore[call-overload]


def test_a_result_cannot_be_changed() -> None:
    with pytest.raises(FrozenInstanceError):
        select(ITEMS, 15).items = []  # type: ignore[misc]


def test_a_result_cannot_be_hashed_and_says_so() -> None:
    """It holds a list."""
    for result in (select(ITEMS, 15), select(ITEMS, 15, explain=True)):
        assert not isinstance(result, Hashable)
        with pytest.raises(TypeError, match=r"unhashable type: '(ContextResult|ExplainedResult)'"):
            hash(result)


def test_the_representation_is_one_line() -> None:
    assert repr(select(ITEMS, 15, "rag")) == "<ContextResult: 2 items, 15 tokens>"
    unset = [ContextItem("a", 5)]
    assert repr(select(unset, 15, "rag", explain=True)) == "<ExplainedResult: 1 item, 5 tokens, notes: 1>"


def test_a_pipeline_is_a_policy_and_its_observer_is_not_called() -> None:
    pipeline = Pipeline(
        ReflexiveScorer(), overflow_strategy=OverflowStrategy.PROCEED, on_overflow=lambda _: pytest.fail("called")
    )
    for explain in (False, True):
        assert contents(select(ITEMS, ContextBudget(10, 4), pipeline, explain=explain)) == ["rule"]


def test_explaining_scores_and_slices_once() -> None:
    """One path: the report is made from what the run left behind."""
    calls: list[str] = []

    class Noted:
        def score(self, item: ContextItem, all_items: Sequence[ContextItem], /) -> float:
            calls.append(item.content)
            return 0.5

    result = select(ITEMS, 15, Policy(Noted()), explain=True)
    assert len(result.report.events) > len(result.report.included)
    assert calls == ["old", "new"]
