"""Stage 1, Classify: what the vectors `classify-*` do not show."""

from __future__ import annotations

import pickle
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import pytest

from pycupel import ContextBudget, ContextItem, OverflowStrategy, Pipeline
from pycupel.errors import CupelError, PinnedExceedsBudgetError
from tests.strategies import RawHintScorer

PIPELINE = Pipeline(RawHintScorer())


def pinned(content: str, tokens: int) -> ContextItem:
    return ContextItem(content, tokens, pinned=True)


class Witness:
    """A scorer that remembers what it was asked about."""

    def __init__(self) -> None:
        self.seen: list[tuple[ContextItem, Sequence[ContextItem]]] = []

    def score(self, item: ContextItem, all_items: Sequence[ContextItem], /) -> float:
        self.seen.append((item, all_items))
        return 0.5


@pytest.mark.proves("S-CL-03")
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


@pytest.mark.proves("S-PI-04")
@pytest.mark.parametrize("strategy", list(OverflowStrategy))
def test_no_overflow_strategy_helps(strategy: OverflowStrategy) -> None:
    """Pipeline: error conditions; this one is not recoverable."""
    with pytest.raises(PinnedExceedsBudgetError):
        Pipeline(RawHintScorer(), overflow_strategy=strategy).run([pinned("a", 101)], ContextBudget(100))


@pytest.mark.proves("S-PI-04")
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
