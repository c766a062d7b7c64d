"""Random knapsacks: the answer of the table, and what makes it the answer."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator

import pytest
from hypothesis import given, strategies as st

from pycupel import ContextBudget, ContextItem, KnapsackSlice, ScoredItem
from pycupel.kernels.knapsack import StateLimitError, solve
from tests.examples import examples
from tests.kernels.test_knapsack import PLENTY, Instance
from tests.oracle.slicers import dynamic_program, knapsack_values

WEIGHTS: tuple[int, ...] = (1, 1, 2, 2, 3, 5, 8, 13)


@st.composite
def instances(draw: st.DrawFn, *, max_size: int = 14) -> Instance:
    """Draw weights and values with few distinct numbers, so that there are ties of every kind."""
    weights = draw(st.lists(st.sampled_from(WEIGHTS), max_size=max_size))
    free = st.sampled_from((0, 1, 1, 2, 3, 5, 8, 10**25))
    values = [
        draw(st.sampled_from((weight, weight + 2, 2 * weight)) | free) if draw(st.booleans()) else weight
        for weight in weights
    ]
    return Instance(weights, values, draw(st.integers(0, sum(weights) + 1)))


def random_instance(dice: random.Random, n: int, weight: int, value: int, capacity: int | None = None) -> Instance:
    """Weights and values in one of the relations that make knapsacks hard or full of ties."""
    weights = [dice.randint(1, weight) for _ in range(n)]
    values = [dice.randint(0, value) for _ in range(n)]
    match dice.randrange(9):
        case 0:  # uncorrelated
            pass
        case 1:  # strongly correlated
            values = [w + weight // 3 for w in weights]
        case 2:  # inversely correlated
            values = [max(w - weight // 3, 0) for w in weights]
        case 3:  # subset sum: one density
            values = list(weights)
        case 4:  # equal values
            values = [value] * n
        case 5:  # equal weights
            weights = [weights[0]] * n if weights else []
        case 6:  # all the same
            weights, values = [min(weight, 3)] * n, [7] * n
        case 7:  # weakly correlated
            values = [max(w + dice.randint(-1, 1), 0) for w in weights]
        case _:  # huge values
            values = [v * 10**30 + dice.randrange(2) for v in values]
    total = sum(weights)
    return Instance(weights, values, dice.randint(0, total) if capacity is None else capacity)


def small_instances(count: int) -> Iterator[Instance]:
    dice = random.Random(7)
    for _ in range(count):
        yield random_instance(dice, dice.randint(0, 11), dice.choice([1, 2, 5, 12]), dice.choice([1, 2, 5, 30]))


def test_thousands_of_small_instances_full_of_ties() -> None:
    """KN-07: exactly the set that the specified procedure finds."""
    ties = 0
    for instance in small_instances(5_000):
        expected = instance.table
        assert instance.solved() == expected, instance
        assert instance.tabulated() == expected, instance
        backwards = Instance(instance.weights[::-1], instance.values[::-1], instance.capacity)
        ties += expected != sorted(len(instance.weights) - 1 - i for i in backwards.table)
    assert ties > 1_000, "the instances are full of ties"


@pytest.mark.parametrize("seed", range(10))
def test_larger_instances(seed: int) -> None:
    """KN-07: where the core is a part of the whole."""
    dice = random.Random(seed)
    for _ in range(30):
        instance = random_instance(dice, 60, dice.choice([5, 20, 60]), dice.choice([3, 50, 10_000]), 400)
        assert instance.solved() == instance.tabulated() == instance.table, instance


def test_every_capacity_from_nothing_to_everything() -> None:
    """KnapsackSlice: whatever the budget."""
    dice = random.Random(3)
    for _ in range(25):
        shape = random_instance(dice, 9, 6, 4)
        for capacity in range(sum(shape.weights) + 2):
            instance = shape._replace(capacity=capacity)
            assert instance.solved() == instance.tabulated() == instance.table, instance


@examples(70)
@given(instances(max_size=9))
def test_the_answer_is_the_best_set_with_the_smallest_number(instance: Instance) -> None:
    """KN-07, by brute force: read a set as an integer with bit i for item i."""
    weights, values, capacity = instance
    best = min(
        (-sum(values[i] for i in chosen), sum(1 << i for i in chosen), chosen)
        for size in range(len(weights) + 1)
        for chosen in itertools.combinations(range(len(weights)), size)
        if sum(weights[i] for i in chosen) <= capacity
    )
    assert instance.solved() == list(best[2])


@examples(100)
@given(instances(), st.sampled_from((2, 7, 10**12)))
def test_units_do_not_matter(instance: Instance, factor: int) -> None:
    """KNAPSACK-SLICE: neither those of the values nor those of the weights."""
    weights, values, capacity = instance
    expected = instance.solved()
    assert solve(weights, [value * factor for value in values], capacity, PLENTY) == expected
    assert solve([weight * factor for weight in weights], values, capacity * factor, PLENTY) == expected
    assert solve([weight * factor for weight in weights], values, capacity * factor + factor - 1, PLENTY) == expected


@examples(100)
@given(instances(), instances(max_size=4))
def test_what_can_never_be_selected_changes_nothing(instance: Instance, others: Instance) -> None:
    """KN-01: nothing without value, nothing larger than the capacity, wherever it stands."""
    weights, values, capacity = instance
    expected = [len(others.weights) + i for i in instance.solved()]
    without_value = [0] * len(others.weights)
    assert solve(others.weights + weights, without_value + values, capacity, PLENTY) == expected
    too_large = [weight + capacity for weight in others.weights]
    assert solve(too_large + weights, others.values + values, capacity, PLENTY) == expected


@examples(100)
@given(instances())
def test_a_limit_either_stops_the_search_or_changes_nothing(instance: Instance) -> None:
    """KN-03: never a worse answer."""
    expected = instance.solved()
    for limit in (0, 1, 2, 5):
        try:
            selected = solve(instance.weights, instance.values, instance.capacity, limit)
        except StateLimitError as error:
            needed = error.states
        else:
            assert selected == expected
            continue
        assert needed > limit


@pytest.mark.proves("S-KN-11")
@examples(100)
@given(
    st.lists(st.tuples(st.integers(0, 40), st.floats(-1.0, 2.0) | st.sampled_from((0.5, 0.5, 0.00004))), max_size=10),
    st.integers(0, 200),
    st.sampled_from((1, 3, 10)),
)
def test_the_slicer_selects_what_the_table_selects(pairs: list[tuple[int, float]], target: int, bucket: int) -> None:
    """KNAPSACK-SLICE, all steps: zero-token items first, then the selection from the last item to the first."""
    scored = [ScoredItem(ContextItem(f"{i}", tokens), score) for i, (tokens, score) in enumerate(pairs)]
    candidates = [pair for pair in scored if pair.item.tokens > 0]
    expected = [pair.item for pair in scored if pair.item.tokens == 0] if target else []
    weights = [-(-pair.item.tokens // bucket) for pair in candidates]
    values = knapsack_values([pair.score for pair in candidates])
    expected += [candidates[i].item for i in dynamic_program(weights, values, target // bucket)]
    selected = KnapsackSlice(bucket_size=bucket).slice(scored, ContextBudget(target))
    assert [item.content for item in selected] == [item.content for item in expected]
    assert sum(item.tokens for item in selected) <= target
