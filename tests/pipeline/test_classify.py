"""Stage 1, Classify, with CL-*, EB-03, EB-06 and DM-20."""

from __future__ import annotations

import pickle
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import pytest

from pycupel import ContextBudget, ContextItem, OverflowStrategy, Pipeline
from pycupel.diagnostics import InclusionReason, NegativeTokens
from pycupel.errors import CupelError, PinnedExceedsBudgetError
from tests.strategies import RawHintScorer

PIPELINE = Pipeline(RawHintScorer())
LENIENT = Pipeline(RawHintScorer(), overflow_strategy=OverflowStrategy.PROCEED)


def pinned(content: str, tokens: int) -> ContextItem:
    return ContextItem(content, tokens, pinned=True)


def contents(items: Iterable[ContextItem]) -> list[str]:
    return [item.content for item in items]


class Witness:
    """A scorer that remembers what it was asked about."""

    def __init__(self) -> None:
        self.seen: list[tuple[ContextItem, Sequence[ContextItem]]] = []

    def score(self, item: ContextItem, all_items: Sequence[ContextItem], /) -> float:
        self.seen.append((item, all_items))
        return 0.5


def test_empty_input_is_not_an_error() -> None:
    """Stage 1, Classify: edge cases."""
    assert PIPELINE.run([], ContextBudget(0)) == []
    assert PIPELINE.run([], ContextBudget(100)) == []


def test_pinned_items_bypass_score_deduplicate_sort_and_slice() -> None:
    """Stage 1, Classify: they flow directly to Place."""
    witness = Witness()
    items = [pinned("same", 10), ContextItem("scored", 10), pinned("same", 10)]
    report = Pipeline(witness).dry_run(items, ContextBudget(100))
    assert [item.content for item, _ in witness.seen] == ["scored"]
    assert [each.reason for each in report.included].count(InclusionReason.PINNED) == 2


def test_all_items_pinned() -> None:
    """Stage 1, Classify: edge cases; nothing is scored."""
    witness = Witness()
    items = [pinned("b", 10), pinned("a", 20)]
    assert Pipeline(witness).run(items, ContextBudget(30)) == items
    assert witness.seen == []


def test_negative_tokens_are_excluded_and_appear_nowhere() -> None:
    """Stage 1, Classify: neither scored nor selected."""
    witness = Witness()
    items = [ContextItem("negative", -1), ContextItem("valid", 1)]
    assert contents(Pipeline(witness).run(items, ContextBudget(100))) == ["valid"]
    assert [contents(everyone) for _, everyone in witness.seen] == [["valid"]]


def test_all_items_excluded() -> None:
    """Stage 1, Classify: edge cases."""
    witness = Witness()
    report = Pipeline(witness).dry_run([ContextItem("a", -1), pinned("b", -2)], ContextBudget(100))
    assert report.items == []
    assert [(each.item.content, each.score, each.reason) for each in report.excluded] == [
        ("a", 0.0, NegativeTokens(-1)),
        ("b", 0.0, NegativeTokens(-2)),
    ]
    assert witness.seen == []


def test_zero_tokens_are_valid() -> None:
    """Stage 1, Classify: edge cases; pinned or not."""
    items = [pinned("pinned", 0), ContextItem("free", 0)]
    assert PIPELINE.run(items, ContextBudget(1)) == items


def test_the_negative_check_comes_before_the_pinned_check() -> None:
    """Stage 1, Classify: a pinned item with negative tokens is excluded (DM-20)."""
    report = PIPELINE.dry_run([pinned("negative", -5)], ContextBudget(100))
    assert report.items == []
    assert [each.reason for each in report.excluded] == [NegativeTokens(-5)]


def test_negative_pinned_items_do_not_reduce_the_pinned_total() -> None:
    """EB-06: they are already gone."""
    with pytest.raises(PinnedExceedsBudgetError) as caught:
        PIPELINE.run([pinned("negative", -50), pinned("large", 101)], ContextBudget(100))
    assert (caught.value.pinned_tokens, caught.value.available) == (101, 100)


def test_input_order_is_preserved_in_each_partition() -> None:
    """Stage 1, Classify: MUST; without timestamps and scores the output shows it."""
    witness = Witness()
    items = [
        ContextItem("A", 1),
        pinned("P", 1),
        ContextItem("n1", -1),
        ContextItem("B", 1),
        pinned("Q", 1),
        ContextItem("n2", -1),
        ContextItem("C", 1),
    ]
    report = Pipeline(witness).dry_run(items, ContextBudget(100))
    assert contents(item for item, _ in witness.seen) == ["A", "B", "C"]
    assert contents(report.items) == ["P", "Q", "A", "B", "C"]
    assert [each.item.content for each in report.excluded] == ["n1", "n2"]


@pytest.mark.parametrize("method", [PIPELINE.run, PIPELINE.dry_run])
def test_pinned_items_that_exceed_the_budget_are_an_error(method: Callable[..., object]) -> None:
    """CL-01: the specification's sentence, and both numbers as attributes."""
    with pytest.raises(PinnedExceedsBudgetError) as caught:
        method([pinned("a", 60), ContextItem("b", 10), pinned("c", 41)], ContextBudget(130, output_reserve=30))
    error = caught.value
    assert str(error) == "Pinned items require 101 tokens, but only 100 are available"
    assert (error.pinned_tokens, error.available) == (101, 100)
    assert isinstance(error, CupelError)
    copy = pickle.loads(pickle.dumps(error))
    assert (str(copy), copy.pinned_tokens, copy.available) == (str(error), 101, 100)


@pytest.mark.parametrize("strategy", list(OverflowStrategy))
def test_no_overflow_strategy_helps(strategy: OverflowStrategy) -> None:
    """Pipeline: error conditions; this one is not recoverable."""
    with pytest.raises(PinnedExceedsBudgetError):
        Pipeline(RawHintScorer(), overflow_strategy=strategy).run([pinned("a", 101)], ContextBudget(100))


def test_pinned_items_may_fill_the_window_exactly() -> None:
    """Stage 1, Classify: only more is too much."""
    items = [pinned("a", 60), pinned("b", 40)]
    assert PIPELINE.run(items, ContextBudget(130, output_reserve=30)) == items


def test_pinned_items_are_compared_with_the_maximum_not_with_the_target() -> None:
    """Stage 1, Classify: MUST compare against maxTokens - outputReserve."""
    assert contents(LENIENT.run([pinned("a", 90)], ContextBudget(100, 10))) == ["a"]


def test_reserved_slots_and_margin_play_no_part() -> None:
    """EB-03."""
    budget = ContextBudget(100, reserved_slots={"Message": 90}, estimation_safety_margin_percent=50.0)
    assert contents(PIPELINE.run([pinned("a", 100)], budget)) == ["a"]


def test_the_error_comes_before_anything_is_scored() -> None:
    """Stage 1, Classify: MUST raise an error during the Classify stage."""
    witness = Witness()
    with pytest.raises(PinnedExceedsBudgetError):
        Pipeline(witness).run([ContextItem("scoreable", 1), pinned("a", 101)], ContextBudget(100))
    assert witness.seen == []


def two_items() -> list[ContextItem]:
    return [ContextItem("a", 1, future_relevance_hint=0.2), ContextItem("b", 1, future_relevance_hint=0.1)]


class MyList(list[ContextItem]):
    pass


@pytest.mark.parametrize("make", [list, tuple, iter, deque, MyList, lambda items: (each for each in items)])
def test_items_may_be_any_iterable(make: Callable[[list[ContextItem]], Iterable[ContextItem]]) -> None:
    """CL-03 and PY-14."""
    items = two_items()
    assert PIPELINE.run(make(items), ContextBudget(10)) == items
    assert PIPELINE.dry_run(make(items), ContextBudget(10)).items == items


def test_a_generator_is_read_once_and_in_order() -> None:
    """CL-03."""
    read: list[str] = []

    def generate() -> Iterator[ContextItem]:
        for item in two_items():
            read.append(item.content)
            yield item

    PIPELINE.run(generate(), ContextBudget(10))
    assert read == ["a", "b"]


@pytest.mark.parametrize("items", [None, 5, "text", b"text", ContextItem("single", 1), True])
def test_items_of_a_wrong_type_are_refused(items: Any) -> None:
    """PB-05: a string is an iterable of strings, which is never meant."""
    for method in (PIPELINE.run, PIPELINE.dry_run):
        with pytest.raises(TypeError, match="items must be an iterable of ContextItem"):
            method(items, ContextBudget(10))


@pytest.mark.parametrize("wrong", [None, "text", {"content": "a"}, ("a", 1), ContextItem, 1.5])
@pytest.mark.parametrize("make", [list, iter])
def test_a_wrong_element_is_named_by_its_index(wrong: Any, make: Callable[[list[Any]], Iterable[Any]]) -> None:
    """PB-05."""
    items = make([ContextItem("a", 1), ContextItem("b", 1), wrong, None])
    with pytest.raises(TypeError, match=r"items\[2\] must be a ContextItem"):
        PIPELINE.run(items, ContextBudget(10))


def test_a_wrong_element_is_found_before_anything_is_scored() -> None:
    """PB-05: a run that fails has done nothing."""
    witness = Witness()
    wrong: list[Any] = [ContextItem("a", 1), "text"]
    with pytest.raises(TypeError):
        Pipeline(witness).run(wrong, ContextBudget(10))
    assert witness.seen == []


def test_metadata_is_not_looked_at() -> None:
    """DM-04: no stage reads it."""
    items = [ContextItem("a", 1, metadata={"pinned": True, "tokens": -1}), ContextItem("b", 1)]
    assert PIPELINE.run(items, ContextBudget(10)) == items
