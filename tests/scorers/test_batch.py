"""Asking any scorer for all scores at once: custom scorers, custom batches, subclasses, and what counts as a number."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from decimal import Decimal
from fractions import Fraction
from functools import partial
from typing import Any

import pytest

from pycupel import (
    BoostedScorer,
    CompositeScorer,
    ContextBudget,
    ContextItem,
    KindScorer,
    Pipeline,
    PriorityScorer,
    RecencyScorer,
    ScaledScorer,
    Scorer,
)
from pycupel.errors import ScorerConfigError
from pycupel.scorers._base import score_all
from tests.samples import SCORERS

Items = Sequence[ContextItem]

BUDGET = ContextBudget(1_000)


def example_items(count: int = 4) -> tuple[ContextItem, ...]:
    return tuple(ContextItem(f"item {i}", 1, priority=i, kind="Message") for i in range(count))


class Recording:
    """A user's scorer: one method, no base class."""

    def __init__(self) -> None:
        self.calls: list[tuple[ContextItem, Items]] = []

    def score(self, item: ContextItem, all_items: Items, /) -> float:
        self.calls.append((item, all_items))
        return 1.0 / len(self.calls)


def run(scorer: Scorer, items: Items) -> list[float]:
    """The scores of the items that a run includes, which are all of them."""
    return [included.score for included in Pipeline(scorer).dry_run(items, BUDGET).included]


def check_calls(scorer: Recording, items: Items) -> None:
    assert list(map(id, (item for item, _ in scorer.calls))) == list(map(id, items))
    for _, all_items in scorer.calls:
        assert type(all_items) is tuple
        assert list(map(id, all_items)) == list(map(id, items))


# Custom scorers.


@pytest.mark.proves("S-SC-01", "S-SC-06")
def test_a_custom_scorer_is_asked_once_for_each_item_in_order() -> None:
    """SC-02."""
    scorer, items = Recording(), example_items()
    assert score_all(scorer, items) == [1.0, 1 / 2, 1 / 3, 1 / 4]
    check_calls(scorer, items)


def test_no_items_have_no_scores() -> None:
    """SC-02, CL-03: a vector has items."""
    custom = Recording()
    for scorer in (custom, *SCORERS):
        assert score_all(scorer, ()) == []
    assert custom.calls == []


@pytest.mark.proves("S-SC-05", "S-SC-07")
@pytest.mark.parametrize("method", [Pipeline.run, Pipeline.dry_run])
def test_a_run_asks_once_for_each_scoreable_item_in_order(method: Callable[..., Any]) -> None:
    """Stage 2, Score; SC-01: the full scoreable list, as a tuple that the scorer cannot change."""
    items = example_items(6)
    pinned = ContextItem("pinned", 1, pinned=True)
    negative = ContextItem("negative", -1)
    scorer = Recording()
    method(Pipeline(scorer), iter([items[0], pinned, *items[1:3], negative, *items[3:]]), BUDGET)
    check_calls(scorer, items)


def test_a_run_asks_for_each_place_of_an_object() -> None:
    """SL-03: the same object twice is two items."""
    one, two = example_items(2)
    scorer = Recording()
    Pipeline(scorer, deduplication=False).run([one, two, one], BUDGET)
    check_calls(scorer, (one, two, one))


@pytest.mark.proves("S-SC-03")
def test_a_run_without_scoreable_items_asks_nothing() -> None:
    """Stage 2, Score: there is nothing to score."""
    scorer = Recording()
    Pipeline(scorer).run([ContextItem("pinned", 1, pinned=True)], BUDGET)
    Pipeline(scorer).run([], BUDGET)
    assert scorer.calls == []


@pytest.mark.parametrize(
    "wrap",
    [
        pytest.param(lambda scorer: CompositeScorer([(scorer, 1.0), (RecencyScorer(), 1.0)]), id="composite"),
        pytest.param(ScaledScorer, id="scaled"),
        pytest.param(lambda scorer: BoostedScorer(RecencyScorer(), scorer), id="boost"),
        pytest.param(lambda scorer: ScaledScorer(BoostedScorer(CompositeScorer([(scorer, 2.0)]))), id="all three"),
    ],
)
def test_a_custom_scorer_inside_others_is_asked_once_for_each_item_in_order(wrap: Callable[[Scorer], Scorer]) -> None:
    """SC-02, SS-03."""
    for ask in (score_all, run):
        scorer, items = Recording(), example_items()
        ask(wrap(scorer), items)
        check_calls(scorer, items)


@pytest.mark.proves("S-SC-07")
def test_a_custom_scorer_in_several_positions_is_asked_once_for_each_item() -> None:
    """SC-02: exactly once for each item in a run, however often the object stands in the tree."""
    for ask in (score_all, run):
        scorer, items = Recording(), example_items()
        shared = ScaledScorer(scorer)
        ask(CompositeScorer([(scorer, 1.0), (shared, 1.0), (BoostedScorer(shared, scorer), 1.0)]), items)
        check_calls(scorer, items)


def test_a_shared_scorer_gives_what_two_equal_ones_give() -> None:
    """CS-01: sharing is legal and changes nothing; a column is combined more than once, and never changed."""
    items = example_items()
    shared = ScaledScorer(PriorityScorer())
    trees = [
        CompositeScorer([(one, 2.0), (BoostedScorer(two, three), 1.0), (four, 3.0)])
        for one, two, three, four in (
            [shared] * 4,
            [ScaledScorer(PriorityScorer()) for _ in range(4)],
        )
    ]
    assert score_all(trees[0], items) == score_all(trees[1], items) == trees[0].score_all(items)


def test_a_subclass_among_shared_scorers_is_asked_itself() -> None:
    """SC-02: only our own way of combining is known."""

    class Mine(CompositeScorer):
        def score(self, item: ContextItem, all_items: Items, /) -> float:
            return 0.25

    mine = Mine([(PriorityScorer(), 1.0)])
    assert score_all(CompositeScorer([(mine, 1.0), (mine, 1.0)]), example_items()) == [0.25] * 4


def test_a_scorer_may_have_its_method_as_an_attribute() -> None:
    """Scorer Interface: an object with score(item, all_items), however it comes by it."""

    class Assembled:
        def __init__(self, score: Callable[[ContextItem, Items], float]) -> None:
            self.score = score

    scorer = Assembled(lambda item, all_items: item.tokens / len(all_items))
    assert score_all(scorer, example_items()) == [0.25] * 4


# The batch hook.


class Batched:
    """A user's scorer with a batch."""

    def __init__(self, scores: Callable[[Items], Iterable[Any]]) -> None:
        self.scores = scores
        self.batches = 0

    def score(self, item: ContextItem, all_items: Items, /) -> float:
        raise AssertionError("the batch is there to be used")

    def score_all(self, items: Items, /) -> Iterable[Any]:
        self.batches += 1
        return self.scores(items)


def test_a_custom_batch_is_used_once() -> None:
    """SC-02: score_all takes the place of the calls for each item."""
    scorer = Batched(lambda items: [len(item.content) / 10 for item in items])
    assert score_all(scorer, example_items()) == [0.6] * 4
    assert scorer.batches == 1
    Pipeline(CompositeScorer([(scorer, 1.0)])).run(example_items(), BUDGET)
    assert scorer.batches == 2


def test_a_custom_batch_gets_the_tuple() -> None:
    """SC-01."""
    seen: list[Items] = []

    def scores(items: Items) -> list[float]:
        seen.append(items)
        return [0.5] * len(items)

    Pipeline(ScaledScorer(Batched(scores))).run(list(example_items()), BUDGET)
    (all_items,) = seen
    assert type(all_items) is tuple
    assert all_items == example_items()


def generated(items: Items) -> Iterator[float]:
    for item in items:
        yield item.tokens / 2


@pytest.mark.parametrize("scores", [generated, lambda items: tuple(generated(items)), lambda items: [0.5] * len(items)])
def test_a_custom_batch_may_be_any_iterable(scores: Callable[[Items], Iterable[float]]) -> None:
    """Score_all(items) -> sequence of float; what can be read once is good enough."""
    assert score_all(Batched(scores), example_items()) == [0.5] * 4


@pytest.mark.parametrize("count", [0, 1, 3, 5, 8])
def test_a_custom_batch_of_the_wrong_length_is_refused(count: int) -> None:
    """SC-02: bit-identical includes the number of scores; the message names the scorer and both numbers."""
    scorer = Batched(lambda items: [0.5] * count)
    for attempt in (score_all, run):
        with pytest.raises(ScorerConfigError, match="Batched") as caught:
            attempt(ScaledScorer(scorer), example_items())
        assert f"{count} scores for 4 items" in str(caught.value)


def test_the_scores_of_a_custom_batch_are_converted() -> None:
    """SC-04: as from score."""
    scores = score_all(Batched(lambda items: [1, Fraction(1, 2), Decimal("0.25"), math.inf]), example_items())
    assert scores == [1.0, 0.5, 0.25, math.inf]
    assert {type(score) for score in scores} == {float}
    with pytest.raises(TypeError, match="Batched"):
        score_all(Batched(lambda items: [0.5, 0.5, "0.5", 0.5]), example_items())


@pytest.mark.parametrize("returned", [None, 0.5, "0.5"])
def test_a_custom_batch_that_is_no_list_is_named(returned: Any) -> None:
    with pytest.raises(TypeError, match="the scores that Batched returned must be a list of numbers, not"):
        score_all(Batched(lambda items: returned), example_items())


# What counts as a number.


class Measured:
    """Not a number, but as good as one."""

    def __float__(self) -> float:
        return 0.75


class Broken:
    def __float__(self) -> float:
        raise ValueError("no idea")


class Half(float):
    """A float of another type, like numpy's."""


class Returning:
    """Returns anything."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def score(self, item: ContextItem, all_items: Items, /) -> float:
        result: float = self.value
        return result


def one_by_one(scorer: Scorer, items: Items) -> list[float]:
    return [scorer.score(item, items) for item in items]


def ways_to_ask(scorer: Scorer) -> list[Callable[[], list[float]]]:
    """Directly, and as a child of each scorer that takes one, in a batch and alone."""
    items = example_items(2)
    neutral = KindScorer({"Message": 1.0})
    wrapped = (CompositeScorer([(scorer, 1.0)]), BoostedScorer(scorer), BoostedScorer(neutral, scorer))
    batches = [partial(score_all, each, items) for each in (scorer, *wrapped)]
    return [*batches, *(partial(one_by_one, each, items) for each in wrapped), partial(run, scorer, items)]


@pytest.mark.proves("S-IN-03", "S-IN-04", "S-SC-02", "S-SR-03")
@pytest.mark.parametrize(
    ("value", "score"),
    [
        (1, 1.0),
        (0, 0.0),
        (-3, -3.0),
        (Decimal("0.5"), 0.5),
        (Fraction(1, 4), 0.25),
        (Measured(), 0.75),
        (Half(0.5), 0.5),
        (2**70, 2.0**70),
        (Decimal("Infinity"), math.inf),
    ],
)
def test_numbers_of_other_types_are_converted(value: Any, score: float) -> None:
    """SC-04: with float()."""
    for ask in ways_to_ask(Returning(value)):
        scores = ask()
        assert scores == [score, score]
        assert {type(each) for each in scores} == {float}


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, -0.0, 1e308, -5.0])
def test_every_float_is_a_score(value: float) -> None:
    """SC-03: no exception, whatever it is."""
    assert [score.hex() for score in score_all(Returning(value), example_items(1))] == [value.hex()]
    assert len(Pipeline(Returning(value)).run(example_items(), BUDGET)) == 4


@pytest.mark.parametrize("value", ["0.5", "nan", b"1", True, False, None, [0.5], 1j, object(), Broken()])
def test_anything_else_is_a_type_error_that_names_the_scorer(value: Any) -> None:
    """SC-04: also what float() would accept, but nobody means: a string, a bool."""
    scaled = ScaledScorer(Returning(value))
    items = example_items(2)
    asks = ways_to_ask(Returning(value)) + [partial(ask, scaled, items) for ask in (score_all, one_by_one)]
    for ask in asks:
        with pytest.raises(TypeError, match="Returning"):
            ask()


# Subclasses of the built-in scorers.

# One of each class.
BUILT_IN = list({type(scorer): scorer for scorer in SCORERS}.values())


def remade(cls: Callable[..., Scorer], scorer: Any) -> Scorer:
    """A scorer of another class with the same options."""
    return cls(**{field.name: getattr(scorer, field.name) for field in dataclasses.fields(scorer) if field.init})


@pytest.mark.parametrize("scorer", BUILT_IN, ids=lambda scorer: type(scorer).__name__)
def test_a_subclass_that_overrides_score_alone_is_honoured(scorer: Any) -> None:
    """SC-02: the inherited batch knows nothing of the new score."""

    class Mine(type(scorer)):  # type: ignore[misc]
        def score(self, item: ContextItem, all_items: Items, /) -> float:
            return 0.125 * (item.priority or 0)

    mine = remade(Mine, scorer)
    expected = [0.0, 0.125, 0.25, 0.375]
    assert score_all(mine, example_items()) == expected
    assert CompositeScorer([(mine, 1.0)]).score_all(example_items()) == expected
    report = Pipeline(mine).dry_run(example_items(), BUDGET)
    assert sorted(included.score for included in report.included) == expected


@pytest.mark.parametrize("scorer", BUILT_IN, ids=lambda scorer: type(scorer).__name__)
def test_a_subclass_that_overrides_score_all_is_honoured_but_checked(scorer: Any) -> None:
    """SC-02, SC-04: what is not ours is not trusted."""

    class Mine(type(scorer)):  # type: ignore[misc]
        def score_all(self, items: Items, /) -> list[Any]:
            return [1] * min(len(items), 2)

    mine = remade(Mine, scorer)
    assert [type(score) for score in score_all(mine, example_items(2))] == [float, float]
    with pytest.raises(ScorerConfigError, match="Mine"):
        score_all(mine, example_items(3))


@pytest.mark.parametrize("scorer", BUILT_IN, ids=lambda scorer: type(scorer).__name__)
def test_a_subclass_that_overrides_neither_scores_as_before(scorer: Any) -> None:
    """SC-02."""

    class Mine(type(scorer)):  # type: ignore[misc]
        pass

    assert score_all(remade(Mine, scorer), example_items()) == scorer.score_all(example_items())


def test_the_nearest_override_decides() -> None:
    """SC-02: a score further down the line of inheritance than a score_all wins, and the other way round."""

    class WithBatch(RecencyScorer):
        def score_all(self, items: Items, /) -> list[float]:
            return [0.5] * len(items)

    class WithScore(WithBatch):
        def score(self, item: ContextItem, all_items: Items, /) -> float:
            return 0.25

    class WithBoth(WithScore):
        def score(self, item: ContextItem, all_items: Items, /) -> float:
            return 0.75

        def score_all(self, items: Items, /) -> list[float]:
            return [0.75] * len(items)

    class Inheriting(WithScore):
        pass

    classes: list[Callable[[], Scorer]] = [WithBatch, WithScore, WithBoth, Inheriting]
    assert [score_all(cls(), example_items(1)) for cls in classes] == [[0.5], [0.25], [0.75], [0.25]]


def test_a_mixin_can_bring_the_score() -> None:
    """SC-02: the method resolution order decides, not the base."""

    class Flat:
        def score(self, item: ContextItem, all_items: Items, /) -> float:
            return 0.25

    class Mine(Flat, PriorityScorer):
        pass

    class Other(PriorityScorer, Flat):
        pass

    assert score_all(Mine(), example_items()) == [0.25] * 4
    assert score_all(Other(), example_items()) == [0.0, 1 / 3, 2 / 3, 1.0]


# Pipelines and scorers.
