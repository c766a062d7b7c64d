"""Stage 2, Score, with SC-* and CS-04."""

from __future__ import annotations

import math
from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest

from pycupel import (
    CompositeScorer,
    ContextBudget,
    ContextItem,
    Pipeline,
    PriorityScorer,
    RecencyScorer,
    ReflexiveScorer,
    Scorer,
)
from pycupel.errors import ScorerConfigError
from tests.strategies import RawHintScorer

BUDGET = ContextBudget(100)


class Recorder:
    """A scorer that remembers its arguments and answers from a list."""

    def __init__(self, answers: Sequence[Any]) -> None:
        self.answers = iter(answers)
        self.calls: list[tuple[ContextItem, Sequence[ContextItem]]] = []

    def score(self, item: ContextItem, all_items: Sequence[ContextItem], /) -> float:
        self.calls.append((item, all_items))
        answer: float = next(self.answers)
        return answer


def scores(scorer: Scorer, items: list[ContextItem]) -> dict[str, float]:
    report = Pipeline(scorer, deduplication=False).dry_run(items, BUDGET)
    return {item.content: score for item, score, _ in (*report.included, *report.excluded)}


A, B, C = ContextItem("a", 10), ContextItem("b", 10), ContextItem("c", 10)


def test_the_scorer_is_asked_once_for_each_item_in_order() -> None:
    """SC-02."""
    recorder = Recorder([0.1, 0.2, 0.3])
    Pipeline(recorder).run([A, B, C], BUDGET)
    assert [item.content for item, _ in recorder.calls] == ["a", "b", "c"]


def test_the_scorer_sees_all_scoreable_items_as_a_tuple() -> None:
    """SC-01: the full scoreable list, not the original input; and nobody can change it."""
    recorder = Recorder([0.1, 0.2])
    items = [A, ContextItem("pinned", 10, pinned=True), B, ContextItem("negative", -1)]
    Pipeline(recorder).run(items, BUDGET)
    assert [everyone for _, everyone in recorder.calls] == [(A, B), (A, B)]
    assert all(type(everyone) is tuple for _, everyone in recorder.calls)
    assert recorder.calls[0][1][0] is A


def test_the_same_object_twice_is_scored_twice() -> None:
    """SC-02: once for each item of the list; SL-03."""
    recorder = Recorder([0.1, 0.2])
    report = Pipeline(recorder, deduplication=False).dry_run([A, A], BUDGET)
    assert [item is A for item, _ in recorder.calls] == [True, True]
    assert sorted(each.score for each in report.included) == [0.1, 0.2]


def test_scores_belong_to_their_items() -> None:
    """Stage 2, Score: scored[i] corresponds to scoreable[i]."""
    assert scores(Recorder([0.3, 0.1, 0.2]), [A, B, C]) == {"a": 0.3, "b": 0.1, "c": 0.2}


def test_duplicates_are_scored_before_they_are_removed() -> None:
    """Pipeline: Score comes before Deduplicate, and a scorer sees duplicates, too."""
    recorder = Recorder([0.1, 0.2])
    same = [ContextItem("same", 1), ContextItem("same", 1)]
    Pipeline(recorder).run(same, BUDGET)
    assert len(recorder.calls) == 2


@pytest.mark.parametrize("items", [[], [ContextItem("p", 1, pinned=True)], [ContextItem("n", -1)]])
def test_the_scorer_is_not_asked_if_nothing_is_scoreable(items: list[ContextItem]) -> None:
    """Stage 2, Score: edge cases."""
    recorder = Recorder([])
    Pipeline(recorder).run(items, BUDGET)
    assert recorder.calls == []


def test_a_single_item_is_all_items() -> None:
    """Stage 2, Score: edge cases; a relative scorer has a value for it."""
    recorder = Recorder([0.7])
    Pipeline(recorder).run([A], BUDGET)
    assert recorder.calls == [(A, (A,))]
    assert scores(PriorityScorer(), [ContextItem("only", 1, priority=3)]) == {"only": 1.0}


def test_scores_are_not_confined_to_the_unit_interval() -> None:
    """Stage 2, Score: the range is a convention."""
    assert scores(Recorder([-2.5, 7.0]), [A, B]) == {"a": -2.5, "b": 7.0}


def test_every_float_is_a_score() -> None:
    """SC-03: no error for NaN and infinities, and they are reported as they are."""
    found = scores(Recorder([math.nan, math.inf, -math.inf]), [A, B, C])
    assert math.isnan(found["a"])
    assert (found["b"], found["c"]) == (math.inf, -math.inf)


class Float(float):
    pass


@pytest.mark.parametrize(
    ("number", "expected"), [(1, 1.0), (0, 0.0), (Decimal("0.25"), 0.25), (Fraction(1, 8), 0.125), (Float(0.5), 0.5)]
)
def test_other_numbers_are_converted(number: Any, expected: float) -> None:
    """SC-04."""
    (score,) = scores(Recorder([number]), [A]).values()
    assert score == expected
    assert type(score) is float


@pytest.mark.parametrize("answer", [None, "0.5", b"0.5", True, [0.5], 1j])
def test_something_that_is_no_number_is_refused_and_the_scorer_named(answer: Any) -> None:
    """SC-04: a TypeError."""
    with pytest.raises(TypeError, match="Recorder"):
        Pipeline(Recorder([answer])).run([A], BUDGET)


def test_an_exception_in_a_scorer_comes_out_as_it_is() -> None:
    """Stage 2, Score: errors that are the user's own stay recognisable."""

    class Broken:
        def score(self, item: ContextItem, all_items: Sequence[ContextItem], /) -> float:
            raise LookupError(item.content)

    with pytest.raises(LookupError, match="a"):
        Pipeline(Broken()).run([A], BUDGET)


class Batch(Recorder):
    """A scorer with the optional hook."""

    def __init__(self, answers: Sequence[Any], batch: Any) -> None:
        super().__init__(answers)
        self.batch = batch
        self.batches: list[Sequence[ContextItem]] = []

    def score_all(self, items: Sequence[ContextItem], /) -> Any:
        self.batches.append(items)
        return self.batch


def test_a_batch_is_asked_for_once_and_instead() -> None:
    """SC-02: `score_all`, with the whole scoreable list."""
    batch = Batch([], (0.5, Decimal("0.25")))
    assert scores(batch, [A, B]) == {"a": 0.5, "b": 0.25}
    assert batch.batches == [(A, B)]
    assert batch.calls == []


@pytest.mark.parametrize("batch", [[], [0.5], [0.5, 0.5, 0.5]])
def test_a_batch_of_another_length_is_refused(batch: list[float]) -> None:
    """SC-02: one score for each item."""
    with pytest.raises(ScorerConfigError, match="Batch"):
        Pipeline(Batch([], batch)).run([A, B], BUDGET)


def test_a_batch_holds_numbers() -> None:
    """SC-04."""
    with pytest.raises(TypeError, match="Batch"):
        Pipeline(Batch([], [0.5, "high"])).run([A, B], BUDGET)


def test_a_subclass_that_overrides_score_alone_is_honoured() -> None:
    """SC-02: the batch path of its base must not skip it."""

    class Inverted(ReflexiveScorer):
        def score(self, item: ContextItem, all_items: Sequence[ContextItem], /) -> float:
            return 1.0 - super().score(item, all_items)

    assert scores(Inverted(), [ContextItem("a", 1, future_relevance_hint=0.75)]) == {"a": 0.25}


@pytest.mark.parametrize("weight", [1.0, 2.5, 0.1])
@pytest.mark.parametrize("scorer", [RecencyScorer(), PriorityScorer(), ReflexiveScorer(), RawHintScorer()])
def test_a_single_scorer_may_be_bare_or_in_a_composite(scorer: Scorer, weight: float) -> None:
    """CS-04: normalization makes its weight 1, and the scores are the same."""
    items = [ContextItem(f"i{i}", 1, priority=i, future_relevance_hint=i / 7) for i in range(6)]
    assert scores(CompositeScorer([(scorer, weight)]), items) == scores(scorer, items)
