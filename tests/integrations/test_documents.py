"""What the hooks for retrieved documents share, without any of their libraries."""

from __future__ import annotations

from typing import Any

import pytest

from pycupel import ContextBudget
from pycupel.errors import InvalidArgumentError
from pycupel.integrations._history import DocumentHook, select_documents
from pycupel.policies import CHAT
from pycupel.selecting import ContextResult
from pycupel.tokens import estimate_tokens


def count_words(text: str) -> int:
    return len(text.split())


def documents(*scores: float | None, size: int = 10) -> list[dict[str, Any]]:
    return [{"text": " ".join([f"hit{i}"] * size), "score": score} for i, score in enumerate(scores)]


def test_the_best_documents_are_kept_and_stand_at_both_edges() -> None:
    found = documents(0.3, 0.9, 0.5, 0.7)
    selected = select_documents(found, 30, "rag", count_words)
    assert [found.index(each) for each in selected] == [1, 2, 3]
    assert selected[0] is found[1]


def test_without_scores_the_order_is_the_rank() -> None:
    """Else all would rank alike, and the shortest would come first."""
    found = ["best " * 20, "second " * 18, "third " * 5]
    assert found[0] in select_documents(found, 25, "rag", count_words)
    assert found[1] not in select_documents(found, 25, "rag", count_words)


def test_a_score_on_one_is_a_score_on_all() -> None:
    found = documents(None, 0.4)
    assert select_documents(found, 10, "rag", count_words) == [found[1]]


def test_the_same_text_is_kept_once_in_its_best_place() -> None:
    found = ["the same", "another", "the same"]
    assert [id(each) for each in select_documents(found, 100, "rag", count_words)] == [id(found[0]), id(found[1])]


def test_a_policy_and_a_budget_of_ones_own_are_used() -> None:
    found = documents(0.1, 0.2, 0.3)
    assert select_documents(found, 100, "rag", count_words) == [found[2], found[0], found[1]]
    assert select_documents(found, 100, CHAT, count_words) == [found[2], found[1], found[0]]
    assert select_documents(found, ContextBudget(100, 10), CHAT, count_words) == [found[2]]


def test_an_estimate_needs_a_margin() -> None:
    text = "An estimate may be too low, and then the prompt is too long."
    exact = estimate_tokens(text)
    assert select_documents([text], exact, "rag", estimate_tokens) == [text]
    assert select_documents([text], exact, "rag", "estimator") == []
    assert select_documents([text], exact * 2, "rag", "estimator") == [text]


def test_nothing_comes_of_nothing() -> None:
    assert select_documents([], 100, "rag", "auto") == []


def test_a_result_is_told_with_its_report() -> None:
    results: list[ContextResult] = []
    select_documents(documents(0.1, 0.8), 10, "rag", count_words, results.append)
    [result] = results
    assert result.report is not None
    assert [each.item.content.split()[0] for each in result.report.excluded] == ["hit0"]


class Fields(DocumentHook):
    """Fields without the framework that makes them the arguments of the class."""

    budget = 10
    counter = staticmethod(count_words)


def test_a_hook_with_fields_selects_by_them() -> None:
    """And checks them first."""
    made, found = Fields(), documents(0.1, 0.8)
    made.model_post_init(None)
    assert made._selected(found) == [found[1]]
    made.policy = "ragg"
    with pytest.raises(InvalidArgumentError, match="rag"):
        made.model_post_init(None)


def test_wrong_options_are_refused() -> None:
    with pytest.raises(InvalidArgumentError, match="rag"):
        select_documents([], 100, "ragg", "auto")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="budget"):
        select_documents([], "100", "rag", "auto")  # type: ignore[arg-type]
