"""KnapsackSlice: what the vectors `knapsack-*` do not show."""

from __future__ import annotations

import math
import pickle
from random import Random

import pytest

from pycupel import ContextBudget, ContextItem, KnapsackSlice, Pipeline, PriorityScorer
from pycupel.errors import CupelError, SlicerConfigError, TableTooLargeError
from pycupel.slicers._base import SliceOffer
from pycupel.slicers.knapsack import ItemVersions, VersionSlice
from tests.slicers.rows import Rows, scored, selected

INF = math.inf
NAN = math.nan


def knapsack(rows: Rows, target: int, slicer: KnapsackSlice) -> list[str]:
    return selected(scored(rows), target, slicer)


EXACT = KnapsackSlice(bucket_size=1)
MILLION = 10**6


@pytest.mark.proves("S-KN-01", "S-KN-12", "S-KN-14")
def test_the_default_bucket_is_100_and_the_default_limit_50_million_cells() -> None:
    """KN-02 and KN-03."""
    assert KnapsackSlice().bucket_size == 100
    assert KnapsackSlice().max_cells == 50_000_000
    assert KnapsackSlice().max_states == 2_000_000
    assert KnapsackSlice().fill_free is False


@pytest.mark.proves("S-KN-10")
def test_zero_token_items_come_first_then_the_rest_from_the_last_to_the_first() -> None:
    """KnapsackSlice: the output order is zero-token items, then reconstruction order."""
    rows = [("a", 1, 0.9), ("x", 0, 0.0), ("b", 1, 0.1), ("y", 0, 0.9), ("c", 1, 0.5)]
    assert knapsack(rows, 3, EXACT) == ["x", "y", "c", "b", "a"]


@pytest.mark.proves("S-KN-08")
def test_zero_token_items_are_included_whatever_their_scores() -> None:
    """KnapsackSlice: zero-token items MUST be always included and do not take part in the DP."""
    rows = [("nan", 0, NAN), ("debt", 0, -INF), ("zero", 0, 0.0), ("a", 5, 0.1)]
    assert knapsack(rows, 5, EXACT) == ["nan", "debt", "zero", "a"]


def test_fill_free_adds_in_input_order_what_still_fits() -> None:
    """KN-01: afterwards unselected items are appended in input order while they fit, a smaller one after a larger."""
    rows = [("zero", 30, 0.0), ("best", 50, 0.9), ("too large", 25, 0.0), ("small", 20, 0.00001), ("nan", 1, NAN)]
    assert knapsack(rows, 100, KnapsackSlice(1, fill_free=True)) == ["best", "zero", "small"]
    assert knapsack(rows, 100, EXACT) == ["best"]


@pytest.mark.proves("S-KN-02")
def test_scores_that_differ_beyond_the_fourth_decimal_tie() -> None:
    """KnapsackSlice: four decimal digits of precision."""
    assert knapsack([("first", 10, 0.50001), ("second", 10, 0.50009)], 10, EXACT) == ["first"]
    assert knapsack([("first", 10, 0.5000), ("second", 10, 0.5002)], 10, EXACT) == ["second"]


def test_scores_above_one_are_scaled_like_others() -> None:
    """KN-05: nothing limits scores to the range from 0 to 1."""
    assert knapsack([("a", 50, 1.0), ("b", 50, 1.0), ("boosted", 100, 2.5)], 100, EXACT) == ["boosted"]
    assert knapsack([("a", 50, 1.0), ("b", 50, 1.0), ("boosted", 100, 1.5)], 100, EXACT) == ["b", "a"]


def test_two_infinite_scores_beat_one() -> None:
    """SC-03: plus infinity has a finite value, and values add up."""
    rows = [("large", 100, INF), ("a", 50, INF), ("b", 50, INF)]
    assert knapsack(rows, 100, EXACT) == ["b", "a"]


def test_beside_an_infinite_score_worthless_items_stay_worthless() -> None:
    """SC-03 and KN-01: although there is room for all."""
    rows = [("nan", 10, NAN), ("debt", 10, -INF), ("zero", 10, 0.0), ("tiny", 10, 0.00009), ("infinite", 10, INF)]
    assert knapsack([*rows, ("a", 10, 0.0001)], 1000, EXACT) == ["a", "infinite"]


def test_a_score_too_large_to_be_scaled_counts_as_infinite() -> None:
    """KN-06: score * 10000 may overflow."""
    assert knapsack([("a", 5, 1e300), ("b", 5, 1e300), ("huge", 10, 1e308)], 10, EXACT) == ["huge"]


@pytest.mark.proves("S-KN-09")
def test_negative_token_counts_are_not_candidates() -> None:
    """KnapsackSlice: if present, they SHOULD be excluded from the DP candidates."""
    rows = [("negative", -5, 0.9), ("a", 10, 0.5), ("x", 0, 0.1)]
    assert knapsack(rows, 10, EXACT) == ["x", "a"]
    assert knapsack(rows, 100, KnapsackSlice(1, fill_free=True)) == ["x", "a"]
    assert knapsack([("negative", -5, 0.9)], 10, EXACT) == []


def test_exactly_the_limit_of_cells_passes() -> None:
    """KN-03: candidates * (capacity + 1) > max_cells raises; 2 * (4 + 1) = 10."""
    rows = [("x", 0, 0.5), ("a", 1, 0.5), ("b", 1, 0.4)]
    assert knapsack(rows, 4, KnapsackSlice(1, max_cells=10)) == ["x", "b", "a"]
    with pytest.raises(TableTooLargeError) as caught:
        knapsack(rows, 4, KnapsackSlice(1, max_cells=9))
    error = caught.value
    assert (error.candidates, error.capacity, error.cells, error.limit, error.allowed) == (2, 4, 10, "max_cells", 9)
    assert isinstance(error, CupelError)
    assert "max_cells=9" in str(error)
    assert "10" in str(error)


def test_no_limit_of_cells_applies_if_it_is_lifted() -> None:
    """KN-03: `max_cells=None`."""
    rows = [(f"i{i}", 1, 0.5) for i in range(50)]
    assert len(knapsack(rows, 10**12, KnapsackSlice(1, max_cells=None))) == 50


def test_the_buckets_count_not_the_tokens() -> None:
    """KN-03: a larger bucket makes a smaller table."""
    rows = [("a", 1, 0.5), ("b", 1, 0.5)]
    assert len(knapsack(rows, 1000, KnapsackSlice(100, max_cells=22))) == 2
    with pytest.raises(TableTooLargeError):
        knapsack(rows, 1000, KnapsackSlice(90, max_cells=22))


def test_a_capacity_of_zero_needs_no_table() -> None:
    """KN-03: with nothing to solve there is nothing to refuse."""
    assert knapsack([("x", 0, 0.5), ("a", 1, 0.5), ("b", 1, 0.5)], 99, KnapsackSlice(100, max_cells=1)) == ["x"]


def hard_rows() -> Rows:
    """Build rows whose values follow their weights so closely that the search has to keep many states."""
    random = Random(3)
    weights = [random.randint(200, 400) for _ in range(40)]
    return [(f"i{i}", weight, (weight + random.randint(-3, 3)) / 10000) for i, weight in enumerate(weights)]


def huge_rows() -> Rows:
    """The hard rows in millions of tokens, so that a table is out of the question."""
    return [(content, tokens * MILLION, score) for content, tokens, score in hard_rows()]


def lifted(max_states: int) -> KnapsackSlice:
    return KnapsackSlice(1, max_cells=None, max_states=max_states)


def states_needed(rows: Rows, target: int) -> int:
    """Raise max_states to what each refusal asks for, until none is left."""
    allowed = 1
    while True:
        try:
            knapsack(rows, target, lifted(allowed))
        except TableTooLargeError as error:
            allowed = max(error.cells, allowed + 1)
        else:
            return allowed


def test_exactly_the_limit_of_states_passes() -> None:
    """KN-03: `limit` says that it was max_states, and `cells` how many were needed."""
    rows, target = huge_rows(), 6001 * MILLION
    needed = states_needed(rows, target)
    assert needed > 10
    assert knapsack(rows, target, lifted(needed)) == knapsack(hard_rows(), 6001, EXACT)
    with pytest.raises(TableTooLargeError) as caught:
        knapsack(rows, target, lifted(needed - 1))
    error = caught.value
    assert (error.candidates, error.capacity, error.cells) == (40, target, needed)
    assert (error.limit, error.allowed) == ("max_states", needed - 1)
    assert f"max_states={needed - 1}" in str(error)


def test_within_the_limit_of_cells_there_is_always_an_answer() -> None:
    """KN-03: states are limited only where a table is too large."""
    expected = knapsack(hard_rows(), 6001, EXACT)
    assert knapsack(hard_rows(), 6001, KnapsackSlice(1, max_cells=40 * 6002, max_states=1)) == expected
    assert knapsack(hard_rows(), 6001, lifted(1)) == expected
    with pytest.raises(TableTooLargeError) as caught:
        knapsack(hard_rows(), 6001, KnapsackSlice(1, max_cells=40 * 6002 - 1, max_states=1))
    assert caught.value.limit == "max_cells"


def test_the_error_passes_through_a_pipeline_and_through_pickle() -> None:
    """KN-03: the numbers travel as attributes."""
    items = [ContextItem("a", 10, priority=1), ContextItem("b", 10, priority=2)]
    with pytest.raises(TableTooLargeError) as caught:
        Pipeline(PriorityScorer(), KnapsackSlice(1, max_cells=1)).run(items, ContextBudget(100))
    copy = pickle.loads(pickle.dumps(caught.value))
    assert (copy.candidates, copy.capacity, copy.cells, copy.limit, copy.allowed) == (2, 100, 202, "max_cells", 1)
    assert str(copy) == str(caught.value)


@pytest.mark.proves("S-KN-01")
@pytest.mark.parametrize("name", ["bucket_size", "max_cells", "max_states"])
@pytest.mark.parametrize("value", [0, -1, -100])
def test_sizes_and_limits_must_be_positive(name: str, value: int) -> None:
    """KnapsackSlice: bucketSize MUST be a positive integer; a limit of nothing makes no sense either."""
    with pytest.raises(SlicerConfigError, match=f"{name} must be greater than 0") as caught:
        KnapsackSlice(**{name: value})  # type: ignore[arg-type]
    assert (caught.value.argument, caught.value.value) == (name, value)
    assert isinstance(caught.value, ValueError)


def test_budget_simulation_is_supported() -> None:
    """BS-09: both class attributes are True."""
    assert KnapsackSlice.supports_marginal_items is True
    assert KnapsackSlice.supports_min_budget is True


def test_without_a_budget_no_version_is_chosen() -> None:
    """Not even of what costs nothing, as with every other slicer."""
    free = [ContextItem("free", 0), ContextItem("dear", 5)]
    assert list(VersionSlice({})._slice_indices(SliceOffer(free, [0.9, 0.8], ContextBudget(0))).selected) == []
    assert list(VersionSlice({})._slice_indices(SliceOffer(free, [0.9, 0.8], ContextBudget(1))).selected) == [0]


def test_versions_that_follow_the_scores_begin_with_what_is_required() -> None:
    items = [ContextItem("best", 6), ContextItem("required", 6)]
    known = {id(item): ItemVersions([ContextItem(f"short {item.content}", 3)], [0.5]) for item in items}
    slicer = VersionSlice(known, by_score=True)
    for required, shortened in (([], 1), ([1], 0)):
        chosen = slicer.slice_required(SliceOffer(items, [0.9, 0.1], ContextBudget(9)), required)
        assert (list(chosen.selected), list(chosen.versions)) == ([0, 1], [shortened])


def test_the_best_choice_of_versions_needs_no_note() -> None:
    items = [ContextItem("a", 6), ContextItem("b", 6)]
    assert VersionSlice({})._slice_indices(SliceOffer(items, [0.9, 0.8], ContextBudget(7))).notes == ()
