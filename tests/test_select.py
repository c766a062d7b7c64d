"""The one-liner."""

from __future__ import annotations

import copy
import dataclasses
import gc
import pickle
from collections.abc import Callable, Hashable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import FrozenInstanceError
from datetime import timedelta
from threading import Barrier
from typing import Any

import pytest

from pycupel import (
    ContextBudget,
    ContextItem,
    ContextResult,
    OverflowStrategy,
    Pipeline,
    Policy,
    Ranking,
    ReflexiveScorer,
    Selection,
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
        ((7, 15), TypeError, r"items must be an iterable of items or documents, not 7 \(int\)"),
        (({"text": "a"}, 15), TypeError, "items must be an iterable of items or documents, not "),
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
    assert repr(ContextResult([], ("one", "two"))) == "<ContextResult: 0 items, 0 tokens, notes: 2>"


@pytest.mark.parametrize("explain", [False, True])
def test_the_representation_shows_notes_only_if_they_have_been_made(explain: bool) -> None:
    result = select(UNSET, 15, "rag", explain=explain)
    name = "ExplainedResult" if explain else "ContextResult"
    assert repr(result) == f"<{name}: 1 item, 5 tokens>"
    assert len(result.notes) == 1
    assert repr(result) == f"<{name}: 1 item, 5 tokens, notes: 1>"


# --- notes are made at first use


UNSET = [ContextItem("a", 5)]


def holds_a_record(result: ContextResult) -> bool:
    return any(isinstance(each, (Selection, Ranking)) for each in gc.get_referents(result))


def test_notes_are_made_when_they_are_first_read(monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setattr("pycupel.pipeline.notes.selection_notes", lambda _: pytest.fail("made too early"))
        result = select(UNSET, 15, "rag")
        assert repr(result)
        assert (result.items, result.total_tokens, result.shortened, result.report) == (UNSET, 5, (), None)
    assert result.notes[0].startswith("no item sets future_relevance_hint")
    assert result.notes is result.notes


def test_once_they_are_made_nothing_else_is_held_for_them() -> None:
    result = select(UNSET, 15, "rag")
    assert holds_a_record(result)
    assert result.notes
    assert not holds_a_record(result)


@pytest.mark.parametrize("explain", [False, True])
@pytest.mark.parametrize(
    "make",
    [copy.copy, copy.deepcopy, dataclasses.replace, lambda result: pickle.loads(pickle.dumps(result))],
    ids=["copy", "deepcopy", "replace", "pickle"],
)
def test_copies_and_comparisons_have_the_notes(make: Callable[[ContextResult], ContextResult], explain: bool) -> None:
    result = select(UNSET, 15, "rag", explain=explain)
    made = make(result)
    assert made.notes == result.notes != ()
    assert not holds_a_record(made)
    assert made == result
    assert select(UNSET, 15, "rag") == select(UNSET, 15, "rag")
    assert select(UNSET, 15, "rag") != ContextResult(UNSET)
    assert dataclasses.asdict(select(UNSET, 15, "rag"))["notes"] == result.notes


def test_threads_that_read_notes_together_get_the_same_ones() -> None:
    for _ in range(20):
        result, barrier = select(UNSET, 15, "rag"), Barrier(4)

        def read(_: int, result: ContextResult = result, barrier: Barrier = barrier) -> int:
            barrier.wait()
            return id(result.notes)

        with ThreadPoolExecutor(4) as pool:
            assert len(set(pool.map(read, range(4)))) == 1


class Talkative:
    """A scorer and slicer that counts how often it is asked for anything."""

    def __init__(self) -> None:
        self.asked = 0

    @property
    def reads(self) -> str:
        self.asked += 1
        return "priority"

    def score(self, item: ContextItem, all_items: Sequence[ContextItem], /) -> float:
        self.asked += 1
        return 0.5

    def slice(self, scored_items: Sequence[Any], budget: ContextBudget, /) -> list[ContextItem]:
        self.asked += 1
        return [each.item for each in scored_items[1:]]


def test_custom_strategies_are_asked_during_the_run_and_not_for_the_notes() -> None:
    talkative = Talkative()
    result = select([ContextItem("a", 5), ContextItem("b", 5)], 15, Policy(talkative, talkative))
    asked = talkative.asked
    assert asked >= 4
    assert result.notes[0].startswith("no item sets priority, so Talkative gives every item the same score")
    assert talkative.asked == asked


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
